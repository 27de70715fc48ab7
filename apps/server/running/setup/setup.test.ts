import assert from 'node:assert/strict';
import { before, mock, test } from 'node:test';
import Stripe from 'stripe';
import { defaultFieldRules } from '#core/crmFields.ts';
import { HUBSPOT_ACCESS_TOKEN, STRIPE_SECRET_KEY } from '../../../../emulators/keys.ts';
import { atHubspot, deliver } from '../../../../tests/harness/deliver.ts';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import { control } from '../../../../tests/harness/providers.ts';
import { paidJoin } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { Stopped } from '../../../staff/print.ts';
import { setUp } from '../../../staff/setup.ts';
import type { ExistingProperty } from '../../crm/hubspot/client.ts';
import { CrmUnavailable } from '../../crm/hubspot/errors.ts';
import { neededProperties } from '../../crm/hubspot/properties.ts';
import { stripeApiVersion } from '../../providers/stripe/account.ts';
import { restrictedKeyPage } from '../../providers/stripe/permissions.ts';
import { webhookEvents } from '../../providers/stripe/webhookEvents.ts';
import { applyProperties, planProperties, wantedProperties } from './hubspotProperties.ts';

const PUBLIC_URL = 'https://join.society.example';
const URL_OF_WEBHOOKS = `${PUBLIC_URL}/api/webhooks/stripe`;
const server = await sharedServer({ PUBLIC_URL }, { hubspotLimits: 'off' });
let stripe: Stripe;
before(async () => {
  const { hostname: host, port } = new URL(server.stripeUrl);
  stripe = new Stripe(STRIPE_SECRET_KEY, { host, port, protocol: 'http', maxNetworkRetries: 0 });
});
beforeEachIn(import.meta.filename, async () => {
  await server.stripeFault(null);
  for (const { id } of await endpoints()) await stripe.webhookEndpoints.del(id);
  const [domain] = (await stripe.paymentMethodDomains.list()).data;
  if (domain) await stripe.paymentMethodDomains.update(domain.id, { enabled: false });
});

const endpoints = async () => (await stripe.webhookEndpoints.list()).data;

/** Runs setup on the stand-ins as if they were the real providers. */
async function run({
  agrees = true,
  isTrial = false,
  standIns = { stripe: false, hubspot: true },
  config = server.deps.config,
} = {}): Promise<{ status: 0 | 1; lines: string[] }> {
  const lines: string[] = [];
  const log = mock.method(console, 'log', (line: string) => void lines.push(line));
  try {
    const isDone = await setUp(config, { yes: agrees && !isTrial, 'dry-run': isTrial }, standIns);
    return { status: isDone ? 0 : 1, lines };
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    return { status: 1, lines: [...lines, error.message] };
  } finally {
    log.mock.restore();
  }
}
const one = (lines: readonly string[], pattern: RegExp): string => {
  const found = lines.filter((line) => pattern.test(line));
  assert.equal(found.length, 1, lines.join('\n'));
  return found[0]!;
};

test('an empty account is shown what it lacks, and given it when that is agreed to, once', async () => {
  for (const answer of [{ isTrial: true }, { agrees: false }]) {
    const { status, lines } = await run(answer);
    assert.equal(status, 1);
    one(
      lines,
      /^Stripe: to do: Make a webhook endpoint for https:\/\/join\.society\.example\/api\/webhooks\/stripe/,
    );
    one(lines, /^Stripe: to do: Register join\.society\.example for Apple Pay/);
    one(lines, /^Nothing was changed/);
    assert.deepEqual(await endpoints(), []);
  }
  const { status, lines } = await run();
  assert.equal(status, 0, lines.join('\n'));
  const [endpoint, ...more] = await endpoints();
  assert.deepEqual(more, []);
  assert.deepEqual(
    [endpoint!.url, endpoint!.api_version, endpoint!.enabled_events, endpoint!.status],
    [URL_OF_WEBHOOKS, stripeApiVersion, [...webhookEvents], 'enabled'],
  );
  one(lines, new RegExp(`^done: ${endpoint!.id} is made\\. .*STRIPE_WEBHOOK_SECRET=whsec_\\w+$`));
  one(lines, /^done: Apple Pay is active on join\.society\.example/);

  const again = await run();
  assert.equal(again.status, 0);
  assert.equal(again.lines.at(-1), 'Everything is set up.');
  assert.equal(again.lines.join().includes('whsec_'), false);
  assert.deepEqual(
    (await endpoints()).map(({ id }) => id),
    [endpoint!.id],
  );
});

test('an endpoint that is disabled, or is sent other events, is put right and keeps its secret', async () => {
  for (const wrong of [['*'], webhookEvents.slice(1), [...webhookEvents, 'payout.paid']]) {
    const { id } = await stripe.webhookEndpoints.create({
      url: URL_OF_WEBHOOKS,
      enabled_events: wrong as Stripe.WebhookEndpointCreateParams.EnabledEvent[],
      api_version: stripeApiVersion as Stripe.WebhookEndpointCreateParams.ApiVersion,
    });
    await stripe.webhookEndpoints.update(id, { disabled: true });
    const { status, lines } = await run();
    assert.equal(status, 0, lines.join('\n'));
    const [endpoint, ...more] = await endpoints();
    assert.deepEqual([endpoint!.id, endpoint!.status, more], [id, 'enabled', []]);
    assert.deepEqual([...endpoint!.enabled_events].sort(), [...webhookEvents].sort());
    await stripe.webhookEndpoints.del(id);
  }
});

test('an endpoint of another version gets one of ours beside it, and is left for a person to delete', async () => {
  const { id } = await stripe.webhookEndpoints.create({ url: URL_OF_WEBHOOKS, enabled_events: ['*'] });
  const { status, lines } = await run();
  assert.equal(status, 1);
  one(lines, new RegExp(`^Stripe: by hand: Delete webhook endpoint ${id} .*the new secret`));
  assert.equal((await endpoints()).length, 2);
  const again = await run();
  assert.equal(again.lines.at(-1), 'Nothing is left to do here but by hand.');
  assert.equal((await endpoints()).length, 2, 'it is not made again');
});

test('endpoints and domains of others are left alone', async () => {
  const url = 'https://shop.example.com/webhooks';
  const { id } = await stripe.webhookEndpoints.create({ url, enabled_events: ['*'] });
  await run();
  const other = await stripe.webhookEndpoints.retrieve(id);
  assert.deepEqual([other.url, other.enabled_events, (await endpoints()).length], [url, ['*'], 2]);
});

test('what Stripe refuses is told, and the rest is done', async () => {
  const error = { type: 'invalid_request_error', message: 'The provided key may not.' };
  const fault = {
    kind: 'status',
    status: 403,
    method: 'POST',
    path: '/v1/webhook_endpoints',
    body: { error },
  };
  await server.stripeFault(fault);
  const { status, lines } = await run();
  assert.equal(status, 1);
  one(lines, /^refused: Make a webhook endpoint .* The provided key may not\.$/);
  one(lines, /^done: Apple Pay is active/);
  await server.stripeFault({ ...fault, method: 'GET' });
  one(
    (await run()).lines,
    /^Stripe: by hand: Stripe does not tell Webhook Endpoints \(The provided key may not\.\)/,
  );
});

test('contact properties that HubSpot lacks are shown, and made when that is agreed to, once', async () => {
  const standIns = { stripe: true, hubspot: false };
  const address = `${server.hubspotUrl}/crm/properties/2026-09/contacts`;
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}` };
  assert.equal((await fetch(`${address}/amount_paid`, { method: 'DELETE', headers })).status, 204);
  const shown = await run({ standIns, isTrial: true });
  assert.equal(shown.status, 1);
  one(shown.lines, /^HubSpot: to do: Make the contact property amount_paid \(number, /);
  assert.equal((await fetch(`${address}/amount_paid`, { headers })).status, 404);

  const { status, lines } = await run({ standIns });
  assert.equal(status, 0, lines.join('\n'));
  one(lines, /^done: amount_paid is there\.$/);
  assert.equal((await fetch(`${address}/amount_paid`, { headers })).status, 200);
  assert.equal((await run({ standIns })).lines.at(-1), 'Everything is set up.');
});

test('an address that Stripe cannot reach is told, and nothing is asked of the account', async () => {
  const { config } = server.deps;
  for (const publicUrl of ['http://127.0.0.1:3000', 'https://localhost:3000']) {
    const { status, lines } = await run({ config: { ...config, publicUrl } });
    assert.equal(status, 1);
    one(lines, /^Stripe: by hand: Stripe cannot reach .* stripe listen --forward-to /);
    assert.deepEqual(await endpoints(), []);
  }
});

test('a stand-in needs no setup', async () => {
  const { status, lines } = await run({ standIns: { stripe: true, hubspot: true } });
  assert.deepEqual([status, lines.at(-1)], [0, 'Everything is set up.']);
  assert.deepEqual(await endpoints(), []);
});

test('the page for a restricted key has its permissions filled in, in test and in live mode', async () => {
  const page = new URL(restrictedKeyPage({ live: false }));
  assert.equal(page.pathname, '/test/apikeys/create');
  assert.ok(page.searchParams.getAll('permissions[]').includes('rak_payment_intent_write'));
  assert.equal(new URL(restrictedKeyPage({ live: true })).pathname, '/apikeys/create');
  one(
    (await run({ isTrial: true })).lines,
    /restricted key: https:\/\/dashboard\.stripe\.com\/test\/apikeys\/create\?/,
  );
});

const wanted = wantedProperties(defaultFieldRules);
const there = (name: string, change: Partial<ExistingProperty> = {}): ExistingProperty => ({
  ...wanted.find((property) => property.name === name)!,
  isReadOnly: false,
  ...change,
});
const planFor = async () => planProperties((await server.hubspot.getProperties())!, wanted);
const remove = (name: string) =>
  fetch(`${server.hubspotUrl}/crm/properties/2026-09/contacts/${name}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}` },
  });

test('what is wanted is what a join reads and writes', () => {
  assert.deepEqual(wanted.map(({ name }) => name).sort(), neededProperties(defaultFieldRules).sort());
});

test('in an account without the properties of the society, they are made with their types and groups, once, and a join is told in full', async () => {
  const first = await planFor();
  assert.deepEqual([first.create, first.differ], [[], []]);
  const own = wanted.map(({ name }) => name).filter((name) => isOwn(name));
  for (const name of own) assert.equal((await remove(name)).status, 204, name);
  const plan = await planFor();
  assert.deepEqual(plan.create.map(({ name }) => name).sort(), own.sort());

  const heard: string[] = [];
  const applied = await applyProperties(server.hubspot, plan, ({ name }) => heard.push(name));
  assert.deepEqual(new Set(applied.map(({ outcome }) => outcome)), new Set(['created']));
  assert.deepEqual(
    heard,
    applied.map(({ name }) => name),
  );
  const again = await planFor();
  assert.deepEqual([again.create, again.differ, again.fine.length], [[], [], wanted.length]);
  const made = new Map((await server.hubspot.getProperties())!.map((property) => [property.name, property]));
  assert.deepEqual(
    ['paid_at', 'amount_paid', 'accepted_privacy_policy', 'join_stage'].map((name) => {
      const { type, fieldType, groupName, options } = made.get(name)!;
      return [type, fieldType, groupName, options.map(({ value }) => value)];
    }),
    [
      ['datetime', 'date', 'contactinformation', []],
      ['number', 'number', 'contactinformation', []],
      ['bool', 'booleancheckbox', 'contactinformation', ['true', 'false']],
      ['string', 'text', 'contactinformation', []],
    ],
  );

  await paidJoin(server, server.client(), 'HONOR101');
  await deliver(server);
  const held = await atHubspot(server, '101', 'membership_status', 'amount_paid', 'accepted_privacy_policy');
  assert.deepEqual(
    [held.membership_status, held.amount_paid, held.accepted_privacy_policy],
    ['member', '65.00', 'true'],
  );
  // A second run must find all properties: setup may be repeated after an interruption, or run by two people at once.
  assert.deepEqual(
    new Set((await applyProperties(server.hubspot, plan)).map(({ outcome }) => outcome)),
    new Set(['was there']),
  );
});

/** Whether a property is not one of HubSpot's default properties, so that the test may remove it. */
function isOwn(name: string): boolean {
  return !['firstname', 'lastname', 'email', 'address', 'city', 'state', 'zip', 'country'].includes(name);
}

const option = (value: string) => ({ label: value, value });
for (const [what, property, text] of [
  ['text where a number is written', there('amount_paid', { type: 'string' }), null],
  [
    'a date where a time is written',
    there('paid_at', { type: 'date' }),
    /paid_at is of the type date, and datetime is written\. Name another/,
  ],
  [
    'a number where text is written',
    there('join_stage', { type: 'number' }),
    /is of the type number, and string is written/,
  ],
  [
    'a dropdown with all that is written',
    there('membership_status', {
      type: 'enumeration',
      options: ['member', 'former', 'prospect'].map(option),
    }),
    null,
  ],
  [
    'a dropdown without one of them',
    there('membership_status', { type: 'enumeration', options: [option('member')] }),
    /lacks the option former\. Add it/,
  ],
  [
    'a dropdown for what people type',
    there('city', { type: 'enumeration', options: [option('Austin')] }),
    /takes its options alone/,
  ],
  ['a dropdown that is only read', there('school_name', { type: 'enumeration' }), null],
  [
    'a checkbox of options',
    there('accepted_privacy_policy', { type: 'enumeration', options: ['true', 'false'].map(option) }),
    null,
  ],
  ['one that HubSpot writes', there('join_stage', { isReadOnly: true }), /written by HubSpot alone/],
] as [string, ExistingProperty, RegExp | null][])
  test(`${what} ${text ? 'is told, and left as it is' : 'fits'}`, () => {
    const { create, fine, differ } = planProperties([property], wanted);
    assert.ok(!create.some(({ name }) => name === property.name));
    assert.deepEqual(fine, text ? [] : [property.name]);
    if (text) assert.match(differ[0]!.text, text);
    else assert.deepEqual(differ, []);
  });

test('a key that may not make properties makes none, and says so', async () => {
  await remove('store_items');
  const scopes = ['crm.objects.contacts.read', 'crm.objects.contacts.write'];
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes });
  await assert.rejects(async () => applyProperties(server.hubspot, await planFor()), CrmUnavailable);
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: null });
  assert.deepEqual(
    (await applyProperties(server.hubspot, await planFor())).map(({ name, outcome }) => [name, outcome]),
    [['store_items', 'created']],
  );
});
