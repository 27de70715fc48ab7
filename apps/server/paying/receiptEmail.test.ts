import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { details, openIntent, orderingJoin, payOrder } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();

async function receiptOf(intentId: string): Promise<string | null> {
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  return (body as unknown as { receipt_email: string | null }).receipt_email;
}

/**
 * Makes an order by a link to a contact with two emails, for somebody who has proven to be the contact: `profile` is in the HubSpot property that the field rules name, `email`
 * is in HubSpot's built-in property.
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
  const client = server.client();
  const uuid = await orderingJoin(client, 'HONOR102', { personalEmail: 'given@example.com' });
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
