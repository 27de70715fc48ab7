import assert from 'node:assert/strict';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { placeCluster } from '../../tests/harness/database.ts';
import { pdf } from '../../tests/harness/documents.ts';
import { hasEnded, type NpmStart, npmRun, npmStart } from '../../tests/harness/npmStart.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { until } from '../../tests/harness/until.ts';
import { freePort } from './ports.ts';

/** Returns settings for an `npm start` whose PostgreSQL already has its files or, with `isFirst`, has none yet. */
async function settings(t: TestContext, { isFirst = false } = {}) {
  const DATA_DIR = join(temporaryFolder(t), 'data');
  if (!isFirst) placeCluster(DATA_DIR);
  return { DATA_DIR, PORT: String(await freePort()) };
}

async function write(induct: NpmStart, sql: string) {
  const client = new pg.Client({ connectionString: induct.local.database.url });
  await client.connect();
  try {
    return (await client.query(sql)).rows[0];
  } finally {
    await client.end();
  }
}

test('npm start serves, says where, also to a second start on its data, and Ctrl-C stops everything that it started', async (t) => {
  const own = await settings(t, { isFirst: true });
  const induct = await npmStart(own);
  assert.match(induct.output(), new RegExp(`Induct is ready: http://127.0.0.1:${own.PORT}\n`));
  assert.match(induct.output(), /HONOR101 +a complete record/);
  assert.ok(induct.output().includes(`sent to nobody: ${induct.local.mail!.url}`));
  assert.match(await (await fetch(induct.local.mail!.url)).text(), /No letter has come yet/);
  // The built server must find files of packages.
  for (const path of ['/api/openapi.json', '/api/docs/', '/api/docs/static/swagger-ui.css'])
    assert.equal((await fetch(induct.url + path)).status, 200, path);
  assert.equal(induct.local.stripe?.secretKey, 'sk_test_emulated');
  const { stripe, hubspot, mail } = induct.local;
  for (const url of [stripe!.url, hubspot!.url, mail!.url, mail!.smtpUrl])
    assert.ok(Number(new URL(url).port) < 32_000, `the next start finds ${url} free`);
  assert.equal(statSync(join(own.DATA_DIR, 'local.json')).mode & 0o777, 0o600);
  const second = npmRun('start', { ...own, PORT: String(await freePort()) });
  assert.equal(await second.ended, 1);
  assert.equal(
    second.output(),
    `\`npm start\` already runs on ${own.DATA_DIR} at ${induct.url} (process ${induct.pids.start}). Stop it first, or start this one with another DATA_DIR and PORT.\n`,
  );
  assert.equal((await fetch(`${induct.url}/api/openapi.json`)).status, 200);
  // 130 is the exit code that a terminal expects after Ctrl-C.
  assert.equal(await induct.pressCtrlC(), 130);
  assert.deepEqual(
    Object.entries(induct.pids).filter(([, pid]) => !hasEnded(pid)),
    [],
  );
});

test('Ctrl-C lets a call that takes its time come to its end', { skip: onlyLong }, async (t) => {
  const induct = await npmStart(await settings(t));
  const form = new FormData();
  form.append('contactId', '101');
  form.append('file', new Blob([Buffer.from(pdf())], { type: 'application/pdf' }), 'resume.pdf');
  const whole = new Request(induct.url, { method: 'POST', body: form });
  const bytes = Buffer.from(await whole.arrayBuffer());
  const upload = request(`${induct.url}/api/public/upload-resume`, {
    method: 'POST',
    headers: { 'content-type': whole.headers.get('content-type')!, 'content-length': bytes.length },
  });
  const answered = once(upload, 'response') as Promise<[IncomingMessage]>;
  upload.write(bytes.subarray(0, bytes.length / 2));
  // Once the server answers this later request, it has received the first half of the upload.
  assert.equal((await fetch(`${induct.url}/healthz`)).status, 200);
  const ended = induct.pressCtrlC();
  // The upload takes 7 s. A child process without work gets only 6 s to end, but the server must get the time that the upload
  // needs.
  await pause(7_000);
  upload.end(bytes.subarray(bytes.length / 2));
  assert.equal((await answered)[0].statusCode, 200);
  assert.equal(await ended, 130);
});

test('SIGTERM to npm alone stops everything, and a restart has the same addresses and data', {
  skip: onlyLong,
}, async (t) => {
  const own = await settings(t);
  const first = await npmStart(own);
  await write(first, 'create table kept as select 1 as one');
  first.process.kill('SIGTERM');
  await first.ended;
  await until(() => Object.values(first.pids).every(hasEnded));
  const second = await npmStart(own);
  t.after(() => second.pressCtrlC());
  const { desk, ...others } = second.local;
  const { desk: deskBefore, ...othersBefore } = first.local;
  assert.deepEqual([desk!.url, others], [deskBefore!.url, othersBefore]);
  assert.notEqual(desk!.link, deskBefore!.link);
  assert.deepEqual(await write(second, 'select one from kept'), { one: 1 });
});

test('the data folder of a version before 1.0 is refused with a sentence that says how to begin again', {
  skip: onlyLong,
}, async (t) => {
  const own = await settings(t);
  const first = await npmStart(own);
  await write(first, "insert into migration (name, checksum) values ('0001-foundation.sql', 'x')");
  await first.pressCtrlC();
  const refused = npmRun('start', own);
  assert.equal(await refused.ended, 1);
  assert.match(
    refused.output(),
    /Induct does not start:\n {2}The database is of a version before 1\.0, .* Begin again .* remove its data folder\.\)\n/,
  );
  assert.doesNotMatch(refused.output(), /\n +at |ended unexpectedly/);
});

test('a start at the port that a stand-in had before moves the stand-in', { skip: onlyLong }, async (t) => {
  const own = await settings(t);
  const first = await npmStart(own);
  await first.pressCtrlC();
  const { port: PORT } = new URL(first.local.stripe!.url);
  const second = await npmStart({ ...own, PORT });
  t.after(() => second.pressCtrlC());
  assert.equal(second.url, `http://127.0.0.1:${PORT}`);
  assert.notEqual(second.local.stripe!.url, first.local.stripe!.url);
  assert.equal(second.local.hubspot!.url, first.local.hubspot!.url);
});

/** Returns the processes that are still running, except PostgreSQL, which may stay for the next start. */
const left = ({ pids: { postgres: _, ...others } }: NpmStart) =>
  Object.entries(others).filter(([, pid]) => !hasEnded(pid));

test('after kill -9 of npm, of what it runs, or of all of it, the rest ends, and npm start works again on the same data', {
  skip: onlyLong,
}, async (t) => {
  const own = await settings(t);
  let induct = await npmStart(own);
  t.after(() => induct.pressCtrlC());
  await write(induct, 'create table kept as select 1 as one');
  for (const victim of ['npm', 'bootstrap', 'start', 'all'] as const)
    await t.test(victim, async () => {
      const before = induct;
      for (const pid of victim === 'all' ? Object.values(before.pids) : [before.pids[victim]])
        process.kill(pid, 'SIGKILL');
      induct = await npmStart(own);
      assert.deepEqual(left(before), []);
      assert.deepEqual(await write(induct, 'select one from kept'), { one: 1 });
      assert.equal((await fetch(`${induct.url}/api/openapi.json`)).status, 200);
    });
});

test('after kill -9 of npm or of what it runs, nothing but the database is left, even when nobody starts again', {
  skip: onlyLong,
}, async (t) => {
  const own = await settings(t);
  for (const victim of ['npm', 'bootstrap', 'start'] as const)
    await t.test(victim, async (t) => {
      const induct = await npmStart(own);
      t.after(() => hasEnded(induct.pids.postgres) || process.kill(induct.pids.postgres, 'SIGINT'));
      process.kill(induct.pids[victim], 'SIGKILL');
      await until(() => left(induct).length === 0);
    });
});

test('after kill -9 of what a start has started, everything ends with a sentence, and npm start works again', {
  skip: onlyLong,
}, async (t) => {
  const own = await settings(t);
  let induct = await npmStart(own);
  for (const victim of ['server', 'emulators', 'postgres'] as const)
    await t.test(victim, async () => {
      const before = induct;
      process.kill(before.pids[victim], 'SIGKILL');
      assert.equal(await before.ended, 1);
      assert.match(before.output(), /ended unexpectedly .*: everything else is stopped too\./);
      assert.deepEqual(
        Object.entries(before.pids).filter(([, pid]) => !hasEnded(pid)),
        [],
      );
      induct = await npmStart(own);
    });
  assert.equal(await induct.pressCtrlC(), 130);
});

test('a taken port is one sentence that names the setting', async (t) => {
  const own = await settings(t);
  const other = createServer().listen(Number(own.PORT), '127.0.0.1');
  t.after(() => other.close());
  const command = npmRun('start', own);
  assert.equal(await command.ended, 1);
  assert.equal(
    command.output(),
    `PORT ${own.PORT} is taken by another program: choose another one, as in \`PORT=${Number(own.PORT) + 1} npm start\`.\n`,
  );
});

test('faults in the settings are listed at once and nothing starts', async (t) => {
  const own = await settings(t, { isFirst: true });
  const command = npmRun('start', { ...own, PORT: 'three', HUBSPOT_ACCESS_TOKEN: 'pat-real', MODE: 'loud' });
  assert.equal(await command.ended, 1);
  assert.match(command.output(), /PORT must be/);
  assert.match(command.output(), /MODE must be/);
  assert.match(command.output(), /HubSpot is real and Stripe is not/);
  assert.throws(() => statSync(own.DATA_DIR), /ENOENT/);
});

test('MODE=live brings no database that nobody asked for', async (t) => {
  const own = await settings(t, { isFirst: true });
  const command = npmRun('start', { ...own, MODE: 'live' });
  assert.equal(await command.ended, 1);
  assert.match(command.output(), /DATABASE_URL is missing/);
  assert.match(command.output(), /MODE=live needs STRIPE_SECRET_KEY/);
});
