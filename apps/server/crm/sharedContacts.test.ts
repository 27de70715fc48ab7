import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { atHubspot, deliver, deliveryOf, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { everything, lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { diffCommand } from '../../staff/contacts.ts';
import { mergeCommand } from '../../staff/people.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { diffOf } from './diffJoin.ts';
import { tellHubspot } from './hubspotIsToHear.ts';

/**
 * These tests are about one email of several joins: siblings, a person who pays again, merged contacts, and who types the email of a
 * contact that HubSpot has.
 */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { contactOf, paid, personOf, refund, run, statusAt, statusOf } = identityOn(server);

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
const atContact = async (id: string, properties: readonly string[]) => {
  const held = await atHubspot(server, id, ...properties);
  return properties.map((name) => held[name] ?? null);
};

/** Makes a join by a school's code, with an order. Anybody can do so with somebody else's email. */
async function schoolJoin(person: Partial<StudentDetails>): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  return { client, uuid: await orderingJoin(client, 'LINCOLN2026', person) };
}

/** Pays for such a join, with store items or donations, and tells HubSpot. Returns its uuid. */
async function pay(person: Partial<StudentDetails>, ...productUuids: string[]): Promise<string> {
  const { client, uuid } = await schoolJoin(person);
  for (const productUuid of productUuids)
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  await payOrder(server, client, uuid);
  await deliver(server);
  return uuid;
}

/** Returns the id of the contact that a join has created. */
async function ownContactOf(uuid: string): Promise<string> {
  const { contact_id, made_contact } = await personOf(uuid);
  assert.equal(made_contact, true);
  return contact_id!;
}

test('siblings with one email have a contact each that says nothing of the other, and one stays a member when the other one is refunded', async () => {
  for (const mother of [null, { firstname: 'Mother', membership_status: 'former', city: 'Houston' }]) {
    const personalEmail = `siblings.${mother ? 'imported' : 'created'}@example.com`;
    const mothers = mother && (await newContact(server, personalEmail, mother));
    const ada = await pay({ personalEmail, firstName: 'Ada', city: 'Austin' }, lapelPin);
    const ben = await pay({ personalEmail, firstName: 'Ben', city: 'Boston' });
    assert.deepEqual([await noticesOf(server, ada), await noticesOf(server, ben)], [[], []]);
    const [adas, bens] = [await ownContactOf(ada), await ownContactOf(ben)];
    const told = [
      'firstname',
      'city',
      'email',
      'personal_email',
      'membership_status',
      'amount_paid',
      'store_items',
    ];
    const bensHas = ['Ben', 'Boston', null, personalEmail, 'member', '65.00', null];
    assert.deepEqual(await atContact(bens, told), bensHas);
    const email = mother ? null : personalEmail;
    assert.deepEqual(await atContact(adas, told), [
      'Ada',
      'Austin',
      email,
      personalEmail,
      'member',
      '77.00',
      'Lapel Pin',
    ]);
    await refund(ada);
    assert.deepEqual([await statusAt(adas), await atContact(bens, told)], ['former', bensHas]);
    if (mothers)
      assert.deepEqual(await atContact(mothers, told), [
        'Mother',
        'Houston',
        personalEmail,
        null,
        'former',
        null,
        null,
      ]);
  }
});

test('what a sibling with the same email buys while the invited one pays is not said of that one, and each is a member as long as they hold', async () => {
  const personalEmail = 'upgraded.sibling@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Sam', invitation_code: 'UPSIBLING' });
  const client = server.client();
  const own = await orderingJoin(client, 'UPSIBLING', { personalEmail, firstName: 'Sam' });
  const intent = await openIntent(client, own);
  assert.equal((await beginPayment(client, own, intent.revision)).status, 200);
  const kim = await paid({ personalEmail, firstName: 'Kim' });
  assert.equal((await charge(kim.client, kim.uuid, kim.intentId)).data.status, 'succeeded');
  await deliver(server);
  const kims = await ownContactOf(kim.uuid);
  const told = ['membership_status', 'membership_name', 'upgrade_name', 'amount_paid'];
  assert.deepEqual(await atContact(id, told), [null, null, null, null]);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  await deliver(server);
  assert.deepEqual(await atContact(id, told), ['member', 'Membership', null, '65.00']);
  await refund(own);
  assert.equal(await statusAt(id), 'former');
  assert.deepEqual(await atContact(kims, told), [
    'member',
    'Membership',
    'Distinguished Member upgrade',
    '110.00',
  ]);
});

test('who pays by a school code while they pay by a code of their own is a member until both went back', async () => {
  const personalEmail = 'both.codes@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', invitation_code: 'BOTHCODES' });
  const client = server.client();
  const own = await orderingJoin(client, 'BOTHCODES', { personalEmail });
  const intent = await openIntent(client, own);
  assert.equal((await beginPayment(client, own, intent.revision)).status, 200);
  const school = await pay({ personalEmail });
  assert.deepEqual([await contactOf(school), await statusAt(id)], [id, 'member']);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  await deliver(server);
  await refund(own);
  assert.equal(await statusAt(id), 'member');
  await refund(school);
  assert.equal(await statusAt(id), 'former');
});

test('who pays with the email of a member is told to staff with a refund, and no link that would be refused', async (t) => {
  const personalEmail = 'a4@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'member' });
  const uuid = await pay({ personalEmail });
  const [notice] = await noticesOf(server, uuid);
  assert.match(
    notice!,
    new RegExp(`contact ${id} is a member\\. .* operator -- refund ${uuid} --upgrade --items all$`),
  );
  const { code, out } = await runCommand(t, server, mergeCommand, [uuid, id]);
  assert.equal(code, 1);
  assert.match(out, /is a member already, as HubSpot says\. Give the join back: npm run operator -- refund/);
});

test('a join whose money went back before HubSpot was told of it leaves the status that staff gave', async () => {
  const personalEmail = 'a6@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'prospect' });
  const { uuid } = await paid({ personalEmail });
  await refund(uuid);
  assert.deepEqual([await contactOf(uuid), await statusAt(id)], [id, 'prospect']);
  assert.doesNotMatch((await noticesOf(server, uuid)).join(), new RegExp(id));
});

for (const [way, code] of [
  ['by a code of their own', 'ANEWBYCODE'],
  ["by a school's code", 'LINCOLN2026'],
] as const)
  test(`who joined ${way}, was refunded and has joined anew by a school's code is a member of the same contact until that went back, and has not paid twice`, async () => {
    const personalEmail = `anew.${code.toLowerCase()}@example.com`;
    if (code !== 'LINCOLN2026')
      await newContact(server, personalEmail, {
        firstname: 'Jordan',
        lastname: 'Rivera',
        invitation_code: code,
      });
    const { uuid: first } = await paid({ personalEmail }, code);
    await deliver(server);
    await refund(first);
    assert.equal(await statusOf(first), 'former');
    const second = await pay({ personalEmail });
    assert.equal(await contactOf(second), await contactOf(first));
    assert.deepEqual([await statusOf(first), await noticesOf(server, second)], ['member', []]);
    await refund(second);
    assert.equal(await statusOf(first), 'former');
  });

test('the one whose contact it is is attached to it, though a sibling with the same email paid first', async () => {
  const personalEmail = 'mother@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Ben', lastname: 'Rivera' });
  const ada = await pay({ personalEmail, firstName: 'Ada' });
  const ben = await pay({ personalEmail, firstName: 'Ben' });
  assert.notEqual(await ownContactOf(ada), id);
  assert.equal(await contactOf(ben), id);
  await refund(ada);
  assert.deepEqual([await statusOf(ada), await statusOf(ben)], ['former', 'member']);
});

test('whose payment made a contact a member stays one when that contact is merged into a prospect', async () => {
  const personalEmail = 'merged@example.com';
  const id = await newContact(server, personalEmail);
  const other = await newContact(server, 'merged.other@example.com', { membership_status: 'prospect' });
  await pay({ personalEmail });
  assert.equal(await statusAt(id), 'member');
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  assert.equal(await statusAt(merged.id), 'member');
});

test('whose contact is merged in HubSpot while their bank asks them is a member there once they have paid', async () => {
  const personalEmail = 'paying@example.com';
  const id = await newContact(server, personalEmail, { invitation_code: 'PAYING1' });
  const other = await newContact(server, 'paying.other@example.com');
  const client = server.client();
  const uuid = await orderingJoin(client, 'PAYING1', { personalEmail });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await deliver(server);
  assert.equal(await statusAt(merged.id), 'member');
});

test('what somebody likely the same gave stays said of a contact that buys by itself since, and nothing is left to write', async () => {
  const personalEmail = 'told@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', membership_status: 'member' });
  const uuid = await pay({ personalEmail }, donation25);
  await upgradeByLink(server, id);
  await deliver(server);
  const told = ['membership_status', 'membership_name', 'upgrade_name', 'donation_amount'];
  assert.deepEqual(await atContact(id, told), [
    'member',
    'Membership',
    'Distinguished Member upgrade',
    '25.00',
  ]);
  const diff = await diffOf({ ...server.deps, database: server.background }, uuid);
  assert.deepEqual(diff, { contactId: id, changes: [] });
});

test('what one who paid twice gets back leaves what they have bought again', async () => {
  const personalEmail = 'pins@example.com';
  const id = await newContact(server, personalEmail);
  const first = await pay({ personalEmail }, lapelPin);
  await pay({ personalEmail }, lapelPin);
  const told = ['store_items', 'amount_paid', 'membership_status'];
  assert.deepEqual(await atContact(id, told), ['Lapel Pin; Lapel Pin', '154.00', 'member']);
  await refundJoin(server.deps, first, {
    membership: false,
    ineligible: false,
    upgrade: false,
    items: 'all',
  });
  await deliver(server);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '142.00', 'member']);
  await refund(first);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '77.00', 'member']);
});

test('a refund and a merge of the same person’s contact do not kill one another', async (t) => {
  for (let turn = 0; turn < 8; turn++) {
    const personalEmail = `lock${turn}@example.com`;
    const code = `LOCK${turn}`;
    const id = await newContact(server, personalEmail, { invitation_code: code });
    const other = await newContact(server, `lock${turn}.other@example.com`);
    const first = await paidJoin(server, server.client(), code, { personalEmail });
    await refundJoin(server.deps, first.uuid, everything);
    await deliver(server);
    const second = await paidJoin(server, server.client(), code, { personalEmail });
    await deliver(server);
    const [low] = [first.uuid, second.uuid].sort();
    const holder = await lockHolder(t, server);
    await holder.query('select from join_session where uuid = $1 for update', [low]);
    const refunding = refundJoin(
      { ...server.deps, database: server.background },
      second.uuid,
      everything,
    ).then(
      () => 'refunded',
      (error: Error) => error.message,
    );
    await waiting(holder, 1);
    const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
      primaryObjectId: other,
      objectIdToMerge: id,
    });
    const merging = server.deps.contacts.refresh(merged.id).catch((error: Error) => error.message);
    await waiting(holder, 2);
    await holder.query('commit');
    assert.deepEqual([await refunding, await merging], ['refunded', 'known'], `turn ${turn}`);
  }
});

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

test('who pays says what was bought in the blanks of that contact, and nothing of their person', async () => {
  const id = await newContact(server, 'blank@example.com', { firstname: 'JORDAN' });
  const uuid = await pay({ personalEmail: 'blank@example.com' });
  assert.deepEqual(await atContact(id, bought), ['member', 'Membership', null, null, null, '65.00', 'paid']);
  assert.deepEqual(
    (await atContact(id, personal)).filter((value) => value !== null),
    ['JORDAN'],
  );
  assert.deepEqual(await noticesOf(server, uuid), []);
  await refund(uuid);
  assert.deepEqual(await atContact(id, ['membership_status', 'amount_paid']), ['former', '0.00']);
});

for (const status of ['prospect', 'former'])
  test(`a status that says ${status} gives way to member once somebody likely the same has paid, and all else follows once staff say that it is the same person`, async (t) => {
    const email = `${status}@example.com`;
    const id = await newContact(server, email, { membership_status: status, city: 'Houston' });
    const uuid = await pay({ personalEmail: email, city: 'Dallas' });
    const told = ['membership_status', 'city', 'accepted_privacy_policy'];
    assert.deepEqual(await atContact(id, told), ['member', 'Houston', null]);
    assert.deepEqual(await noticesOf(server, uuid), []);

    await run(t, mergeCommand, uuid, id);
    await deliver(server);
    assert.deepEqual(await atContact(id, told), ['member', 'Dallas', 'true']);
    // The sale is refused, because our database has the contact's membership.
    const again = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
    assert.equal(again.status, 409);
  });

test('a join is joined with a contact once, when it is paid, to one that is there', async (t) => {
  const link = (...args: string[]) => runCommand(t, server, mergeCommand, args);
  const id = await newContact(server, 'linked@example.com', { membership_status: 'prospect' });
  const { uuid: open } = await schoolJoin({ personalEmail: 'linked@example.com' });
  assert.match((await link(open, id)).out, /Nothing was paid/);
  const { uuid } = await paid({ personalEmail: 'linked@example.com' });
  assert.match((await link(uuid, '999999')).out, /knows no contact 999999/);
  assert.match((await link('00000000-0000-4000-8000-000000000000', id)).out, /There is no join/);
  assert.equal((await link(uuid, 'me')).code, 2);
  assert.equal((await link(uuid, id)).code, 0);
  assert.equal((await link(uuid, id)).code, 0, 'said twice, done once');
  const other = await link(uuid, '103');
  assert.equal(other.code, 1);
  assert.match(other.out, new RegExp(`Both are contacts in HubSpot, (${id} and 103|103 and ${id})`));
  const { uuid: twice } = await paid({ personalEmail: 'linked@example.com' });
  const refused = await link(twice, id);
  assert.equal(refused.code, 0);
  assert.match(refused.out, new RegExp(`Both hold one, .* refund ${twice}`));
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
  await setDelivery(server, uuid, sql`refusal = 'refused', tries = 5`);
  await deliver(server);
  const { contact_id, found_contact_id } = await personOf(uuid);
  assert.deepEqual([contact_id, found_contact_id], [null, null]);
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

test('a name and an email are no proof: who began first with those of another gets nothing of their contact', async () => {
  const personalEmail = 'same.name@example.com';
  const stranger = await schoolJoin({ personalEmail, city: 'Nowhere' });
  const victim = await schoolJoin({ personalEmail, city: 'Austin' });
  const isOwn = async (uuid: string) => (await personOf(uuid)).made_contact;
  // Sends the victim's join first, and the stranger's join second.
  await setDelivery(server, stranger.uuid, sql`due_at = null, due_since = null`);
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
  await sql`
    update person set details = (select details from join_session where uuid = ${victim.uuid})
    where id = (select person_id from join_session where uuid = ${stranger.uuid})`.execute(
    server.deps.database,
  );
  await tellHubspot(server.deps.database, stranger.uuid);
  await deliver(server);
  assert.equal(await isOwn(stranger.uuid), false);
});

test("a contact that staff create while a stranger with its name and email is joining is not the stranger's", async () => {
  const email = 'imported@example.com';
  const { uuid } = await schoolJoin({ personalEmail: email, city: 'Nowhere' });
  const id = await newContact(server, email, { firstname: 'Jordan', lastname: 'Rivera', city: 'Austin' });
  await deliver(server);
  assert.deepEqual([await contactOf(uuid), (await personOf(uuid)).made_contact], [id, false]);
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
  await deliver(server);
  await tellHubspot(server.deps.database, first.uuid);
  await deliver(server);
  assert.deepEqual(await atContact('104', ['membership_status']), ['member']);
});

test('donations and store items are told by themselves, less what went back', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR102');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  for (const productUuid of [donation25, lapelPin, stole])
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
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  await payOrder(older, client, uuid);
  await deliver(older);
  const { refusal, sent } = await deliveryOf(older, uuid);
  assert.deepEqual([refusal, sent.membershipStatus, sent.items], [null, 'member', undefined]);
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

test('a contact with a part of a name is of the first who has it, and a sibling gets another one', async () => {
  const personalEmail = 'siblings.part@example.com';
  await newContact(server, personalEmail, { lastname: 'Rivera' });
  const ada = await pay({ personalEmail, firstName: 'Ada' });
  await deliver(server);
  const ben = await pay({ personalEmail, firstName: 'Ben' });
  await deliver(server);
  assert.notEqual(await contactOf(ada), await contactOf(ben));
});
