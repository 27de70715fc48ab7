import assert from 'node:assert/strict';
import { test } from 'node:test';
import { personId } from '../../../tests/harness/personId.ts';
import { chargeOf, failRefund, refundInDashboard } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf, stateOf } from '../../../tests/harness/rows.ts';
import {
  askIntent,
  beginPayment,
  details,
  newMember,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { confirmPayment } from './confirmPayment.ts';
import { followPayment } from './refunds/followPayment.ts';
import { refundJoin } from './refunds/refundJoin.ts';

const server = await sharedServer();

/** Makes one join of the contact for each client (a separate browser), each with an open intent at Checkout. */
async function joinsOfOne(contactId: string, clients: Client[]) {
  await server.deps.database
    .insertInto('person')
    .values({ contact_id: contactId, profile: '{}', email: 'jordan@example.com' })
    .execute();
  await server.deps.database
    .insertInto('invitation')
    .values({ code: `ONE${contactId}`, person_id: personId(contactId) })
    .execute();
  return Promise.all(
    clients.map(async (client) => {
      const body = { contactId, invitationCode: `ONE${contactId}`, isTOLA: true };
      const { uuid } = (await client.call('initiateJoin', { body })).data;
      await client.call('submitDetails', { params: { uuid }, body: details() });
      await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
      return { client, uuid, intent: await openIntent(client, uuid) };
    }),
  );
}

const refundedOf = async (client: Client, uuid: string) =>
  (await client.call('getWelcome', { params: { uuid } })).data.refunded;

test('of a second payment of which a dispute took a part, staff are told what is still owed', async () => {
  const [first, second] = await joinsOfOne('7010', [server.client(), server.client()]);
  await payByCard(server, first!.intent.id);
  await confirmPayment(server.deps, first!.intent.id);
  const { id } = second!.intent;
  await payByCard(server, id);
  const dispute = await server.stripeControl('disputes', {
    charge: await chargeOf(server, id),
    amount: 3000,
  });
  await confirmPayment(server.deps, id);
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, id);
  assert.equal(
    (await noticesOf(server, second!.uuid)).at(-1),
    `$30.00 of payment ${id} was lost by a dispute, and it bought nothing. A dispute over payment ${id} was lost, and Stripe refunds nothing more of it: what is left goes back by other means, as by a cheque. That is $35.00.`,
  );
});

test('a payment that went back is told with its amount and card to who brings its secret, and to the winner', async () => {
  const [first, second] = await joinsOfOne('7001', [server.client(), server.client()]);
  await payByCard(server, first!.intent.id);
  await beginPayment(second!.client, second!.uuid, second!.intent.revision);
  await payByCard(server, second!.intent.id, 'pm_card_mastercard');
  const won = await reportPayment(first!.client, first!.uuid, first!.intent);
  assert.deepEqual(
    [won.data.status, won.data.refunded, won.data.goOn],
    ['succeeded', null, null],
    'the first one bought the membership',
  );
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), []);
  const lost = await reportPayment(second!.client, second!.uuid, second!.intent);
  assert.equal(await stateOf(server, second!.uuid), 'ordering', 'its order is open again');
  assert.deepEqual(lost.data, {
    status: 'refunded',
    paymentIntent: second!.intent.id,
    refunded: {
      kind: 'join',
      why: 'held',
      amount: 6500,
      card: { brand: 'Mastercard', last4: '4444' },
      isReturned: true,
      isWithStaff: false,
    },
    goOn: '/registration/checkout',
  });
  assert.deepEqual((await reportPayment(second!.client, second!.uuid, second!.intent)).data, lost.data);
  const wrong = { ...second!.intent, clientSecret: first!.intent.clientSecret };
  assert.equal((await reportPayment(second!.client, second!.uuid, wrong)).status, 404);
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { kind: 'join', why: 'held', amount: 6500, isReturned: true, isWithStaff: false },
  ]);
});

test('while Stripe has yet to take the refund, nobody is told that it was made', async () => {
  const [first, second] = await joinsOfOne('7002', [server.client(), server.client()]);
  await payByCard(server, first!.intent.id);
  await payByCard(server, second!.intent.id);
  await reportPayment(first!.client, first!.uuid, first!.intent);
  await server.stripeFault({ kind: 'status', status: 503, method: 'POST', path: '/v1/refunds', times: 3 });
  const lost = await reportPayment(second!.client, second!.uuid, second!.intent);
  await server.stripeFault(null);
  assert.deepEqual([lost.data.status, lost.data.refunded?.isReturned], ['refunded', false]);
  await refundInDashboard(server, second!.intent.id, 1000);
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { kind: 'join', why: 'held', amount: 6500, isReturned: false, isWithStaff: false },
  ]);
});

test('a second payment whose refund is pending at Stripe is told as returned, until it fails', async () => {
  const [first, second] = await joinsOfOne('7015', [server.client(), server.client()]);
  for (const { intent } of [first!, second!]) await payByCard(server, intent.id);
  await confirmPayment(server.deps, first!.intent.id);
  await server.stripeControl('refunds', { answer: 'pending' });
  assert.equal(await confirmPayment(server.deps, second!.intent.id), 'refunded');
  await server.stripeControl('refunds', { answer: 'succeeded' });
  const told = { kind: 'join', why: 'held', amount: 6500 };
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { ...told, isReturned: true, isWithStaff: false },
  ]);
  await failRefund(server, second!.intent.id);
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { ...told, isReturned: false, isWithStaff: true },
  ]);
});

test('a second payment that a lost dispute took is not said to be on its way', async () => {
  const [first, second] = await joinsOfOne('7006', [server.client(), server.client()]);
  for (const { intent } of [first!, second!]) await payByCard(server, intent.id);
  await server.stripeControl('refunds', { answer: 'refused' });
  for (const { intent } of [first!, second!]) await confirmPayment(server.deps, intent.id);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  const { id } = await server.stripeControl('disputes', {
    charge: await chargeOf(server, second!.intent.id),
  });
  await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  await followPayment(server.deps, second!.intent.id);
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { kind: 'join', why: 'held', amount: 6500, isReturned: true, isWithStaff: false },
  ]);
});

test('a second payment that all went back in the dashboard before it was confirmed is not refunded again', async () => {
  const [first, second] = await joinsOfOne('7012', [server.client(), server.client()]);
  for (const { intent } of [first!, second!]) await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, first!.intent.id), 'succeeded');
  await server.stripe('POST', '/v1/refunds', { payment_intent: second!.intent.id });
  assert.equal(await confirmPayment(server.deps, second!.intent.id), 'refunded');
  const refunds = await server.deps.database
    .selectFrom('refund')
    .select(['amount_cents', 'reason', 'status'])
    .where('intent_id', '=', second!.intent.id)
    .execute();
  assert.deepEqual(refunds, [{ amount_cents: 6500, reason: 'dashboard', status: 'succeeded' }]);
});

test('a second payment of which Stripe refuses the rest for good is said to be with staff', async () => {
  const [first, second] = await joinsOfOne('7008', [server.client(), server.client()]);
  for (const { intent } of [first!, second!]) await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, first!.intent.id), 'succeeded');
  await server.stripe('POST', '/v1/refunds', { payment_intent: second!.intent.id, amount: '1000' });
  const body = { error: { type: 'invalid_request_error', code: 'charge_disputed', message: 'no' } };
  const refunds = { method: 'POST', path: '/v1/refunds', times: 3 };
  await server.stripeFault({ kind: 'status', status: 400, body, ...refunds });
  assert.equal(await confirmPayment(server.deps, second!.intent.id), 'refunded');
  await server.stripeFault(null);
  assert.deepEqual(await refundedOf(first!.client, first!.uuid), [
    { kind: 'join', why: 'held', amount: 6500, isReturned: false, isWithStaff: true },
  ]);
});

test('an order whose payment went back as a second one is told as open to who looks at it first', async () => {
  const [first, second] = await joinsOfOne('7005', [server.client(), server.client()]);
  await beginPayment(second!.client, second!.uuid, second!.intent.revision);
  await payByCard(server, first!.intent.id);
  await reportPayment(first!.client, first!.uuid, first!.intent);
  await payByCard(server, second!.intent.id);
  const { data } = await second!.client.call('releasePayment', { params: { uuid: second!.uuid }, body: {} });
  assert.deepEqual([data.state, await stateOf(server, second!.uuid)], ['ordering', 'ordering']);
});

test('a second payment of the same join is told on its welcome page; another join hears nothing of it', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const stranger = server.client();
  const other = await paidJoin(server, stranger, 'LINCOLN2026');
  const again = await server.stripe('POST', '/v1/payment_intents', {
    amount: '6500',
    currency: 'usd',
    'allowed_payment_method_types[0]': 'card',
    payment_method: 'pm_card_visa',
    confirm: 'true',
    return_url: server.url,
    'metadata[app]': 'induct',
    'metadata[environment]': server.deps.environment,
    'metadata[session]': uuid,
    'metadata[kind]': 'join',
    'metadata[revision]': '1',
  });
  assert.equal(await confirmPayment(server.deps, again.body.id), 'refunded');
  assert.deepEqual(await refundedOf(client, uuid), [
    { kind: 'join', why: 'held', amount: 6500, isReturned: true, isWithStaff: false },
  ]);
  assert.deepEqual(await refundedOf(stranger, other.uuid), []);
  const { receipt } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.deepEqual(
    receipt?.payments.map(({ reference }) => reference),
    [intentId],
  );
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(data.isEligibleForUpgrade, true, 'by the payment that counts');
  const upgraded = await charge(client, uuid, intentId);
  assert.equal(upgraded.data.status, 'succeeded');
});

test('who became a member by another join is told so at Membership and at Checkout', async () => {
  const [first, second] = await joinsOfOne('7003', [server.client(), server.client()]);
  await payByCard(server, first!.intent.id);
  await reportPayment(first!.client, first!.uuid, first!.intent);
  const { client, uuid, intent } = second!;
  const saved = await client.call('submitDetails', { params: { uuid }, body: details() });
  assert.equal(saved.status, 200);
  const told = await Promise.all([
    client.call('getMembershipDetails', { params: { uuid } }),
    askIntent(client, uuid, intent.amount),
  ]);
  for (const { status, message, goOn } of told) {
    assert.deepEqual([status, goOn], [409, undefined]);
    assert.match(message ?? '', /already a member/);
  }
});

test('a join whose payment went back as a second one is paid again once the first membership has ended', async () => {
  const [first, second] = await joinsOfOne('7004', [server.client(), server.client()]);
  await payByCard(server, first!.intent.id);
  await payByCard(server, second!.intent.id);
  await reportPayment(first!.client, first!.uuid, first!.intent);
  assert.equal((await reportPayment(second!.client, second!.uuid, second!.intent)).data.status, 'refunded');
  const membershipOnly = { membership: true, ineligible: false, upgrade: false, items: 'none' } as const;
  await refundJoin(server.deps, first!.uuid, membershipOnly);
  await payOrder(server, second!.client, second!.uuid);
  assert.equal(await stateOf(server, second!.uuid), 'paid');
  assert.deepEqual(
    (await membershipsOf(server, second!.uuid)).map(({ standing }) => standing),
    ['active'],
  );
});
