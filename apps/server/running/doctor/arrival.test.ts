import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { sharedServer, type TestServer } from '../../../../tests/harness/testServer.ts';
import { diagnose } from '../../../staff/doctor.ts';
import { askArrival, CLAIMED_ADDRESS, doctorToken, isDoctorToken } from './arrival.ts';

const SECRET = 'a secret of this installation, 32+';

const trusting = await sharedServer({ TRUST_PROXY: '127.0.0.1', LINK_SECRET: SECRET });
const server = await sharedServer({ TRUST_PROXY: 'none', LINK_SECRET: SECRET });

/**
 * Starts a proxy in front of a server. For a call with a given X-Forwarded-For, `forwarded` returns the X-Forwarded-For that the
 * proxy sends. Returns the proxy's URL.
 */
async function proxyBefore(
  t: TestContext,
  { url }: TestServer,
  forwarded: (given: string | undefined) => string | undefined,
): Promise<string> {
  const proxy = createServer((incoming, answer) => {
    const { 'x-forwarded-for': given, ...rest } = incoming.headers;
    const value = forwarded(given?.toString());
    const headers: IncomingHttpHeaders = {
      ...rest,
      ...(value === undefined ? {} : { 'x-forwarded-for': value }),
    };
    incoming.pipe(
      request(url + incoming.url, { method: incoming.method, headers }, (response) => {
        answer.writeHead(response.statusCode!, response.headers);
        response.pipe(answer);
      }),
    );
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

/** Returns the line about callers' addresses in the doctor's report. */
async function saysOf(server: TestServer, publicUrl: string): Promise<string> {
  const { report } = await diagnose({ ...server.deps.config, publicUrl });
  return report.split('\n').find((line) => line.includes("Callers' addresses"))!;
}

const CALLER = '203.0.113.9';
const adds = (given: string | undefined) => (given ? `${given}, ${CALLER}` : CALLER);

test('a proxy that is named and adds the caller is in order, and the doctor says whose address arrives', async (t) => {
  const line = await saysOf(trusting, await proxyBefore(t, trusting, adds));
  assert.match(line, /^ok .* arrives from 203\.0\.113\.9, by the proxy at (::ffff:)?127\.0\.0\.1/);
});

test('a proxy that was forgotten is missing in TRUST_PROXY', async (t) => {
  for (const forwarded of [adds, () => CALLER]) {
    const line = await saysOf(server, await proxyBefore(t, server, forwarded));
    assert.match(
      line,
      /^missing .* a proxy at (::ffff:)?127\.0\.0\.1, which TRUST_PROXY \(none\) does not name/,
    );
  }
});

test('a proxy that passes on what a caller claims is missing what it must add', async (t) => {
  for (const url of [await proxyBefore(t, trusting, (given) => given), trusting.url])
    assert.match(await saysOf(trusting, url), /^missing .* believed to have the address that they claim/);
});

test('without a proxy and without trust in one nothing is missing', async () => {
  assert.match(await saysOf(server, server.url), /^ok .* without a proxy/);
});

test('a server that is not there, or that has another secret, is told as what could not be checked', async () => {
  assert.match(await saysOf(server, 'http://127.0.0.1:9'), /^could not be checked .* does not answer/);
  const other = await askArrival(server.url, 'another secret');
  assert.deepEqual('refused' in other && other.refused.status, 404);
});

test('another server at the public address is told as one, whatever it answers', async (t) => {
  let answer = '';
  const other = createServer((_, response) => response.end(answer));
  other.listen(0, '127.0.0.1');
  await once(other, 'listening');
  t.after(() => other.close());
  const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  for (answer of [
    '<html>Welcome</html>',
    '{}',
    '[]',
    '"yes"',
    'null',
    '',
    '{"address":1,"peer":"","forwarded":null}',
  ])
    assert.match(
      await saysOf(server, url),
      /^could not be checked .* does not know this installation \(it answers something else\)/,
      answer,
    );
});

test('for strangers there is nothing at that address: no token, a wrong one, an old one, one of the future', async () => {
  const ask = (token?: string) =>
    fetch(
      `${server.url}/api/doctor/arrival`,
      token === undefined ? {} : { headers: { 'x-induct-doctor': token } },
    );
  const [old, early] = [-180_000, 180_000].map((ms) => doctorToken(SECRET, new Date(Date.now() + ms)));
  for (const token of [undefined, 'x', `${Date.now()}.x`, doctorToken('other', new Date()), old, early]) {
    const answer = await ask(token);
    assert.equal(answer.status, 404);
    assert.doesNotMatch(await answer.text(), /address"|peer/);
  }
  const now = new Date();
  assert.equal(isDoctorToken(SECRET, doctorToken(SECRET, now), now), true);
  const answer = await ask(doctorToken(SECRET, now));
  assert.deepEqual(Object.keys((await answer.json()) as object), ['address', 'peer', 'forwarded']);
  assert.notEqual(CLAIMED_ADDRESS, CALLER);
});
