import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { before, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import Stripe from 'stripe';
import { parse, stringify } from 'yaml';
import { HUBSPOT_ACCESS_TOKEN, STRIPE_SECRET_KEY } from '../../../../emulators/keys.ts';
import { S3_BUCKET, startS3Emulator } from '../../../../emulators/s3/server.ts';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import { control, forgetRequests, requestsTo } from '../../../../tests/harness/providers.ts';
import { runLone } from '../../../../tests/harness/runCommand.ts';
import { startServerProcess, withSettings } from '../../../../tests/harness/serverProcess.ts';
import { orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
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

const notPermitted = { error: { type: 'invalid_request_error', message: 'The provided key may not.' } };
/** Makes the stand-in for Stripe answer the next call to a path with 403, as it does for a restricted key. */
const refuse = (path: string, more: object = {}) =>
  control(server.stripeUrl, 'POST', 'faults', {
    kind: 'status',
    status: 403,
    path,
    body: notPermitted,
    ...more,
  });

test('whatever is wrong at Stripe is asked and named', async () => {
  const { id } = await register({
    enabled_events: webhookEvents.filter((event) => event !== 'charge.dispute.closed'),
  });
  await control(server.stripeUrl, 'POST', `webhook_endpoints/${id}`, { api_version: '2020-08-27' });
  await stripe.webhookEndpoints.update(id, { disabled: true });
  const [domain] = (await stripe.paymentMethodDomains.list()).data;
  await control(server.stripeUrl, 'POST', `payment_method_domains/${domain!.id}`, { apple_pay: 'inactive' });
  await control(server.stripeUrl, 'POST', 'account', { charges_enabled: false });
  const [own] = (await stripe.paymentMethodConfigurations.list()).data;
  const offerLink = (preference: 'on' | 'off') =>
    stripe.paymentMethodConfigurations.update(own!.id, { link: { display_preference: { preference } } });
  await offerLink('on');
  await refuse('/v1/disputes');
  await refuse('/v1/refunds/*', { method: 'POST' });
  const date = new Date(Date.now() - 600_000).toUTCString();
  await refuse('/v1/balance', { headers: { date } });
  const { report, status } = await asReal();
  assert.equal(status, 1);
  for (const sentence of [
    /^missing .*is not sent charge.dispute.closed\. Add them at https:/m,
    /^missing .*speaks API version 2020-08-27/m,
    new RegExp(`^missing .*${id} .* is disabled`, 'm'),
    /^missing .*not active for Apple Pay \(Apple could not verify this domain\)/m,
    /^missing .*acct_emulated may not charge yet/m,
    /^missing .*may not read Disputes/m,
    /^missing .*may not write Refunds/m,
    /^missing .*This machine is 60\d seconds ahead of Stripe's/m,
    /^ok +Link: It is on in the account, and the card forms switch it off/m,
  ])
    assert.match(report, sentence);
  await offerLink('off');
  await stripe.paymentMethodDomains.update(domain!.id, { enabled: false });
  const after = (await asReal()).report;
  assert.match(after, /^missing .*switched off/m);
  assert.match(after, /^ok +Link: It is off in the account\.$/m);
});

test('no endpoint and no domain at the public address are missing', async () => {
  await register();
  const { report } = await asReal({ publicUrl: 'https://other.society.example' });
  assert.match(report, /None is registered for https:\/\/other.society.example\/api/);
  assert.match(report, /other.society.example is not registered/);
});

test('a wrong secret key, a wrong publishable key and a wrong token are missing', async () => {
  await register();
  for (const [change, sentence] of [
    [{ stripe: { secretKey: 'sk_test_wrong' } }, /refuses STRIPE_SECRET_KEY \(Invalid API Key provided/],
    [{ stripe: { publishableKey: 'pk_test_wrong' } }, /refuses STRIPE_PUBLISHABLE_KEY/],
    [{ hubspot: { accessToken: 'pat-wrong' } }, /refuses HUBSPOT_ACCESS_TOKEN/],
  ] as const)
    assert.match(missingIn(await asReal(withProviders(change))), sentence);
});

test("a publishable key that does not open the account's payment belongs to another one", async () => {
  await register();
  const body = { error: { type: 'invalid_request_error', code: 'resource_missing', message: 'No such' } };
  const fault = { kind: 'status', status: 404, method: 'GET', path: '/v1/payment_intents/*', body };
  await control(server.stripeUrl, 'POST', 'faults', fault);
  assert.match(missingIn(await asReal()), /belongs to another account/);
});

test('Stripe and HubSpot down are a sentence each, and exit status 1', async (t) => {
  const away = 'http://127.0.0.1:9';
  const change = withProviders({ stripe: { url: away }, hubspot: { url: away } });
  const { code, out } = await runLone(t, { ...config, ...change }, 'doctor', []);
  assert.equal(code, 1);
  assert.match(out, /missing +Stripe key: Stripe does not answer/);
  assert.match(out, /missing +HubSpot token: HubSpot does not answer/);
  assert.match(out, /2 things are missing\./);
  assert.doesNotMatch(out, /\n +at /, 'no stack');
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

test('a HubSpot token without the scope to write is missing it', async () => {
  await register();
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

test('the command ends with 0 when nothing is missing, and prints every check once', async (t) => {
  const { code, out } = await runLone(t, config, 'doctor', []);
  assert.equal(code, 0, out);
  const checks = out.split('\n').filter((line) => /^(ok|missing|could not be checked) /.test(line));
  assert.equal(checks.length, 23, out);
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

/** Starts a bucket. Returns it, and the settings of a server whose documents are in it. */
async function startBucket(t: TestContext) {
  const s3 = await startS3Emulator({ dataDir: temporaryFolder(t) });
  t.after(() => s3.close());
  const { url: endpoint, keys: credentials } = s3;
  const region = 'us-east-1';
  const checksums = 'supported';
  return {
    s3,
    storage: { kind: 's3', bucket: S3_BUCKET, prefix: '', region, endpoint, checksums, credentials } as const,
  };
}

test('a bucket is written to, read and left as it was; one that refuses us is missing', async (t) => {
  const { s3, storage } = await startBucket(t);
  s3.bucket.versioning = 'Enabled';
  const good = await asReal({ storage });
  assert.match(good.report, /ok +Documents: A small and a large file were written to the bucket documents/);
  assert.match(good.report, /missing +Versions of documents: .*NoncurrentVersionExpiration/);
  assert.equal(s3.bucket.objects.size, 0);
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
    const { s3, storage } = await startBucket(t);
    s3.bucket.checksums = checksums;
    const reportOf = async (checksums: 'supported' | 'required') => {
      const { report } = await asReal({ storage: { ...storage, checksums } });
      assert.deepEqual([s3.bucket.objects.size, s3.bucket.uploads.size], [0, 0], 'nothing is left');
      return report;
    };
    assert.match(await reportOf('supported'), wrong);
    assert.match(await reportOf('required'), /ok +Documents: A small and a large file/);
  });

const PROGRAMME =
  "The society's file has no programme high-school, which has 1 paid join, 2 unpaid joins, 2 unused invite codes.";
const PRODUCTS = [
  "The society's file has no product 1 (Membership), which is in 2 orders that were paid or are open.",
  "The society's file has no product 30 (Lapel Pin), which is in 1 order that was paid or is open.",
];

/**
 * Makes a paid join, an ordering join, a join that has just begun, and codes of the joins' programme. Then writes a society file
 * that lacks this programme and an item of the open order. Returns the file's path.
 */
async function sellOtherThings(t: TestContext): Promise<string> {
  await paidJoin(server, server.client());
  const client = server.client();
  const uuid = await orderingJoin(client);
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const invited = server.client();
  await invited.call('checkEligibility', { body: { invitationCode: 'HONOR102' } });
  await sql`insert into invitation (code, person_id, school, programme, expires_at) values
    ('USED102', (select id from person where contact_id = '102'), null, 'high-school', null), ('UNUSED102', (select id from person where contact_id = '102'), null, 'high-school', null),
    ('GONE2026', null, 'A School', 'high-school', null), ('GONE2025', null, 'A School', 'high-school', now())`.execute(
    server.deps.database,
  );
  const used = { contactId: '102', invitationCode: 'USED102', isTOLA: true };
  assert.equal((await invited.call('initiateJoin', { body: used })).status, 200);
  const file = parse(readFileSync(server.deps.config.societyFile, 'utf8'));
  delete file.programmes['high-school'];
  file.catalogue = file.catalogue.filter(
    ({ id, programme }: { id: number; programme?: string }) => id !== 30 && programme !== 'high-school',
  );
  const folder = temporaryFolder(t);
  copyFileSync(join(server.deps.config.societyFile, '../icon.png'), join(folder, 'icon.png'));
  const path = join(folder, 'society.yaml');
  writeFileSync(path, stringify(file));
  return path;
}

test('doctor and the server’s log name what joins, orders and codes refer to and the file has no more', async (t) => {
  const { config } = server.deps;
  const before = await diagnose(config);
  assert.match(before.report, /ok +What was sold: .* has every programme and product of/);
  const societyFile = await sellOtherThings(t);
  const { report, status } = await diagnose({ ...config, societyFile });
  const found = [PROGRAMME, ...PRODUCTS].join(' ');
  assert.ok(
    report.includes(
      `What was sold: ${found} Put them back into ${societyFile}, with \`retired: true\` where nobody is `,
    ),
    report,
  );
  assert.equal(status, 1);
  const started = await startServerProcess(
    withSettings(server, { SOCIETY_FILE: societyFile, LOG_LEVEL: 'warn' }),
  );
  t.after(() => started.kill());
  const told = () => started.log().map(({ msg }) => msg);
  await until(async () => PRODUCTS.every((sentence) => told().includes(sentence)));
  assert.ok(told().includes(PROGRAMME));
});
