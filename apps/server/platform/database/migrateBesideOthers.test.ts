import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { testDatabase } from '../../../../tests/harness/database.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { until } from '../../../../tests/harness/until.ts';
import { migrate } from './migrate.ts';
import { patience } from './patience.ts';
import { sentenceOf } from './whenReached.ts';

/** Creates a database with two tables, and a folder of migrations of which the last, `next`, is not applied yet. */
async function waitingFor(t: TestContext, next: string) {
  const made = await testDatabase();
  const opened: pg.Client[] = [];
  t.after(async () => {
    for (const client of opened) await client.end();
    await made.drop();
  });
  const folder = temporaryFolder(t);
  const client = async (settings: pg.ClientConfig = {}) => {
    const client = new pg.Client({ connectionString: made.url, ...settings });
    opened.push(client);
    await client.connect();
    return client;
  };
  const admin = await client();
  await admin.query('drop schema public cascade; create schema public');
  writeFileSync(join(folder, '0001-first.sql'), 'create table thing (id text); create table other (id text)');
  await migrate(made.url, { migrations: folder });
  writeFileSync(join(folder, '0002-next.sql'), next);
  const told: string[] = [];
  const run = (pauses?: number[]) =>
    migrate(made.url, { migrations: folder, ...(pauses && { pauses }), tell: (said) => told.push(said) });
  /** Resolves when a connection to the database waits for a lock of this kind. */
  const waitsFor = (event: 'relation' | 'advisory') =>
    until(
      async () =>
        (
          await admin.query(
            "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and wait_event = $1",
            [event],
          )
        ).rowCount === 1,
    );
  return { url: made.url, folder, client, admin, run, told, waitsFor };
}

test('while somebody reads a table for long, a migration of it waits, and everybody else goes on reading and writing it', async (t) => {
  const { client, run, told } = await waitingFor(t, 'alter table thing add column fresh text');
  const reader = await client({ application_name: 'a long reader' });
  await reader.query('begin; select from thing; select from migration');
  const call = await client({ statement_timeout: patience.ofCalls.statementMs });
  let isOver = false;
  let count = 0;
  const calls = (async () => {
    for (; !isOver; count++) {
      await call.query("insert into thing (id) values ('1')");
      await call.query('select from thing; select from migration');
      await pause(20);
    }
  })();
  calls.catch(() => {});
  const migrated = run();
  migrated.catch(() => {});
  try {
    await Promise.race([until(() => told.length === 2), calls, migrated]);
    // The reader still reads, and the migration still waits.
    const sofar = count;
    await Promise.race([until(() => count > sofar), calls]);
    const { rows } = await reader.query('select pg_backend_pid() as pid');
    for (const sentence of told)
      assert.match(
        sentence,
        new RegExp(
          `^The migration 0002-next\\.sql waits for tables .* process ${rows[0].pid} of PostgreSQL \\(a long reader, idle in transaction\\), which began \\d+ s ago\\. .* run again in \\d s\\.$`,
        ),
      );
  } finally {
    await reader.query('commit');
  }
  assert.deepEqual(await migrated, ['0002-next.sql']);
  isOver = true;
  await calls;
});

test('a migration that never gets its locks ends with a sentence, and leaves nothing of itself', async (t) => {
  const { url, client, admin, run, told } = await waitingFor(
    t,
    'create table fresh (id text); alter table thing add column fresh text',
  );
  const reader = await client();
  await reader.query('begin; select from thing');
  await assert.rejects(run([0, 0]), (fault: Error) => {
    assert.match(
      fault.message,
      /^The migration 0002-next\.sql did not get tables that other transactions use\. .* changed nothing\./,
    );
    assert.equal(sentenceOf(fault, url), null, 'it is not taken for a database that is away');
    return true;
  });
  assert.equal(told.length, 2);
  const { rows } = await admin.query(
    "select to_regclass('fresh') as fresh, array(select name from migration) as names",
  );
  assert.deepEqual(rows, [{ fresh: null, names: ['0001-first.sql'] }]);
  await reader.query('commit');
  assert.deepEqual(await run([]), ['0002-next.sql']);
});

test('a migration that somebody cancels ends', async (t) => {
  const { client, admin, run, told, waitsFor } = await waitingFor(
    t,
    'alter table thing add column fresh text',
  );
  const reader = await client();
  await reader.query('begin; select from thing');
  const migrated = run();
  migrated.catch(() => {});
  await waitsFor('relation');
  await admin.query(
    "select pg_cancel_backend(pid) from pg_stat_activity where datname = current_database() and wait_event = 'relation'",
  );
  await assert.rejects(migrated, /canceling statement due to user request/);
  assert.deepEqual(told, []);
});

test('a migration that PostgreSQL ends to resolve a deadlock is run again', async (t) => {
  const { client, run, told, waitsFor } = await waitingFor(
    t,
    'alter table thing add column fresh text; alter table other add column fresh text',
  );
  // PostgreSQL ends the transaction that looks for a deadlock first.
  const call = await client({ options: '-c deadlock_timeout=1h' });
  await call.query('begin; select from other');
  const migrated = run();
  migrated.catch(() => {});
  await waitsFor('relation');
  await call.query('select from thing; commit');
  assert.deepEqual(await migrated, ['0002-next.sql']);
  assert.equal(told.length, 1);
});

test('a migration may take longer than the timeouts that a provider sets, and may wait as long for another server', async (t) => {
  const { client, admin, run, told, waitsFor } = await waitingFor(t, 'select pg_sleep(0.8)');
  const name = (await admin.query('select current_database() as name')).rows[0].name;
  for (const setting of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
    await admin.query(`alter database ${name} set ${setting} = '400ms'`);
  if ((await admin.query("select from pg_settings where name = 'transaction_timeout'")).rowCount === 1)
    await admin.query(`alter database ${name} set transaction_timeout = '400ms'`);
  const another = await client({ lock_timeout: 0, statement_timeout: 0 });
  // Takes the advisory lock that a migrating server takes (`migrating` in migrate.ts).
  await another.query('select pg_advisory_lock(7368275)');
  const migrated = run();
  migrated.catch(() => {});
  await waitsFor('advisory');
  await pause(600);
  await another.query('select pg_advisory_unlock(7368275)');
  assert.deepEqual(await migrated, ['0002-next.sql']);
  assert.deepEqual(told, ['Another server migrates the database: it is waited for.']);
});

test('who has nothing to migrate does not wait for who migrates', async (t) => {
  const { url, folder, client, run } = await waitingFor(t, 'select 1');
  await run();
  const another = await client();
  await another.query('select pg_advisory_lock(7368275)');
  assert.deepEqual(await migrate(url, { migrations: folder }), []);
});
