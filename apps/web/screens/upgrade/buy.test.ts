import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Stripe, StripeElements } from '@stripe/stripe-js';
import type { Site } from '#contract/schemas.ts';
import { setSite } from '../../lib/site.ts';
import { buyWithOtherCard, buyWithSavedCard } from './buy.ts';

test('an upgrade about which the bank decides longer than the page asks is not said to have failed', async (t) => {
  setSite({ apiUrl: '' } as Site);
  let ticking: ReturnType<typeof setInterval> | undefined;
  const charges: boolean[] = [];
  t.after(() => clearInterval(ticking));
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'fetch', async (_: unknown, { body }: RequestInit) => {
    charges.push(JSON.parse(String(body)).charge);
    ticking ??= setInterval(() => t.mock.timers.tick(10_000), 5);
    return new Response(JSON.stringify({ status: 'success', success: true, data: { status: 'processing' } }));
  });
  const bought = await buyWithSavedCard({ uuid: 'u', paymentIntent: 'pi', amount: 4500 });
  assert.notEqual(
    bought === true ? '' : bought.message,
    'Upgrade failed!',
    'the card may be charged at any moment',
  );
  assert.deepEqual(charges, [true, false, false, false, false], 'only the first call may charge');
});

test('an upgrade that the provider never says is bought goes on once the server does not offer it any more', async (t) => {
  setSite({ apiUrl: '', payments: { publishableKey: 'pk', scriptUrl: '' } } as unknown as Site);
  Object.assign(globalThis, { document: new EventTarget(), window: { location: { origin: '' } } });
  const charges = [
    { status: 'requires_payment_method', clientSecret: 'secret' },
    { status: 'succeeded', clientSecret: null },
  ];
  const offers = ['/registration/upgrade?payment_intent=pi', '/registration/congratulations'];
  t.mock.timers.enable({ apis: ['setTimeout'] });
  t.mock.method(globalThis, 'fetch', async (url: string) => {
    const data = url.endsWith('/pay-link') ? { goOn: offers.shift() } : charges.shift();
    return Response.json({ status: 'success', success: true, data });
  });
  const ticking = setInterval(() => t.mock.timers.tick(5000), 1);
  t.after(() => clearInterval(ticking));
  const stripe = { confirmPayment: () => new Promise(() => {}) } as unknown as Stripe;
  const bought = await buyWithOtherCard(
    { uuid: 'u', paymentIntent: 'pi', amount: 4500 },
    { stripe, elements: {} as StripeElements, clientSecret: 'secret' },
  );
  assert.equal(bought, true);
  assert.deepEqual([charges, offers], [[], []]);
});
