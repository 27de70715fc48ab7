import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  STRIPE_PUBLISHABLE_KEY,
  STRIPE_SECRET_KEY,
  STRIPE_WEBHOOK_SECRET,
} from '../../../../emulators/keys.ts';
import { startStripeEmulator } from '../../../../emulators/stripe/server.ts';
import { askStripe } from '../../../../tests/harness/providers.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { stripeProvider } from './provider.ts';

/** More objects than one page of Stripe's lists has (at most a hundred). */
const MANY = 105;

test('what Stripe lists is read to its end, however many pages it has', async (t) => {
  const standIn = await startStripeEmulator({ host: '127.0.0.1', port: 0, dataDir: temporaryFolder(t) });
  t.after(() => standIn.close());
  const payments = stripeProvider({
    secretKey: STRIPE_SECRET_KEY,
    publishableKey: STRIPE_PUBLISHABLE_KEY,
    webhookSecrets: [STRIPE_WEBHOOK_SECRET],
    url: standIn.url,
    browserUrl: null,
  });
  const since = new Date(Date.now() - 60_000);
  const made: string[] = [];
  while (made.length < MANY) {
    const form = { amount: '500', currency: 'usd' };
    made.push((await askStripe<{ id: string }>(standIn.url, 'POST', '/v1/payment_intents', form)).id);
  }
  const listed: string[] = [];
  for await (const { id } of payments.listIntents(since)) listed.push(id);
  const told: (string | null)[] = [];
  for await (const { intentId } of payments.listEvents(['payment_intent.created'], since))
    told.push(intentId);
  for (const ids of [listed, told]) assert.deepEqual(ids, made.toReversed(), 'the newest first');
});
