import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { finished, pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { testDatabase } from '../../../../tests/harness/database.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../../tests/harness/testLength.ts';

/** How many rows are imported: enough to show whether rows are kept in memory. */
const ROWS = 1_000_000;
/** By how much (bytes) the memory of two equal runs may differ. */
const NOISE = 40 * 1024 * 1024;

/** Node options for a small heap, so that uncollected garbage hardly adds to the measured memory. */
const smallHeap = ['--max-old-space-size=80', '--max-semi-space-size=2'];

const operator = resolve(import.meta.dirname, '../../../staff/operator.ts');

/** Writes a file of invitations as a stream. One row in ten thousand is invalid. */
async function write(file: string, rows: number): Promise<void> {
  function* lines() {
    yield 'code,contactId,firstName,lastName,email,school\n';
    for (let n = 1; n <= rows; n++)
      yield n % 10_000 === 0
        ? `BAD-${n},${n},,,,\n`
        : `CODE${n},${1_000_000 + n},First${n},Last${n},person${n}@example.com,Lincoln High School\n`;
  }
  await pipeline(Readable.from(lines()), createWriteStream(file));
}

/** Runs the import command in a process of its own. Returns its output, and its peak memory (bytes) if the system reports it. */
async function importFile(
  databaseUrl: string,
  file: string,
): Promise<{ out: string; errors: string; peak: number | null }> {
  const child = spawn(
    process.execPath,
    [...smallHeap, '--disable-warning=ExperimentalWarning', operator, 'invitations', 'import', file],
    {
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: databaseUrl,
        STRIPE_EMULATOR_URL: 'http://127.0.0.1:9',
        HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:9',
        MAIL: 'elsewhere',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const read = { out: '', errors: '' };
  let peak: number | null = null;
  const look = () => {
    try {
      const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1];
      if (kilobytes) peak = Number(kilobytes) * 1024;
    } catch {
      // The file cannot be read if this system has no /proc, or if the process has just ended. `peak` then keeps its value.
    }
  };
  child.stdout.on('data', (chunk) => {
    read.out += chunk;
    look();
  });
  child.stderr.on('data', (chunk) => {
    read.errors += chunk;
    look();
  });
  await Promise.all([once(child, 'exit'), finished(child.stdout), finished(child.stderr)]);
  return { ...read, peak };
}

test(`${ROWS} invitations are imported in constant memory, every bad line is named, and a second run changes nothing`, {
  skip: onlyLong,
}, async (t) => {
  const folder = temporaryFolder(t);
  const made = await testDatabase();
  t.after(() => made.drop());
  const [small, large] = [join(folder, 'small.csv'), join(folder, 'large.csv')];
  await write(small, ROWS / 2);
  await write(large, ROWS);
  const bad = ROWS / 10_000;

  const half = await importFile(made.url, small);
  const many = await importFile(made.url, large);
  assert.match(
    many.out,
    new RegExp(`^${ROWS - bad - Math.floor(ROWS / 2 - Math.floor(bad / 2))} imported, `),
  );
  assert.equal(many.errors.trim().split('\n').length, bad);
  assert.match(many.errors, /^line 10001: Invite code must contain only letters and numbers\./);
  t.diagnostic(many.out.trim().split('\n').at(-1)!);
  if (half.peak !== null && many.peak !== null) {
    t.diagnostic(
      `at most ${Math.round(many.peak / 1e6)} MB, for half of it ${Math.round(half.peak / 1e6)} MB`,
    );
    assert.ok(many.peak - half.peak < NOISE, `${many.peak} bytes for twice as much as ${half.peak}`);
  }
  const again = await importFile(made.url, large);
  assert.match(again.out, new RegExp(`^0 imported, ${ROWS - bad} unchanged, ${bad} not taken\\.`));
});
