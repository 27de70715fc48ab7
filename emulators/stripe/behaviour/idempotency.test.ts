import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { uniqueWord } from '../../shared/subjects.ts';
import { subject } from '../subject.ts';
import { CARDS_ONLY, CONFIRMED, errorOf } from '../test-support.ts';

test('the same key and body give the first answer again, and nothing is done twice', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const order = { ...CARDS_ONLY, amount: 500, customer: payer };
  const idempotencyKey = uniqueWord();
  const first = await stripe.paymentIntents.create(order, { idempotencyKey });
  const second = await stripe.paymentIntents.create(order, { idempotencyKey });
  assert.equal(second.id, first.id);
  assert.equal(first.lastResponse.headers['idempotent-replayed'], undefined);
  assert.equal(second.lastResponse.headers['idempotent-replayed'], 'true');
  assert.equal((await stripe.paymentIntents.list({ customer: payer })).data.length, 1);
});

test('the same key with another body is an idempotency_error', async (t) => {
  const { stripe, customer } = await subject(t);
  const order = { ...CARDS_ONLY, amount: 500, customer: await customer() };
  const idempotencyKey = uniqueWord();
  await stripe.paymentIntents.create(order, { idempotencyKey });
  const error = await errorOf(stripe.paymentIntents.create({ ...order, amount: 600 }, { idempotencyKey }));
  assert.deepEqual([error.statusCode, error.rawType], [400, 'idempotency_error']);
});

test('a decline is given again for its key', async (t) => {
  const { stripe, customer } = await subject(t);
  const payer = await customer();
  const idempotencyKey = uniqueWord();
  const pay = () =>
    errorOf(
      stripe.paymentIntents.create(
        {
          ...CONFIRMED,
          amount: 500,
          customer: payer,
          payment_method: 'pm_card_visa_chargeDeclined',
        },
        { idempotencyKey },
      ),
    );
  const [first, second] = [await pay(), await pay()];
  assert.equal(second.statusCode, 402);
  assert.equal(second.charge, first.charge);
  assert.equal(second.headers?.['idempotent-replayed'], 'true');
  assert.equal((await stripe.charges.list({ customer: payer })).data.length, 1);
});

test('a request that failed validation leaves its key free', async (t) => {
  const { stripe, customer } = await subject(t);
  const order = { ...CARDS_ONLY, customer: await customer() };
  const idempotencyKey = uniqueWord();
  const wrong = order as unknown as Stripe.PaymentIntentCreateParams;
  assert.equal(
    (await errorOf(stripe.paymentIntents.create(wrong, { idempotencyKey }))).code,
    'parameter_missing',
  );
  assert.equal(
    (await stripe.paymentIntents.create({ ...order, amount: 500 }, { idempotencyKey })).amount,
    500,
  );
});
