import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, deliveryOf, newContact } from '../../../tests/harness/deliver.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { askHubspot, control, requestsTo } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, newMember, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { askRuleRefusals } from '../running/doctor/askRuleRefusals.ts';
import { CrmUnavailable } from './hubspot/errors.ts';
import { pushDue } from './push.ts';
import { queueForHubspot } from './queuePersonsForHubspot.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
beforeEachIn(import.meta.filename, async () => {
  await server.hubspotFault(null);
  await rule(null);
  await sql`delete from staff_notice`.execute(server.background);
});

const submit = async (code: string, more: object) => {
  const client = server.client();
  const uuid = await startJoin(client, code);
  const answer = await client.call('submitDetails', { params: { uuid }, body: details(more) });
  assert.equal(answer.status, 200, answer.message!);
  return uuid;
};
const rowsOf = async (uuids: readonly string[]) =>
  (
    await sql<{ uuid: string; contact: string | null; refusal: string | null; is_due: boolean }>`
      select uuid, coalesce(contact_id, found_contact_id) as contact, refusal, due_at is not null as is_due
      from join_session join person on person.id = join_session.person_id left join crm_delivery on crm_delivery.person_id = person.id where uuid = any(${uuids})`.execute(
      server.background,
    )
  ).rows;

test('joins whose email HubSpot alone refuses arrive without it, each as a contact of its own, and staff read which', async (t) => {
  const odd = ['josé@example.com', 'zoë@example.com'];
  const uuids = [];
  for (const [index, personalEmail] of odd.entries())
    uuids.push(await submit('LINCOLN2026', { firstName: `Odd${index}`, personalEmail }));
  const plain = await submit('LINCOLN2026', { personalEmail: 'plain.one@example.com' });
  await deliver(server);
  const rows = await rowsOf([...uuids, plain]);
  for (const row of rows) assert.deepEqual([row.refusal, row.is_due], [null, false]);
  assert.equal(new Set(rows.map(({ contact }) => contact)).size, 3);
  for (const [index, uuid] of uuids.entries()) {
    const { contact } = rows.find((row) => row.uuid === uuid)!;
    const held = await atHubspot(server, contact!, 'email', 'firstname', 'city', 'personal_email');
    assert.deepEqual(
      [held.email ?? null, held.firstname, held.city, held.personal_email],
      [null, `Odd${index}`, details().city, odd[index]],
    );
    const { out } = await runCommand(t, server, 'notices', []);
    assert.match(
      out,
      new RegExp(
        `HubSpot does not take the email of join ${uuid}\\. All else of it is in contact ${contact}: correct the email there\\.`,
      ),
    );
  }
  assert.match((await runCommand(t, server, 'contacts failed', [])).out, /None/);

  // Later changes of the join update its contact, as for any other join.
  await sql`
    update person set details = details || '{"city": "Waco"}' where id = (select person_id from join_session where uuid = ${uuids[0]!})`.execute(
    server.background,
  );
  await queueForHubspot(server.background, uuids[0]!);
  await deliver(server);
  const [row] = await rowsOf([uuids[0]!]);
  assert.equal((await atHubspot(server, row!.contact!, 'city')).city, 'Waco');
  const { rows: told } = await sql`select 1 from staff_notice where session_uuid = ${uuids[0]!}`.execute(
    server.background,
  );
  assert.equal(told.length, 1);
});

test('a join without its email has one contact, though HubSpot fails right after it made it', async () => {
  const taken = await submit('LINCOLN2026', {
    personalEmail: 'jordan.rivera@example.com',
    firstName: 'Twin',
  });
  const odd = await submit('LINCOLN2026', { personalEmail: 'łukasz@example.com', firstName: 'Łukasz' });
  await server.hubspotFault({
    kind: 'status',
    status: 503,
    path: '/crm/objects/*/contacts/batch/read',
    times: 3,
  });
  for (let round = 0; round < 3; round++) await deliver(server);
  await server.hubspotFault(null);
  await deliver(server);
  for (const row of await rowsOf([taken, odd])) assert.deepEqual([row.refusal, row.is_due], [null, false]);
  const found: { results?: unknown[] } = await askHubspot(server.hubspotUrl, 'POST', '/search', {
    filterGroups: [{ filters: [{ propertyName: 'firstname', operator: 'EQ', value: 'Łukasz' }] }],
    properties: ['email'],
    limit: 10,
  });
  assert.equal(found.results?.length, 1);
});

test('a contact beside another one with the same email is made once, though the answer was lost', async (t) => {
  const email = 'beside@example.com';
  await newContact(server, email, { firstname: 'Mother' });
  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail: email });
  const { createContacts } = server.hubspot;
  t.mock.method(server.hubspot, 'createContacts', async (writes: Parameters<typeof createContacts>[0]) => {
    const outcomes = await createContacts(writes);
    if (writes.some(({ properties }) => !('email' in properties))) throw new CrmUnavailable('no answer');
    return outcomes;
  });
  await pushDue({ ...server.deps, database: server.background });
  t.mock.restoreAll();
  assert.equal((await rowsOf([uuid]))[0]!.is_due, true);
  await queueForHubspot(server.background, uuid, { isAnew: true });
  await deliver(server);
  const found = await server.hubspot.findByProperty('personal_email', email);
  assert.equal(found.length, 1);
  const held = await atHubspot(server, found[0]!.id, 'membership_status', 'firstname', 'email');
  assert.deepEqual([held.membership_status, held.firstname, held.email || null], ['member', 'Jordan', null]);
});

test('a contact that HubSpot refuses to read sets its own join aside, and no other', async () => {
  const poisoned = await submit('HONOR101', { city: 'Waco' });
  const others = [await submit('HONOR102', { city: 'Waco' }), await submit('HONOR104', { city: 'Waco' })];
  await server.hubspotFault({
    kind: 'status',
    status: 400,
    path: '/crm/objects/*/contacts/batch/*',
    about: '"101"',
    body: { category: 'VALIDATION_ERROR', message: 'no such thing' },
    times: 1_000,
  });
  const blanks = {
    ...server.deps.society.crm.fields,
    city: { property: 'city', write: 'blanks' as const },
  };
  const society = { ...server.deps.society, crm: { ...server.deps.society.crm, fields: blanks } };
  for (let round = 0; round < 8; round++) await deliver({ ...server, deps: { ...server.deps, society } });
  const rows = await rowsOf([poisoned, ...others]);
  const refusalOf = (uuid: string) => rows.find((row) => row.uuid === uuid)!;
  assert.equal(refusalOf(poisoned).refusal, 'no such thing');
  for (const uuid of others)
    assert.deepEqual([refusalOf(uuid).refusal, refusalOf(uuid).is_due], [null, false]);
});

test('a join of whose update HubSpot says nothing is not taken for delivered', async () => {
  const uuid = await submit('HONOR103', { city: 'Waco' });
  const body = { status: 'COMPLETE', results: [] };
  await server.hubspotFault({
    kind: 'status',
    status: 200,
    path: '/crm/objects/*/contacts/batch/update',
    body,
  });
  await deliver(server);
  assert.deepEqual((await rowsOf([uuid]))[0]!.is_due, true);
  await deliver(server);
  assert.deepEqual((await rowsOf([uuid]))[0]!.is_due, false);
  assert.equal((await atHubspot(server, '103', 'city')).city, 'Waco');
});

test('contacts sync with a key that HubSpot refuses ends at once, and says so', async (t) => {
  await server.hubspotFault({
    kind: 'status',
    status: 401,
    body: { category: 'INVALID_AUTHENTICATION', message: 'Authentication credentials not found.' },
    times: 1_000,
  });
  const { code, out } = await runCommand(t, server, 'contacts sync', []);
  const refused = (await requestsTo(server.hubspotUrl)).filter(({ status }) => status === 401);
  assert.ok(refused.length < 5, `${refused.length} requests`);
  assert.equal(code, 1, out);
});

/** Adds a rule of the HubSpot account about its contacts; null removes all. */
const rule = (rule: object | null) =>
  control(server.hubspotUrl, rule ? 'POST' : 'DELETE', 'rules', rule ?? undefined);

for (const [what, code, given, words] of [
  [
    'every new contact must have',
    'LINCOLN2026',
    { property: 'phone', required: true },
    'A rule in HubSpot wants phone of every new contact, and the join does not have it. Make it optional (HubSpot: Settings, Objects, Contacts, Create Record).',
  ],
  [
    'a contact in Texas must have',
    'HONOR102',
    { property: 'phone', requiredWhen: { property: 'state', value: 'Texas' } },
    'A rule in HubSpot wants phone because of the value of state, and the join does not have it. Change the rule (HubSpot: Settings, Properties, state, conditional logic).',
  ],
] as const)
  test(`a join without what ${what} waits with the rule in words; staff and the doctor know, others go through, and so does it afterwards`, async (t) => {
    await rule(given);
    const refused = [
      await submit(code, { personalEmail: `${code}@example.com`, state: 'Texas', country: 'United States' }),
    ];
    const other = await submit('HONOR103', {
      state: 'Ontario',
      country: 'Canada',
      personalEmail: 'o@example.com',
    });
    await deliver(server);
    const refusals = [];
    for (const uuid of [...refused, other]) refusals.push((await deliveryOf(server, uuid)).refusal);
    assert.deepEqual(refusals, [words, null]);
    assert.match((await runCommand(t, server, 'contacts failed', [])).out, /A rule in HubSpot wants phone/);
    const { out } = await runCommand(t, server, 'notices', []);
    assert.equal(out.split(words).length, 2, out);
    assert.deepEqual(await askRuleRefusals(server.deps.config.databaseUrl), {
      said: [{ reason: words, joins: 1 }],
    });
    await rule(null);
    assert.equal((await runCommand(t, server, 'contacts retry', ['all'])).code, 0);
    await deliver(server);
    assert.deepEqual(await askRuleRefusals(server.deps.config.databaseUrl), { said: [] });
  });

test('a join that HubSpot refused is sent again once its joiner has corrected the details', async () => {
  await rule({ property: 'phone', requiredWhen: { property: 'state', value: 'Texas' } });
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const outcomeOf = async (place: { state: string; country: string }) => {
    const body = details({ personalEmail: 'moved@example.com', ...place });
    assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
    await deliver(server);
    const { refusal, isDue } = await deliveryOf(server, uuid);
    return { isRefused: refusal !== null, isDue };
  };
  assert.deepEqual(await outcomeOf({ state: 'Texas', country: 'United States' }), {
    isRefused: true,
    isDue: true,
  });
  assert.deepEqual(await outcomeOf({ state: 'Ontario', country: 'Canada' }), {
    isRefused: false,
    isDue: false,
  });
});
