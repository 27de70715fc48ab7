import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { before, test } from 'node:test';
import pg from 'pg';
import Stripe from 'stripe';
import { HUBSPOT_ACCESS_TOKEN, STRIPE_SECRET_KEY } from '../../../../emulators/keys.ts';
import { S3_BUCKET, startS3Emulator } from '../../../../emulators/s3/server.ts';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import { control, forgetRequests, requestsTo } from '../../../../tests/harness/providers.ts';
import { runOperator, settingsOf } from '../../../../tests/harness/serverProcess.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { diagnose } from '../../../staff/doctor.ts';
import type { Config } from '../../platform/config/config.ts';
import { idOfKey } from '../../providers/storage/envelope.ts';
import { openStorage } from '../../providers/storage/openStorage.ts';
import { stripeApiVersion } from '../../providers/stripe/account.ts';
import { webhookEvents } from '../../providers/stripe/webhookEvents.ts';
import { askStorage } from './askStorage.ts';

// All tests use this one server. The accounts at its stand-ins are reset before each test. The doctor itself changes nothing.
const PUBLIC_URL = 'https://join.society.example';
const server = await sharedServer({ PUBLIC_URL }, { hubspotLimits: 'off' });
let config: Config;
let stripe: Stripe;
before(async () => {
  config = server.deps.config;
  const { hostname: host, port } = new URL(server.stripeUrl);
  stripe = new Stripe(STRIPE_SECRET_KEY, { host, port, protocol: 'http' });
  await stripe.paymentIntents.create({ amount: 500, currency: 'usd' });
});
beforeEachIn(import.meta.filename, async () => {
  for (const { id } of (await stripe.webhookEndpoints.list()).data) await stripe.webhookEndpoints.del(id);
  await control(server.stripeUrl, 'DELETE', 'faults');
  await control(server.hubspotUrl, 'DELETE', 'faults');
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: null });
  await control(server.stripeUrl, 'POST', 'account', { charges_enabled: true });
  const { id } = await stripe.paymentMethodDomains.create({ domain_name: 'join.society.example' });
  await stripe.paymentMethodDomains.update(id, { enabled: true });
  await control(server.stripeUrl, 'POST', `payment_method_domains/${id}`, { apple_pay: 'active' });
});

function register(change: Partial<Stripe.WebhookEndpointCreateParams> = {}) {
  return stripe.webhookEndpoints.create({
    url: `${PUBLIC_URL}/api/webhooks/stripe`,
    enabled_events: [...webhookEvents],
    api_version: stripeApiVersion as never,
    ...change,
  });
}

/** Runs the doctor as if the stand-ins were the real providers. */
function asReal(change: Partial<Config> = {}) {
  return diagnose({ ...config, ...change }, { stripe: false, hubspot: false });
}
const withProviders = (change: {
  stripe?: Partial<Config['providers']['stripe']>;
  hubspot?: Partial<Config['providers']['hubspot']>;
}): Partial<Config> => ({
  providers: {
    ...config.providers,
    stripe: { ...config.providers.stripe, ...change.stripe },
    hubspot: { ...config.providers.hubspot, ...change.hubspot },
  },
});

/** Asserts that exactly one line of the report begins with `missing`. Returns that line. */
function missingIn({ report, status }: { report: string; status: number }): string {
  const lines = report.split('\n').filter((line) => line.startsWith('missing '));
  assert.deepEqual([status, lines.length], [1, 1], report);
  return lines[0]!;
}

test('an account in order misses nothing', async () => {
  const { id } = await register();
  const { report, status } = await asReal();
  assert.equal(status, 0, report);
  assert.match(report, new RegExp(`ok +Webhook endpoint: ${id} .* is enabled, with every event`));
  assert.match(report, /ok +Publishable key: It opens the newest payment/);
  assert.match(report, /ok +Apple Pay: join.society.example is registered and active/);
  assert.match(
    report,
    /ok +HubSpot scopes: crm.objects.contacts.read, crm.objects.contacts.write and files are granted/,
  );
  assert.match(report, /ok +Database: Reachable and migrated/);
  assert.match(report, /\nNothing is missing\. 2 could not be checked\.$/);
});

test('the doctor only reads', async () => {
  for (const url of [server.stripeUrl, server.hubspotUrl]) await forgetRequests(url);
  await asReal();
  const stripeCalls = await requestsTo(server.stripeUrl);
  const hubspotCalls = await requestsTo(server.hubspotUrl);
  assert.ok(stripeCalls.length >= 9 && hubspotCalls.length === 4);
  assert.deepEqual(
    [...stripeCalls.sort((a, b) => a.path.localeCompare(b.path)), ...hubspotCalls]
      .filter(({ method }) => method !== 'GET')
      .map(({ path }) => path),
    [
      // These calls would change objects, but their ids do not exist. Stripe's error shows whether the key may write.
      '/v1/charges/ch_induct_none',
      '/v1/customers/cus_induct_none',
      '/v1/payment_intents/pi_induct_none',
      '/v1/refunds/re_induct_none',
      // The call that returns the token's scopes; the token is in its body.
      '/oauth/v2/private-apps/get/access-token-info',
    ],
  );
});

test('stand-ins are called stand-ins, and need neither an endpoint nor a domain', async () => {
  const { report, status } = await diagnose(config);
  assert.equal(status, 0, report);
  assert.match(
    report,
    /^Stripe and HubSpot: stand-ins on this machine\. What follows says nothing about a real account/,
  );
  assert.match(report, /ok +Webhook endpoint: The local start tells the stand-in/);
});

test('an endpoint that lacks an event is missing it', async () => {
  await register({ enabled_events: webhookEvents.filter((event) => event !== 'charge.dispute.closed') });
  assert.match(missingIn(await asReal()), /is not sent charge.dispute.closed\. Add them at https:/);
});

test('an endpoint of another API version is missing the right one', async () => {
  const { id } = await register();
  await control(server.stripeUrl, 'POST', `webhook_endpoints/${id}`, { api_version: '2020-08-27' });
  assert.match(missingIn(await asReal()), /speaks API version 2020-08-27/);
});

test('a disabled endpoint, and none at all, are missing', async () => {
  assert.match(missingIn(await asReal()), /None is registered for https:\/\/join.society.example\/api/);
  const { id } = await register();
  await stripe.webhookEndpoints.update(id, { disabled: true });
  assert.match(missingIn(await asReal()), new RegExp(`${id} .* is disabled`));
});

test('a domain that is unregistered, switched off or refused by Apple is missing', async () => {
  await register({ url: 'https://other.society.example/api/webhooks/stripe' });
  assert.match(
    missingIn(await asReal({ publicUrl: 'https://other.society.example' })),
    /other.society.example is not registered/,
  );
  await register();
  const [domain] = (await stripe.paymentMethodDomains.list()).data;
  await control(server.stripeUrl, 'POST', `payment_method_domains/${domain!.id}`, { apple_pay: 'inactive' });
  assert.match(missingIn(await asReal()), /not active for Apple Pay \(Apple could not verify this domain\)/);
  await stripe.paymentMethodDomains.update(domain!.id, { enabled: false });
  assert.match(missingIn(await asReal()), /switched off/);
});

test('whether the account offers Link is told', async () => {
  await register();
  const [own] = (await stripe.paymentMethodConfigurations.list()).data;
  for (const [preference, words] of [
    ['on', /^ok +Link: It is on in the account, and the card forms switch it off/m],
    ['off', /^ok +Link: It is off in the account\.$/m],
  ] as const) {
    await stripe.paymentMethodConfigurations.update(own!.id, {
      link: { display_preference: { preference } },
    });
    assert.match((await asReal()).report, words);
  }
});

test('a wrong secret key, a wrong publishable key and an account that may not charge are missing', async () => {
  await register();
  assert.match(
    missingIn(await asReal(withProviders({ stripe: { secretKey: 'sk_test_wrong' } }))),
    /refuses STRIPE_SECRET_KEY \(Invalid API Key provided/,
  );
  assert.match(
    missingIn(await asReal(withProviders({ stripe: { publishableKey: 'pk_test_wrong' } }))),
    /refuses STRIPE_PUBLISHABLE_KEY/,
  );
  await control(server.stripeUrl, 'POST', 'account', { charges_enabled: false });
  assert.match(missingIn(await asReal()), /acct_emulated may not charge yet/);
});

test("a publishable key that does not open the account's payment belongs to another one", async () => {
  await register();
  const body = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such' } };
  const fault = { kind: 'status', status: 404, method: 'GET', path: '/v1/payment_intents/*', body };
  await control(server.stripeUrl, 'POST', 'faults', fault);
  assert.match(missingIn(await asReal()), /belongs to another account/);
});

test('a restricted key that may not read disputes is missing that permission', async () => {
  await register();
  const body = { error: { type: 'invalid_request_error', message: 'The provided key may not.' } };
  await control(server.stripeUrl, 'POST', 'faults', {
    kind: 'status',
    status: 403,
    path: '/v1/disputes',
    body,
  });
  assert.match(missingIn(await asReal()), /may not read Disputes\. Edit the restricted key/);
});

test('a restricted key that may not write refunds, and a clock that is off, are missing', async () => {
  await register();
  const error = { type: 'invalid_request_error', message: 'The provided key may not.' };
  const fault = { kind: 'status', status: 403, method: 'POST', path: '/v1/refunds/*', body: { error } };
  await control(server.stripeUrl, 'POST', 'faults', fault);
  assert.match(missingIn(await asReal()), /may not write Refunds\. Edit the restricted key/);
  const date = new Date(Date.now() - 600_000).toUTCString();
  const late = { kind: 'status', status: 403, path: '/v1/balance', headers: { date }, body: { error } };
  await control(server.stripeUrl, 'POST', 'faults', late);
  assert.match(missingIn(await asReal()), /This machine is 60\d seconds ahead of Stripe's/);
});

test('Stripe down is one sentence', async () => {
  const { report, status } = await asReal(withProviders({ stripe: { url: 'http://127.0.0.1:9' } }));
  assert.equal(status, 1);
  assert.match(report, /missing +Stripe key: Stripe does not answer/);
  assert.doesNotMatch(report, /\n +at /);
});

test('a HubSpot property that does not exist is missing by its name', async () => {
  await register();
  const properties = `${server.hubspotUrl}/crm/properties/2026-09/contacts`;
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' };
  const removed = await fetch(`${properties}/paid_at`, { method: 'DELETE', headers });
  assert.equal(removed.status, 204);
  assert.match(missingIn(await asReal()), /has no paid_at\. Create it: HubSpot: Settings/);
  const paidAt = {
    name: 'paid_at',
    label: 'paid at',
    type: 'datetime',
    fieldType: 'date',
    groupName: 'contactinformation',
  };
  assert.equal(
    (await fetch(properties, { method: 'POST', headers, body: JSON.stringify(paidAt) })).status,
    201,
  );
  assert.equal((await asReal()).status, 0);
});

test('a wrong HubSpot token, and one without the scope to write, are missing', async () => {
  await register();
  assert.match(
    missingIn(await asReal(withProviders({ hubspot: { accessToken: 'pat-wrong' } }))),
    /refuses HUBSPOT_ACCESS_TOKEN/,
  );
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: ['crm.objects.contacts.read'] });
  assert.match(missingIn(await asReal()), /lacks crm.objects.contacts.write/);
});

test('a service key does not tell its scopes: each is tried by a call that changes nothing', async () => {
  await register();
  const scopes = ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'files'];
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes, serviceKey: true });
  const before = await control(server.hubspotUrl, 'GET', 'attachments');
  const { report, status } = await asReal();
  assert.equal(status, 0, report);
  assert.match(report, /ok +HubSpot scopes: Calls that want .* and files are answered/);
  assert.deepEqual(await control(server.hubspotUrl, 'GET', 'attachments'), before);
  for (const lacking of scopes.slice(1)) {
    const others = scopes.filter((scope) => scope !== lacking);
    await control(server.hubspotUrl, 'POST', 'scopes', { scopes: others, serviceKey: true });
    assert.match(missingIn(await asReal()), new RegExp(`HubSpot scopes: The key lacks ${lacking}\\.`));
  }
});

test('HubSpot down is a sentence and exit status 1, from the command itself', async () => {
  const { code, output } = await operator(['doctor'], { HUBSPOT_EMULATOR_URL: 'http://127.0.0.1:9' });
  assert.equal(code, 1);
  assert.match(output, /missing +HubSpot token: HubSpot does not answer/);
  assert.match(output, /1 thing is missing\./);
  assert.doesNotMatch(output, /\n +at /, 'no stack');
});

test('the command itself ends with 0 when nothing is missing, and prints every check once', async () => {
  const { code, output } = await operator(['doctor'], {});
  assert.equal(code, 0, output);
  const checks = output.split('\n').filter((line) => /^(ok|missing|could not be checked) /.test(line));
  assert.equal(checks.length, 22, output);
});

test('a database that is down, empty, or of a newer version is found without touching it', async () => {
  const admin = new pg.Client({ connectionString: config.databaseUrl });
  await admin.connect();
  const name = `doctor_${process.pid}`;
  await admin.query(`create database ${name}`);
  const empty = new URL(config.databaseUrl);
  empty.pathname = `/${name}`;
  await register();
  try {
    const before = await asReal({ databaseUrl: empty.href });
    assert.match(
      before.report,
      /ok +Database: Reachable, and not at this version yet: \d+ migrations? waits?\. .*operator -- migrate$/m,
    );
    assert.deepEqual(
      (await asReal({ databaseUrl: empty.href })).report,
      before.report,
      'it migrated nothing',
    );
  } finally {
    await admin.query(`drop database ${name} with (force)`);
  }
  await admin.query("insert into migration (name, checksum) values ('9999-later.sql', 'x')");
  assert.match((await asReal()).report, /ok +Database: .*newer version has migrated it, to 9999-later\.sql/);
  await admin.query("update migration set oldest_version = '99.0.0' where name = '9999-later.sql'");
  assert.match(missingIn(await asReal()), /9999-later\.sql, after which only version 99\.0\.0/);
  await admin.query("delete from migration where name = '9999-later.sql'");
  await admin.end();
  const { report, status } = await asReal({ databaseUrl: 'postgres://127.0.0.1:9/nothing' });
  assert.equal(status, 1);
  assert.match(report, /missing +Database: It does not answer \(.*ECONNREFUSED.*\)\. Check DATABASE_URL/);
});

/** Runs the staff's command line as a child process, on this server's database and stand-ins. */
const operator = (args: string[], env: Record<string, string>) =>
  runOperator({ ...settingsOf(server), PUBLIC_URL, ...env }, args);

test('a document whose key is missing is found, and the key named by its id', async (t) => {
  const folder = temporaryFolder(t);
  const settings = { ...server.deps.config, storage: { kind: 'folder', folder } } as const;
  const [old, other] = ['0f'.repeat(32), 'a5'.repeat(32)];
  const storage = await openStorage({ ...settings, documentKeys: [old] });
  await storage.put(Readable.from([Buffer.from('x')]), async () => {});
  const unreadable = async (...documentKeys: [string, ...string[]]) => {
    const { answer } = await askStorage({ ...settings, documentKeys });
    assert.ok('said' in answer);
    return answer.said.unreadable;
  };
  assert.equal(await unreadable(other, old), null);
  assert.match(
    (await unreadable(other))!,
    new RegExp(`^Documents are encrypted with the key ${idOfKey(old)}`),
  );
});

test('a bucket is written to, read and left as it was; one that refuses us is missing', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'induct-bucket-'));
  const s3 = await startS3Emulator({ dataDir });
  t.after(async () => {
    await s3.close();
    rmSync(dataDir, { recursive: true });
  });
  const storage = {
    kind: 's3',
    bucket: S3_BUCKET,
    prefix: '',
    region: 'us-east-1',
    endpoint: s3.url,
    checksums: 'supported',
    credentials: s3.keys,
  } as const;
  assert.match(
    (await asReal({ storage })).report,
    /ok +Documents: A small and a large file were written to the bucket documents/,
  );
  assert.equal(s3.bucket.objects.size, 0);
  const versions = async () =>
    /^ *(\w[\w ]*?) +Versions of documents: (.*)$/m.exec((await asReal({ storage })).report);
  assert.deepEqual((await versions())?.[1], 'ok');
  s3.bucket.versioning = 'Enabled';
  assert.match((await versions())![0], /missing .*NoncurrentVersionExpiration/);
  s3.bucket.noncurrentDays = 30;
  assert.deepEqual((await versions())?.[1], 'ok');
  s3.meet({ kind: 'status', status: 403, about: 'lifecycle' });
  assert.deepEqual((await versions())?.[1], 'could not be checked');
  const credentials = { ...s3.keys, secretAccessKey: 'another' };
  const { report, status } = await asReal({ storage: { ...storage, credentials } });
  assert.match(report, /missing +Documents: .*SignatureDoesNotMatch/);
  assert.equal(status, 1);
});

for (const [checksums, wrong] of [
  ['parts', /missing +Documents: Files up to 5 MiB .* larger .*\(PreconditionFailed: .*checksums=required/],
  [
    'none',
    /missing +Documents: They cannot be kept .*\(InvalidArgument: Unsupported header .*checksums=required/,
  ],
] as const)
  test(`a bucket that takes ${checksums} of the checksums is missing until they are left out`, async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'induct-bucket-'));
    const s3 = await startS3Emulator({ dataDir });
    t.after(async () => {
      await s3.close();
      rmSync(dataDir, { recursive: true });
    });
    s3.bucket.checksums = checksums;
    const reportOf = async (checksums: 'supported' | 'required') => {
      const { url: endpoint, keys: credentials } = s3;
      const region = 'us-east-1';
      const { report } = await asReal({
        storage: { kind: 's3', bucket: S3_BUCKET, prefix: '', region, endpoint, checksums, credentials },
      });
      assert.deepEqual([s3.bucket.objects.size, s3.bucket.uploads.size], [0, 0], 'nothing is left');
      return report;
    };
    assert.match(await reportOf('supported'), wrong);
    assert.match(await reportOf('required'), /ok +Documents: A small and a large file/);
  });
