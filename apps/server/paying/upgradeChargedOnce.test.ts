import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import {
  attemptsOf,
  beforeStripe,
  charge,
  chargesOf,
  declineSavedCard,
  gathering,
  idOf,
  intentsOf,
} from '../../../tests/harness/upgrades.ts';

const server = await sharedServer();

test('pressed twice at once and again later, the card is charged once', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  beforeStripe(server, t, 'createIntent', gathering(2));
  const answers = await Promise.all([charge(client, uuid, intentId), charge(client, uuid, intentId)]);
  assert.deepEqual(
    answers.map(({ data }) => data.status),
    ['succeeded', 'succeeded'],
  );
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
});

test('a press that is overtaken by a whole other one is told that the upgrade was sold', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'open' }]);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual((await intentsOf(server, uuid)).map(({ amount }) => amount).sort(), [4500, 6500]);
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
  assert.equal((await intentsOf(server, uuid)).length, 2);
});

test('killed after a decline and before noting it, the next press tells that decline and asks no bank again', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
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
