import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { delimiter, join, resolve } from 'node:path';
import { test } from 'node:test';
import { isProgram } from './findProgram.ts';

const start = resolve(import.meta.dirname, '../../apps/server/start.mjs');
const sentence = /^The server needs Node\.js 26 or newer\. This is v?\d+.*\n$/;

/** The first `node` on this machine's PATH whose major version is from 18 to 25. */
const older = (process.env.PATH ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node'))
  .filter(isProgram)
  .find((node) => {
    const major = /^v(\d+)/.exec(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout)?.[1];
    return major !== undefined && Number(major) >= 18 && Number(major) < 26;
  });

test('the server says in words that its Node is too old', () => {
  const pretending = "data:text/javascript,Object.defineProperty(process.versions,'node',{value:'22.1.0'})";
  const { status, stderr } = spawnSync(process.execPath, ['--import', pretending, start], {
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.match(stderr, sentence);
});

test('an older Node comes as far as that sentence', {
  skip: older === undefined && 'this machine has no older Node',
}, () => {
  const { status, stderr } = spawnSync(older!, [start], { encoding: 'utf8' });
  assert.equal(status, 1);
  assert.match(stderr, sentence);
});
