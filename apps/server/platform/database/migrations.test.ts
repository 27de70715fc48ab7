import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
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

/** Creates a database with all migrations up to the number `last`. */
async function databaseOf(last: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  try {
    for (const name of readdirSync(all))
      if (name.slice(0, 4) <= last) cpSync(join(all, name), join(folder, name));
    await client.query('drop schema public cascade; create schema public');
    await migrate(made.url, { migrations: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('orders that are open when the server is brought up to date keep their lines, and stay what they were', async () => {
  await databaseOf('0006');
  await client.query(`
    insert into person (contact_id) values ('101');
    insert into join_session (uuid, state, origin, programme, contact_id, revision, paying_since, upgrade) values
      ('11111111-1111-4111-8111-111111111111', 'ordering', 'invite', 'high-school', '101', 4, null, 'open'),
      ('22222222-2222-4222-8222-222222222222', 'paying', 'school', 'high-school', null, 1, now(), 'open'),
      ('33333333-3333-4333-8333-333333333333', 'started', 'link', 'high-school', '101', 0, null, 'open');
    insert into session_product (session_uuid, product_id, type, name, price_cents, created_at, removed_at) values
      ('11111111-1111-4111-8111-111111111111', 21, 'donation', 'Donation', 2500, '2026-01-01 10:02', null),
      ('11111111-1111-4111-8111-111111111111', 30, 'store', 'Lapel Pin', 1200, '2026-01-01 10:01', now()),
      ('11111111-1111-4111-8111-111111111111', 1, 'membership', 'Membership', 6500, '2026-01-01 10:00', null),
      ('22222222-2222-4222-8222-222222222222', 2, 'membership', 'Premium', 8900, '2026-01-01 10:00', null)`);
  await migrate(made.url);
  const { rows } = await client.query(
    'select state, origin, revision, lines from join_session order by uuid',
  );
  assert.deepEqual(rows, [
    {
      state: 'ordering',
      origin: 'invite',
      revision: 4,
      lines: [
        { number: 1, productId: 1, type: 'membership', name: 'Membership', priceCents: 6500 },
        { number: 2, productId: 21, type: 'donation', name: 'Donation', priceCents: 2500 },
      ],
    },
    {
      state: 'paying',
      origin: 'school',
      revision: 1,
      lines: [{ number: 1, productId: 2, type: 'membership', name: 'Premium', priceCents: 8900 }],
    },
    { state: 'started', origin: 'link', revision: 0, lines: [] },
  ]);
  await assert.rejects(
    client.query("update join_session set paying_since = null where state = 'paying'"),
    /join_session_paying_since/,
  );
  await assert.rejects(client.query("update join_session set state = 'lost'"), /join_session_state/);
});

test('who has paid is known by email and name, and what was left in contacts that are not proven is looked at again', async () => {
  await databaseOf('0010');
  await client.query(`
    insert into person (contact_id, profile, email) values ('101', '{"firstName": "Jordan", "lastName": "Rivera"}', 'Jordan@example.com');
    insert into join_session (uuid, state, origin, programme, contact_id, paid_at, details, crm_contact_id, crm_known, profile_revision, crm_revision) values
      ('11111111-1111-4111-8111-111111111111', 'paid', 'checkout', 'high-school', '101', now(), null, null, '{"city": "Austin"}', 1, 1),
      ('22222222-2222-4222-8222-222222222222', 'paid', 'school', 'high-school', null, now(),
        '{"firstName": " Robin", "lastName": "Lee", "personalEmail": "R@example.com "}', 'shared:101', '{"city": "Austin"}', 2, 2),
      ('33333333-3333-4333-8333-333333333333', 'ordering', 'school', 'high-school', null, null,
        '{"firstName": "Kim", "lastName": "Lee", "personalEmail": "k@example.com"}', 'shared:101', '{"city": "Austin"}', 2, 2)`);
  await migrate(made.url);
  const { rows } = await client.query(
    'select payer, crm_known, profile_revision from join_session order by uuid',
  );
  assert.deepEqual(rows, [
    { payer: 'jordan@example.com jordan rivera', crm_known: { city: 'Austin' }, profile_revision: 1 },
    { payer: 'r@example.com robin lee', crm_known: {}, profile_revision: 3 },
    { payer: null, crm_known: {}, profile_revision: 2 },
  ]);
});

test('the contact of a join is the same for servers of this version and of the one before', async () => {
  await databaseOf('0016');
  const uuid = '11111111-1111-4111-8111-111111111111';
  await client.query(
    "insert into join_session (uuid, origin, programme, crm_contact_id) values ($1, 'school', 'high-school', 'shared:101')",
    [uuid],
  );
  await migrate(made.url);
  const written = async (change: string | null) => {
    if (change !== null) await client.query(`update join_session set ${change}`);
    const { rows } = await client.query({
      text: 'select crm_contact_id, hubspot_contact_id, owns_hubspot_contact from join_session',
      rowMode: 'array',
    });
    return rows[0];
  };
  assert.deepEqual(await written(null), ['shared:101', '101', false]);
  assert.deepEqual(await written("crm_contact_id = 'own:102'"), ['own:102', '102', true]);
  assert.deepEqual(await written("hubspot_contact_id = '103'"), ['own:103', '103', true]);
  assert.deepEqual(await written('owns_hubspot_contact = false'), ['shared:103', '103', false]);
  assert.deepEqual(await written('crm_contact_id = null'), [null, null, null]);
  assert.deepEqual(await written("crm_contact_id = 'own:104'"), ['own:104', '104', true]);
  assert.deepEqual(await written('hubspot_contact_id = null, owns_hubspot_contact = null'), [
    null,
    null,
    null,
  ]);
});

test('a refund from the dashboard is for the membership only where it was what ended it', async () => {
  await databaseOf('0009');
  const [ours, theirs] = ['11111111-1111-4111-8111-111111111111', '22222222-2222-4222-8222-222222222222'];
  const items = JSON.stringify([
    { productId: 1, type: 'membership', name: 'Membership', priceCents: 6500 },
    { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 },
  ]);
  for (const [uuid, intent] of [
    [ours, 'pi_ours'],
    [theirs, 'pi_theirs'],
  ])
    await client.query(`
      insert into join_session (uuid, state, origin, programme, paid_at) values ('${uuid}', 'paid', 'school', 'high-school', now());
      insert into order_snapshot (session_uuid, kind, revision, amount_cents, items) values ('${uuid}', 'join', 1, 7700, '${items}');
      insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, succeeded_at)
        values ('${intent}', '${uuid}', 'join', 1, 'succeeded', 's', 'cus_1', 7700, 1, now());
      insert into membership (session_uuid, product_id, type, payment_intent, standing) values ('${uuid}', 1, 'membership', '${intent}', 'refunded')`);
  const line = JSON.stringify([{ line: 0, productId: 1, name: 'Membership', cents: 6500 }]);
  await client.query(`
    insert into refund (intent_id, stripe_id, amount_cents, reason, status, lines) values
      ('pi_ours', 're_1', 6500, 'requested', 'succeeded', '${line}'),
      ('pi_ours', 're_2', 1200, 'dashboard', 'succeeded', null),
      ('pi_theirs', 're_3', 7000, 'dashboard', 'succeeded', null)`);
  await migrate(made.url);
  const { rows } = await client.query(
    "select stripe_id, lines -> 0 ->> 'name' as name, assigned_at is not null as said from refund where reason = 'dashboard' order by stripe_id",
  );
  assert.deepEqual(rows, [
    { stripe_id: 're_2', name: null, said: false },
    { stripe_id: 're_3', name: 'Membership', said: true },
  ]);
});

test('every membership that was paid for has a number of its own, whoever writes it, and keeps it', async () => {
  await databaseOf('0017');
  const buy = (count: number, first: number, type = 'membership') =>
    client.query(
      `with numbered as (select n, overlay(overlay(md5($2::text || n) placing '4' from 13) placing '8' from 17)::uuid as uuid
          from generate_series($1::int, $1::int + $3::int - 1) n),
        session as (insert into join_session (uuid, state, origin, programme, paid_at) select uuid, 'paid', 'school', 'high-school', now() from numbered),
        paid as (insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
          select 'pi_' || n, uuid, 'join', 1, 'succeeded', 's', 'cus_1', 6500, 1 from numbered)
      insert into membership (session_uuid, product_id, type, payment_intent) select uuid, 1, $2, 'pi_' || n from numbered`,
      [first, type, count],
    );
  const numbers = async () => {
    const { rows } = await client.query<{
      payment_intent: string;
      type: string;
      member_number: string | null;
    }>('select payment_intent, type, member_number from membership order by id');
    return rows;
  };
  await buy(500, 1);
  await buy(1, 501, 'membership_upgrade');
  await migrate(made.url);
  const earlier = await numbers();
  await buy(500, 601);
  await buy(1, 1101, 'membership_upgrade');
  const all = await numbers();
  assert.deepEqual(all.slice(0, 501), earlier, 'what had a number keeps it');
  const given = all.filter(({ type }) => type === 'membership').map(({ member_number }) => member_number!);
  for (const number of given) assert.equal(parseMemberNumber(number), number);
  assert.equal(new Set(given).size, 1000);
  assert.deepEqual([...new Set(given.join(''))].toSorted().join(''), '0123456789ABCDEFGHJKMNPQRSTVWXYZ');
  assert.deepEqual(
    all.filter(({ member_number }) => member_number === null).map(({ type }) => type),
    ['membership_upgrade', 'membership_upgrade'],
  );

  await client.query(`
    with lost as (delete from membership where payment_intent = 'pi_601' returning session_uuid)
    insert into membership (session_uuid, product_id, type, payment_intent) select session_uuid, 1, 'membership', 'pi_601' from lost`);
  assert.equal(
    (await numbers()).find(({ payment_intent }) => payment_intent === 'pi_601')?.member_number,
    all.find(({ payment_intent }) => payment_intent === 'pi_601')?.member_number,
    'a payment that is settled again has the number that was printed',
  );

  await client.query(`
    update membership set member_number = null where payment_intent = 'pi_1';
    update membership set member_number = '${given[0]}' where payment_intent = 'pi_2'`);
  await client.query(
    "update membership set member_number = free_member_number('pi_1') where payment_intent = 'pi_1'",
  );
  const other = (await numbers()).find(({ payment_intent }) => payment_intent === 'pi_1')?.member_number;
  assert.notEqual(other, given[0], 'one that is taken is not given again');
  assert.equal(parseMemberNumber(other!), other);
});

test('Stripe is told of those once more who were erased before charges were thought of', async () => {
  await databaseOf('0022');
  await client.query(`
    insert into join_session (uuid, state, origin, programme, paid_at, erased_at) values
      ('11111111-1111-4111-8111-111111111111', 'paid', 'school', 'high-school', now(), now()),
      ('22222222-2222-4222-8222-222222222222', 'paid', 'school', 'high-school', now(), null);
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision) values
      ('pi_1', '11111111-1111-4111-8111-111111111111', 'join', 1, 'succeeded', '', '', 6500, 1),
      ('pi_2', '22222222-2222-4222-8222-222222222222', 'join', 1, 'succeeded', '', '', 6500, 1)`);
  await migrate(made.url);
  const { rows } = await client.query('select * from forget_at_stripe');
  assert.deepEqual(rows, [{ stripe_id: 'pi_1', kind: 'intent' }]);
});

test('a version runs on a database that a newer one has migrated, unless that took away what it needs', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'induct-migrations-'));
  t.after(() => rmSync(folder, { recursive: true }));
  await client.query('drop schema public cascade; create schema public');
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
  await client.query('drop schema public cascade; create schema public');
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
  await client.query('drop schema public cascade; create schema public');
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/changing.md'), 'utf8');
  const [, example] = /```sql\n([\s\S]*?)```/.exec(page)!;
  cpSync(all, folder, { recursive: true });
  writeFileSync(join(folder, '9999-contract.sql'), example!);
  await migrate(made.url, { migrations: folder });
  await client.query(
    `insert into join_session (uuid, origin, programme, hubspot_contact_id, owns_hubspot_contact)
      values (gen_random_uuid(), 'school', 'high-school', '101', true)`,
  );
  await client.query("update join_session set hubspot_contact_id = '102'");
  const [, oldest] = /^-- oldest version: (.*)$/m.exec(example!)!;
  assert.deepEqual(await migrate(made.url, { version: oldest! }), []);
  await assert.rejects(
    migrate(made.url, { version: '0.1.0' }),
    /9999-contract\.sql, after which only version/,
  );
});

test('the tables need no extension, since a backup holds their schema alone', async () => {
  await databaseOf('9999');
  const { rows } = await client.query("select extname from pg_extension where extname <> 'plpgsql'");
  assert.deepEqual(rows, []);
});
