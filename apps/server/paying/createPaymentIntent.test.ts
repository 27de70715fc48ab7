import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import {
  askIntent,
  beginPayment,
  details,
  newIntent,
  newOrder,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { cancelIntent } from './cancelIntent.ts';

const server = await sharedServer();

const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const donate = (client: Client, uuid: string) =>
  client.call('setSessionProduct', { params: { uuid }, body: { productUuid: donation25 } });

test('a session has one intent: asked for again it is the same, at a new total it is updated and keeps its secret', async () => {
  const { client, uuid, intent: first } = await newIntent(server);
  assert.equal(first.amount, 6500);
  assert.deepEqual(await openIntent(client, uuid), first);
  await donate(client, uuid);
  const second = await openIntent(client, uuid);
  assert.deepEqual(
    [second.clientSecret, second.amount, second.revision],
    [first.clientSecret, 9000, first.revision + 1],
  );
  const { body } = await server.stripe('GET', `/v1/payment_intents/${first.id}`);
  const { amount, metadata, receipt_email } = body as unknown as {
    amount: number;
    metadata: Record<string, string>;
    receipt_email: string;
  };
  assert.deepEqual(
    [amount, metadata.session, metadata.revision, metadata.app, receipt_email],
    [9000, uuid, String(second.revision), 'induct', 'jordan.rivera@example.com'],
  );
});

test("another amount than the order's is 409 with the true total", async () => {
  const { client, uuid } = await newOrder(server);
  for (const amount of [1, 6499, 9000]) {
    const { status, message } = await askIntent(client, uuid, amount);
    assert.equal(status, 409);
    assert.match(message ?? '', /\$65\.00/);
  }
});

test('a change that Stripe did not answer lets nobody pay its intent: the next one is another', async () => {
  const { client, uuid, intent: first } = await newIntent(server);
  await donate(client, uuid);
  await server.stripeFault({
    kind: 'status_after',
    method: 'POST',
    path: `/v1/payment_intents/${first.id}`,
  });
  const ask = () => askIntent(client, uuid, 9000);
  assert.equal((await ask()).status, 503);
  assert.equal((await beginPayment(client, uuid, first.revision + 1)).status, 409);
  const next = await openIntent(client, uuid);
  assert.notEqual(next.id, first.id);
  assert.equal(await statusAtStripe(server, first.id), 'canceled');
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
  await payByCard(server, next.id);
  assert.equal((await reportPayment(client, uuid, next)).data.status, 'succeeded');
});

test('an open intent that Stripe does not let be changed is replaced by another, and Stripe is not asked again and again', async (t) => {
  const { client, uuid, intent: first } = await newIntent(server);
  await donate(client, uuid);
  const refusal = { type: 'invalid_request_error', code: 'payment_intent_unexpected_state', message: 'No.' };
  const times = 50;
  await server.stripeFault({
    kind: 'status',
    status: 400,
    body: { error: refusal },
    method: 'POST',
    path: `/v1/payment_intents/${first.id}`,
    times,
  });
  t.after(() => server.stripeFault(null));
  const next = await openIntent(client, uuid);
  assert.deepEqual([next.amount, next.id === first.id], [9000, false]);
  assert.equal(await statusAtStripe(server, first.id), 'canceled');
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
});

test('a change whose server died before it could ask is given up after a moment', async () => {
  const { client, uuid, intent: first } = await newIntent(server);
  await donate(client, uuid);
  await sql`update join_session set intent_changing_since = now() - interval '4 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const next = await openIntent(client, uuid);
  assert.deepEqual([next.amount, next.id === first.id], [9000, false]);
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
});

test('a change that was left behind by an intent that has ended does not touch the next one', async () => {
  const { client, uuid, intent: first } = await newIntent(server);
  await sql`update join_session set intent_changing_since = now() - interval '1 hour' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await cancelIntent(server.deps, first.id);
  const next = await openIntent(client, uuid);
  assert.equal((await openIntent(client, uuid)).id, next.id);
  assert.equal((await beginPayment(client, uuid, next.revision)).status, 200);
});

test('two changes at once, as of two quick clicks, keep the intent and what was typed into its form', async () => {
  const { client, uuid, intent: first } = await newIntent(server);
  await server.stripeFault({
    kind: 'slow',
    ms: 300,
    method: 'POST',
    path: `/v1/payment_intents/${first.id}`,
  });
  await donate(client, uuid);
  const [one, two] = await Promise.all([openIntent(client, uuid), openIntent(client, uuid)]);
  assert.deepEqual([one.id, two.id, one.amount, two.amount], [first.id, first.id, 9000, 9000]);
});

test('a corrected email reaches the receipt, whether or not Stripe answered before', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const submit = (personalEmail: string) =>
    client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  await submit('wrong@example.com');
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  await server.stripeFault({
    kind: 'status',
    status: 500,
    method: 'POST',
    path: '/v1/payment_intents',
  });
  const ask = () => askIntent(client, uuid);
  assert.equal((await ask()).status, 503);
  await submit('right@example.com');
  const { id } = await openIntent(client, uuid);
  await submit('better@example.com');
  assert.equal((await openIntent(client, uuid)).id, id);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.equal((body as unknown as { receipt_email: string }).receipt_email, 'better@example.com');
});

async function receiptOf(intentId: string): Promise<string | null> {
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  return (body as unknown as { receipt_email: string | null }).receipt_email;
}

/**
 * Makes an order by a link to a contact with two emails, for a browser whose user has proven to be the contact. `profile` is in
 * the HubSpot property that the field rules name, `email` is in HubSpot's built-in property.
 */
async function orderOfContact(client: Client, { profile, email }: { profile: string; email: string | null }) {
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: '102' } });
  await server.deps.database
    .updateTable('person')
    .set({
      profile: JSON.stringify({ firstName: 'Jordan', lastName: 'Rivera', personalEmail: profile }),
      email,
    })
    .where('contact_id', '=', '102')
    .execute();
  await proveByCode(server, client, data.joinSessionUuid);
  return data.joinSessionUuid;
}

test('what HubSpot’s text field holds instead of an email keeps nobody from paying: the contact’s other email is taken', async () => {
  const client = server.client();
  for (const profile of ['n/a', 'name@gmail..com', 'a,b@example.com', 'ü@example.com', 'name@localhost']) {
    const uuid = await orderOfContact(client, { profile, email: 'jordan@example.com' });
    assert.equal(
      (await client.call('getCheckoutDetails', { params: { uuid } })).data.billingEmail,
      'jordan@example.com',
    );
    assert.equal(await receiptOf((await openIntent(client, uuid)).id), 'jordan@example.com');
  }
});

test('the receipt goes to the email that was given, whatever HubSpot has', async () => {
  const { client, uuid } = await newOrder(server, 'HONOR102', { personalEmail: 'given@example.com' });
  await sql`update person set profile = profile || '{"personalEmail":"before@example.com","firstName":"Before"}', email = 'before@example.com'
    where contact_id = '102'`.execute(server.deps.database);
  const { data } = await client.call('getCheckoutDetails', { params: { uuid } });
  assert.equal(data.billingEmail, 'given@example.com');
  const { id } = await openIntent(client, uuid);
  assert.equal(await receiptOf(id), 'given@example.com');
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.equal((body.metadata as unknown as Record<string, string>).first_name, 'Jordan', 'and so the name');
});

test('without any email that Stripe takes, the page’s is taken, and then none', async () => {
  const client = server.client();
  for (const [billingEmail, receipt] of [
    [' payer@example.com ', 'payer@example.com'],
    ['payer@example', null],
  ] as const) {
    const params = { uuid: await orderOfContact(client, { profile: 'n/a', email: 'none' }) };
    assert.equal((await client.call('getCheckoutDetails', { params })).data.billingEmail, '');
    const body = { amount: 6500, currency: 'usd' as const, billingEmail };
    const { data } = await client.call('createPaymentIntent', { params, body });
    assert.equal(await receiptOf(data.clientSecret.split('_secret_')[0]!), receipt);
  }
});

test('an email that only Stripe refuses is left out, and not tried again at each look', async () => {
  const client = server.client();
  const personalEmail = 'refused@example.com';
  const refusal = {
    type: 'invalid_request_error',
    code: 'email_invalid',
    param: 'receipt_email',
    message: `Invalid email address: ${personalEmail}`,
  };
  await server.stripeFault({
    kind: 'status',
    status: 400,
    about: `"receipt_email":"${personalEmail}"`,
    times: 100,
    body: { error: refusal },
  });
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail });
  await forgetRequests(server.stripeUrl);
  const { id } = await openIntent(client, uuid);
  const keys = (await requestsTo(server.stripeUrl)).map(({ idempotencyKey }) => idempotencyKey);
  assert.deepEqual([keys.length, new Set(keys).size], [2, 2], 'another request has another key');
  assert.equal(await receiptOf(id), null);
  await forgetRequests(server.stripeUrl);
  assert.equal((await openIntent(client, uuid)).id, id);
  const requests = await requestsTo(server.stripeUrl);
  assert.deepEqual(requests, []);

  // An email that Stripe refuses removes the intent's previous email. Otherwise the receipt would go to somebody else.
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'good@example.com' }),
  });
  assert.equal((await openIntent(client, uuid)).id, id);
  assert.equal(await receiptOf(id), 'good@example.com');
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  assert.equal((await openIntent(client, uuid)).id, id);
  assert.equal(await receiptOf(id), null);
  const paid = await payOrder(server, client, uuid);
  assert.equal(paid.intentId, id);
  await server.stripeFault(null);
});
