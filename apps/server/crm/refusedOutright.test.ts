import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { details } from '../../../tests/harness/steps.ts';
import { isLong, onlyLong } from '../../../tests/harness/testLength.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { pushDue } from './push.ts';

/** The first status is tested with many joins. The other statuses take the same path in the code, so fewer joins are enough. */
const SOME = isLong ? { joins: 120, seconds: 600 } : { joins: 110, seconds: 300 };
const MANY = isLong ? { joins: 500, seconds: 3600 } : SOME;

const server = await sharedServer({}, { hubspotLimits: 'off' });
beforeEachIn(import.meta.filename, async () => {
  await server.hubspotFault(null);
  await sql`delete from membership`.execute(server.background);
  await sql`delete from payment`.execute(server.background);
  await sql`delete from join_session`.execute(server.background);
  await sql`delete from crm_delivery`.execute(server.background);
  await sql`delete from staff_notice`.execute(server.background);
});

const requests = () => requestsTo(server.hubspotUrl);

/** Inserts finished joins that are due now. HubSpot has no contacts for them. */
async function finishJoins(word: string, joins: number): Promise<void> {
  await sql`
    with persons as (
      insert into person (details)
      select ${JSON.stringify(details())}::jsonb || json_build_object('firstName', 'First' || n, 'lastName', 'Last' || n, 'address1', n || ' Oak Street',
        'personalEmail', ${word} || n || '@example.com')::jsonb
      from generate_series(1, ${joins}::int) n returning id, details
    ), due as (insert into crm_delivery (person_id, due_since, due_at) select id, now(), now() from persons)
    insert into join_session (person_id, state, origin, programme, details, paid_at, created_at)
    select id, 'paid', 'school', 'high-school', details, now(), now() from persons`.execute(
    server.background,
  );
}

/** Simulates `seconds` in steps of ten seconds. In each step, sends the joins that are due. */
async function serve(seconds: number): Promise<void> {
  const step = sql`make_interval(secs => 10)`;
  for (let passed = 0; passed < seconds; passed += 10) {
    while ((await pushDue({ ...server.deps, database: server.background })).more);
    await sql`update crm_delivery set due_at = due_at - ${step} where due_at is not null`.execute(
      server.background,
    );
    await sql`update crm_budget set refilled_at = refilled_at - ${step}, blocked_until = blocked_until - ${step}`.execute(
      server.background,
    );
  }
}

const counts = async () => {
  const { rows } = await sql<{ due: number; refused: number }>`
    select count(*) filter (where due_at is not null)::int as due,
      count(*) filter (where refusal is not null)::int as refused
    from crm_delivery`.execute(server.background);
  return rows[0]!;
};

for (const [status, { joins, seconds }, headers, body] of [
  [401, MANY, {}],
  [403, SOME, {}],
  [408, SOME, {}],
  [423, SOME, {}],
  [477, SOME, { 'retry-after': '300' }],
  [429, SOME, {}, { policyName: 'DAILY' }],
] as [number, typeof MANY, object, object?][])
  test(`through ${seconds / 60} minutes of ${status}, ${joins} due joins wait; then they are delivered without a hand, in full batches`, {
    skip: [403, 408, 423].includes(status) && onlyLong,
  }, async () => {
    await finishJoins(`after${status}x`, joins);
    await server.hubspotFault({
      kind: 'status',
      status,
      headers,
      ...(body ? { body } : {}),
      times: 1_000_000,
    });
    await forgetRequests(server.hubspotUrl);
    await serve(seconds);
    assert.deepEqual(await counts(), { due: joins, refused: 0 });
    const asked = (await requests()).length;
    assert.ok(
      asked >= 1 && asked <= (status === 429 ? 2 : seconds / 2),
      `${asked} calls in ${seconds} seconds`,
    );

    await server.hubspotFault(null);
    await forgetRequests(server.hubspotUrl);
    await serve(status === 477 || status === 429 ? 1_000 : 180);
    assert.deepEqual(await counts(), { due: 0, refused: 0 });
    const batches = (await requests()).filter(({ path }) => path.endsWith('/batch/create')).length;
    assert.ok(batches <= joins / 100 + 3, `${batches} batches`);
  });
