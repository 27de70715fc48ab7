import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';

/** These tests are about an email that several joins have: siblings, who pays again, and whose email HubSpot has at another contact. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { atContact, contactOf, ownContactOf, paid, pay, personOf, refund, schoolJoin, statusAt, statusOf } =
  identityOn(server);

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

test('a contact with a part of a name is of the first who has it, and a sibling gets another one', async () => {
  const personalEmail = 'siblings.part@example.com';
  await newContact(server, personalEmail, { lastname: 'Rivera' });
  const ada = await pay({ personalEmail, firstName: 'Ada' });
  await deliver(server);
  const ben = await pay({ personalEmail, firstName: 'Ben' });
  await deliver(server);
  assert.notEqual(await contactOf(ada), await contactOf(ben));
});
