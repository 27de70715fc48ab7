import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedServer } from '../../../../tests/harness/testServer.ts';

const server = await sharedServer();

/** More objects than one page of Stripe's lists has (at most a hundred). */
const MANY = 205;

test('what Stripe lists is read to its end, however many pages it has', async () => {
  const since = new Date(Date.now() - 60_000);
  const made: string[] = [];
  for (let count = 0; count < MANY; count++) {
    const { body } = await server.stripe('POST', '/v1/payment_intents', { amount: '500', currency: 'usd' });
    made.push(body.id);
  }
  const { payments } = server.deps;
  const listed: string[] = [];
  for await (const { id } of payments.listIntents(since)) listed.push(id);
  const told: (string | null)[] = [];
  for await (const { intentId } of payments.listEvents(['payment_intent.created'], since))
    told.push(intentId);
  for (const ids of [listed, told])
    assert.deepEqual(
      ids.filter((id) => id !== null && made.includes(id)),
      made.toReversed(),
      'the newest first',
    );
});
