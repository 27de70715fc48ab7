import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { parseMemberNumber } from '#core/memberNumber.ts';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { migrate, migrationState } from './migrate.ts';

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
  const folder = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await empty();
  const write = (name: string, sql: string) => writeFileSync(join(folder, name), sql);
  const run = (version: string) => migrate(made.url, { migrations: folder, version });
  const asOld = (version: string) => migrate(made.url, { migrations: old, version });
  const old = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  t.after(() => rmSync(old, { recursive: true }));

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
  const folder = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  t.after(() => rmSync(folder, { recursive: true }));
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
  const folder = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  t.after(() => rmSync(folder, { recursive: true }));
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
