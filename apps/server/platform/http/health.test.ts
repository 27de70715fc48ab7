import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type Interruptible, startInterruptible } from '../../../../tests/harness/interruptible.ts';
import { startServerProcess, withSettings } from '../../../../tests/harness/serverProcess.ts';
import { until } from '../../../../tests/harness/until.ts';

let database: Interruptible;
before(async () => {
  database = await startInterruptible();
});
after(() => database.close());

test('a server is not ready while its database or its storage is away, or lacks a migration, and says which', async (t) => {
  const { arranged } = database;
  const server = await startServerProcess(
    withSettings(arranged, { STORAGE_URL: 'file:///proc/nothing/here' }),
  );
  t.after(() => server.kill());
  const { url } = server;
  const missing = async () =>
    ((await (await fetch(`${url}/readyz`)).json()) as { missing: string[] }).missing;
  assert.deepEqual(await missing(), ['storage']);
  const last = 'select max(name) from migration';
  const rows = await database.admin(`delete from migration where name = (${last}) returning *`);
  assert.equal(rows.length, 1);
  await until(async () => (await missing()).includes('migrations'));
  assert.equal((await fetch(`${url}/readyz`)).status, 503);
  await database.end('SIGINT');
  await until(async () => (await missing()).includes('database'));
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal((await fetch(`${url}/api/health`)).status, 200);
  await database.begin();
  const row = JSON.stringify(rows[0]);
  await database.admin(`insert into migration select * from json_populate_record(null::migration, '${row}')`);
});

test('a server all of whose connections are busy is ready: to send its calls to another server would only move the load', async () => {
  const { arranged } = database;
  // Each of the ten connections for calls is held until `release` is called.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = Array.from({ length: 10 }, async () => {
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const ended = arranged.deps.database.connection().execute(async () => {
      hold();
      await released;
    });
    await isHeld;
    return { ended };
  });
  const holders = await Promise.all(held);
  await assert.rejects(sql`select`.execute(arranged.deps.database), 'no connection for calls is free');
  const ready = await fetch(`${arranged.url}/readyz`);
  release();
  await Promise.all(holders.map(({ ended }) => ended));
  assert.deepEqual(await ready.json(), { ready: true, missing: [] });
});
