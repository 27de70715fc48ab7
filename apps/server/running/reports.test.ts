import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chromium } from '@playwright/test';
import { REPORTS_PATH } from '#contract/calls.ts';
import { firefoxProgram, startFirefox } from '../../../tests/e2e/browsers/firefox.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { staffNotices, writeNotice } from '../../../tests/harness/rows.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { sharedServer, startTestServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { chromiumArguments, reportingChromium } from '../../../tools/local/chromium.ts';
import { findProgram } from '../../../tools/local/findProgram.ts';
import { browserReports } from '../platform/metrics.ts';
import { NOTICES_A_DAY, readReports, reportedKinds } from './reports.ts';

const server = await sharedServer({ LIMITS: 'on', LIMIT_REPORTS_PER_ADDRESS: '5/60' });
beforeEachIn(import.meta.filename, async () => {
  for (const table of ['browser_report', 'staff_notice', 'limit_count'] as const)
    await server.deps.database.deleteFrom(table).execute();
});

const page = 'https://join.example/registration/post-payment?payment_intent_client_secret=pi_1_secret_2';
const modern = (blockedURL: string, more: object = {}) => ({
  type: 'csp-violation',
  age: 3,
  url: page,
  user_agent: 'Mozilla/5.0 (of somebody)',
  body: { documentURL: page, blockedURL, effectiveDirective: 'script-src-elem', ...more },
});
const older = (blocked: string) => ({
  'csp-report': { 'document-uri': page, 'blocked-uri': blocked, 'violated-directive': 'frame-src' },
});

async function send(body: unknown, type = 'application/reports+json'): Promise<number> {
  const response = await fetch(server.url + REPORTS_PATH, {
    method: 'POST',
    headers: { 'content-type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  await response.text();
  return response.status;
}

const notices = () => staffNotices(server);

test('a kind of report is counted in both of its forms, and staff hear of it when it is new', async () => {
  assert.equal(await send([modern('https://evil.example/card.js?who=jordan')]), 204);
  assert.equal(await send(older('https://frames.example/a'), 'application/csp-report'), 204);
  assert.equal(await send([modern('https://evil.example/other.js')]), 204);
  const kinds = await reportedKinds(server.deps.database);
  assert.equal(kinds.length, 2);
  assert.match(kinds[0]!, /^2 × https:\/\/evil\.example \(script-src-elem, postPayment\)/);
  assert.match(kinds[1]!, /^1 × https:\/\/frames\.example \(frame-src, postPayment\)/);
  assert.deepEqual(
    (await notices()).map((message) => /block (\S+)/.exec(message)?.[1]),
    ['https://evil.example', 'https://frames.example'],
  );
});

test('nothing personal of a report is kept: no path, query, secret, browser or address', async () => {
  await send([modern('https://evil.example/jordan@example.com?token=1')]);
  const kept = JSON.stringify([
    await server.deps.database.selectFrom('browser_report').selectAll().execute(),
    await server.deps.database.selectFrom('limit_count').selectAll().execute(),
    await notices(),
  ]);
  assert.doesNotMatch(kept, /jordan|secret_2|token|Mozilla|127\.0\.0\.1/);
});

const fault = { kind: 'router', error: 'TypeError', at: 'async/checkout.1f.js:1:23', screen: 'checkout' };

test('a page that broke is counted, and staff hear of it when it is new', async () => {
  const total = async () =>
    (await browserReports.get()).values.find(({ labels }) => labels.kind === 'broken')!.value;
  const before = await total();
  for (const each of [
    fault,
    { ...fault, screen: 'other' },
    { ...fault, kind: 'chunk', error: 'ChunkLoadError', at: '' },
  ])
    assert.equal(await send({ fault: each }, 'application/json'), 204);
  const [first, second, ...others] = await reportedKinds(server.deps.database);
  assert.match(first!, /^2 × TypeError at async\/checkout\.1f\.js:1:23 \(fault-router, other\)/);
  assert.match(second!, /^1 × ChunkLoadError \(fault-chunk, checkout\)/);
  assert.deepEqual(others, []);
  assert.equal((await total()) - before, 3);
  const told = await notices();
  assert.equal(told.length, 2);
  assert.match(told[0]!, /^A page broke in a browser: TypeError at async\/checkout\.1f\.js:1:23/);
});

test('what is no report of a fault, or says more than one may, leaves nothing', async () => {
  for (const change of [
    { kind: 'other' },
    { error: 'jordan@example.com' },
    { error: 'Cannot read Jordan of undefined' },
    { error: '<script>' },
    { error: 'x'.repeat(41) },
    { at: 'https://join.example/static/js/a.js:1:2' },
    { at: 'a.js:1:2 Jordan' },
    { screen: '/verify/7K3M-9QXR' },
    { screen: undefined },
  ])
    assert.equal(await send({ fault: { ...fault, ...change } }, 'application/json'), 204);
  assert.deepEqual(await reportedKinds(server.deps.database), []);
  assert.deepEqual(await notices(), []);
});

test('what is no report of a violation is answered with nothing and leaves nothing', async () => {
  for (const body of [
    '',
    'null',
    '{"csp-report":',
    '{"csp-report":{}}',
    [{ type: 'deprecation', body: { id: 'x' } }],
    [modern('https://evil.example/', { effectiveDirective: '<script>' })],
    [modern('chrome-extension://abc/inject.js')],
    [modern('inline', { sourceFile: 'moz-extension://abc/inject.js' })],
  ])
    assert.equal(await send(body), 204, JSON.stringify(body).slice(0, 60));
  assert.deepEqual(await reportedKinds(server.deps.database), []);
  assert.equal(await send('x'.repeat(140_000)), 413);
  assert.equal(await send('x', 'text/plain'), 415);
});

test('an address that sends more than its share is not listened to', async () => {
  for (let sent = 0; sent < 8; sent += 1) await send([modern('https://evil.example/')]);
  assert.match((await reportedKinds(server.deps.database))[0]!, /^5 ×/);
});

test('of what a browser sends together every kind is counted, and the first twenty when somebody made them up', async () => {
  const together = Array.from({ length: 60 }, (_, number) =>
    modern(`https://pictures.example/${number}.png`),
  );
  const policy = { originalPolicy: 'x'.repeat(1200) };
  await send(
    [...together, modern('https://evil.example/')].map((one) => ({
      ...one,
      body: { ...one.body, ...policy },
    })),
  );
  assert.equal((await reportedKinds(server.deps.database)).length, 2);
  await send(Array.from({ length: 90 }, (_, number) => modern(`https://${number}.example/`)));
  assert.equal((await reportedKinds(server.deps.database)).length, 22);
});

test('however many kinds are invented, the table and the notices end, and a real one is told apart', async () => {
  const { database } = server.deps;
  const invented = Array.from({ length: 100 }, (_, index) => ({
    directive: 'img-src',
    blocked: `https://${index}.example`,
    page: 'checkout',
    count: index === 7 ? '2' : '1',
    last_seen_at: new Date(Date.now() - index),
  }));
  await database.insertInto('browser_report').values(invented).execute();
  await send([modern('https://real.example/card.js')]);
  const kinds = (await reportedKinds(database)).join('\n');
  assert.equal(kinds.split('\n').length, 100);
  assert.match(kinds, /^1 × https:\/\/real\.example/m);
  // Of the kinds with the lowest count, the new kind has replaced the oldest.
  assert.doesNotMatch(kinds, /https:\/\/99\.example/);
  assert.match((await notices()).join('\n'), /block https:\/\/real\.example/);

  for (let index = 0; index < 3; index++) {
    await database.deleteFrom('limit_count').execute();
    await send(Array.from({ length: 20 }, (_, kind) => modern(`https://new-${index}-${kind}.example/`)));
  }
  const told = await notices();
  assert.equal(told.length, NOTICES_A_DAY);
  assert.match(
    told.at(-1)!,
    /More that is new today is not told\. It is counted: npm run operator -- notices$/,
  );
  assert.match((await reportedKinds(database)).join('\n'), /^2 × https:\/\/7\.example/m);
});

test('notices about other things do not keep a new kind from being told', async () => {
  for (let index = 0; index < NOTICES_A_DAY; index++)
    await writeNotice(server, `Notice ${index} about something else.`);
  await send([modern('https://evil.example/card.js')]);
  const [told, ...more] = (await notices()).slice(NOTICES_A_DAY);
  assert.match(told!, /^Browsers block https:\/\/evil\.example .* "What browsers report"\.$/);
  assert.deepEqual(more, []);
});

test('a kind that was not seen for three months is new again, and others of that age are forgotten', async () => {
  const { database } = server.deps;
  const last_seen_at = new Date(Date.now() - 91 * 86_400_000);
  const old = { directive: 'script-src-elem', page: 'checkout', count: '9', last_seen_at };
  await database
    .insertInto('browser_report')
    .values([
      { ...old, blocked: 'https://evil.example' },
      { ...old, blocked: 'https://gone.example' },
    ])
    .execute();
  await send([modern('https://evil.example/')]);
  assert.match((await reportedKinds(database)).join('\n'), /^1 × https:\/\/evil\.example [^\n]*$/);
  assert.equal((await notices()).length, 1);
});

test('words of the policy stay words, and addresses without an origin are their scheme', () => {
  const blockedOf = (address: string) => readReports([modern(address)]).map(({ blocked }) => blocked);
  assert.deepEqual(
    ['inline', 'eval', 'data', 'data:text/plain,x', 'blob:null/1', 'not an address'].map(
      (address) => blockedOf(address)[0],
    ),
    ['inline', 'eval', 'data', 'data:', 'blob:', 'other'],
  );
});

const openssl = findProgram('openssl');
const firefox = firefoxProgram();
const reporting = reportingChromium();

/** The checkout page with scripts and pictures that an attacker has inserted. */
const changedPage = `<title>Checkout</title><h1>Checkout</h1><script>1</script>
  <script src="https://scripts.example/card.js"></script>
  ${Array.from({ length: 60 }, (_, number) => `<img src="https://pictures.example/${number}.png">`).join('')}`;

type Open = (t: TestContext, url: string) => Promise<void>;

const openInChromium: Open = async (t, url) => {
  const browser = await chromium.launch({
    executablePath: reporting!,
    args: [...chromiumArguments, '--short-reporting-delay', '--ignore-certificate-errors'],
  });
  t.after(() => browser.close());
  const page = await browser.newPage();
  await page.goto(url);
};
const openInFirefox: Open = async (t, url) => {
  const hands = await startFirefox(firefox!, (task) => t.after(task));
  await hands.open(url);
};

/** Starts two https origins for one server, because browsers send reports only from https pages to https URLs. */
async function startOrigins(t: TestContext) {
  const folder = temporaryFolder(t);
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  const made = spawnSync(
    openssl!,
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', cert, ...names],
    { encoding: 'utf8' },
  );
  assert.equal(made.status, 0, made.stderr);
  const origins = { urls: [] as string[], server: '', answered: [] as string[] };
  for (let number = 0; number < 2; number++) {
    const proxy = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, (asked, answer) => {
      const { method, headers, url } = asked;
      const onward = request(origins.server + url, { method, headers }, (given) => {
        origins.answered.push(`${method} ${url} ${headers['content-type']} ${given.statusCode}`);
        if (url !== '/registration/checkout') {
          answer.writeHead(given.statusCode!, given.headers);
          return given.pipe(answer);
        }
        const { 'content-length': _, ...others } = given.headers;
        answer.writeHead(200, { ...others, 'content-type': 'text/html' }).end(changedPage);
        return given.resume();
      });
      asked.pipe(onward);
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    t.after(() => {
      proxy.closeAllConnections();
      proxy.close();
    });
    origins.urls.push(`https://127.0.0.1:${(proxy.address() as AddressInfo).port}`);
  }
  return origins;
}

const THERE = 'there';
const ELSEWHERE = 'at an API of another origin';
for (const [name, open, isThere, places] of [
  ['Chromium', openInChromium, reporting !== undefined, isLong ? [THERE, ELSEWHERE] : [ELSEWHERE]],
  ['Firefox', openInFirefox, firefox !== undefined, isLong ? [THERE, ELSEWHERE] : [THERE]],
] as const)
  for (const place of places)
    test(`what ${name} blocks it reports by itself, and it is counted ${place}`, {
      skip: !(openssl && isThere) && `${openssl ? name : 'openssl'} is not installed`,
    }, async (t) => {
      const origins = await startOrigins(t);
      const [site, api] = origins.urls as [string, string];
      const server = await startTestServer({
        PUBLIC_URL: site,
        ...(place === THERE ? {} : { API_URL: api }),
      });
      t.after(() => server.close());
      origins.server = server.url;
      await open(t, `${site}/registration/checkout`);
      const kinds = async () =>
        (await reportedKinds(server.deps.database))
          .map((kind) => kind.replace(/^\d+ × | since .*/g, ''))
          .sort();
      const expected = [
        'https://pictures.example (img-src, checkout)',
        'https://scripts.example (script-src-elem, checkout)',
        'inline (script-src-elem, checkout)',
      ];
      await until(async () => (await kinds()).length >= expected.length).catch(() => {});
      assert.deepEqual(await kinds(), expected, origins.answered.join('\n'));
      const notices = await server.deps.database.selectFrom('staff_notice').select('kind').execute();
      assert.equal(notices.length, expected.length);
    });
