import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { openIntent, paidJoin, payByCard } from '../testing/steps.ts';
import { type Client, startTestServer, type TestServer } from '../testing/testServer.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const charge = (client: Client, uuid: string, paymentIntent: string) =>
  client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent } });
const chargesOf = async (uuid: string) =>
  await server.deps.database
    .selectFrom('payment')
    .select(['amount_cents', 'status'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .execute();

/** Makes the saved card another one: the member's bank has changed its mind. */
async function saveOtherCard(uuid: string, card: string): Promise<void> {
  const { customer_id } = await server.deps.database
    .selectFrom('payment')
    .select('customer_id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const { body } = await server.stripe('POST', `/v1/payment_methods/${card}/attach`, {
    customer: customer_id,
  });
  await server.deps.database
    .updateTable('payment')
    .set({ payment_method_id: body.id })
    .where('session_uuid', '=', uuid)
    .execute();
}

test('the offer names its price and the card it would be charged to', async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026');
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual(
    [data.isEligibleForUpgrade, data.upgradeOption?.displayPrice, data.card],
    [true, '$45.00', { brand: 'Visa', last4: '4242' }],
  );
  assert.equal(data.isSelfNomination, false);
  assert.ok(data.features.length > 0);
  assert.equal(data.goOn, '/registration/congratulations');
});

test('pressed twice at once and again later, the card is charged once', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.equal(
    (await client.call('getUpgradeDetails', { params: { uuid } })).data.isEligibleForUpgrade,
    false,
  );
});

test('two presses that are at Stripe at the same time are one charge there', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  // Neither is answered before both have been sent.
  const slow = { kind: 'slow', ms: 300, method: 'POST', path: '/v1/payment_intents', times: 2 };
  await fetch(`${server.stripeUrl}/_emulator/faults`, { method: 'POST', body: JSON.stringify(slow) });
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  await fetch(`${server.stripeUrl}/_emulator/faults`, { method: 'DELETE' });
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  const { customer_id } = await server.deps.database
    .selectFrom('payment')
    .select('customer_id')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  const { body } = await server.stripe('GET', `/v1/payment_intents?customer=${customer_id}`);
  const amounts = (body as unknown as { data: { amount: number }[] }).data.map(({ amount }) => amount);
  assert.deepEqual(amounts.sort(), [4500, 6500]);
});

test('only the browser that paid is offered an upgrade and may buy it', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const other = server.client();
  assert.equal(
    (await other.call('getUpgradeDetails', { params: { uuid } })).data.isEligibleForUpgrade,
    false,
  );
  assert.equal((await charge(other, uuid, intentId)).status, 403);
  assert.deepEqual(await chargesOf(uuid), []);
});

test('half an hour after paying the offer is closed', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await server.deps.database
    .updateTable('join_session')
    .set({ paid_at: sql`now() - interval '31 minutes'` })
    .where('uuid', '=', uuid)
    .execute();
  assert.equal(
    (await client.call('getUpgradeDetails', { params: { uuid } })).data.isEligibleForUpgrade,
    false,
  );
  assert.equal((await charge(client, uuid, intentId)).status, 409);
});

test('Skip is honoured: the offer does not come back and nothing can be charged', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal(skipped.data.goOn, '/registration/congratulations');
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.deepEqual(await chargesOf(uuid), []);
});

test("a decline is told in the bank's sentence, and a later press is a new attempt", async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { payment_method_id } = await server.deps.database
    .selectFrom('payment')
    .select('payment_method_id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  await saveOtherCard(uuid, 'pm_card_chargeCustomerFail');
  const declined = (await charge(client, uuid, intentId)).data;
  assert.equal(declined.status, 'failed');
  assert.match(declined.message ?? '', /declined/);
  await server.deps.database
    .updateTable('payment')
    .set({ payment_method_id })
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .execute();
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual((await chargesOf(uuid)).map(({ status }) => status).sort(), ['canceled', 'succeeded']);
});

test('a bank that asks for authentication gets it in the page, and the same intent goes on', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await saveOtherCard(uuid, 'pm_card_authenticationRequired');
  const asked = (await charge(client, uuid, intentId)).data;
  assert.equal(asked.status, 'requires_action');
  const id = asked.clientSecret!.split('_secret_')[0]!;
  const response = await fetch(`${server.stripeUrl}/authenticate/${id}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_secret: asked.clientSecret, outcome: 'complete' }),
  });
  assert.equal(response.status, 200);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
});

test("a payment that is not this join's, or none at all, buys nothing", async () => {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026');
  const none = await charge(client, uuid, '');
  assert.deepEqual([none.status, none.message], [400, 'Payment intent ID is missing.']);
  assert.equal((await charge(client, uuid, 'pi_somebody_else')).status, 404);
});

test('a self-nominator is sent to the transcript after the upgrade', async () => {
  const client = server.client();
  const uuid = (
    await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, isTOLA: false } })
  ).data.uuid;
  const { details } = await import('../testing/steps.ts');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  const intent = await openIntent(client, uuid);
  await client.call('beginPayment', { params: { uuid }, body: { revision: intent.revision } });
  await payByCard(server, intent.id);
  await client.call('postPayment', {
    params: { uuid },
    body: {
      paymentIntent: intent.id,
      paymentIntentClientSecret: intent.clientSecret,
      redirectStatus: 'succeeded',
    },
  });
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual(
    [data.isSelfNomination, data.upgradeOption?.displayPrice, data.goOn],
    [true, '$55.00', '/registration/upload-transcript'],
  );
});

test("the link's own offer (usp) replaces the catalogue's, and a bought upgrade is offered none", async () => {
  const pay = async (client: Client, body: object) => {
    const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
    const intent = await openIntent(client, uuid);
    await client.call('beginPayment', {
      params: { uuid },
      body: { revision: intent.revision, agreeToPolicies: true },
    });
    await payByCard(server, intent.id);
    await client.call('postPayment', {
      params: { uuid },
      body: {
        paymentIntent: intent.id,
        paymentIntentClientSecret: intent.clientSecret,
        redirectStatus: 'succeeded',
      },
    });
    return (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  };
  const byLink = await pay(server.client(), {
    hubspotContactId: '103',
    mainProductId: 1,
    upsellProductId: 11,
  });
  assert.equal(byLink.upgradeOption?.productId, 11);
  const upgradeOnly = await pay(server.client(), { hubspotContactId: '105', mainProductId: 10 });
  assert.equal(upgradeOnly.isEligibleForUpgrade, false);
});
