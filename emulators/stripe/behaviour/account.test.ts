import assert from 'node:assert/strict';
import { test } from 'node:test';
import Stripe from 'stripe';
import { uniqueWord } from '../../shared/subjects.ts';
import { subject } from '../subject.ts';
import { errorOf } from '../test-support.ts';

test('the account says who it is and whether it may charge', async (t) => {
  const { stripe } = await subject(t);
  const account = await stripe.accounts.retrieveCurrent();
  assert.match(account.id, /^acct_/);
  assert.equal(typeof account.charges_enabled, 'boolean');
});

test('a webhook endpoint is registered in the version of the client, told of, changed and deleted', async (t) => {
  const { stripe, afterwards } = await subject(t);
  const url = `https://society.example.com/${uniqueWord()}`;
  const endpoint = await stripe.webhookEndpoints.create({
    url,
    enabled_events: ['payment_intent.succeeded', 'charge.dispute.created'],
    api_version: Stripe.API_VERSION,
  });
  // Deletes the endpoint even if the test fails before its own deletion.
  afterwards(() => stripe.webhookEndpoints.del(endpoint.id).catch(() => {}));
  assert.deepEqual([endpoint.status, endpoint.api_version], ['enabled', Stripe.API_VERSION]);
  assert.match(endpoint.secret!, /^whsec_/);

  const all = await stripe.webhookEndpoints.list({ limit: 100 });
  const listed = all.data.find(({ id }) => id === endpoint.id)!;
  assert.deepEqual(
    [listed.url, [...listed.enabled_events].sort(), listed.secret],
    [url, ['charge.dispute.created', 'payment_intent.succeeded'], undefined],
    'the secret is told at creation only',
  );
  const disabled = await stripe.webhookEndpoints.update(endpoint.id, { disabled: true });
  assert.equal(disabled.status, 'disabled');
  assert.equal((await stripe.webhookEndpoints.del(endpoint.id)).deleted, true);
  assert.equal((await errorOf(stripe.webhookEndpoints.retrieve(endpoint.id))).statusCode, 404);
});

test('a payment method domain is registered once, found by its name, switched off and on', async (t) => {
  const { stripe, afterwards } = await subject(t);
  // A domain cannot be removed, so every run uses the same domain and leaves it disabled.
  const domain_name = 'induct-drift.example.com';
  const { id } = await stripe.paymentMethodDomains.create({ domain_name });
  afterwards(() => stripe.paymentMethodDomains.update(id, { enabled: false }));
  const on = await stripe.paymentMethodDomains.update(id, { enabled: true });
  assert.deepEqual([on.domain_name, on.enabled], [domain_name, true]);
  assert.match(on.apple_pay.status, /^(in)?active$/);
  assert.equal((await stripe.paymentMethodDomains.create({ domain_name })).id, id, 'it is there already');
  const found = await stripe.paymentMethodDomains.list({ domain_name });
  assert.deepEqual(
    found.data.map((domain) => domain.id),
    [id],
  );
  assert.equal((await stripe.paymentMethodDomains.retrieve(id)).enabled, true);
  assert.equal((await stripe.paymentMethodDomains.list({ domain_name: 'none.example.com' })).data.length, 0);
});

test('the account’s own payment method configuration says whether cards and Link are offered', async (t) => {
  const { stripe } = await subject(t);
  const { data } = await stripe.paymentMethodConfigurations.list({ limit: 100 });
  const [own, ...others] = data.filter(({ is_default, application }) => is_default && application === null);
  assert.equal(others.length, 0);
  assert.equal(own!.active, true);
  for (const { display_preference } of [own!.card!, own!.link!])
    assert.match(display_preference.value, /^(on|off)$/);
  const again = await stripe.paymentMethodConfigurations.retrieve(own!.id);
  assert.deepEqual(again.link, own!.link);
  const colour = { link: { display_preference: { preference: 'purple' } } };
  assert.equal((await errorOf(stripe.paymentMethodConfigurations.update(own!.id, colour))).statusCode, 400);
});
