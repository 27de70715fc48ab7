import assert from 'node:assert/strict';
import { test } from 'node:test';
import type Stripe from 'stripe';
import { uniqueWord } from '../../shared/subjects.ts';
import { type Subject, subject } from '../subject.ts';
import { CARDS_ONLY, errorOf } from '../test-support.ts';

/** How a call is refused: the status, and the error's parameter and code if it has them. */
interface Refused {
  status?: number;
  param?: string;
  code?: string;
  message?: RegExp;
}

async function assertRefused(call: Promise<unknown>, { status = 400, param, code, message }: Refused) {
  const error = await errorOf(call);
  assert.equal(error.statusCode, status, error.message);
  assert.equal(error.rawType, 'invalid_request_error');
  if (param) assert.equal(error.param, param);
  if (code) assert.equal(error.code, code);
  if (message) assert.match(error.message, message);
}

const invalidEmails = [
  'n/a',
  'nobody',
  'name@gmail..com',
  'name@localhost',
  'a,b@example.com',
  'a b@example.com',
  'one@two@example.com',
  '.name@example.com',
  'first..last@example.com',
  'name@-example.com',
  'ü@example.com',
  'name＠example.com',
  'name@example.com,',
];
for (const email of invalidEmails)
  test(`${JSON.stringify(email)} is no email: neither a customer's nor a receipt's`, async (t) => {
    const { stripe } = await subject(t);
    await assertRefused(stripe.customers.create({ email }), { param: 'email', code: 'email_invalid' });
    await assertRefused(stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, receipt_email: email }), {
      param: 'receipt_email',
      code: 'email_invalid',
    });
  });

test('emails that look odd and are none the worse are taken', async (t) => {
  const { stripe, customer } = await subject(t);
  for (const email of [
    `first.last+tag@mail.example.com`,
    "o'brien@example.com",
    'a_b-c@example.co',
    '1@example.com',
  ]) {
    const id = await customer({ email });
    assert.equal((await stripe.customers.retrieve(id)).object, 'customer');
  }
});

test('what is longer than Stripe keeps is refused, and what just fits is taken', async (t) => {
  const { stripe, customer, afterwards } = await subject(t);
  await customer({ name: 'n'.repeat(256) });
  await assertRefused(stripe.customers.create({ name: 'n'.repeat(257) }), { param: 'name' });
  const long = `${'a'.repeat(60)}@${Array.from({ length: 8 }, () => 'b'.repeat(60)).join('.')}.com`;
  await assertRefused(stripe.customers.create({ email: long }), { param: 'email' });
  const order = { ...CARDS_ONLY, amount: 500 };
  const { id } = await stripe.paymentIntents.create({ ...order, description: 'd'.repeat(1_000) });
  afterwards(() => stripe.paymentIntents.cancel(id));
  await assertRefused(stripe.paymentIntents.update(id, { description: 'd'.repeat(1_001) }), {
    param: 'description',
  });
});

test('the customer of an intent cannot be changed', async (t) => {
  const { stripe, customer, afterwards } = await subject(t);
  const [one, other] = [await customer(), await customer()];
  const { id } = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500, customer: one });
  afterwards(() => stripe.paymentIntents.cancel(id));
  await assertRefused(stripe.paymentIntents.update(id, { customer: other }), {
    code: 'payment_intent_unexpected_state',
    message: /You cannot modify `customer`/,
  });
  const without = await stripe.paymentIntents.create({ ...CARDS_ONLY, amount: 500 });
  afterwards(() => stripe.paymentIntents.cancel(without.id));
  assert.equal((await stripe.paymentIntents.update(without.id, { customer: one })).customer, one);
});

test('a version that is none is refused', async (t) => {
  const { stripe } = await subject(t);
  for (const apiVersion of ['1999-01-01', '2026-10-28.nothing', 'latest'])
    await assertRefused(stripe.customers.list({ limit: 1 }, { apiVersion }), {
      message: /^Invalid Stripe API version: /,
    });
});

const listOfEvents: [string, Stripe.EventListParams][] = [
  [
    'more than 20 types',
    {
      types: [
        ...['created', 'canceled', 'succeeded', 'processing', 'payment_failed', 'requires_action'].map(
          (name) => `payment_intent.${name}`,
        ),
        ...['created', 'updated', 'deleted'].map((name) => `customer.${name}`),
        ...['created', 'updated', 'failed', 'paid', 'canceled'].map((name) => `payout.${name}`),
        ...['succeeded', 'failed', 'refunded', 'updated', 'captured', 'expired', 'pending'].map(
          (name) => `charge.${name}`,
        ),
      ],
    },
  ],
  ['`type` together with `types`', { type: 'charge.refunded', types: ['charge.refunded'] }],
  ['a type that is none', { types: ['payment_intent.eaten'] }],
];
for (const [name, params] of listOfEvents)
  test(`a list of events is refused ${name}`, async (t) => {
    const { stripe } = await subject(t);
    await assertRefused(stripe.events.list(params), {});
  });

type Endpoint = Stripe.WebhookEndpointCreateParams;
const endpoints: [string, (url: string) => Endpoint, Refused][] = [
  [
    'of an event that is none',
    (url) => ({ url, enabled_events: ['payment_intent.eaten' as 'payment_intent.created'] }),
    { param: 'enabled_events[0]' },
  ],
  [
    'at an address of this machine',
    () => ({ url: 'https://127.0.0.1/webhooks', enabled_events: ['*'] }),
    { param: 'url' },
  ],
  [
    'at an address of a private network',
    () => ({ url: 'https://172.16.0.1/webhooks', enabled_events: ['*'] }),
    { param: 'url' },
  ],
  ['at no address', () => ({ url: 'society.example.com', enabled_events: ['*'] }), { param: 'url' }],
];
for (const [name, params, refused] of endpoints)
  test(`a webhook endpoint ${name} is refused`, async (t) => {
    const { stripe } = await subject(t);
    const url = `https://society.example.com/${uniqueWord()}`;
    await assertRefused(stripe.webhookEndpoints.create(params(url)), refused);
  });

for (const name of [
  'https://society.example.com',
  'localhost',
  '127.0.0.1',
  'society.example.com:8443',
  'society',
])
  test(`${name} is no domain for wallets`, async (t) => {
    const { stripe } = await subject(t);
    await assertRefused(stripe.paymentMethodDomains.create({ domain_name: name }), { param: 'domain_name' });
  });

type Confirm = (subject: Subject) => Promise<unknown>;
const order = { ...CARDS_ONLY, amount: 500 } as const;
const intents: [string, Confirm, Refused][] = [
  [
    'a return address that is none',
    ({ stripe }) =>
      stripe.paymentIntents.create({
        ...order,
        confirm: true,
        payment_method: 'pm_card_visa',
        return_url: '/registration/post-payment',
      }),
    { param: 'return_url', code: 'url_invalid' },
  ],
  [
    'a whole statement descriptor for a card',
    ({ stripe }) => stripe.paymentIntents.create({ ...order, statement_descriptor: 'HONOR SOCIETY' }),
    { param: 'statement_descriptor' },
  ],
  [
    'a statement suffix of 23 characters',
    ({ stripe }) => stripe.paymentIntents.create({ ...order, statement_descriptor_suffix: 'S'.repeat(23) }),
    { param: 'statement_descriptor_suffix' },
  ],
  [
    'a statement suffix with a character that is not allowed',
    ({ stripe }) => stripe.paymentIntents.create({ ...order, statement_descriptor_suffix: 'DUES <2026>' }),
    { param: 'statement_descriptor_suffix' },
  ],
];
for (const [name, call, refused] of intents)
  test(`an intent with ${name} is refused`, async (t) => {
    await assertRefused(call(await subject(t)), refused);
  });

test('payment_method_types is refused with a code of its own wherever an intent took it', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const { id } = await stripe.paymentIntents.create(order);
  afterwards(() => stripe.paymentIntents.cancel(id));
  const types = { payment_method_types: ['card'] };
  const refused = { param: 'payment_method_types', code: 'payment_method_types_no_longer_supported' };
  await assertRefused(stripe.paymentIntents.create({ ...order, ...types } as never), refused);
  await assertRefused(stripe.paymentIntents.update(id, types as never), refused);
  await assertRefused(stripe.paymentIntents.confirm(id, types as never), refused);
});
