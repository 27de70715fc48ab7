import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { startHubspotEmulator } from '../../../emulators/hubspot/server.ts';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { testDatabase } from '../../../tests/harness/database.ts';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { details } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../../tests/harness/testLength.ts';
import { until } from '../../../tests/harness/until.ts';
import { connect, type Database } from '../platform/database/client.ts';
import { patience } from '../platform/database/patience.ts';

const JOINS = 20_000;
const FIRST_CONTACT = 500_000;

const server = resolve(import.meta.dirname, '../main.ts');

/** Starts a server process that sends joins to HubSpot. Resolves when the server listens. */
async function startServer(t: TestContext, env: Record<string, string>): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', server], {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.after(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Inserts finished joins: half have a contact in HubSpot, and half do not. */
async function finishJoins(database: Database): Promise<void> {
  await sql`
    insert into person (id, contact_id, profile, email, fetched_at) overriding system value
    select n, case when n <= ${JOINS / 2}::int then (${FIRST_CONTACT} + n)::text end, json_build_object('firstName', 'Before', 'city', 'Austin'),
      'known' || n || '@example.com', case when n <= ${JOINS / 2}::int then now() end
    from generate_series(1, ${JOINS}::int) n`.execute(database);
  await sql`select setval(pg_get_serial_sequence('person', 'id'), (select max(id) from person))`.execute(
    database,
  );
  await sql`
    with joined as (
      insert into join_session (state, origin, programme, person_id, details, paid_at, created_at)
      select 'paid', (case when n <= ${JOINS / 2}::int then 'invite' else 'school' end)::join_session_origin, 'high-school',
        n,
        ${JSON.stringify(details())}::jsonb || json_build_object('firstName', 'First' || n, 'lastName', 'Last' || n, 'address1', n || ' Oak Street',
          'city', case when n % 2 = 0 then 'Dallas' else 'Austin' end, 'personalEmail', 'Join' || n || '@example.com')::jsonb,
        now(), now() - interval '1 hour'
      from generate_series(1, ${JOINS}::int) n
      returning uuid
    ), paid as (
      insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, succeeded_at)
      select 'pi_' || uuid, uuid, 'join', 1, 'succeeded', '', '', 6500, 1, now() from joined
    )
    select`.execute(database);
  await sql`
    insert into membership (session_uuid, person_id, product_id, type, payment_intent)
    select uuid, person_id, 1, 'membership', 'pi_' || uuid from join_session`.execute(database);
  await sql`update person set details = join_session.details from join_session where person_id = id`.execute(
    database,
  );
  await sql`insert into crm_delivery (person_id, due_since, due_at, sent) select id, now(), now(), profile from person`.execute(
    database,
  );
}

test(`${JOINS} finished joins reach HubSpot within its limits, in full batches, though the server is killed twice`, {
  skip: onlyLong,
}, async (t) => {
  const folder = temporaryFolder(t);
  const made = await testDatabase();
  t.after(() => made.drop());
  const database = connect(made.url, { waits: patience.ofWork });
  t.after(() => database.destroy());
  const hubspot = await startHubspotEmulator({
    host: '127.0.0.1',
    port: 0,
    dataDir: folder,
    seed: Array.from({ length: JOINS / 2 }, (_, index) => ({
      id: String(FIRST_CONTACT + index + 1),
      properties: {
        firstname: 'Before',
        // In HubSpot, staff have changed the city after the form was filled in.
        city: 'Houston',
        email: `known${index + 1}@example.com`,
      },
    })),
  });
  t.after(() => hubspot.close());
  await finishJoins(database);

  const env = {
    DATABASE_URL: made.url,
    HUBSPOT_EMULATOR_URL: hubspot.url,
    STRIPE_EMULATOR_URL: 'http://127.0.0.1:9',
    MAIL: 'elsewhere',
    DATA_DIR: folder,
    PORT: '0',
    LOG_LEVEL: 'fatal',
  };
  const behind = async () =>
    (await sql`select from crm_delivery where due_at is not null`.execute(database)).rows.length;
  for (const left of [(JOINS * 2) / 3, JOINS / 3]) {
    const process = await startServer(t, env);
    while ((await behind()) > left)
      await once(process, 'never', { signal: AbortSignal.timeout(20) }).catch(() => {});
    process.kill('SIGKILL');
    await once(process, 'exit');
    // Joins that a killed process had taken would be due again only after a minute.
    await sql`update crm_delivery set due_at = now() where due_at is not null`.execute(database);
  }
  const last = await startServer(t, env);
  await until(async () => (await behind()) === 0);
  last.kill('SIGTERM');
  await once(last, 'exit');

  const ledger = await requestsTo(hubspot.url);
  assert.deepEqual(
    ledger.filter(({ status }) => status !== 200 && status !== 201 && status !== 207),
    [],
    'no limit was exceeded and nothing was refused',
  );
  const batches = ledger.filter(({ path }) => /\/batch\/(update|create|upsert)$/.test(path)).length;
  // If a killed process did not record its batch, the batch is sent a second time.
  assert.ok(batches <= (JOINS / 100) * 1.05 + 2, `${batches} batch writes for ${JOINS} joins`);
  t.diagnostic(`${batches} batch writes`);

  await forgetRequests(hubspot.url);
  const wrong: string[] = [];
  const properties =
    'firstname,lastname,city,address,personal_email,email,join_stage,membership_status,amount_paid';
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}` };
  let found = 0;
  for (let after: string | undefined = ''; after !== undefined; ) {
    const query = `limit=100&properties=${properties}${after ? `&after=${after}` : ''}`;
    let response = await fetch(`${hubspot.url}/crm/objects/2026-09/contacts?${query}`, { headers });
    await until(async () => {
      if (response.status !== 429) return true;
      response = await fetch(`${hubspot.url}/crm/objects/2026-09/contacts?${query}`, { headers });
      return false;
    });
    const page = (await response.json()) as {
      results: { id: string; properties: Record<string, string> }[];
      paging?: { next: { after: string } };
    };
    for (const { properties: held } of page.results) {
      const n = Number(/^Join(\d+)@/i.exec(held.personal_email ?? '')?.[1]);
      const isKnown = n <= JOINS / 2;
      const expected = {
        firstname: `First${n}`,
        lastname: `Last${n}`,
        address: `${n} Oak Street`,
        // Staff changed the city in HubSpot to Houston. It stays unless the joiner changed the city in the form.
        city: n % 2 === 0 ? 'Dallas' : isKnown ? 'Houston' : 'Austin',
        email: isKnown ? `known${n}@example.com` : `join${n}@example.com`,
        join_stage: 'paid',
        membership_status: 'member',
        amount_paid: '65.00',
      };
      found++;
      for (const [name, value] of Object.entries(expected))
        if (held[name] !== value) wrong.push(`join ${n}: ${name} is ${held[name]}, not ${value}`);
    }
    after = page.paging?.next.after;
  }
  assert.deepEqual([found, wrong.slice(0, 10)], [JOINS, []]);
});
