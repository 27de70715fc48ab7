import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { openPrinter } from './printer.ts';

test('a job that fails fails alone, and its neighbours are done', async () => {
  const printer = openPrinter();
  const jobs = await Promise.allSettled([
    printer.print({ kind: 'missing', text: 'é王' }),
    printer.print({ kind: 'certificate', certificate: {} as never, paper: 'letter' }),
    printer.print({ kind: 'missing', text: 'm' }),
  ]);
  assert.deepEqual(jobs[0], { status: 'fulfilled', value: ['王'] });
  assert.match(String((jobs[1] as PromiseRejectedResult).reason), /A paper could not be made: TypeError/);
  assert.deepEqual(jobs[2], { status: 'fulfilled', value: [] });
});

test('a process waits for its papers, and ends when they are made', () => {
  const program = `
    import { openPrinter } from ${JSON.stringify(join(import.meta.dirname, 'printer.ts'))};
    console.log(await openPrinter().print({ kind: 'missing', text: '王' }));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.match(said, /王/);
});
