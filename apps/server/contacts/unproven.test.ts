import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, orderingJoin, paidJoin, payOrder, startJoin } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { noticesCommand } from '../notices/noticesCommand.ts';
import { mergeCommand } from '../people/mergeCommands.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { diffCommand, statusCommand } from './commands.ts';
import { tellHubspot } from './tellHubspot.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
const stole = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0031';
const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const bought = [
  'membership_status',
  'membership_name',
  'upgrade_name',
  'donation_amount',
  'store_items',
  'amount_paid',
  'join_stage',
];
const personal = [
  'firstname',
  'lastname',
  'address',
  'city',
  'state',
  'zip',
  'country',
  'personal_email',
  'accepted_privacy_policy',
  'high_school_name',
  'high_school_gpa',
  'transcript_received_at',
];
const atContact = async (id: string, properties: string[]) =>
  Object.values(
    await atHubspot(server, id, ...properties).then((held) =>
      Object.fromEntries(properties.map((name) => [name, held[name] ?? null])),
    ),
  );

/** Returns the id of the contact that a join has created. Reads our database, because HubSpot's search lags. */
async function ownContactOf(uuid: string): Promise<string> {
  const { id, isOwn } = await contactOfJoin(uuid);
  assert.equal(isOwn, true);
  return id!;
}

/** Returns the contact into which a join is written, and whether the join created it. */
async function contactOfJoin(uuid: string) {
  return server.deps.database
    .selectFrom('join_session')
    .innerJoin('person', 'person.id', 'person_id')
    .select([sql<string | null>`coalesce(contact_id, found_contact_id)`.as('id'), 'made_contact as isOwn'])
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
}

/** Makes a join by a school's code, with an order. Anybody can do so with somebody else's email. */
async function schoolJoin(person: Partial<StudentDetails>): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  return { client, uuid: await orderingJoin(client, 'LINCOLN2026', person) };
}

async function paidSchoolJoin(person: Partial<StudentDetails>): Promise<string> {
  const { client, uuid } = await schoolJoin(person);
  await payOrder(server, client, uuid);
  return uuid;
}

async function notices(t: TestContext, uuid: string): Promise<string[]> {
  const { out } = await runCommand(t, server, noticesCommand, []);
  return out.split('\n').filter((line) => line.includes(`Join ${uuid} is paid and has the email`));
}
const unproven = async (t: TestContext) =>
  Number(/^(\d+) paid joins with the email/m.exec((await runCommand(t, server, statusCommand, [])).out)?.[1]);

test('who does not pay writes nothing into the contact whose email they typed', async (t) => {
  const id = await newContact(server, 'victim@example.com');
  const { uuid } = await schoolJoin({ personalEmail: 'victim@example.com' });
  await deliver(server);
  await deliver(server);
  assert.deepEqual(
    (await atContact(id, [...personal, ...bought])).filter((value) => value !== null),
    [],
  );
  assert.equal(
    (await runCommand(t, server, diffCommand, [uuid])).out,
    `Contact ${id}:\n  nothing to write.\n`,
  );
});

test('who pays says what was bought in the blanks of that contact, and nothing of their person', async (t) => {
  const id = await newContact(server, 'blank@example.com', { firstname: 'Robin' });
  const before = await unproven(t);
  const uuid = await paidSchoolJoin({ personalEmail: 'blank@example.com' });
  await deliver(server);
  assert.deepEqual(await atContact(id, bought), ['member', 'Membership', null, null, null, '65.00', 'paid']);
  assert.deepEqual(
    (await atContact(id, personal)).filter((value) => value !== null),
    ['Robin'],
  );
  assert.deepEqual([await notices(t, uuid), await unproven(t)], [[], before]);
  // The refund changes only values that this join has written itself.
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.deepEqual(await atContact(id, ['membership_status', 'amount_paid']), ['former', '0.00']);
});

for (const status of ['prospect', 'former'])
  test(`a status that says ${status} stays until staff say that it is the same person, who are told once`, async (t) => {
    const email = `${status}@example.com`;
    const id = await newContact(server, email, { membership_status: status, city: 'Houston' });
    const before = await unproven(t);
    const uuid = await paidSchoolJoin({ personalEmail: email, city: 'Dallas' });
    await deliver(server);
    await sql`update join_session set profile_revision = profile_revision + 1 where uuid = ${uuid}`.execute(
      server.deps.database,
    );
    await deliver(server);
    assert.deepEqual(await atContact(id, ['membership_status', 'city']), [status, 'Houston']);
    const told = await notices(t, uuid);
    assert.equal(told.length, 1);
    assert.match(told[0]!, new RegExp(`contact ${id}, .* "${status}" .*person merge ${uuid} ${id}`));
    assert.equal(await unproven(t), before + 1);

    assert.equal((await runCommand(t, server, mergeCommand, [uuid, id])).code, 0);
    await deliver(server);
    assert.deepEqual(await atContact(id, ['membership_status', 'city', 'accepted_privacy_policy']), [
      'member',
      'Dallas',
      'true',
    ]);
    assert.equal(await unproven(t), before);
    // The sale is refused, because our database has the contact's membership.
    const again = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
    assert.equal(again.status, 409);
  });

test('a join is joined with a contact once, when it is paid, to one that is there', async (t) => {
  const link = (...args: string[]) => runCommand(t, server, mergeCommand, args);
  const id = await newContact(server, 'linked@example.com', { membership_status: 'prospect' });
  const { uuid: open } = await schoolJoin({ personalEmail: 'linked@example.com' });
  assert.match((await link(open, id)).out, /Nothing was paid/);
  const uuid = await paidSchoolJoin({ personalEmail: 'linked@example.com' });
  assert.match((await link(uuid, '999999')).out, /knows no contact 999999/);
  assert.match((await link('00000000-0000-4000-8000-000000000000', id)).out, /There is no join/);
  assert.equal((await link(uuid, 'me')).code, 2);
  assert.equal((await link(uuid, id)).code, 0);
  assert.equal((await link(uuid, id)).code, 0, 'said twice, done once');
  const other = await link(uuid, '103');
  assert.equal(other.code, 1);
  assert.match(other.out, new RegExp(`Both are contacts in HubSpot, (${id} and 103|103 and ${id})`));
  const twice = await paidSchoolJoin({ personalEmail: 'linked@example.com' });
  const refused = await link(twice, id);
  assert.equal(refused.code, 0);
  assert.match(
    refused.out,
    new RegExp(`Both hold one, .* refund ${twice} --no-membership`.replace(' --no-membership', '')),
  );
});

test('an email that is corrected before paying leaves alone whose it was by mistake', async () => {
  const mistaken = await newContact(server, 'mistyped@example.com');
  const { client, uuid } = await schoolJoin({ personalEmail: 'mistyped@example.com' });
  await deliver(server);
  const personalEmail = 'corrected@example.com';
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  await payOrder(server, client, uuid);
  await deliver(server);
  assert.deepEqual(
    await atContact(mistaken, bought),
    bought.map(() => null),
  );
  const own = await ownContactOf(uuid);
  assert.deepEqual(await atContact(own, ['email', 'membership_status']), [personalEmail, 'member']);
});

test('an email that is corrected after it made a contact is corrected there, and makes no second one', async () => {
  const { client, uuid } = await schoolJoin({ personalEmail: 'typed.first@example.com' });
  await deliver(server);
  const own = await ownContactOf(uuid);
  const personalEmail = 'typed.then@example.com';
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  await payOrder(server, client, uuid);
  await deliver(server);
  assert.equal(await ownContactOf(uuid), own);
  assert.deepEqual(await atContact(own, ['personal_email', 'membership_status']), [personalEmail, 'member']);
});

test('details that are corrected after HubSpot refused them are sent', async () => {
  const { client, uuid } = await schoolJoin({ personalEmail: 'refused.first@example.com' });
  await sql`update join_session set crm_refusal = 'refused', crm_attempts = 5 where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await deliver(server);
  assert.equal((await contactOfJoin(uuid)).id, null);
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'corrected.then@example.com' }),
  });
  await deliver(server);
  assert.deepEqual(await atContact(await ownContactOf(uuid), ['email']), ['corrected.then@example.com']);
});

test('an email that is corrected while HubSpot looks for it is asked for again', async (t) => {
  const mistaken = await newContact(server, 'mistyped.late@example.com');
  const { client, uuid } = await schoolJoin({ personalEmail: 'mistyped.late@example.com' });
  const real = server.hubspot.createContacts.bind(server.hubspot);
  const personalEmail = 'corrected.late@example.com';
  t.mock.method(
    server.hubspot,
    'createContacts',
    async (...args: Parameters<typeof real>) => {
      const outcomes = await real(...args);
      await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
      return outcomes;
    },
    { times: 1 },
  );
  await deliver(server);
  t.mock.restoreAll();
  await payOrder(server, client, uuid);
  await deliver(server);
  assert.deepEqual(await atContact(mistaken, ['membership_status', 'amount_paid']), [null, null]);
  const own = await ownContactOf(uuid);
  assert.deepEqual(await atContact(own, ['email', 'membership_status']), [personalEmail, 'member']);
});

test("a sibling's payment leaves the contact of the one who paid first, and staff are told", async (t) => {
  const personalEmail = 'mother@example.com';
  const ada = await paidSchoolJoin({ personalEmail, firstName: 'Ada', city: 'Austin' });
  await deliver(server);
  const ben = await paidSchoolJoin({ personalEmail, firstName: 'Ben', city: 'Boston' });
  await deliver(server);
  const found = await server.hubspot.findByEmail(personalEmail);
  assert.deepEqual([found?.properties.firstname, found?.properties.city], ['Ada', 'Austin']);
  assert.deepEqual([(await notices(t, ada)).length, (await notices(t, ben)).length], [0, 1]);
  // The contact is the first payer's. The refund of the second payer leaves it unchanged.
  await refundJoin(server.deps, ben, everything);
  await deliver(server);
  assert.deepEqual(await atContact(found!.id, ['membership_status', 'amount_paid']), ['member', '65.00']);
});

test('a name and an email are no proof: who began first with those of another gets nothing of their contact', async () => {
  const personalEmail = 'same.name@example.com';
  const stranger = await schoolJoin({ personalEmail, city: 'Nowhere' });
  const victim = await schoolJoin({ personalEmail, city: 'Austin' });
  const isOwn = async (uuid: string) => (await contactOfJoin(uuid)).isOwn;
  // Sends the victim's join first, and the stranger's join second.
  await sql`update join_session set crm_next_try_at = now() + interval '1 hour', profile_revision = crm_revision where uuid = ${stranger.uuid}`.execute(
    server.deps.database,
  );
  await deliver(server);
  await stranger.client.call('submitDetails', {
    params: { uuid: stranger.uuid },
    body: details({ personalEmail, city: 'Nowhere' }),
  });
  await deliver(server);
  assert.deepEqual([await isOwn(victim.uuid), await isOwn(stranger.uuid)], [true, false]);
  assert.equal((await server.hubspot.findByEmail(personalEmail))?.properties.city, 'Austin');
  // The stranger's join has the same details as the victim's join, but the contact is not its own: the victim's join created it.
  await sql`update person set found_contact_id = null from join_session where person.id = person_id and uuid = ${stranger.uuid}`.execute(
    server.deps.database,
  );
  await sql`update join_session set profile_revision = profile_revision + 1,
    details = (select details from join_session where uuid = ${victim.uuid}) where uuid = ${stranger.uuid}`.execute(
    server.deps.database,
  );
  await deliver(server);
  assert.equal(await isOwn(stranger.uuid), false);
});

test("a contact that staff create while a stranger with its name and email is joining is not the stranger's", async () => {
  const email = 'imported@example.com';
  const { uuid } = await schoolJoin({ personalEmail: email, city: 'Nowhere' });
  const id = await newContact(server, email, { firstname: 'Jordan', lastname: 'Rivera', city: 'Austin' });
  await deliver(server);
  assert.deepEqual(await contactOfJoin(uuid), { id, isOwn: false });
});

test('a contact that is deleted in HubSpot before its email pays leaves the payer one of their own', async () => {
  const personalEmail = 'gone@example.com';
  const id = await newContact(server, personalEmail);
  const { client, uuid } = await schoolJoin({ personalEmail });
  await deliver(server);
  await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
  await payOrder(server, client, uuid);
  await deliver(server);
  const own = await server.hubspot.findByEmail(personalEmail);
  assert.deepEqual(await atContact(own!.id, ['membership_status', 'city']), ['member', 'Austin']);
});

test('the upgrade that is still held makes nobody a member whose membership has ended', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR101');
  const body = { paymentIntent: intentId };
  assert.equal(
    (await client.call('createUpgradeCharge', { params: { uuid }, body })).data.status,
    'succeeded',
  );
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name']), [
    'member',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, { ...everything, ineligible: true, upgrade: false, items: 'none' });
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'membership_name', 'upgrade_name']), [
    'former',
    'Membership',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name', 'amount_paid']), [
    'former',
    null,
    '0.00',
  ]);
});

test('a join that has ended does not make former who has joined anew', async () => {
  const first = await paidJoin(server, server.client(), 'HONOR104');
  await deliver(server);
  await refundJoin(server.deps, first.uuid, everything);
  await paidJoin(server, server.client(), 'HONOR104');
  // The new join is sent first.
  await sql`update join_session set crm_next_try_at = now() + interval '1 hour' where uuid = ${first.uuid}`.execute(
    server.deps.database,
  );
  await deliver(server);
  await sql`update join_session set profile_revision = profile_revision + 1 where uuid = ${first.uuid}`.execute(
    server.deps.database,
  );
  await deliver(server);
  assert.deepEqual(await atContact('104', ['membership_status']), ['member']);
});

test('donations and store items are told by themselves, less what went back', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR102');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  for (const productUuid of [donation25, pin, stole])
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: 12.5 } });
  await payOrder(server, client, uuid);
  await deliver(server);
  const told = ['donation_amount', 'store_items', 'amount_paid'];
  assert.deepEqual(await atContact('102', told), ['37.50', 'Lapel Pin; Honor Stole', '176.50']);

  const items = { membership: false, ineligible: false, upgrade: false } as const;
  await refundJoin(server.deps, uuid, { ...items, items: [21, 30] });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['12.50', 'Honor Stole', '139.50']);
  await refundJoin(server.deps, uuid, { ...items, items: 'all' });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['0.00', null, '89.00']);
  assert.deepEqual(await atContact('102', ['membership_status']), ['member']);
});

test('a HubSpot without the properties that came later is told the rest, and of these once they are there', async (t) => {
  const older = await startTestServer();
  t.after(() => older.close());
  const properties = `${older.hubspotUrl}/crm/properties/2026-09/contacts`;
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' };
  for (const name of ['upgrade_name', 'donation_amount', 'store_items']) {
    assert.equal((await fetch(`${properties}/${name}`, { method: 'DELETE', headers })).status, 204);
  }
  const client = older.client();
  const uuid = await startJoin(client, 'HONOR103');
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'sam@example.com' }),
  });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
  await payOrder(older, client, uuid);
  await deliver(older);
  const { crm_refusal, crm_known } = await older.deps.database
    .selectFrom('join_session')
    .select(['crm_refusal', 'crm_known'])
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.deepEqual([crm_refusal, crm_known.membershipStatus, crm_known.items], [null, 'member', undefined]);
  const { membership_status, amount_paid } = await atHubspot(
    older,
    '103',
    'membership_status',
    'amount_paid',
  );
  assert.deepEqual([membership_status, amount_paid], ['member', '77.00']);

  const body = JSON.stringify({
    name: 'store_items',
    label: 'Store items',
    type: 'string',
    fieldType: 'text',
    groupName: 'contactinformation',
  });
  assert.equal((await fetch(properties, { method: 'POST', headers, body })).status, 201);
  older.deps.now = () => new Date(Date.now() + 11 * 60_000);
  await tellHubspot(older.deps.database, uuid);
  await deliver(older);
  assert.equal((await atHubspot(older, '103', 'store_items')).store_items, 'Lapel Pin');
});
