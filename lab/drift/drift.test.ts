import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startHubspotEmulator } from '../../emulators/hubspot/server.ts';
import { HUBSPOT_ACCESS_TOKEN, STRIPE_PUBLISHABLE_KEY, STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import { startStripeEmulator } from '../../emulators/stripe/server.ts';
import { beforeEachIn } from '../../tests/harness/hooks.ts';
import { npmRun } from '../../tests/harness/npmStart.ts';
import { forgetRequests, requestsTo, setFault } from '../../tests/harness/providers.ts';

// Emulators play the part of the real accounts. All tests share them, as they would share real accounts.
let stripe: { url: string; close(): Promise<void> };
let hubspot: { url: string; close(): Promise<void> };
let settings: { stripe: Record<string, string>; hubspot: Record<string, string> };
const folder = mkdtempSync(join(tmpdir(), 'induct-drift-'));
before(async () => {
  const options = { host: '127.0.0.1', port: 0 };
  stripe = await startStripeEmulator({ ...options, dataDir: folder });
  hubspot = await startHubspotEmulator({ ...options, dataDir: folder, searchLagMs: 500, limits: 'off' });
  settings = {
    stripe: {
      DRIFT_STRIPE_SECRET_KEY: STRIPE_SECRET_KEY,
      DRIFT_STRIPE_PUBLISHABLE_KEY: STRIPE_PUBLISHABLE_KEY,
      DRIFT_STRIPE_URL: stripe.url,
    },
    hubspot: { DRIFT_HUBSPOT_ACCESS_TOKEN: HUBSPOT_ACCESS_TOKEN, DRIFT_HUBSPOT_URL: hubspot.url },
  };
});
after(async () => {
  await Promise.all([stripe.close(), hubspot.close()]);
  rmSync(folder, { recursive: true, force: true });
});
beforeEachIn(import.meta.filename, async () => {
  for (const { url } of [stripe, hubspot]) await Promise.all([setFault(url, null), forgetRequests(url)]);
});

async function drift(env: Record<string, string>): Promise<{ code: number; output: string }> {
  const command = npmRun('lab', env, ['drift']);
  const code = await command.ended;
  return { code, output: command.output() };
}

test('without keys both providers are skipped, which nobody can overlook, and nothing failed', async () => {
  const { code, output } = await drift({});
  assert.equal(code, 0, output);
  assert.match(output, /Stripe +SKIPPED: DRIFT_STRIPE_SECRET_KEY and .* not set\. Nothing was compared/);
  assert.match(output, /HubSpot +SKIPPED: DRIFT_HUBSPOT_ACCESS_TOKEN is not set\. Nothing was compared/);
  assert.match(output, /\nStripe SKIPPED; HubSpot SKIPPED\n$/);
  assert.doesNotMatch(output, /passed/);
});

test('accounts that behave as the emulators do pass, were really asked, and are left as they were', async () => {
  // Answers 429, as if another program had used up the rate limit.
  const headers = { 'retry-after': '1' };
  await setFault(hubspot.url, { kind: 'status', status: 429, path: '/crm/**', skip: 9, headers });
  const { code, output } = await drift({ ...settings.stripe, ...settings.hubspot });
  assert.equal(code, 0, output);
  assert.match(output, /\nStripe [1-9]\d* passed, 0 failed; HubSpot [1-9]\d* passed, 0 failed\n$/);
  const [toStripe, toHubspot] = [await requestsTo(stripe.url), await requestsTo(hubspot.url)];
  assert.ok(toStripe.length > 100 && toHubspot.length > 40, `${toStripe.length}, ${toHubspot.length}`);

  const left = async (url: string, path: string, key: string) => {
    const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
    return (await answer.json()) as {
      data: { status: string; enabled: boolean }[];
      results: { id: string }[];
    };
  };
  const ofStripe = (path: string) => left(stripe.url, path, STRIPE_SECRET_KEY);
  assert.deepEqual((await ofStripe('/v1/customers')).data, []);
  assert.deepEqual((await ofStripe('/v1/webhook_endpoints')).data, []);
  assert.deepEqual(
    (await ofStripe('/v1/payment_method_domains')).data.map(({ enabled }) => enabled),
    [false],
  );
  const contacts = await left(hubspot.url, '/crm/objects/2026-09/contacts?limit=100', HUBSPOT_ACCESS_TOKEN);
  assert.deepEqual(
    contacts.results.map(({ id }) => id),
    ['101', '102', '103', '104', '105'],
    'the people of the demo alone',
  );
});

test('one provider alone is run, and fails by the name of the test that was answered otherwise; the other is skipped aloud', async () => {
  await setFault(stripe.url, { kind: 'status', status: 404, method: 'POST', path: '/v1/refunds' });
  const { code, output } = await drift(settings.stripe);
  assert.equal(code, 1, output);
  assert.match(output, /✖ refunds add up to the charge and never beyond it/);
  assert.match(output, /\nStripe \d+ passed, 1 failed; HubSpot SKIPPED\n$/);
});

test('settings that are wrong are refused with a sentence before anything runs', async () => {
  const { code, output } = await drift({ DRIFT_STRIPE_SECRET_KEY: 'sk_live_1' });
  assert.equal(code, 1, output);
  assert.match(output, /^Nothing was run:\n {2}DRIFT_STRIPE_SECRET_KEY is a live key/);
  assert.doesNotMatch(output, /\n +at /);
});

test('the token of an account with real people, and one that HubSpot refuses, run nothing', async () => {
  const body = { accountType: 'STANDARD' };
  await setFault(hubspot.url, { kind: 'status', status: 200, path: '/account-info/**', body });
  const standard = await drift(settings.hubspot);
  assert.equal(standard.code, 1);
  assert.match(standard.output, /it is the token of a STANDARD account/);
  const wrong = await drift({ ...settings.hubspot, DRIFT_HUBSPOT_ACCESS_TOKEN: 'pat-wrong' });
  assert.equal(wrong.code, 1);
  assert.match(wrong.output, /HubSpot answers 401/);
  const asked = (await requestsTo(hubspot.url)).filter(({ path }) => path.startsWith('/crm/'));
  assert.deepEqual(asked, []);
});
