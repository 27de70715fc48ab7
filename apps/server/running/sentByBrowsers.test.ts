import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { chromium } from '@playwright/test';
import { firefoxProgram, startFirefox } from '../../../tests/e2e/browsers/firefox.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { startTestServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { chromiumArguments, reportingChromium } from '../../../tools/local/chromium.ts';
import { findProgram } from '../../../tools/local/findProgram.ts';
import { reportedKinds } from './reports.ts';

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
