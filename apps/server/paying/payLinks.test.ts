import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { ALREADY_PAID } from '#core/joinSession.ts';
import { BEING_PAID, NOT_PAYABLE, PAID_ELSEWHERE, PAY_LINK_OVER } from '#core/payLink.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { paymentRow, stateOf } from '../../../tests/harness/rows.ts';
import {
  askIntent,
  beginPayment,
  details,
  newMember,
  newOrder,
  openIntent,
  payByCard,
  payOrder,
  reportPayment,
  secondLater,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();
const { database } = server.deps;

const payer = { name: 'Alex Rivera', email: 'alex.rivera@example.com' };
const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';

/** Makes an order and its pay link, which a second browser opens. */
async function linkedOrder(person?: Partial<ReturnType<typeof details>>) {
  const joiner = await newOrder(server, undefined, person);
  return { ...joiner, parent: server.client(), token: await linkOf(joiner) };
}

async function linkOf({ client, uuid }: { client: Client; uuid: string }): Promise<string> {
  const { status, data } = await client.call('createPayLink', { params: { uuid }, body: {} });
  assert.equal(status, 200);
  return data.path.split('/').at(-1)!;
}

const pageOf = (parent: Client, token: string) => parent.call('getPayPage', { params: { token } });

function begin(parent: Client, token: string, change: object = {}) {
  return parent.call('beginPayPage', { params: { token }, body: { revision: 1, ...payer, ...change } });
}

function report(parent: Client, clientSecret: string) {
  const paymentIntent = intentOf(clientSecret);
  return parent.call('reportPayPage', {
    body: { paymentIntent, paymentIntentClientSecret: clientSecret },
  });
}

const codeOf = ({ body }: { body: unknown }) => (body as { code?: string }).code;
const intentOf = (clientSecret: string) => clientSecret.split('_secret_')[0]!;

/** Backdates the last Buy Now, whoever pressed it, to `seconds` ago. */
async function begunAgo(uuid: string, seconds: number): Promise<void> {
  await sql`update join_session set paying_since = now() - make_interval(secs => ${seconds}) where uuid = ${uuid}`.execute(
    database,
  );
  await secondLater(server);
}

test('a payer sees for whom and what they pay, and nothing else of the joiner', async () => {
  const person = details({ schoolEmail: 'j@school.example', middleName: 'Quentin' });
  const { client, uuid, parent, token } = await linkedOrder(person);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: donation25 } });
  const { status, data } = await pageOf(parent, token);
  const text = JSON.stringify(data);
  assert.equal(status, 200);
  assert.equal(data.status, 'open');
  assert.deepEqual([data.firstName, data.name], ['Jordan', 'Jordan R.']);
  assert.deepEqual(data.order?.lines, [
    { name: 'Membership', amount: 6500 },
    { name: 'Donation to scholarships', amount: 2500 },
  ]);
  assert.equal(data.order?.total, 9000);
  assert.match(data.refundNote, /refund/i);
  const { firstName: _, highSchoolGraduationYear: __, ...secret } = person;
  for (const value of [uuid, ...Object.values(secret)])
    if (typeof value === 'string' && value !== '') assert.ok(!text.includes(value), value);
});

test('a payer pays, and the joiner is a member: the receipt is the payer’s, and no card is saved', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { data } = await begin(parent, token);
  assert.equal(data.amount, 6500);
  const id = intentOf(data.clientSecret);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.deepEqual([body.receipt_email as unknown, body.setup_future_usage as unknown], [payer.email, null]);
  await payByCard(server, id);
  const reported = await report(parent, data.clientSecret);
  assert.equal(reported.data.status, 'succeeded');
  assert.deepEqual(reported.data.receipt, {
    reference: id,
    lines: [{ name: 'Membership', amount: 6500 }],
    total: 6500,
    email: payer.email,
    notes: ['On the card statement: COLLEGIATE HONOR SOC'],
  });
  assert.equal(parent.cookie(), '', 'the payer holds no join');
  const { data: seen } = await client.call('getPayLink', { params: { uuid } });
  assert.equal(seen.state, 'paid');
  assert.deepEqual((await pageOf(parent, token)).data.status, 'paid');
  assert.equal((await begin(parent, token)).status, 409);
});

test('while the payer pays, the joiner is told so and opens no intent; after two minutes an abandoned payment gives way', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const joiners = await openIntent(client, uuid);
  const { data } = await begin(parent, token);
  assert.equal(await statusAtStripe(server, joiners.id), 'canceled');
  const asked = await askIntent(client, uuid);
  assert.deepEqual([asked.status, codeOf(asked), asked.message], [409, 'being_paid', BEING_PAID]);
  const begun = await beginPayment(client, uuid, joiners.revision);
  assert.deepEqual([begun.status, codeOf(begun)], [409, 'being_paid']);
  assert.equal((await client.call('getPayLink', { params: { uuid } })).data.isBeingPaid, true);
  await begunAgo(uuid, 119);
  assert.equal((await askIntent(client, uuid)).status, 409);
  await begunAgo(uuid, 121);
  assert.equal((await client.call('getPayLink', { params: { uuid } })).data.isBeingPaid, false);
  assert.equal(await statusAtStripe(server, intentOf(data.clientSecret)), 'canceled');
  await payOrder(server, client, uuid);
});

test('while the joiner pays, the payer is told so; after two minutes an abandoned payment gives way', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const joiners = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, joiners.revision)).status, 200);
  await begunAgo(uuid, 60);
  const refused = await begin(parent, token);
  assert.deepEqual([refused.status, refused.message], [409, PAID_ELSEWHERE]);
  assert.equal(await statusAtStripe(server, joiners.id), 'requires_payment_method');
  await begunAgo(uuid, 121);
  const { status, data } = await begin(parent, token);
  assert.equal(status, 200);
  assert.equal(await statusAtStripe(server, joiners.id), 'canceled');
  await payByCard(server, intentOf(data.clientSecret));
  assert.equal((await report(parent, data.clientSecret)).data.status, 'succeeded');
});

test('a joiner who has paid is not paid for again, and their own intent is never shown to the payer', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { intentId } = await payOrder(server, client, uuid);
  const refused = await begin(parent, token);
  assert.equal(refused.status, 409);
  assert.ok(!JSON.stringify(refused).includes(intentId));
  const payment = { paymentIntent: intentId, paymentIntentClientSecret: 'x' };
  assert.equal((await parent.call('reportPayPage', { body: payment })).status, 404);
});

test('a payer who comes just after the joiner has paid is told so, and nothing of where the join goes on', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  await payByCard(server, (await openIntent(client, uuid)).id);
  const { status, message, body } = await begin(parent, token);
  assert.deepEqual([status, message], [409, ALREADY_PAID]);
  assert.deepEqual(Object.keys(body as object).sort(), ['code', 'message', 'requestId', 'status', 'success']);
});

test('two browsers that give the same name and email at once do not get one client secret', async () => {
  const { token } = await linkedOrder();
  const answers = await Promise.all([1, 2, 3].map(() => begin(server.client(), token)));
  assert.ok(answers.filter(({ status }) => status === 200).length <= 1);
});

test('of payers who press at once no more than one pays, and the others are told that somebody does', async () => {
  const { token, uuid } = await linkedOrder();
  const browsers = ['One', 'Two', 'Three'].map((name) => begin(server.client(), token, { name }));
  const answers = await Promise.all(browsers);
  const begun = answers.filter(({ status }) => status === 200);
  assert.ok(begun.length <= 1);
  for (const answer of answers)
    if (answer.status !== 200) assert.deepEqual([answer.status, answer.message], [409, PAID_ELSEWHERE]);
  const { rows } = await sql`select from payment where session_uuid = ${uuid} and status = 'open'`.execute(
    database,
  );
  assert.ok(rows.length <= 1);
});

test('a declined card opens the order again for both, and the payer tries another with the same intent', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { data } = await begin(parent, token);
  const id = intentOf(data.clientSecret);
  await payByCard(server, id, 'pm_card_chargeDeclined');
  assert.equal((await report(parent, data.clientSecret)).data.status, 'requires_payment_method');
  assert.equal(await stateOf(server, uuid), 'ordering');
  const { clientSecret } = data;
  assert.equal((await begin(parent, token, { clientSecret })).data.clientSecret, clientSecret);
  await payByCard(server, id, 'pm_card_chargeDeclined');
  await secondLater(server);
  assert.equal((await report(parent, data.clientSecret)).data.receipt, null);
  // Now the joiner opens an intent first, which cancels the payer's. A later press by the payer opens another intent.
  const joiners = await openIntent(client, uuid);
  assert.equal(await statusAtStripe(server, id), 'canceled');
  const again = (await begin(parent, token)).data;
  assert.notEqual(again.clientSecret, data.clientSecret);
  assert.equal(await statusAtStripe(server, joiners.id), 'canceled');
  const expired = await beginPayment(client, uuid, joiners.revision);
  assert.equal(expired.status, 409);
});

test('a payer’s second try takes an intent with the promises of the society’s file as it is now', async (t) => {
  const { uuid, parent, token } = await linkedOrder();
  const { data: first } = await begin(parent, token);
  await payByCard(server, intentOf(first.clientSecret), 'pm_card_chargeDeclined');
  await report(parent, first.clientSecret);
  changeSociety(t, server, (source) => source.replace('processingFee: "0.00"', 'processingFee: "3.00"'));
  const { data } = await begin(parent, token, { clientSecret: first.clientSecret });
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentOf(data.clientSecret)}`);
  const promised = await sql<{ fee: number }>`
    select processing_fee_cents as fee from order_snapshot where session_uuid = ${uuid}`.execute(database);
  const { fee } = body.metadata as unknown as { fee: string };
  assert.deepEqual([fee, promised.rows], ['3.00', [{ fee: 300 }]]);
});

test('who knows the payer’s name and email gets no client secret of theirs', async () => {
  const { parent, token } = await linkedOrder();
  const { clientSecret } = (await begin(parent, token)).data;
  assert.equal((await begin(server.client(), token)).status, 409, 'while they pay');
  assert.equal((await begin(parent, token, { clientSecret })).data.clientSecret, clientSecret);
  await payByCard(server, intentOf(clientSecret), 'pm_card_chargeDeclined');
  await secondLater(server);
  await report(parent, clientSecret);
  const joiners = await begin(server.client(), token);
  assert.equal(joiners.status, 200);
  assert.notEqual(joiners.data.clientSecret, clientSecret);
  assert.equal(await statusAtStripe(server, intentOf(clientSecret)), 'canceled');
});

test('a payer who was overtaken by another one gets no client secret of theirs', async () => {
  const { parent, token, uuid } = await linkedOrder();
  const first = (await begin(parent, token)).data;
  assert.equal((await begin(server.client(), token, { name: 'Sam Rivera' })).status, 409);
  await begunAgo(uuid, 121);
  const other = await begin(server.client(), token, { name: 'Sam Rivera', email: 'sam@example.com' });
  assert.equal(other.status, 200);
  assert.notEqual(other.data.clientSecret, first.clientSecret);
  assert.equal(await statusAtStripe(server, intentOf(first.clientSecret)), 'canceled');
  assert.equal((await report(parent, first.clientSecret)).data.status, 'canceled');
});

test('an order that has changed is shown and asked about again', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: donation25 } });
  const { status, message } = await begin(parent, token);
  assert.equal(status, 409);
  assert.match(message!, /now \$90\.00/);
  const { revision, total } = (await pageOf(parent, token)).data.order!;
  assert.equal(total, 9000);
  assert.equal((await begin(parent, token, { revision })).data.amount, 9000);
  const refused = await client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: donation25 },
  });
  assert.equal(refused.status, 409, 'frozen while the payer pays');
});

test('a new link, a week and the joiner end a link', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const ended = async () => {
    const { status, message } = await pageOf(parent, token);
    assert.deepEqual([status, message], [404, PAY_LINK_OVER]);
    assert.equal((await begin(parent, token)).status, 404);
  };
  const second = await linkOf({ client, uuid });
  await ended();
  await sql`update pay_link set expires_at = now() where session_uuid = ${uuid}`.execute(database);
  assert.equal((await pageOf(parent, second)).status, 404);
  assert.equal((await client.call('getPayLink', { params: { uuid } })).data.expiresAt, null);
  const third = await linkOf({ client, uuid });
  assert.equal((await pageOf(parent, third)).status, 200);
  assert.equal((await client.call('endPayLink', { params: { uuid }, body: {} })).status, 200);
  assert.equal((await pageOf(parent, third)).status, 404);
});

test('a payment that was begun before its link ended still counts', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { data } = await begin(parent, token);
  await client.call('endPayLink', { params: { uuid }, body: {} });
  await payByCard(server, intentOf(data.clientSecret));
  assert.equal((await report(parent, data.clientSecret)).data.status, 'succeeded');
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('what a payer leaves out or mistypes is told at its field', async () => {
  const { parent, token } = await linkedOrder();
  const empty = await begin(parent, token, { name: ' ', email: '' });
  assert.deepEqual(empty.errors, { name: 'Your name is required.', email: 'Your email is required.' });
  const { errors } = await begin(parent, token, { email: 'alex@example' });
  assert.deepEqual(errors, { email: 'Invalid email address.' });
});

test('an order without a membership cannot be paid for', async () => {
  const { uuid, parent, token } = await linkedOrder();
  await sql`update join_session set state = 'detailed', lines = '[]' where uuid = ${uuid}`.execute(database);
  assert.deepEqual((await pageOf(parent, token)).data.order, null);
  const { status, message } = await begin(parent, token);
  assert.deepEqual([status, message], [409, NOT_PAYABLE]);
});

test('somebody who has become a member meanwhile is not paid for, and the payer is not told why', async () => {
  const { client, uuid } = await newOrder(server, 'HONOR103');
  const token = await linkOf({ client, uuid });
  await newMember(server, 'HONOR103');
  const { status, message } = await begin(server.client(), token);
  assert.deepEqual([status, message], [409, NOT_PAYABLE]);
});

test('a second payment that reached Stripe goes back to the payer, who is written to when it has', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { data } = await begin(parent, token);
  const id = intentOf(data.clientSecret);
  // Simulates that the payer's intent is recorded as cancelled although it can still be paid at Stripe. The joiner pays first.
  await sql`update join_session set state = 'ordering', paying_since = null where uuid = ${uuid}`.execute(
    database,
  );
  await sql`update payment set status = 'canceled' where intent_id = ${id}`.execute(database);
  await payOrder(server, client, uuid);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.equal((await report(parent, data.clientSecret)).data.status, 'refunded');
  const letters = await database
    .selectFrom('letter')
    .select(['kind', 'email'])
    .where('session_uuid', '=', uuid)
    .where('kind', 'in', ['refund', 'payer-refund', 'second-payment', 'payer-receipt'])
    .orderBy('kind')
    .execute();
  assert.deepEqual(letters, [
    { kind: 'payer-refund', email: payer.email },
    { kind: 'refund', email: null },
  ]);
});

test('the upgrade is offered after somebody else has paid, with a card of the member’s own', async () => {
  const { client, uuid, parent, token } = await linkedOrder();
  const { data } = await begin(parent, token);
  const paymentIntent = intentOf(data.clientSecret);
  await payByCard(server, paymentIntent);
  await report(parent, data.clientSecret);
  const { data: offer } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual([offer.isEligibleForUpgrade, offer.needsCard, offer.card], [true, true, null]);
  const charge = await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent } });
  assert.equal(charge.data.status, 'requires_payment_method', 'the payer’s card is not charged');
  const { id, customer } = (
    await server.stripe('GET', `/v1/payment_intents/${intentOf(charge.data.clientSecret!)}`)
  ).body as unknown as { id: string; customer: null };
  assert.equal(customer, null);
  await payByCard(server, id);
  const ended = await client.call('createUpgradeCharge', {
    params: { uuid },
    body: { paymentIntent, charge: false },
  });
  assert.equal(ended.data.status, 'succeeded');
  const stranger = await parent.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent } });
  assert.notEqual(stranger.status, 200);
});

test('a link to Checkout can be paid by somebody else once its holder agrees to the policies', async () => {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: '104' } });
  const params = { uuid: data.joinSessionUuid };
  const refused = await client.call('createPayLink', { params, body: {} });
  assert.deepEqual([refused.status, Object.keys(refused.errors!)], [400, ['agreeToPolicies']]);
  const made = await client.call('createPayLink', { params, body: { agreeToPolicies: true } });
  assert.equal(made.status, 200);
});

test('a stranger with the uuid alone makes no link once the joiner has proven who they are', async () => {
  const { client, uuid } = await newMember(server);
  const { status } = await server.client().call('createPayLink', { params: { uuid }, body: {} });
  assert.equal(status, 404);
  assert.equal(
    (await client.call('createPayLink', { params: { uuid }, body: {} })).status,
    409,
    'it is paid',
  );
});

test('the payment row says that it is the payer’s', async () => {
  const { parent, token } = await linkedOrder();
  const { clientSecret } = (await begin(parent, token)).data;
  const { by_pay_link, payer_name, receipt_email, saves_card, payer_consent } = await paymentRow(
    server,
    intentOf(clientSecret),
  );
  assert.deepEqual(
    [by_pay_link, payer_name, receipt_email, saves_card, payer_consent],
    [true, payer.name, payer.email, false, null],
  );
});

test('reports of a payment by the joiner are refused on the payer’s call', async () => {
  const { client, uuid } = await newOrder(server);
  const intent = await openIntent(client, uuid);
  assert.equal((await report(server.client(), intent.clientSecret)).status, 404);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
});
