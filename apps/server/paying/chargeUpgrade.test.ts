import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { askStripe } from '../../../tests/harness/providers.ts';
import { membershipsOf, paymentRow } from '../../../tests/harness/rows.ts';
import { newMember, payByCard, statusAtStripe } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import {
  attemptsOf,
  beforeStripe,
  charge,
  chargesOf,
  declineSavedCard,
  gathering,
  idOf,
  intentsOf,
  membershipTypesOf,
  saveOtherCard,
  upgradeIntentOf,
} from '../../../tests/harness/upgrades.ts';
import { giveUpUnwritten } from '../books/catchUp.ts';
import { cancelIntent } from './cancelIntent.ts';

const server = await sharedServer();

test("a decline is told in the bank's sentence, and a later press is a new attempt on the same intent", async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  const declined = (await charge(client, uuid, intentId)).data;
  assert.deepEqual([declined.status, declined.message], ['failed', 'Your card has insufficient funds.']);
  const again = (await charge(client, uuid, intentId)).data;
  assert.deepEqual(again, declined);
  await declineSavedCard(server, uuid, null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await attemptsOf(server, idOf(declined.clientSecret)), ['failed', 'failed', 'succeeded']);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${idOf(declined.clientSecret)}`);
  assert.equal(body.receipt_email as unknown, 'jordan.rivera@example.com');
});

test('after a decline another card pays the same intent in the page, and asking again says so', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'generic_decline');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  assert.deepEqual((await charge(client, uuid, intentId, { charge: false })).data, {
    status: 'requires_payment_method',
    clientSecret,
  });
  assert.equal((await payByCard(server, idOf(clientSecret), 'pm_card_mastercard')).status, 200);
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.status, 'succeeded');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await membershipTypesOf(server, uuid), ['membership', 'membership_upgrade']);
});

test('an upgrade about which the bank still decides is neither bought nor declined, and is bought when it has', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('processing', { hold: true });
  for (let press = 0; press < 2; press++)
    assert.deepEqual((await charge(client, uuid, intentId)).data, { status: 'processing' });
  await server.stripeControl('processing', { hold: false });
  const upgrade = await upgradeIntentOf(server, uuid);
  await server.stripeControl(`payment_intents/${upgrade}/settle`, {});
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
});

test('asked for the client secret alone, no card is charged', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { status, clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  assert.equal(status, 'requires_payment_method');
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.clientSecret, clientSecret);
  assert.deepEqual(await attemptsOf(server, idOf(clientSecret)), []);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'open' }]);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${idOf(clientSecret)}`);
  assert.equal(body.setup_future_usage as unknown, null, 'nor will the card that is typed be kept');
});

test('another price than the one on the screen is told and not charged', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const refused = await charge(client, uuid, intentId, { amount: 4000 });
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'The price of this upgrade is now $45.00. Please check it and try again.'],
  );
  assert.deepEqual(await chargesOf(server, uuid), []);
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'succeeded');
});

test('an intent at an earlier price is cancelled, and the upgrade is sold at the price of now', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await server.deps.database
    .updateTable('payment')
    .set({ amount_cents: 4000 })
    .where('intent_id', '=', idOf(clientSecret))
    .execute();
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'succeeded');
  assert.equal((await payByCard(server, idOf(clientSecret))).status, 400);
  assert.deepEqual((await chargesOf(server, uuid)).map(({ status }) => status).sort(), [
    'canceled',
    'succeeded',
  ]);
});

test('a press that another tab overtakes with another price on its screen charges nothing', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  const create = payments.createIntent.bind(payments);
  const overtaken = t.mock.method(payments, 'createIntent', async (...given: Parameters<typeof create>) => {
    overtaken.mock.restore();
    changeSociety(t, server, (source) => source.replace('price: "45.00"', 'price: "47.00"'));
    assert.equal((await charge(client, uuid, intentId, { charge: false })).status, 200);
    return create(...given);
  });
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).status, 409);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4700, status: 'open' }]);
});

test('an intent at an earlier price that is paid in this very moment is followed by no other', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const open = idOf((await charge(client, uuid, intentId, { charge: false })).data.clientSecret);
  changeSociety(t, server, (source) => source.replace('price: "45.00"', 'price: "47.00"'));
  const { payments } = server.deps;
  const cancel = payments.cancelIntent.bind(payments);
  t.mock.method(payments, 'cancelIntent', async (id: string) => {
    assert.equal((await payByCard(server, open, 'pm_card_mastercard')).status, 200);
    return cancel(id);
  });
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
});

test('a failure that Stripe keeps under its key does not keep the next press from making the intent', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const path = '/v1/payment_intents';
  await server.stripeFault({ kind: 'status_after', method: 'POST', path, times: 9 });
  assert.equal((await charge(client, uuid, intentId)).status, 503);
  await server.stripeFault(null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('a charge of which Stripe says nothing is not said to have charged nothing', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const path = '/v1/payment_intents/*/confirm';
  await server.stripeFault({ kind: 'status_after', method: 'POST', path, times: 9 });
  const { status, message } = await charge(client, uuid, intentId);
  await server.stripeFault(null);
  assert.deepEqual(
    [status, message],
    [
      503,
      'The payment service did not answer. Please try again in a moment: what was charged is found, and nothing is charged twice.',
    ],
  );
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
});

test('a charge that Stripe refuses for a reason of the account is tried anew by the next press', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const body = { error: { type: 'invalid_request_error', message: 'not from this account' } };
  const path = '/v1/payment_intents/*/confirm';
  await server.stripeFault({ kind: 'status', status: 402, body, method: 'POST', path, times: 1 });
  assert.equal((await charge(client, uuid, intentId)).status, 502);
  await server.stripeFault(null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('a press that is overtaken by one at another price, which is declined and given up, buys what it was made for', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  const create = payments.createIntent.bind(payments);
  const overtaken = t.mock.method(payments, 'createIntent', async (...given: Parameters<typeof create>) => {
    overtaken.mock.restore();
    changeSociety(t, server, (source) => source.replace('price: "45.00"', 'price: "47.00"'));
    await declineSavedCard(server, uuid, 'insufficient_funds');
    const declined = (await charge(client, uuid, intentId)).data;
    assert.equal(declined.status, 'failed');
    await declineSavedCard(server, uuid, null);
    await cancelIntent(server.deps, idOf(declined.clientSecret));
    return create(...given);
  });
  const pressed = await charge(client, uuid, intentId, { amount: 4500 });
  assert.deepEqual([pressed.status, pressed.data?.status], [200, 'succeeded']);
  const charges = (await chargesOf(server, uuid)).map(({ amount_cents, status }) => [amount_cents, status]);
  assert.deepEqual(charges.sort(), [
    [4500, 'succeeded'],
    [4700, 'canceled'],
  ]);
});

test('a decline is told as one also when an intent that nobody wrote down has been given up meanwhile', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await charge(client, uuid, intentId, { charge: false });
  const unwritten = await server.stripe('POST', '/v1/payment_intents', {
    amount: '4500',
    currency: 'usd',
    'allowed_payment_method_types[0]': 'card',
    'metadata[app]': 'induct',
    'metadata[environment]': server.deps.environment,
    'metadata[session]': uuid,
    'metadata[kind]': 'upgrade',
    'metadata[revision]': '1',
  });
  assert.ok(await giveUpUnwritten(server.deps, unwritten.body.id));
  await declineSavedCard(server, uuid, 'insufficient_funds');
  const declined = await charge(client, uuid, intentId);
  assert.deepEqual([declined.status, declined.data?.status], [200, 'failed']);
  await declineSavedCard(server, uuid, null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('an intent that was cancelled in the dashboard is left, and the upgrade is sold with a new one', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const cancelled = idOf((await charge(client, uuid, intentId, { charge: false })).data.clientSecret);
  assert.equal(
    (await server.stripe('POST', `/v1/payment_intents/${cancelled}/cancel`)).body.status,
    'canceled',
  );
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual((await chargesOf(server, uuid)).map(({ status }) => status).sort(), [
    'canceled',
    'succeeded',
  ]);
});

test('a server that dies before it writes the intent that Stripe made sells the upgrade at the next price, too', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  const create = payments.createIntent.bind(payments);
  const dying = t.mock.method(payments, 'createIntent', async (...given: Parameters<typeof create>) => {
    await create(...given);
    throw new Error('the server died');
  });
  assert.equal((await charge(client, uuid, intentId)).status, 500);
  assert.equal(dying.mock.callCount(), 1);
  dying.mock.restore();
  changeSociety(t, server, (source) => source.replace('price: "45.00"', 'price: "47.00"'));
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4700, status: 'succeeded' }]);
});

test('a bank that asks for authentication gets it in the page, and the same intent goes on', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await saveOtherCard(server, uuid, 'pm_card_authenticationRequired');
  const asked = (await charge(client, uuid, intentId)).data;
  assert.equal(asked.status, 'requires_action');
  const response = await fetch(`${server.stripeUrl}/authenticate/${idOf(asked.clientSecret)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_secret: asked.clientSecret, outcome: 'complete' }),
  });
  assert.equal(response.status, 200);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
});

test('an intent for which the bank has asked is not confirmed in the page once another one has replaced it', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await saveOtherCard(server, uuid, 'pm_card_authenticationRequired');
  const asked = (await charge(client, uuid, intentId)).data;
  assert.equal(asked.status, 'requires_action');
  const again = (await charge(client, uuid, intentId)).data;
  assert.deepEqual([again.status, again.clientSecret], ['requires_action', asked.clientSecret]);
  changeSociety(t, server, (source) => source.replace('price: "45.00"', 'price: "47.00"'));
  const replaced = (await charge(client, uuid, intentId)).data;
  assert.equal(replaced.status, 'requires_action');
  const { body } = await server.stripe('GET', `/v1/payment_intents/${idOf(replaced.clientSecret)}`);
  assert.deepEqual(
    [body.amount, body.status],
    [4700, 'requires_action'],
    'the bank was asked about this one',
  );
});

test('a bank that asks on a page of its own leads back to the return page', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await saveOtherCard(server, uuid, 'pm_card_authenticationRequired');
  const upgrade = idOf((await charge(client, uuid, intentId, { charge: false })).data.clientSecret);
  await server.stripeControl(`payment_intents/${upgrade}/authentication`, { by: 'redirect' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'requires_action');
  const asking = await askStripe<Stripe.PaymentIntent>(
    server.stripeUrl,
    'GET',
    `/v1/payment_intents/${upgrade}`,
  );
  assert.equal(
    asking.next_action?.redirect_to_url?.return_url,
    `${server.deps.config.publicUrl}/registration/post-payment`,
  );
});

test("a payment that is not this join's, or none at all, buys nothing", async () => {
  const { client, uuid } = await newMember(server, 'LINCOLN2026');
  const none = await charge(client, uuid, '');
  assert.deepEqual([none.status, none.message], [400, 'Payment intent ID is missing.']);
  assert.equal((await charge(client, uuid, 'pi_somebody_else')).status, 404);
});

test('after too many declined cards both cards have to wait, and no secret takes another one', async (t) => {
  limitWith(t, server, { LIMIT_CARD_FAILURES_PER_SESSION: '2/10' });
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  // Pays with another card on the page. The card is declined, without a call to our server.
  const declinedInPage = () => payByCard(server, idOf(clientSecret), 'pm_card_chargeDeclined');
  await declinedInPage();
  assert.equal((await charge(client, uuid, intentId, { charge: false })).status, 200);
  await declinedInPage();
  const refused = await charge(client, uuid, intentId, { charge: false });
  assert.deepEqual(
    [refused.status, refused.headers.has('retry-after'), refused.message],
    [429, true, 'Too many cards were declined. Please wait 10 minutes and try again. Nothing was charged.'],
  );
  assert.equal((await charge(client, uuid, intentId)).status, 429);
  assert.equal((await payByCard(server, idOf(clientSecret))).status, 400);
  assert.equal(await statusAtStripe(server, idOf(clientSecret)), 'canceled');
});

test('an upgrade that the society has put in the place of another one at its price is what is sold once it is shown', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  assert.equal((await charge(client, uuid, intentId, { amount: 4500 })).data.status, 'failed');
  await declineSavedCard(server, uuid, null);
  changeSociety(t, server, (source) =>
    source.replaceAll('upgrade: 10\n', 'upgrade: 12\n').replace(
      '  - id: 11\n',
      `  - id: 12
    uuid: 0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0012
    type: membership_upgrade
    programme: high-school
    name: Patron upgrade
    description: Recognition beyond membership
    price: "45.00"
    features:
      - Named in the yearbook
  - id: 11
`,
    ),
  );
  const params = { uuid };
  const shown = (await client.call('getUpgradeDetails', { params })).data;
  assert.equal(shown.upgradeOption?.name, 'Patron upgrade');
  const { data } = await charge(client, uuid, intentId, { amount: 4500 });
  assert.equal(data.status, 'succeeded');
  const sold = (await membershipsOf(server, uuid)).find(({ type }) => type === 'membership_upgrade');
  assert.equal(sold?.product_id, shown.upgradeOption?.id, 'what was on the screen is what was sold');
});

test('pressed twice at once and again later, the card is charged once', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.equal(
    (await client.call('getUpgradeDetails', { params: { uuid } })).data.isEligibleForUpgrade,
    false,
  );
});

test('two presses that are at Stripe at the same time are one intent and one charge there', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  beforeStripe(server, t, 'createIntent', gathering(2));
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('a press that is overtaken by a whole other one is told that the upgrade was sold', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  let isFirst = true;
  beforeStripe(server, t, 'createIntent', async () => {
    if (!isFirst) return;
    isFirst = false;
    assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('two presses at once on a card that is declined ask the bank once', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  beforeStripe(server, t, 'confirmWithSavedCard', gathering(2));
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.message),
    ['Your card has insufficient funds.', 'Your card has insufficient funds.'],
  );
  assert.deepEqual(await attemptsOf(server, idOf(clientSecret)), ['failed', 'failed']);
});

test('a press that is overtaken by two declined ones does not have the next one repeat their attempts', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  let isFirst = true;
  beforeStripe(server, t, 'confirmWithSavedCard', async () => {
    if (!isFirst) return;
    isFirst = false;
    for (let press = 0; press < 2; press++)
      assert.equal((await charge(client, uuid, intentId)).data.status, 'failed');
  });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'failed');
  await declineSavedCard(server, uuid, null);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('one tab pays with another card while another presses Upgrade Now: it is paid once, and both are told', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  beforeStripe(server, t, 'confirmWithSavedCard', () =>
    payByCard(server, idOf(clientSecret), 'pm_card_mastercard'),
  );
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.status, 'succeeded');
  assert.deepEqual(await attemptsOf(server, idOf(clientSecret)), ['succeeded']);
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('Upgrade Now charges the card that it names, not one that is being authenticated in another tab', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await payByCard(server, idOf(clientSecret), 'pm_card_threeDSecure2Required');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  const { card_last4 } = await paymentRow(server, idOf(clientSecret));
  assert.equal(card_last4, '4242');
});

test('a charge whose answer was lost is found by the next press, and not made again', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeFault({
    kind: 'cut_after',
    method: 'POST',
    path: '/v1/payment_intents/*/confirm',
    times: 3,
  });
  assert.equal((await charge(client, uuid, intentId)).status, 503);
  await server.stripeFault(null);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'open' }]);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('killed between making the intent and noting it, the next press finds the same one', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  for (const table of ['payment', 'order_snapshot'] as const)
    await server.deps.database
      .deleteFrom(table)
      .where('session_uuid', '=', uuid)
      .where('kind', '=', 'upgrade')
      .execute();
  assert.equal((await charge(client, uuid, intentId, { charge: false })).data.clientSecret, clientSecret);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.equal((await intentsOf(server, uuid)).length, 2);
});

test('killed after a decline and before noting it, the next press tells that decline and asks no bank again', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await declineSavedCard(server, uuid, 'insufficient_funds');
  const { clientSecret } = (await charge(client, uuid, intentId)).data;
  await server.deps.database
    .updateTable('payment')
    .set({ attempt: 1 })
    .where('intent_id', '=', idOf(clientSecret))
    .execute();
  const told = (await charge(client, uuid, intentId)).data;
  assert.equal(told.message, 'Your card has insufficient funds.');
  assert.deepEqual(await attemptsOf(server, idOf(clientSecret)), ['failed']);
});

test('a press whose join is erased while Stripe makes the intent charges nothing', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  beforeStripe(server, t, 'createIntent', () =>
    server.deps.database
      .updateTable('join_session')
      .set({ erased_at: new Date() })
      .where('uuid', '=', uuid)
      .execute(),
  );
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.deepEqual(await chargesOf(server, uuid), []);
  assert.deepEqual(
    (await intentsOf(server, uuid)).map(({ amount, status }) => [amount, status]),
    [
      [4500, 'canceled'],
      [6500, 'succeeded'],
    ],
  );
});
