import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { displayMemberNumber } from '#core/memberNumber.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { differencesOf, lapelPin } from '../../../tests/harness/refunds.ts';
import { joinRow, membershipsOf, paymentRow, stateOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  details,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeIntentOf } from '../../../tests/harness/upgrades.ts';
import { findPeople } from '../joining/findJoins.ts';
import { readLetter } from '../letters/takeLetter.ts';
import { listParcels } from '../membership/orders.ts';
import { cancelIntent } from '../paying/cancelIntent.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { settleJoin, settlePayment } from './settle.ts';

const server = await sharedServer();

/** Settles a payment that Stripe does not know, as after our keys were replaced by those of another Stripe account. */
async function settleUnknown(t: TestContext, intentId: string): Promise<void> {
  const asked = t.mock.method(server.deps.payments, 'retrieveIntent', async () => {
    throw new NotAtStripe('No such payment_intent', { cause: null });
  });
  await settlePayment(server.deps, intentId);
  asked.mock.restore();
}

/** Returns HubSpot's values about a contact's purchases. The last value is whether HubSpot has a time of payment. */
async function toldOf(contactId: string): Promise<unknown[]> {
  await deliver(server);
  const held = await atHubspot(
    server,
    contactId,
    'membership_status',
    'membership_name',
    'amount_paid',
    'donation_amount',
    'store_items',
    'paid_at',
  );
  return [
    held.membership_status,
    held.membership_name || null,
    held.amount_paid,
    held.donation_amount || null,
    held.store_items || null,
    Boolean(held.paid_at),
  ];
}

const standings = async (uuid: string) => (await membershipsOf(server, uuid)).map(({ standing }) => standing);

test('a payment that was held as none for a while buys the membership that it had bought', async (t) => {
  const { uuid, intentId } = await newMember(server, 'HONOR101');
  const [bought] = await membershipsOf(server, uuid);
  await settleUnknown(t, intentId);
  assert.deepEqual([await standings(uuid), await stateOf(server, uuid)], [['void'], 'ordering']);
  // Without a payment that succeeded, the joiner gets reminders, as for any other unpaid join.
  const { succeeded_at: succeededAt } = await paymentRow(server, intentId);
  assert.equal(succeededAt, null);
  await settlePayment(server.deps, intentId);
  const [again, ...more] = await membershipsOf(server, uuid);
  assert.deepEqual(
    [again?.standing, again?.member_number, again?.contact_id, more],
    ['active', bought!.member_number, '101', []],
  );
  assert.deepEqual(await differencesOf(server, intentId), []);
  // The commands that show this join to staff do not fail.
  assert.deepEqual((await findPeople(server.deps, uuid, 1)).joins[0]?.payments[0]?.standing, 'active');
  await listParcels(server.deps, { all: true });
});

test('HubSpot is told that a payment was none, and of the next one', async (t) => {
  const { client, uuid } = await newOrder(server, 'HONOR102', { personalEmail: 'none@example.com' });
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '25.00' } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  const { intentId } = await payOrder(server, client, uuid);
  const bought = ['member', 'Membership', '102.00', '25.00', 'Lapel Pin', true];
  assert.deepEqual(await toldOf('102'), bought);
  await settleUnknown(t, intentId);
  assert.deepEqual(await toldOf('102'), ['former', null, '0.00', null, null, false]);
  await payOrder(server, client, uuid);
  assert.deepEqual(await toldOf('102'), bought);
});

test('a contact that only shares the email is told that a payment was none, and what staff wrote there stays', async (t) => {
  const personalEmail = 'none.shared@example.com';
  const id = await newContact(server, personalEmail, { store_items: 'Stole' });
  const { intentId } = await newMember(server, 'LINCOLN2026', { personalEmail });
  assert.deepEqual(await toldOf(id), ['member', 'Membership', '65.00', null, 'Stole', true]);
  await settleUnknown(t, intentId);
  assert.deepEqual(await toldOf(id), ['former', null, '0.00', null, 'Stole', false]);
});

test('HubSpot does not go on naming an upgrade whose payment was none', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'HONOR104', { personalEmail: 'up@example.com' });
  const { data } = await charge(client, uuid, intentId);
  assert.equal(data.status, 'succeeded');
  const told = async () => {
    await deliver(server);
    const held = await atHubspot(server, '104', 'upgrade_name', 'amount_paid');
    return [held.upgrade_name || null, held.amount_paid];
  };
  assert.deepEqual(await told(), ['Distinguished Member upgrade', '110.00']);
  const upgrade = await upgradeIntentOf(server, uuid);
  await settleUnknown(t, upgrade);
  assert.deepEqual(await told(), [null, '65.00']);
});

test('a join that is paid anew, since Stripe did not know its first payment, has letters and papers with its new number', async (t) => {
  const { client, uuid, intentId } = await newMember(server);
  await settleUnknown(t, intentId);
  const anew = await payOrder(server, client, uuid);
  const [, held] = await membershipsOf(server, uuid);
  const { id } = await server.deps.database
    .selectFrom('letter')
    .select('id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'confirmation')
    .where('occasion', '=', anew.intentId)
    .executeTakeFirstOrThrow();
  assert.equal((await readLetter(server.deps, id))?.memberNumber, held!.member_number);
  const { papers } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.equal(papers?.number, displayMemberNumber(held!.member_number!));
});

test('a second payment that Stripe does not know takes nothing from the join that the first one paid', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await server.deps.database
    .updateTable('payment')
    .set({ status: 'canceled' })
    .where('intent_id', '=', id)
    .execute();
  const { intentId } = await payOrder(server, client, uuid);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  const { paid_at } = await sessionOf(uuid);
  await settleUnknown(t, id);
  assert.deepEqual(await sessionOf(uuid), { state: 'paid', paid_at });
  assert.deepEqual([await standings(uuid), await differencesOf(server, intentId)], [['active'], []]);
});

test('a payment that went back pays for no order when it is settled', async () => {
  const { client, uuid } = await newOrder(server, 'HONOR103', { personalEmail: 'second@example.com' });
  const { id } = await openIntent(client, uuid);
  await newMember(server, 'HONOR103');
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await settlePayment(server.deps, id);
  assert.deepEqual([await stateOf(server, uuid), await standings(uuid)], ['ordering', []]);
});

test('a join is settled by its own payment, whatever its upgrade is', async (t) => {
  const { client, uuid, intentId } = await newMember(server);
  await charge(client, uuid, intentId);
  await settleUnknown(t, intentId);
  await server.deps.database
    .updateTable('join_session')
    .set({ state: 'paid' })
    .where('uuid', '=', uuid)
    .execute();
  const { retrieveIntent } = server.deps.payments;
  t.mock.method(server.deps.payments, 'retrieveIntent', async (id: string) => {
    if (id === intentId) throw new NotAtStripe('No such payment_intent', { cause: null });
    return retrieveIntent.call(server.deps.payments, id);
  });
  await settleJoin(server.deps, uuid);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a join is settled where it stands when nothing is to be brought to what Stripe says', async () => {
  const client = server.client();
  const detailed = await startJoin(client, 'LINCOLN2026');
  await client.call('submitDetails', { params: { uuid: detailed }, body: details() });
  await settleJoin(server.deps, detailed);
  assert.equal(await stateOf(server, detailed), 'detailed');

  const { uuid } = await paidJoin(server, client);
  await client.call('skipUpgrade', { params: { uuid }, body: {} });
  await settleJoin(server.deps, uuid);
  const { upgrade } = await joinRow(server, uuid);
  assert.equal(upgrade, 'skipped');

  const other = server.client();
  const paying = await orderingJoin(other);
  const { id, revision } = await openIntent(other, paying);
  await beginPayment(other, paying, revision);
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  await settleJoin(server.deps, paying);
  assert.equal(await stateOf(server, paying), 'paying', 'its bank is deciding');
});

const sessionOf = (uuid: string) =>
  server.deps.database
    .selectFrom('join_session')
    .select(['state', 'paid_at'])
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();

test('a join whose payment Stripe does not know is open again, though its upgrade is paid', async (t) => {
  const { client, uuid, intentId } = await newMember(server);
  await charge(client, uuid, intentId);
  await settleUnknown(t, intentId);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a join is settled before its upgrade, whichever of them had more attempts', async (t) => {
  const { client, uuid } = await newOrder(server);
  for (let n = 0; n < 2; n++) await cancelIntent(server.deps, (await openIntent(client, uuid)).id);
  const { intentId } = await payOrder(server, client, uuid);
  await charge(client, uuid, intentId);
  const intents = await server.deps.database
    .selectFrom('payment')
    .select(['intent_id', 'kind', 'attempt'])
    .where('session_uuid', '=', uuid)
    .where('status', '=', 'succeeded')
    .orderBy('kind')
    .execute();
  assert.deepEqual(
    intents.map(({ kind, attempt }) => [kind, attempt]),
    [
      ['join', 3],
      ['upgrade', 2],
    ],
  );
  for (const { intent_id } of intents) await settleUnknown(t, intent_id);
  assert.deepEqual(await standings(uuid), ['void', 'void']);
  await settleJoin(server.deps, uuid);
  assert.deepEqual(await standings(uuid), ['active', 'active']);
});
