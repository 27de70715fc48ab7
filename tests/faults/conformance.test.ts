import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LedgerEntry } from '../../emulators/shared/ledger.ts';
import { ApiVersion } from '../../emulators/stripe/api-version.ts';
import { countCalls, misshapen } from './conformance.ts';

const request = (change: Partial<LedgerEntry>): LedgerEntry => ({
  method: 'POST',
  path: '/v1/payment_intents',
  params: { amount: '6500', currency: 'usd', metadata: { kind: 'join' } },
  idempotencyKey: null,
  status: 200,
  headers: { 'stripe-version': ApiVersion },
  time: 0,
  ...change,
});

test('a request as the API wants it passes, whatever became of it', () => {
  assert.deepEqual(misshapen([request({}), request({ status: 500 }), request({ status: null })]), []);
});

test('a parameter that the API does not know, lacks or cannot read is found, and so are another version and call', () => {
  const texts = misshapen([
    request({ params: { amount: '6500', currency: 'usd', amuont: '1' } }),
    request({ params: { currency: 'usd' } }),
    request({ params: { amount: 'much', currency: 'usd' } }),
    // `payment_method_types` is refused since API version 2026-09-30.
    request({ params: { amount: '6500', currency: 'usd', payment_method_types: ['card'] } }),
    request({ headers: { 'stripe-version': '2020-08-27' } }),
    request({ path: '/v1/payment_intentions' }),
    request({ status: 501 }),
  ]).map(({ text }) => text);
  assert.equal(texts.length, 7);
  assert.match(texts[0]!, /unknown parameter: amuont/);
  assert.match(texts[1]!, /Missing required param: amount/);
  assert.match(texts[2]!, /Invalid integer/);
  assert.match(texts[3]!, /`payment_method_types` is no longer supported/);
  assert.deepEqual(texts.slice(4), ['version 2020-08-27', 'no such call', 'not emulated']);
});

test('calls are counted by what they are for, and only those of our server', () => {
  const counts = countCalls([
    request({}),
    request({ params: { metadata: { kind: 'upgrade' } } }),
    request({ path: '/v1/payment_intents/pi_1/confirm', params: { payment_method: 'pm_1' } }),
    request({ path: '/v1/payment_intents/pi_1' }),
    request({ path: '/v1/payment_intents/pi_1/cancel', params: {} }),
    request({ method: 'GET', path: '/v1/payment_intents', params: {} }),
    request({ headers: {} }),
  ]);
  const { createIntent, confirmWithSavedCard, updateIntent, cancelIntent, listIntents } = counts;
  assert.deepEqual(
    [createIntent, confirmWithSavedCard, updateIntent, cancelIntent, listIntents],
    [2, 1, 1, 1, 1],
  );
  assert.equal(
    Object.values(counts).reduce((sum, count) => sum + count, 0),
    6,
  );
});
