import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atStripe, paidElsewhere } from '../../../tests/harness/refunds.ts';
import { membershipsOf, paymentRow, stateOf } from '../../../tests/harness/rows.ts';
import {
  askIntent,
  beginPayment,
  newIntent,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  secondLater,
  startJoin,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcile } from '../books/reconcile.ts';
import { ALREADY_MEMBER } from '../session/members.ts';
import { firstLine } from '../session/orderLines.ts';
import { cancelIntent } from './cancelIntent.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();

const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const donate = (client: Client, uuid: string) =>
  client.call('setSessionProduct', { params: { uuid }, body: { productUuid: donation25 } });

test('an order that was changed back to its total is paid at the revision that it has now', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, revision } = await openIntent(client, uuid);
  const { sessionProductUuid } = (await donate(client, uuid)).data;
  const params = { sessionProductUuid: sessionProductUuid! };
  await client.call('deleteSessionProduct', { params });
  const again = await openIntent(client, uuid);
  assert.deepEqual([again.id, again.amount, again.revision], [id, 6500, revision + 2]);
  assert.equal((await beginPayment(client, uuid, again.revision)).status, 200);
});

test('an order whose membership is chosen once more is paid at the revision on the screen', async () => {
  const { client, uuid } = await newOrder(server);
  const { revision } = await openIntent(client, uuid);
  const chosen = await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  assert.equal(chosen.status, 200);
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
});

test('an order changed in another tab is not paid at the old total', async () => {
  const { client, uuid, intent: old } = await newIntent(server);
  await donate(client, uuid);
  const { status, message } = await beginPayment(client, uuid, old.revision);
  assert.equal(status, 409);
  assert.match(message ?? '', /now \$90\.00/);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('while a payment is under way the order is frozen, and the same revision may be begun again', async () => {
  const { client, uuid } = await newOrder(server);
  const { sessionProductUuid } = (await donate(client, uuid)).data;
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  const params = { sessionProductUuid: sessionProductUuid! };
  assert.equal((await client.call('deleteSessionProduct', { params })).status, 409);
  await secondLater(server);
  const refused = await donate(client, uuid);
  assert.equal(refused.status, 409);
  assert.match(refused.message ?? '', /payment for this order is in progress/);
  await secondLater(server);
  assert.equal(
    (await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } })).status,
    409,
  );
});

test('an authentication that was left does not lock the order: a change cancels it in Stripe, and the new total is paid', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  const asked = await payByCard(server, intent.id, 'pm_card_authenticationRequired');
  assert.equal((asked.body as unknown as { status: string }).status, 'requires_action');
  await sql`update join_session set paying_since = now() - interval '14 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await donate(client, uuid)).status, 409, 'not while it may still be under way');
  await sql`update join_session set paying_since = now() - interval '16 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await donate(client, uuid)).status, 200);
  assert.equal(await statusAtStripe(server, intent.id), 'canceled');
  const next = await openIntent(client, uuid);
  assert.deepEqual([next.amount, next.id === intent.id], [9000, false]);
  await beginPayment(client, uuid, next.revision);
  await payByCard(server, next.id);
  assert.equal((await reportPayment(client, uuid, next)).data.status, 'succeeded');
});

test('Checkout that is opened again leaves an authentication alone, however long ago it began', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id, 'pm_card_authenticationRequired');
  await sql`update join_session set paying_since = now() - interval '16 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal((await client.call('getCheckoutDetails', { params: { uuid } })).status, 200);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intent.id}`);
  assert.deepEqual([body.status as unknown, await stateOf(server, uuid)], ['requires_action', 'paying']);
});

test('what is looked at is the payment that was begun, whatever became of an earlier one', async () => {
  const { client, uuid } = await newOrder(server);
  await cancelIntent(server.deps, (await openIntent(client, uuid)).id);
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id, 'pm_card_authenticationRequired');
  assert.equal((await client.call('getCheckoutDetails', { params: { uuid } })).status, 200);
  assert.equal(await stateOf(server, uuid), 'paying');
});

test('a left payment that succeeds while a change cancels it is paid for, and the change is refused', async (t) => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await sql`update join_session set paying_since = now() - interval '16 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const cancel = server.deps.payments.cancelIntent.bind(server.deps.payments);
  t.mock.method(server.deps.payments, 'cancelIntent', async (id: string) => {
    await payByCard(server, id);
    return cancel(id);
  });
  assert.equal((await donate(client, uuid)).status, 409);
  assert.equal(await stateOf(server, uuid), 'paid');
  assert.equal((await membershipsOf(server, uuid)).length, 1);
});

test('a payment of no join cannot be given up', async () => {
  const params = { uuid: '00000000-0000-4000-8000-000000000000' };
  const { status, message } = await server.client().call('releasePayment', { params, body: {} });
  assert.deepEqual([status, message], [404, 'This join session was not found. Please start over.']);
});

test('after a decline the order opens again and another card pays', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  assert.equal((await payByCard(server, intent.id, 'pm_card_chargeDeclined')).status, 402);
  const released = await client.call('releasePayment', { params: { uuid }, body: {} });
  assert.equal(released.data.state, 'ordering');
  await donate(client, uuid);
  const again = await openIntent(client, uuid);
  assert.equal(again.clientSecret, intent.clientSecret);
  await beginPayment(client, uuid, again.revision);
  await payByCard(server, again.id);
  assert.equal((await reportPayment(client, uuid, again)).data.status, 'succeeded');
  assert.equal((await membershipsOf(server, uuid)).length, 1);
});

test('the return page is not believed: an unpaid intent stays unpaid whatever it reports', async () => {
  const { client, uuid, intent } = await newIntent(server);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'requires_payment_method');
  assert.equal(await stateOf(server, uuid), 'ordering');
  const wrong = await reportPayment(client, uuid, { ...intent, clientSecret: 'pi_x_secret_y' });
  assert.equal(wrong.status, 404);
});

test('whoever paid for one join does not become the browser that paid for another', async () => {
  const { uuid } = await newMember(server, 'LINCOLN2026');
  const stranger = server.client();
  const own = await paidJoin(server, stranger, 'LINCOLN2026');
  const { client_secret } = await paymentRow(server, own.intentId);
  const report = await reportPayment(stranger, uuid, { id: own.intentId, clientSecret: client_secret });
  assert.deepEqual(
    [report.status, report.message],
    [404, 'This payment does not belong to this registration.'],
  );
  assert.equal((await stranger.call('getUpgradeDetails', { params: { uuid } })).status, 404);
});

test('what is confirmed is the snapshot that was paid, not what the session holds now', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  // Changes the frozen order directly in the database, since no call of the page can change it.
  await server.deps.database
    .updateTable('join_session')
    .set({ lines: firstLine({ productId: 2, type: 'membership', name: 'Premium', priceCents: 8900 }) })
    .where('uuid', '=', uuid)
    .execute();
  await reportPayment(client, uuid, intent);
  assert.deepEqual(
    (await membershipsOf(server, uuid)).map(({ product_id }) => product_id),
    [1],
  );
});

test("an amount that is not its snapshot's buys nothing, and goes back", async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await server.stripe('POST', `/v1/payment_intents/${intent.id}`, { amount: '100' });
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'refunded');
  assert.deepEqual([await stateOf(server, uuid), await membershipsOf(server, uuid)], ['ordering', []]);
  assert.deepEqual(await atStripe(server, intent.id), [100]);
});

test('a success of another environment on the same account confirms nothing here', async () => {
  const { uuid, intent } = await newIntent(server);
  await server.stripe('POST', `/v1/payment_intents/${intent.id}`, {
    'metadata[environment]': 'somebody-else',
  });
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'foreign');
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('two joins of one contact that both pay: one membership, the other money goes back', async () => {
  const [here, there] = [server.client(), server.client()];
  const sam = { firstName: 'Sam', lastName: 'Okafor', personalEmail: 'sam.okafor@example.com' };
  const one = await orderingJoin(here, 'HONOR103', sam);
  const two = await orderingJoin(there, 'HONOR103', sam);
  const [first, second] = [await openIntent(here, one), await openIntent(there, two)];
  await beginPayment(here, one, first.revision);
  await beginPayment(there, two, second.revision);
  await Promise.all([payByCard(server, first.id), payByCard(server, second.id)]);
  const outcomes = await Promise.all([reportPayment(here, one, first), reportPayment(there, two, second)]);
  assert.deepEqual(outcomes.map(({ data }) => data.status).sort(), ['refunded', 'succeeded']);
  // Reporting the same payments again causes no further refund.
  const again = await Promise.all([reportPayment(here, one, first), reportPayment(there, two, second)]);
  assert.deepEqual(
    again.map(({ data }) => data.status),
    outcomes.map(({ data }) => data.status),
  );
  const { rows } = await sql`select from refund where intent_id in (${first.id}, ${second.id})`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 1);
  assert.equal((await membershipsOf(server, one)).length + (await membershipsOf(server, two)).length, 1);
  assert.deepEqual([...(await atStripe(server, first.id)), ...(await atStripe(server, second.id))], [6500]);
  const notices = await server.deps.database
    .selectFrom('staff_notice')
    .select('kind')
    .where('session_uuid', 'in', [one, two])
    .execute();
  assert.deepEqual(notices, [{ kind: 'duplicate_payment' }]);
});

test('two intents of one join that both pay: the second goes back, whoever joins without a contact', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { metadata } = await server.deps.payments.retrieveIntent(intentId);
  const second = await paidElsewhere(server, metadata);
  assert.equal(await confirmPayment(server.deps, second), 'refunded');
  assert.equal(await confirmPayment(server.deps, intentId), 'succeeded');
  assert.equal((await membershipsOf(server, uuid)).length, 1);
});

test('whoever begins payments with a code again and again holds its owner back once, and cancels nothing', async () => {
  const [stranger, owner] = [server.client(), server.client()];
  const [other, own] = [await orderingJoin(stranger, 'HONOR101'), await orderingJoin(owner, 'HONOR101')];
  const [theirs, intent] = [await openIntent(stranger, other), await openIntent(owner, own)];
  assert.equal((await beginPayment(stranger, other, theirs.revision)).status, 200);
  assert.equal((await beginPayment(owner, own, intent.revision)).status, 409);
  assert.equal((await beginPayment(stranger, other, theirs.revision)).status, 200, 'and renews it');
  assert.equal((await beginPayment(owner, own, intent.revision)).status, 200);
  const confirmed = await payByCard(server, intent.id, 'pm_card_authenticationRequired');
  assert.equal((confirmed.body as unknown as { status: string }).status, 'requires_action');
  for (let time = 0; time < 3; time++) await beginPayment(stranger, other, theirs.revision);
  assert.equal(await statusAtStripe(server, intent.id), 'requires_action');
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(owner, own, intent)).data.status, 'succeeded');
  assert.equal((await membershipsOf(server, own)).length, 1);
});

test('one contact pays in one place at a time; a payment that was left elsewhere gives way', async () => {
  const [here, there] = [server.client(), server.client()];
  // A third join of the contact, in which nobody pays, does not block the two others.
  await startJoin(server.client(), 'HONOR104');
  const [one, two] = [await orderingJoin(here, 'HONOR104'), await orderingJoin(there, 'HONOR104')];
  const [first, second] = [await openIntent(here, one), await openIntent(there, two)];
  assert.equal((await beginPayment(here, one, first.revision)).status, 200);
  const refused = await beginPayment(there, two, second.revision);
  assert.equal(refused.status, 409);
  assert.match(refused.message ?? '', /in progress in another window or on another device/);
  await sql`update join_session set paying_since = now() - interval '16 seconds' where uuid = ${one}`.execute(
    server.deps.database,
  );
  assert.equal((await beginPayment(there, two, second.revision)).status, 200);
  assert.equal(await stateOf(server, one), 'ordering');
  await payByCard(server, second.id);
  assert.equal((await reportPayment(there, two, second)).data.status, 'succeeded');
  // The other window has paid. This window learns it from its next call.
  const late = await askIntent(here, one);
  assert.deepEqual([late.status, late.message], [409, ALREADY_MEMBER]);
});

test('an intent that ended behind the page is a form that has expired, and the next one pays', async () => {
  const { client, uuid, intent: gone } = await newIntent(server);
  await cancelIntent(server.deps, gone.id);
  const refused = await beginPayment(client, uuid, gone.revision);
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'This payment form has expired. Please enter your card again.'],
  );
  assert.equal(await stateOf(server, uuid), 'ordering');
  const next = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
  await payByCard(server, next.id);
  assert.equal((await reportPayment(client, uuid, next)).data.status, 'succeeded');
});

test('a paid session takes no more money and no more changes', async () => {
  const { client, uuid } = await newMember(server, 'LINCOLN2026');
  const intent = await askIntent(client, uuid);
  assert.deepEqual([intent.status, intent.message], [409, 'This membership has already been paid for.']);
  assert.equal((await donate(client, uuid)).status, 409);
});

test('a checkout-only join is not paid before its policies are agreed to', async () => {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: '102' } });
  const uuid = data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const refused = await beginPayment(client, uuid, intent.revision);
  assert.deepEqual(
    [refused.status, refused.errors],
    [400, { agreeToPolicies: 'You must agree to the policies.' }],
  );
  assert.equal(await stateOf(server, uuid), 'ordering');
  const agreed = await client.call('beginPayment', {
    params: { uuid },
    body: { revision: intent.revision, agreeToPolicies: true },
  });
  assert.equal(agreed.status, 200);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200, 'the agreement is kept');
});

test('a join whose page writes its uuid in capitals is paid, and noted at Stripe, as any other', async () => {
  const { client, uuid } = await newOrder(server, undefined, { personalEmail: 'capitals@example.com' });
  const { intentId } = await payOrder(server, client, uuid.toUpperCase());
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  assert.equal((body as unknown as { metadata: { session: string } }).metadata.session, uuid);
  const { differences } = await reconcile(server.deps, { graceMinutes: -1 });
  assert.deepEqual(
    differences.filter(({ subject }) => [uuid, intentId].includes(subject)),
    [],
  );
});
