import assert from 'node:assert/strict';
import { test } from 'node:test';
import Stripe from 'stripe';
import { ProviderRefused, RefundRefused, understood, understoodOfRefund } from './failures.ts';

/** Returns the error that Stripe's library throws for an answer with this status and error. */
const answered = (statusCode: number, error: { code?: string; param?: string } = {}) =>
  new Stripe.errors.StripeInvalidRequestError({
    type: 'invalid_request_error',
    message: 'No.',
    statusCode,
    ...error,
  });

test('a refund that Stripe can never make is told from one that it may make later', () => {
  const isFinal = (error: { code?: string; param?: string }) => {
    const { thrown } = understoodOfRefund(answered(400, error), 'refund');
    assert.ok(thrown instanceof RefundRefused);
    return thrown.isFinal;
  };
  for (const code of [
    'charge_already_refunded',
    'charge_disputed',
    'charge_not_refundable',
    'refund_disputed_payment',
    'amount_too_large',
    'amount_too_small',
  ])
    assert.ok(isFinal({ code }), code);
  assert.ok(isFinal({ param: 'amount' }), 'more than what is left, for which there is no code');
  assert.ok(!isFinal({ code: 'insufficient_funds' }));
  assert.ok(!isFinal({}));
});

test('what ends by itself is tried again by joiners and is no fault of ours, whatever else is refused is one', () => {
  const kindOf = (status: number) => {
    const { thrown, failure } = understood(answered(status), 'createIntent');
    return [thrown instanceof ProviderRefused ? 'refused' : 'again', failure?.kind];
  };
  for (const status of [408, 409, 424, 425, 429, 500, 503])
    assert.deepEqual(kindOf(status), ['again', 'outage'], `${status}`);
  for (const status of [400, 401, 403, 404, 422])
    assert.deepEqual(kindOf(status), ['refused', 'refusal'], `${status}`);
});
