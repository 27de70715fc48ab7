import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { parseMemberNumber } from '#core/memberNumber.ts';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { runLone } from '../../../../tests/harness/runCommand.ts';
import { runOperator } from '../../../../tests/harness/serverProcess.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { until } from '../../../../tests/harness/until.ts';
import { readConfig } from '../config/config.ts';
import { migrate, migrationState } from './migrate.ts';
import { patience } from './patience.ts';
import { waitingMigrations } from './waitingMigrations.ts';
import { sentenceOf } from './whenReached.ts';

const all = join(import.meta.dirname, 'migrations');
let made: TestDatabase;
let client: pg.Client;
before(async () => {
  made = await testDatabase();
  client = new pg.Client({ connectionString: made.url });
  await client.connect();
});
after(async () => {
  await client.end();
  await made.drop();
});

const empty = () => client.query('drop schema public cascade; create schema public');

test('each payment has a member number of its own, always the same, unless it is taken', async () => {
  await empty();
  await migrate(made.url);
  const numbers = async () => {
    const { rows } = await client.query<{ number: string }>(
      "select free_member_number('pi_' || n) as number from generate_series(1, 1000) n",
    );
    return rows.map(({ number }) => number);
  };
  const given = await numbers();
  for (const number of given) assert.equal(parseMemberNumber(number), number);
  assert.equal(new Set(given).size, 1000);
  assert.deepEqual([...new Set(given.join(''))].toSorted().join(''), '0123456789ABCDEFGHJKMNPQRSTVWXYZ');

  await client.query(
    `with session as (insert into join_session (uuid, state, origin, programme, paid_at, erased_at)
        values (gen_random_uuid(), 'paid', 'school', 'high-school', now(), now()) returning uuid),
      paid as (insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
        select 'pi_elsewhere', uuid, 'join', 1, 'succeeded', 's', 'cus_1', 6500, 1 from session)
    insert into membership (session_uuid, product_id, type, payment_intent, member_number)
      select uuid, 1, 'membership', 'pi_elsewhere', $1 from session`,
    [given[0]],
  );
  const [other, ...same] = await numbers();
  assert.notEqual(other, given[0]);
  assert.equal(parseMemberNumber(other!), other);
  assert.deepEqual(same, given.slice(1));
});

test('a database of a version before 1.0 is refused, with a sentence that says how to begin again', async () => {
  await empty();
  await client.query(`
    create table migration (name text primary key, checksum text not null);
    insert into migration values ('0001-foundation.sql', 'x')`);
  await assert.rejects(migrate(made.url), /of a version before 1\.0, .* Begin again with an empty database/);
});

test('a version runs on a database that a newer one has migrated, unless that took away what it needs', async (t) => {
  const folder = temporaryFolder(t);
  await empty();
  const write = (name: string, sql: string) => writeFileSync(join(folder, name), sql);
  const run = (version: string) => migrate(made.url, { migrations: folder, version });
  const asOld = (version: string) => migrate(made.url, { migrations: old, version });
  const old = temporaryFolder(t);

  write('0001-first.sql', 'create table thing (old text)');
  cpSync(folder, old, { recursive: true });
  assert.deepEqual(await run('1.0.0'), ['0001-first.sql']);
  write('0002-expand.sql', 'alter table thing add column fresh text');
  assert.deepEqual(await run('1.1.0'), ['0002-expand.sql']);
  assert.deepEqual(await asOld('1.0.0'), [], 'what was added is nothing to it');
  assert.deepEqual((await migrationState(client, { migrations: old, version: '1.0.0' })).newer, [
    '0002-expand.sql',
  ]);

  write('0003-contract.sql', '-- oldest version: 1.1.0\nalter table thing drop column old');
  assert.deepEqual(await run('1.2.0'), ['0003-contract.sql']);
  assert.deepEqual(await asOld('1.1.0'), []);
  await assert.rejects(asOld('1.0.9'), /0003-contract\.sql, after which only version 1\.1\.0 and later/);
  await assert.rejects(asOld('0.12.0'), /this is 0\.12\.0/);
});

test('a migration that fails leaves nothing of itself, and those before it stand', async (t) => {
  const folder = temporaryFolder(t);
  await empty();
  writeFileSync(join(folder, '0001-first.sql'), 'create table thing (id text)');
  writeFileSync(join(folder, '0002-broken.sql'), 'create table other (id text); select 1 / 0');
  await assert.rejects(
    migrate(made.url, { migrations: folder }),
    /0002-broken\.sql failed: division by zero/,
  );
  const { rows } = await client.query(
    "select to_regclass('thing') is not null as thing, to_regclass('other') is not null as other",
  );
  assert.deepEqual(rows, [{ thing: true, other: false }]);
});

test('the worked example of docs/changing.md runs on these tables, and shuts out the versions that need what it drops', async (t) => {
  const folder = temporaryFolder(t);
  await empty();
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/changing.md'), 'utf8');
  const [, example] = /```sql\n([\s\S]*?)```/.exec(page)!;
  cpSync(all, folder, { recursive: true });
  writeFileSync(join(folder, '9999-contract.sql'), example!);
  await migrate(made.url, { migrations: folder });
  await client.query(
    "insert into invitation (code, school, withdrawn_at, withdrawn_by) values ('GONE', 'A School', now(), 'staff')",
  );
  const [, oldest] = /^-- oldest version: (.*)$/m.exec(example!)!;
  assert.deepEqual(await migrate(made.url, { version: oldest! }), []);
  await assert.rejects(
    migrate(made.url, { version: '0.1.0' }),
    /9999-contract\.sql, after which only version/,
  );
});

test('the tables need no extension, since a backup holds their schema alone', async () => {
  await empty();
  await migrate(made.url);
  const { rows } = await client.query("select extname from pg_extension where extname <> 'plpgsql'");
  assert.deepEqual(rows, []);
});

/** The settings of a command that calls no provider. */
const settingsOn = (databaseUrl: string) => ({
  DATABASE_URL: databaseUrl,
  STRIPE_EMULATOR_URL: 'http://127.0.0.1:9',
  HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:9',
  MAIL_EMULATOR_URL: 'smtp://127.0.0.1:9',
});
const runMigrate = (t: TestContext, databaseUrl: string, ...args: string[]) =>
  runLone(t, readConfig(settingsOn(databaseUrl)), 'migrate', args);

async function emptyDatabase(t: TestContext) {
  const made = await testDatabase();
  const client = new pg.Client({ connectionString: made.url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await made.drop();
  });
  await client.query('drop schema public cascade; create schema public');
  return { url: made.url, client };
}

test('a trial names what waits, with its words, and changes nothing', async (t) => {
  const { url, client } = await emptyDatabase(t);
  const empty = await runMigrate(t, url, '--dry-run');
  assert.equal(empty.code, 0);
  assert.match(
    empty.out,
    /^0001-schema\.sql\n {2}The schema of Induct\.[\s\S]*\n\d+ to be run, each in one transaction\. Nothing/,
  );
  const { rows } = await client.query("select from pg_class where relnamespace = 'public'::regnamespace");
  assert.deepEqual(rows, []);
  await migrate(url);
  for (const args of [['--dry-run'], []])
    assert.deepEqual(await runMigrate(t, url, ...args), { out: 'Nothing waits to be migrated.\n', code: 0 });
});

test('whether a database has people is known before it is changed', async (t) => {
  const { url, client } = await emptyDatabase(t);
  assert.equal((await waitingMigrations(url)).isEmpty, true);
  await migrate(url);
  const folder = temporaryFolder(t);
  cpSync(all, folder, { recursive: true });
  writeFileSync(
    join(folder, '0002-next.sql'),
    '-- One.\n-- oldest version: 0.1.0\n-- Two.\ncreate table thing (id text)',
  );
  const options = { migrations: folder };
  assert.equal((await waitingMigrations(url, options)).isEmpty, true);
  await client.query("insert into person (profile) values ('{}')");
  const { waiting, isEmpty } = await waitingMigrations(url, options);
  assert.deepEqual([isEmpty, waiting], [false, [{ name: '0002-next.sql', words: 'One. Two.' }]]);
});

test('a database that a newer version has changed is refused with a sentence, planned or not, and so is none', async (t) => {
  const { url, client } = await emptyDatabase(t);
  await migrate(url);
  await client.query(
    "insert into migration (name, checksum, oldest_version) values ('9999-later.sql', 'x', '99.0.0')",
  );
  const refusal = /^The database has seen the migration 9999-later\.sql, .* version 99\.0\.0 and later/;
  const trial = await runMigrate(t, url, '--dry-run');
  assert.deepEqual([trial.code, refusal.test(trial.out)], [1, true], trial.out);
  const { output, code } = await runOperator(settingsOn(url), ['migrate']);
  assert.deepEqual([code, refusal.test(output), /\n +at /.test(output)], [1, true, false], output);
  await assert.rejects(runMigrate(t, 'postgres://127.0.0.1:9/nothing', '--dry-run'), (error) =>
    /^The database at 127\.0\.0\.1:9 cannot be reached/.test(
      sentenceOf(error, 'postgres://127.0.0.1:9/nothing')!,
    ),
  );
  assert.equal((await runMigrate(t, url, '--plans')).code, 2);
});

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
    migrate(made.url, { migrations: folder, ...(pauses && { pauses }), warn: (said) => told.push(said) });
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
    // The reader still gets answers, and the migration still waits.
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
  // If two transactions are in a deadlock, PostgreSQL ends the one that checks for it first. This transaction checks only after
  // an hour.
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
  assert.deepEqual(told, ['Another server is migrating the database. Waiting for it.']);
});

test('who has nothing to migrate does not wait for who migrates', async (t) => {
  const { url, folder, client, run } = await waitingFor(t, 'select 1');
  await run();
  const another = await client();
  await another.query('select pg_advisory_lock(7368275)');
  assert.deepEqual(await migrate(url, { migrations: folder }), []);
});
