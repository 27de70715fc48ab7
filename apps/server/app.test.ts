import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { FastifyInstance } from 'fastify';
import { sql } from 'kysely';
import { type CallName, calls, downloads, PROOF_CALENDAR, pathOf } from '#contract/calls.ts';
import { details, orderingJoin, paidJoin, startJoin } from '../../tests/harness/steps.ts';
import { isLong } from '../../tests/harness/testLength.ts';
import { startTestServer, type TestServer } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { buildApp } from './app.ts';
import type { Config } from './platform/config/config.ts';

let server: TestServer;
/**
 * The uuids of a started, an ordering and a paid join, and one uuid without a join. `line` is an order line of the ordering join, and
 * `token` opens its pay link.
 */
let sessions: string[];
let line: string;
let token: string;
const unhandled: unknown[] = [];
process.on('unhandledRejection', (reason) => unhandled.push(reason));
before(async () => {
  server = await startTestServer();
  const client = server.client();
  sessions = [
    await startJoin(client, 'LINCOLN2026'),
    await orderingJoin(client),
    (await paidJoin(server, client)).uuid,
    '00000000-0000-4000-8000-000000000000',
  ];
  const { data } = await client.call('getCheckoutDetails', { params: { uuid: sessions[1]! } });
  line = data.products[0]!.sessionProductUuid!;
  const link = await client.call('createPayLink', { params: { uuid: sessions[1]! }, body: {} });
  token = link.data.path.split('/').at(-1)!;
  // The server creates the card's customer at Stripe in the background, after it has answered the payment call. Waits for that.
  await until(async () => {
    const { rows } = await sql`select from payment where status = 'succeeded' and customer_id = ''`.execute(
      server.deps.database,
    );
    return rows.length === 0;
  });
});
after(() => server.close());

/** The tables that a refused call may change: what it counts, reports and asks HubSpot. */
const counts = ['limit_count', 'browser_report', 'crm_budget'];

/** Returns a hash of each table, to check that a refused call has changed none of them. */
async function everything(): Promise<unknown> {
  const { rows: named } = await sql<{ table: string }>`
    select table_name as table from information_schema.tables
    where table_schema = 'public' and table_name <> all(${counts})`.execute(server.deps.database);
  const tables = named.map(({ table }) => table);
  const hashes = tables.map(
    (table) =>
      sql`select ${table} as name, md5(coalesce(string_agg(t::text, ',' order by t::text), '')) as hash from ${sql.table(table)} t`,
  );
  const { rows } = await sql`${sql.join(hashes, sql` union all `)} order by name`.execute(
    server.deps.database,
  );
  return rows;
}

/** Values that cause trouble in databases, parsers and arithmetic. */
const nasty = fc.constantFrom(
  '',
  ' ',
  'a\0b',
  '\ud800',
  '__proto__',
  '1'.repeat(300),
  '2147483648',
  '-1',
  '1e999',
  "'; drop table join_session --",
  '%00',
  '<script>',
);
const wild = fc.oneof(
  { weight: 5, arbitrary: nasty },
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double(),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
);
/**
 * Valid bodies of calls. The test replaces one or two fields at random, so that other fields still pass the checks. A call
 * without an entry gets only arbitrary bodies.
 */
const good: Partial<Record<CallName, object>> = {
  checkEligibility: { invitationCode: 'LINCOLN2026', isTOLA: true },
  checkInvitation: { text: 'LINCOLN2026' },
  initiateJoin: { contactId: '101', invitationCode: 'HONOR101', isTOLA: true },
  initiateSchoolJoin: { invitationCode: 'LINCOLN2026' },
  initiateSelfNomination: { hasConfirmedEligibility: true, isTOLA: true },
  initJoin: { exp: '1', sig: 'x' },
  submitDetails: details(),
  setMembership: { membershipId: 1 },
  setSessionProduct: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' },
  setCustomDonation: { amount: 5 },
  createPaymentIntent: { amount: 6500, currency: 'usd', billingEmail: 'a@example.com' },
  beginPayment: { revision: 1, agreeToPolicies: true },
  postPayment: {
    paymentIntent: 'pi_1',
    paymentIntentClientSecret: 'pi_1_secret_1',
    redirectStatus: 'succeeded',
  },
  createUpgradeCharge: { paymentIntent: 'pi_1' },
  createPayLink: { agreeToPolicies: true },
  beginPayPage: { revision: 1, name: 'Alex Rivera', email: 'alex.rivera@example.com', clientSecret: '' },
  reportPayPage: { paymentIntent: 'pi_1', paymentIntentClientSecret: 'pi_1_secret_1' },
  requestRefund: { total: 6500 },
  correctEmail: { email: 'new@example.com' },
  setVerification: { isVerifiable: true },
  openPass: { token: 'x' },
  sendPassCode: { token: 'x' },
  provePassByCode: { token: 'x', code: '123456' },
  provePassByName: { token: 'x', lastName: 'Rivera', zipcode: '78701' },
  sendPassLinks: { email: 'jordan@example.com' },
  setReminders: { areStopped: true },
  initiateCheckout: {
    hubspotContactId: '101',
    mainProductId: 1,
    upsellProductId: 10,
    overrideMainPriceCents: 6500,
  },
};
const bodiesOf = (name: CallName) => {
  const keys = Object.keys(good[name] ?? { anything: 1 });
  const changed = fc
    .dictionary(fc.constantFrom(...keys), wild, { minKeys: 1, maxKeys: 2 })
    .map((change) => JSON.stringify({ ...good[name], ...change }));
  return fc.oneof(
    { weight: 6, arbitrary: changed },
    { weight: 1, arbitrary: fc.jsonValue().map((body) => JSON.stringify(body)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
};

for (const name of Object.keys(calls) as CallName[])
  test(`${name} answers random bodies without a 5xx, in the agreed shape, and a refusal writes nothing`, async () => {
    const run = fc.asyncProperty(
      bodiesOf(name),
      fc.constantFrom(0, 0, 1, 1, 1, 2, 3, 4, 5),
      fc.constantFrom(...Array(6).fill('application/json'), 'text/plain', 'multipart/form-data; boundary=x'),
      async (body, which, type) => {
        const uuid = sessions[which] ?? (which === 4 ? 'nonsense' : '%00');
        const before = await everything();
        const response = await fetch(
          server.url +
            pathOf(name, {
              uuid,
              id: which === 0 ? '999999' : uuid,
              token: which === 1 ? token : uuid,
              sessionProductUuid: which === 1 ? line : uuid,
            }),
          {
            method: calls[name].method,
            ...(calls[name].method === 'POST' ? { body, headers: { 'content-type': type } } : {}),
          },
        );
        const answer = (await response.json()) as {
          success: boolean;
          status: string;
          message?: string;
          code?: string;
        };
        assert.ok(response.status < 500, `${response.status} ${JSON.stringify(answer)}`);
        assert.ok(response.headers.get('x-request-id'));
        if (response.status < 400)
          return assert.deepEqual([answer.success, answer.status], [true, 'success']);
        assert.deepEqual([answer.success, answer.status], [false, 'error']);
        assert.ok(answer.message && answer.message.length > 0);
        assert.ok(answer.code, 'a page takes a 404 without a code for a call that is not there');
        assert.deepEqual(await everything(), before);
      },
    );
    await fc.assert(run, { numRuns: isLong ? 60 : 5 });
    assert.deepEqual(unhandled, []);
  });

test('OpenAPI describes every call and is readable in a browser', async () => {
  const document = (await (await fetch(`${server.url}/api/openapi.json`)).json()) as {
    openapi: string;
    paths: Record<string, Record<string, { operationId?: string; responses: object }>>;
  };
  assert.match(document.openapi, /^3\./);
  for (const [name, { method, path }] of Object.entries(calls)) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    assert.equal(operation?.operationId, name, `${method} ${path}`);
    assert.ok('200' in operation.responses && '400' in operation.responses);
  }
  for (const [name, path] of Object.entries(downloads))
    assert.equal(document.paths[path]?.get?.operationId, name, path);
  const described = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const ours = [
    ...Object.values(calls).map(({ method, path }) => `${method} ${path}`),
    ...[...Object.values(downloads), PROOF_CALENDAR].map((path) => `GET ${path}`),
  ];
  assert.deepEqual(described.sort(), ours.sort(), 'nothing that is not for pages: webhooks, health, reports');
  const page = await fetch(`${server.url}/api/docs/`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /swagger/i);
  assert.match(page.headers.get('content-security-policy') ?? '', /script-src 'self'/);
  assert.equal(page.headers.get('referrer-policy'), 'no-referrer');
  assert.equal((await fetch(`${server.url}/api/docs/nothing`)).status, 404);
});

test('in live mode the API describes itself only when asked to, and no header speaks for other subdomains', async () => {
  const appWith = (change: Partial<Config>) =>
    buildApp({ ...server.deps, config: { ...server.deps.config, ...change } });
  const statuses = async (app: FastifyInstance) =>
    Promise.all(
      ['/api/docs', '/api/openapi.json'].map(async (url) => (await app.inject({ url })).statusCode),
    );
  const [closed, open] = [await appWith({ apiDocs: false }), await appWith({ hstsSubdomains: true })];
  assert.deepEqual(await statuses(closed), [404, 404]);
  assert.deepEqual(await statuses(open), [200, 200]);
  for (const url of ['/', '/api/public/site']) {
    const hsts = async (app: FastifyInstance) =>
      (await app.inject({ url })).headers['strict-transport-security'];
    assert.equal(await hsts(closed), 'max-age=31536000');
    assert.equal(await hsts(open), 'max-age=31536000; includeSubDomains');
  }
  const { headers } = await closed.inject({ url: '/' });
  assert.match(
    String(headers['permissions-policy']),
    /camera=\(\), .*microphone=\(\), .*payment=\(self "http:/,
  );
  await Promise.all([closed.close(), open.close()]);
});

test('what is not there is a sentence in the agreed shape, for calls and files alike', async () => {
  for (const path of ['/api/nothing', '/static/js/missing.js', '/%', '/%c0%af']) {
    const response = await fetch(server.url + path);
    assert.equal(response.status, 404);
    assert.equal(((await response.json()) as { status: string }).status, 'error');
    assert.ok(response.headers.get('content-security-policy'), path);
  }
});

test('pages forbid inline scripts, framing and referrers', async () => {
  const { headers } = await fetch(`${server.url}/`);
  const policy = headers.get('content-security-policy') ?? '';
  assert.match(policy, /frame-ancestors 'none'/);
  assert.doesNotMatch(policy, /unsafe/);
  assert.equal(headers.get('referrer-policy'), 'no-referrer');
  assert.match(headers.get('strict-transport-security') ?? '', /max-age/);
});

test('a page lets in the pictures of products that are on other sites, and no other site', async () => {
  const { society } = server.deps;
  const [pin, ...others] = society.catalogue;
  const icon = 'https://pictures.example/pins/pin.png?size=small';
  const picturesOf = async (catalogue: typeof society.catalogue) => {
    const app = await buildApp({ ...server.deps, society: { ...society, catalogue } });
    const { headers } = await app.inject({ url: '/' });
    await app.close();
    return /img-src ([^;]*)/.exec(String(headers['content-security-policy']))?.[1]?.split(' ');
  };
  const usual = await picturesOf(society.catalogue);
  assert.deepEqual(await picturesOf([{ ...pin!, icon }, { ...others[0]!, icon }, ...others.slice(1)]), [
    ...usual!,
    'https://pictures.example',
  ]);
});

test('with real keys a page lets in what Stripe documents, and with the stand-in its one origin in the same places', async () => {
  const { config } = server.deps;
  const policyFor = async (browserUrl: string | null) => {
    const providers = { ...config.providers, stripe: { ...config.providers.stripe, browserUrl } };
    const app = await buildApp({ ...server.deps, config: { ...config, providers } });
    const { headers } = await app.inject({ url: '/' });
    await app.close();
    const directives: Record<string, string[]> = Object.fromEntries(
      String(headers['content-security-policy'])
        .split(';')
        .map((directive) => directive.split(' '))
        .map(([name, ...sources]) => [name, sources]),
    );
    return { headers, directives };
  };
  const { headers, directives } = await policyFor(null);
  assert.deepEqual(directives['script-src'], ["'self'", 'https://js.stripe.com', 'https://*.js.stripe.com']);
  assert.deepEqual(directives['frame-src'], [
    'https://js.stripe.com',
    'https://*.js.stripe.com',
    'https://hooks.stripe.com',
  ]);
  assert.ok(directives['connect-src']?.includes('https://api.stripe.com'));
  // Stripe's card form opens popup windows, which need a reference to the window that opened them.
  assert.equal(headers['cross-origin-opener-policy'], 'same-origin-allow-popups');
  assert.deepEqual(
    [directives['report-to'], directives['report-uri'], headers['reporting-endpoints']],
    [['reports'], ['/api/browser-reports'], 'reports="/api/browser-reports"'],
  );
  const standIn = await policyFor('http://127.0.0.1:4242');
  const renamed = (sources: string[]) => [
    ...new Set(sources.map((source) => (source.includes('stripe.com') ? 'http://127.0.0.1:4242' : source))),
  ];
  for (const [name, sources] of Object.entries(directives))
    assert.deepEqual(standIn.directives[name], renamed(sources), name);
  for (const name of ['cross-origin-opener-policy', 'reporting-endpoints', 'referrer-policy'])
    assert.equal(standIn.headers[name], headers[name], name);
});

test('answers of calls are no documents, and are never cached', async () => {
  const { headers } = await fetch(`${server.url}/api/public/site`);
  assert.deepEqual(
    ['content-security-policy', 'x-content-type-options', 'referrer-policy', 'cache-control'].map((name) =>
      headers.get(name),
    ),
    ["default-src 'none';frame-ancestors 'none'", 'nosniff', 'no-referrer', 'no-store'],
  );
});

test("the browser's cookie is out of reach of scripts", async () => {
  const response = await fetch(server.url + calls.initiateSelfNomination.path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ hasConfirmedEligibility: true }),
  });
  assert.match(response.headers.getSetCookie()[0] ?? '', /HttpOnly; SameSite=Lax/);
});

test('a fault of ours is 500 without its internals', async () => {
  const broken = await startTestServer();
  const client = broken.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  await sql`alter table join_session rename to gone`.execute(broken.deps.database);
  const { status, message, body } = await client.call('getMembershipDetails', { params: { uuid } });
  assert.equal(status, 500);
  assert.equal(message, 'Something went wrong on our side. Nothing was lost; please try again.');
  assert.doesNotMatch(JSON.stringify(body), /join_session|relation/);
  await broken.close();
});
