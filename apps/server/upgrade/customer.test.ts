import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { details, openIntent, orderingJoin, paidJoin, payByCard } from '../testing/steps.ts';
import { type Client, startTestServer, type TestServer } from '../testing/testServer.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

interface Customer {
  id: string;
  name: string | null;
  email: string | null;
  metadata: Record<string, string>;
}
/** Stripe's customers of one join. */
async function customersOf(uuid: string): Promise<Customer[]> {
  const { body } = await server.stripe('GET', '/v1/customers?limit=100');
  return (body as unknown as { data: Customer[] }).data.filter(({ metadata }) => metadata.session === uuid);
}

function charge(client: Client, uuid: string, paymentIntent: string, isOfSavedCard = true) {
  const body = { paymentIntent, charge: isOfSavedCard };
  return client.call('createUpgradeCharge', { params: { uuid }, body });
}

test('opening Checkout asks Stripe once, and makes no customer', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await fetch(`${server.stripeUrl}/_emulator/requests`, { method: 'DELETE' });
  await openIntent(client, uuid);
  const requests = (await (await fetch(`${server.stripeUrl}/_emulator/requests`)).json()) as {
    method: string;
    path: string;
  }[];
  assert.deepEqual(
    requests.map(({ method, path }) => `${method} ${path}`),
    ['POST /v1/payment_intents'],
  );
  assert.deepEqual(await customersOf(uuid), []);
});

test('the card that paid is given to one customer when an upgrade is bought, however often it is pressed', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', {
    personalEmail: 'jo@example.com',
  });
  assert.deepEqual(await customersOf(uuid), []);
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  const customers = await customersOf(uuid);
  assert.deepEqual(
    customers.map(({ name, email }) => [name, email]),
    [['Jordan Rivera', 'jo@example.com']],
  );
});

for (const [name, fault] of [
  // The library's own tries are lost, too.
  ['whose answer is lost', { kind: 'cut_after', times: 3 }],
  // Its own failure is kept under the key of that try.
  ['that it made and said it had failed', { kind: 'status_after' }],
  ['that it did not make', { kind: 'status' }],
] as const)
  test(`a customer ${name} is not made twice, and the next press sells the upgrade`, async () => {
    const client = server.client();
    const { uuid, intentId } = await paidJoin(server, client);
    await server.stripeFault({ ...fault, method: 'POST', path: '/v1/customers' });
    assert.equal((await charge(client, uuid, intentId)).status, 503);
    await server.stripeFault(null);
    assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
    assert.equal((await customersOf(uuid)).length, 1);
  });

test('a server that is killed before it wrote down the customer finds the same one', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await server.deps.payments.createCustomer({
    email: details().personalEmail,
    name: 'Jordan Rivera',
    paymentMethodId: await savedCardOf(uuid),
    sessionUuid: uuid,
    idempotencyKey: `${server.deps.environment}-${uuid}-customer-0`,
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await customersOf(uuid)).length, 1);
});

test('a bank that declines to have its card kept leaves another card to pay by', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  const error = { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' };
  // Kept under its key for a day.
  await server.stripeFault({
    kind: 'status',
    status: 402,
    method: 'POST',
    path: '/v1/customers',
    body: { error },
    times: 3,
  });
  const declined = await charge(client, uuid, intentId);
  assert.deepEqual([declined.data.status, declined.data.message], ['failed', 'Your card was declined.']);
  const other = await charge(client, uuid, intentId, false);
  const upgrade = other.data.clientSecret!.split('_secret_')[0]!;
  assert.equal((await payByCard(server, upgrade, 'pm_card_mastercard')).status, 200);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await customersOf(uuid), []);
});

test('an intent that was opened for another card only makes way for one that takes the saved card', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  const error = { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' };
  await server.stripeFault({
    kind: 'status',
    status: 402,
    method: 'POST',
    path: '/v1/customers',
    body: { error },
  });
  const other = await charge(client, uuid, intentId, false);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const { body } = await server.stripe(
    'GET',
    `/v1/payment_intents/${other.data.clientSecret!.split('_secret_')[0]}`,
  );
  assert.equal((body as unknown as { status: string }).status, 'canceled');
});

test('a name that is longer than Stripe keeps is shortened', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026', {
    firstName: 'J'.repeat(200),
    lastName: 'R'.repeat(200),
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await customersOf(uuid))[0]!.name!.length, 256);
});

async function savedCardOf(uuid: string): Promise<string> {
  const { payment_method_id } = await server.deps.database
    .selectFrom('payment')
    .select('payment_method_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .executeTakeFirstOrThrow();
  return payment_method_id!;
}
