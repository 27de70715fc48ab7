import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { freePort } from './ports.ts';

const run = promisify(execFile);

/**
 * How many ports each process draws. If processes drew at random and ignored each other, some port would be drawn twice in all
 * but one of a million runs with so many draws.
 */
const DRAWS = 300;

test('no port is given twice, to one process or to several', async () => {
  const own: (number | undefined)[] = [];
  for (let i = 0; i < DRAWS; i++) own.push(await freePort());
  for (let i = 0; i < 2; i++) {
    const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', draw(DRAWS)]);
    assert.equal(new Set([...own, ...JSON.parse(stdout)]).size, 2 * DRAWS);
  }
});

test('a wanted port is given once', async () => {
  const { stdout } = await run(process.execPath, ['--input-type=module-typescript', '-e', draw(1)]);
  const [wanted]: number[] = JSON.parse(stdout);
  assert.equal(await freePort(wanted), wanted, 'the process that had it has ended');
  assert.equal(await freePort(wanted), undefined);
});

/** Returns a program that prints `count` free ports. */
function draw(count: number): string {
  return `
    import { freePort } from ${JSON.stringify(resolve(import.meta.dirname, 'ports.ts'))};
    const drawn = [];
    for (let i = 0; i < ${count}; i++) drawn.push(await freePort());
    console.log(JSON.stringify(drawn));
  `;
}
