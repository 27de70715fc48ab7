import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import {
  details,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { refundPayment } from '../settlement/refundPayment.ts';

const server = await sharedServer();

const charge = (client: Client, uuid: string, paymentIntent: string, more: object = {}) =>
  client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent, ...more } });
const idOf = (clientSecret: string | undefined) => clientSecret!.split('_secret_')[0]!;
const chargesOf = async (uuid: string) =>
  await server.deps.database
    .selectFrom('payment')
    .select(['amount_cents', 'status'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .execute();

/** What happens, in one test, right before the server asks Stripe. */
function just(
  t: TestContext,
  before: 'createIntent' | 'confirmWithSavedCard',
  happens: () => Promise<unknown>,
): void {
  const { payments } = server.deps;
  const asks = payments[before] as (...given: unknown[]) => Promise<never>;
  Object.assign(payments, {
    async [before](...given: unknown[]) {
      await happens();
      return asks(...given);
    },
  });
  t.after(() => Object.assign(payments, { [before]: asks }));
}

/** Waits until so many have come. */
function gathering(count: number): () => Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let come = 0;
  return () => {
    if (++come === count) resolve();
    return promise;
  };
}

interface Listed {
  amount: number;
  status: string;
  metadata: { session?: string };
}

/** What Stripe has for a join, whatever we know of it. */
async function intentsOf(uuid: string): Promise<Listed[]> {
  const { body } = await server.stripe('GET', '/v1/payment_intents?limit=100');
  return (body as unknown as { data: Listed[] }).data.filter(({ metadata }) => metadata.session === uuid);
}

/** How each try to charge an intent went, the first one first. */
async function charged(intent: string): Promise<string[]> {
  const { body } = await server.stripe('GET', `/v1/charges?payment_intent=${intent}`);
  return (body as unknown as { data: Listed[] }).data.map(({ status }) => status).reverse();
}

async function membershipsOf(uuid: string): Promise<string[]> {
  const rows = await server.deps.database
    .selectFrom('membership')
    .select('type')
    .where('session_uuid', '=', uuid)
    .orderBy('type')
    .execute();
  return rows.map(({ type }) => type);
}

/** The bank of the card that paid for the membership declines it from now on; null: no more. */
async function declineSavedCard(uuid: string, declines: string | null): Promise<void> {
  const { payment_method_id } = await server.deps.database
    .selectFrom('payment')
    .select('payment_method_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .executeTakeFirstOrThrow();
  await server.stripeControl(`payment_methods/${payment_method_id}`, { declines });
}

/** Makes the saved card another one: the member's bank has changed its mind. */
async function saveOtherCard(uuid: string, card: string): Promise<void> {
  const customer = await server.stripe('POST', '/v1/customers', { payment_method: card });
  const { body } = await server.stripe('GET', `/v1/payment_methods?customer=${customer.body.id}`);
  const [method] = (body as unknown as { data: { id: string }[] }).data;
  await server.deps.database
    .updateTable('payment')
    .set({ customer_id: customer.body.id, payment_method_id: method!.id })
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

test('two presses that are at Stripe at the same time are one intent and one charge there', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  just(t, 'createIntent', gathering(2));
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  assert.deepEqual((await intentsOf(uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('a press that is overtaken by a whole other one is told that the upgrade was sold', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  let isFirst = true;
  just(t, 'createIntent', async () => {
    if (!isFirst) return;
    isFirst = false;
    assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual((await intentsOf(uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
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

test('Skip is honored: the offer does not come back and nothing can be charged', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal(skipped.data.goOn, '/registration/congratulations');
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.equal((await charge(client, uuid, intentId, { charge: false })).status, 409);
  assert.deepEqual(await chargesOf(uuid), []);
});

test('Skip cancels an intent whose card form is still open in another tab', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal((await payByCard(server, idOf(clientSecret))).status, 400);
  assert.deepEqual(await charged(idOf(clientSecret)), []);
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'canceled' }]);
});

test('Skip that finds the upgrade paid in that moment confirms it', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await payByCard(server, idOf(clientSecret));
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal(skipped.data.goOn, '/registration/congratulations');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await membershipsOf(uuid), ['membership', 'membership_upgrade']);
});

for (const moment of ['createIntent', 'confirmWithSavedCard'] as const)
  test(`Skip pressed while Upgrade Now is under way charges nothing: before ${moment}`, async (t) => {
    const client = server.client();
    const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
    just(t, moment, () => client.call('skipUpgrade', { params: { uuid }, body: {} }));
    const pressed = await charge(client, uuid, intentId);
    assert.deepEqual([pressed.status, pressed.goOn], [409, '/registration/congratulations']);
    assert.deepEqual((await intentsOf(uuid)).map(({ status }) => status).sort(), ['canceled', 'succeeded']);
    assert.deepEqual(await membershipsOf(uuid), ['membership']);
  });

test('an upgrade is only offered while the membership that this join bought is active', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await server.deps.database
    .updateTable('membership')
    .set({ standing: 'refunded' })
    .where('session_uuid', '=', uuid)
    .execute();
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual([data.isEligibleForUpgrade, data.upgradeOption, data.card], [false, null, null]);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  // And whoever still pays with the form gets the money back.
  await payByCard(server, idOf(clientSecret));
  const late = (await charge(client, uuid, intentId)).data;
  assert.equal(late.status, 'failed');
  assert.match(late.message ?? '', /goes back in full/);
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'duplicate' }]);
});

test("a decline is told in the bank's sentence, and a later press is a new attempt on the same intent", async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(uuid, 'insufficient_funds');
  const declined = (await charge(client, uuid, intentId)).data;
  assert.deepEqual([declined.status, declined.message], ['failed', 'Your card has insufficient funds.']);
  const again = (await charge(client, uuid, intentId)).data;
  assert.deepEqual(again, declined);
  await declineSavedCard(uuid, null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await charged(idOf(declined.clientSecret)), ['failed', 'failed', 'succeeded']);
});

test('two presses at once on a card that is declined ask the bank once', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(uuid, 'insufficient_funds');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  just(t, 'confirmWithSavedCard', gathering(2));
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.message),
    ['Your card has insufficient funds.', 'Your card has insufficient funds.'],
  );
  assert.deepEqual(await charged(idOf(clientSecret)), ['failed', 'failed']);
});

test('a press that is overtaken by two declined ones does not have the next one repeat their attempts', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(uuid, 'insufficient_funds');
  let isFirst = true;
  just(t, 'confirmWithSavedCard', async () => {
    if (!isFirst) return;
    isFirst = false;
    for (let press = 0; press < 2; press++)
      assert.equal((await charge(client, uuid, intentId)).data.status, 'failed');
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'failed');
  await declineSavedCard(uuid, null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('after a decline another card pays the same intent in the page, and asking again says so', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(uuid, 'generic_decline');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  assert.deepEqual((await charge(client, uuid, intentId, { charge: false })).data, {
    status: 'requires_payment_method',
    clientSecret,
  });
  assert.equal((await payByCard(server, idOf(clientSecret), 'pm_card_mastercard')).status, 200);
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.status, 'succeeded');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await membershipsOf(uuid), ['membership', 'membership_upgrade']);
});

test('asked for the client secret alone, no card is charged', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { status, clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  assert.equal(status, 'requires_payment_method');
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.clientSecret, clientSecret);
  assert.deepEqual(await charged(idOf(clientSecret)), []);
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'open' }]);
});

test('one tab pays with another card while another presses Upgrade Now: it is paid once, and both are told', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  just(t, 'confirmWithSavedCard', () => payByCard(server, idOf(clientSecret), 'pm_card_mastercard'));
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.status, 'succeeded');
  assert.deepEqual(await charged(idOf(clientSecret)), ['succeeded']);
  assert.deepEqual((await intentsOf(uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('Upgrade Now charges the card that it names, not one that is being authenticated in another tab', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await payByCard(server, idOf(clientSecret), 'pm_card_threeDSecure2Required');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const { card_last4 } = await server.deps.database
    .selectFrom('payment')
    .select('card_last4')
    .where('intent_id', '=', idOf(clientSecret))
    .executeTakeFirstOrThrow();
  assert.equal(card_last4, '4242');
});

test('a charge whose answer was lost is found by the next press, and not made again', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await server.stripeFault({
    kind: 'cut_after',
    method: 'POST',
    path: '/v1/payment_intents/*/confirm',
    times: 3,
  });
  assert.equal((await charge(client, uuid, intentId)).status, 503);
  await server.stripeFault(null);
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'open' }]);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual((await intentsOf(uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('killed between making the intent and noting it, the next press finds the same one', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  for (const table of ['payment', 'order_snapshot'] as const)
    await server.deps.database
      .deleteFrom(table)
      .where('session_uuid', '=', uuid)
      .where('kind', '=', 'upgrade')
      .execute();
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.clientSecret, clientSecret);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await intentsOf(uuid)).length, 2);
});

test('killed after a decline and before noting it, the next press tells that decline and asks no bank again', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await declineSavedCard(uuid, 'insufficient_funds');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  await server.deps.database
    .updateTable('payment')
    .set({ attempt: 1 })
    .where('intent_id', '=', idOf(clientSecret))
    .execute();
  const told = (await charge(client, uuid, intentId)).data;
  assert.equal(told.message, 'Your card has insufficient funds.');
  assert.deepEqual(await charged(idOf(clientSecret)), ['failed']);
});

test('another price than the one on the screen is told and not charged', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const refused = await charge(client, uuid, intentId, { amount: 4000 });
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'The price of this upgrade is now $45.00. Please check it and try again.'],
  );
  assert.deepEqual(await chargesOf(uuid), []);
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'succeeded');
});

test('an intent at an earlier price is cancelled, and the upgrade is sold at the price of now', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await server.deps.database
    .updateTable('payment')
    .set({ amount_cents: 4000 })
    .where('intent_id', '=', idOf(clientSecret))
    .execute();
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'succeeded');
  assert.equal((await payByCard(server, idOf(clientSecret))).status, 400);
  assert.deepEqual((await chargesOf(uuid)).map(({ status }) => status).sort(), ['canceled', 'succeeded']);
});

test('a bank that asks for authentication gets it in the page, and the same intent goes on', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await saveOtherCard(uuid, 'pm_card_authenticationRequired');
  const asked = (await charge(client, uuid, intentId)).data;
  assert.equal(asked.status, 'requires_action');
  const response = await fetch(`${server.stripeUrl}/authenticate/${idOf(asked.clientSecret)}`, {
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
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  await payOrder(server, client, uuid);
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
    await reportPayment(client, uuid, intent);
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

test('an upgrade that goes back leaves a member whom HubSpot knows a member', async () => {
  const { database } = server.deps;
  const isMember = () =>
    database.selectFrom('contact').select('is_member').where('id', '=', '105').executeTakeFirstOrThrow();
  const bought = await database
    .selectFrom('membership')
    .select(['payment_intent', 'standing'])
    .where('contact_id', '=', '105')
    .execute();
  assert.deepEqual(
    [bought.length, bought[0]?.standing, (await isMember()).is_member],
    [1, 'active', true],
    'as the test before has sold it',
  );
  await refundPayment(server.deps, bought[0]!.payment_intent);
  const { standing } = await database
    .selectFrom('membership')
    .select('standing')
    .where('contact_id', '=', '105')
    .executeTakeFirstOrThrow();
  assert.deepEqual([standing, (await isMember()).is_member], ['refunded', true]);
});

test('after too many declined cards both cards have to wait, and no secret takes another one', async () => {
  const limited = await startTestServer({ LIMITS: 'on', LIMIT_CARD_FAILURES_PER_SESSION: '2/10' });
  try {
    const client = limited.client();
    const { uuid, intentId } = await paidJoin(limited, client, 'LINCOLN2026');
    const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
    // Typed in the page: nobody told us of it.
    const declinedInPage = () => payByCard(limited, idOf(clientSecret), 'pm_card_chargeDeclined');
    await declinedInPage();
    assert.equal((await charge(client, uuid, intentId, { charge: false })).status, 200);
    await declinedInPage();
    const refused = await charge(client, uuid, intentId, { charge: false });
    assert.deepEqual(
      [refused.status, refused.headers.has('retry-after'), refused.message],
      [429, true, 'Too many cards were declined. Please wait 10 minutes and try again. Nothing was charged.'],
    );
    assert.equal((await charge(client, uuid, intentId)).status, 429);
    assert.equal((await payByCard(limited, idOf(clientSecret))).status, 400);
    const { body } = await limited.stripe('GET', `/v1/payment_intents/${idOf(clientSecret)}`);
    assert.equal(body.status, 'canceled');
  } finally {
    await limited.close();
  }
});
