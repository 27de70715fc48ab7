import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import {
  newMember,
  newOrder,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { prepareCustomer } from './cardCustomer.ts';

const server = await sharedServer();

interface Customer {
  id: string;
  name: string | null;
  email: string | null;
  metadata: Record<string, string>;
}
/** Returns the customers at Stripe whose metadata have this join's uuid. */
async function customersOf(uuid: string): Promise<Customer[]> {
  const { body } = await server.stripe('GET', '/v1/customers?limit=100');
  return (body as unknown as { data: Customer[] }).data.filter(({ metadata }) => metadata.session === uuid);
}

function charge(client: Client, uuid: string, paymentIntent: string, isOfSavedCard = true) {
  const body = { paymentIntent, charge: isOfSavedCard };
  return client.call('createUpgradeCharge', { params: { uuid }, body });
}

test('opening Checkout asks Stripe once, and makes no customer', async () => {
  const { client, uuid } = await newOrder(server);
  await forgetRequests(server.stripeUrl);
  await openIntent(client, uuid);
  assert.deepEqual(await requests(), ['POST /v1/payment_intents']);
  assert.deepEqual(await customersOf(uuid), []);
});

/** Makes Stripe fail each creation of a customer with this fault, until the returned function is called. */
async function customersMeet(fault: object): Promise<() => Promise<unknown>> {
  await server.stripeFault({ times: 100, ...fault, method: 'POST', path: '/v1/customers' });
  return () => server.stripeFault(null);
}
const declined = {
  kind: 'status',
  status: 402,
  body: { error: { type: 'card_error', code: 'card_declined', message: 'Your card was declined.' } },
};

test('the card that paid is given to a customer while the offer is read, and buying it makes none', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026', {
    personalEmail: 'jo@example.com',
  });
  await until(async () => (await keptCustomer(uuid)) !== '');
  const [customer, ...more] = await customersOf(uuid);
  assert.deepEqual(
    [customer!.name, customer!.email, customer!.id, more],
    ['Jordan Rivera', 'jo@example.com', await keptCustomer(uuid), []],
  );
  await forgetRequests(server.stripeUrl);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(
    (await requests()).filter((request) => request.includes('customers')),
    [],
  );
});

test('who came by a link is a customer by the name and the email of their contact', async () => {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: '103' } });
  await sql`update person set profile = profile || '{"personalEmail":"n/a"}', email = 'sam@example.com' where contact_id = '103'`.execute(
    server.deps.database,
  );
  const { uuid } = await payOrder(server, client, data.joinSessionUuid);
  await until(async () => (await keptCustomer(uuid)) !== '');
  const [customer] = await customersOf(uuid);
  assert.deepEqual([customer?.name, customer?.email], ['Sam Okafor', 'sam@example.com']);
});

test('a card that is not kept is given to nobody', async () => {
  const { uuid } = await newMember(server, 'LINCOLN2026');
  await until(async () => (await keptCustomer(uuid)) !== '');
  await sql`update payment set saves_card = false, customer_id = '' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await forgetRequests(server.stripeUrl);
  prepareCustomer(server.deps, uuid, (await joinPayment(uuid)).intent_id);
  // Stripe has answered this request. A request to create a customer, sent earlier, would most likely have arrived by now.
  await server.deps.payments.retrieveIntent((await joinPayment(uuid)).intent_id);
  assert.deepEqual(
    (await requests()).filter((request) => request.includes('customers')),
    [],
  );
});

for (const [name, fault] of [
  ['whose answer is lost', { kind: 'cut_after' }],
  // In the first case Stripe has created the customer, but answers with a failure, and replays this failure under the same
  // idempotency key.
  ['that it made and said it had failed', { kind: 'status_after' }],
  ['that it did not make', { kind: 'status' }],
] as const)
  test(`a customer ${name} is not made twice, and the next press sells the upgrade`, async () => {
    const client = server.client();
    const end = await customersMeet(fault);
    const { uuid, intentId } = await paidJoin(server, client);
    assert.equal((await charge(client, uuid, intentId)).status, 503);
    await end();
    const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
    assert.deepEqual(
      answers.map(({ data }) => data.status),
      ['succeeded', 'succeeded'],
    );
    assert.equal((await customersOf(uuid)).length, 1);
  });

test('a server that is killed before it wrote down the customer finds the same one', async () => {
  const { client, uuid, intentId } = await newMember(server);
  await until(async () => (await keptCustomer(uuid)) !== '');
  await sql`update payment set customer_id = '' where session_uuid = ${uuid}`.execute(server.deps.database);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await customersOf(uuid)).length, 1);
});

test('a bank that declines to have its card kept leaves another card to pay by', async () => {
  const client = server.client();
  const end = await customersMeet(declined);
  const { uuid, intentId } = await paidJoin(server, client);
  const { data } = await charge(client, uuid, intentId);
  assert.deepEqual([data.status, data.message], ['failed', 'Your card was declined.']);
  const other = await charge(client, uuid, intentId, false);
  // Three requests try to create a customer: one in each of the two calls, and one in the background work after the payment. The
  // bank must decline all three.
  await until(async () => (await customerRequests(uuid)) === 3);
  await end();
  const upgrade = other.data.clientSecret!.split('_secret_')[0]!;
  assert.equal((await payByCard(server, upgrade, 'pm_card_mastercard')).status, 200);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await customersOf(uuid), []);
});

test('an intent that was opened for another card only makes way for one that takes the saved card', async () => {
  const client = server.client();
  const end = await customersMeet(declined);
  const { uuid, intentId } = await paidJoin(server, client);
  const other = await charge(client, uuid, intentId, false);
  // Two requests try to create a customer, one of them in the background. The bank must decline both.
  await until(async () => (await customerRequests(uuid)) === 2);
  await end();
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const { body } = await server.stripe(
    'GET',
    `/v1/payment_intents/${other.data.clientSecret!.split('_secret_')[0]}`,
  );
  assert.equal((body as unknown as { status: string }).status, 'canceled');
});

test('an intent for another card only, which a server that died never wrote down, is not taken for one of the saved card', async (t) => {
  const client = server.client();
  const end = await customersMeet(declined);
  const { uuid, intentId } = await paidJoin(server, client);
  const { payments } = server.deps;
  const create = payments.createIntent.bind(payments);
  const dying = t.mock.method(payments, 'createIntent', async (...given: Parameters<typeof create>) => {
    await create(...given);
    throw new Error('the server died');
  });
  assert.equal((await charge(client, uuid, intentId, false)).status, 500);
  dying.mock.restore();
  // As above: the background request must not arrive after the fault has ended.
  await until(async () => (await customerRequests(uuid)) === 2);
  await end();
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('an intent that another tab opened for another card in the same moment is not charged with the saved one', async (t) => {
  const { client, uuid, intentId } = await newMember(server);
  const { payments } = server.deps;
  const { createIntent } = payments;
  t.after(() => Object.assign(payments, { createIntent }));
  Object.assign(payments, {
    async createIntent(...given: Parameters<typeof createIntent>) {
      Object.assign(payments, { createIntent });
      assert.equal((await charge(client, uuid, intentId, false)).status, 200);
      // The other tab's intent has no customer. That is so if the bank has declined to save the card.
      await sql`update payment set customer_id = '' where session_uuid = ${uuid} and kind = 'upgrade'`.execute(
        server.deps.database,
      );
      return createIntent(...given);
    },
  });
  const { status, message } = await charge(client, uuid, intentId);
  assert.equal(status, 409);
  assert.match(message!, /another card in another window/);
});

test('a name that is longer than Stripe keeps is shortened', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026', {
    firstName: 'J'.repeat(200),
    lastName: 'R'.repeat(200),
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await customersOf(uuid))[0]!.name!.length, 256);
});

function joinPayment(uuid: string) {
  return server.deps.database
    .selectFrom('payment')
    .select(['intent_id', 'customer_id'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .executeTakeFirstOrThrow();
}
const keptCustomer = async (uuid: string) => (await joinPayment(uuid)).customer_id;

/** Returns the number of requests to Stripe that would have made a customer for this join. */
async function customerRequests(uuid: string): Promise<number> {
  const made = await requestsTo(server.stripeUrl);
  return made.filter(({ idempotencyKey }) => idempotencyKey?.includes(`${uuid}-customer`)).length;
}

/** Returns the method and path of the requests to Stripe since the list was last cleared. */
async function requests(): Promise<string[]> {
  return (await requestsTo(server.stripeUrl)).map(({ method, path }) => `${method} ${path}`);
}
