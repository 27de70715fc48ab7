import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { queueForHubspot } from './queuePersonsForHubspot.ts';

/**
 * Tests joins in which somebody types the name and email of an existing contact without proving to be that person: siblings,
 * payers who pay again, and strangers.
 */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const {
  atContact,
  contactOf,
  ownContactOf,
  paid,
  pay,
  personOf,
  refund,
  run,
  schoolJoin,
  statusAt,
  statusOf,
} = identityOn(server);

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
    (await runCommand(t, server, 'contacts diff', [uuid])).out,
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

test('a status that says former gives way to member once somebody likely the same has paid, and all else follows once staff say that it is the same person', async (t) => {
  const email = 'former@example.com';
  const id = await newContact(server, email, { membership_status: 'former', city: 'Houston' });
  const uuid = await pay({ personalEmail: email, city: 'Dallas' });
  const told = ['membership_status', 'city', 'accepted_privacy_policy'];
  assert.deepEqual(await atContact(id, told), ['member', 'Houston', null]);
  assert.deepEqual(await noticesOf(server, uuid), []);

  await run(t, 'person merge', uuid, id);
  await deliver(server);
  assert.deepEqual(await atContact(id, told), ['member', 'Dallas', 'true']);
  // The sale is refused, because our database has the contact's membership.
  const again = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
  assert.equal(again.status, 409);
});

test('a join is joined with a contact once, when it is paid, to one that is there', async (t) => {
  const link = (...args: string[]) => runCommand(t, server, 'person merge', args);
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
  await queueForHubspot(server.deps.database, stranger.uuid);
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

test('who pays with the email of a member is told to staff with a refund, and no link that would be refused', async (t) => {
  const personalEmail = 'a4@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'member' });
  const uuid = await pay({ personalEmail });
  const [notice] = await noticesOf(server, uuid);
  assert.match(
    notice!,
    new RegExp(`contact ${id} is a member\\. .* operator -- refund ${uuid} --upgrade --items all$`),
  );
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, id]);
  assert.equal(code, 1);
  assert.match(out, /is a member already, as HubSpot says\. Give the join back: npm run operator -- refund/);
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
