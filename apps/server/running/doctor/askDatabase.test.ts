import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSecureContext, TLSSocket } from 'node:tls';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { findProgram } from '../../../../tools/local/findProgram.ts';
import { askDatabase } from './askDatabase.ts';

const server = await sharedServer();
const openssl = findProgram('openssl');

/**
 * Starts a proxy that speaks TLS for the database, with a certificate for 127.0.0.1 that no public CA has signed. Returns the
 * database's URL at the proxy, and the path of the certificate.
 */
async function databaseWithTls(t: TestContext): Promise<{ url: URL; ca: string }> {
  const folder = temporaryFolder(t);
  const [key, ca] = [join(folder, 'key.pem'), join(folder, 'ca.pem')];
  const names = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const made = spawnSync(
    openssl!,
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', ca, ...names],
    { encoding: 'utf8' },
  );
  assert.equal(made.status, 0, made.stderr);
  const secureContext = createSecureContext({ key: readFileSync(key), cert: readFileSync(ca) });
  const url = new URL(server.deps.config.databaseUrl);
  const { hostname, port } = url;
  const proxy = createServer((socket) => {
    // The client's first message asks for TLS (SSLRequest). The answer S means yes.
    socket.once('data', () => {
      socket.write('S');
      const secure = new TLSSocket(socket, { isServer: true, secureContext });
      const onward = connect(Number(port), hostname);
      secure.on('error', () => onward.destroy()).pipe(onward);
      onward.on('error', () => secure.destroy()).pipe(secure);
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => proxy.close());
  url.port = String((proxy.address() as AddressInfo).port);
  return { url, ca };
}

async function linkOf(url: URL, search = '') {
  const asked = new URL(url);
  asked.search = search;
  const answer = await askDatabase(asked.href);
  return 'said' in answer ? answer.said.link : answer;
}

test('the doctor sees whether its connection to the database has TLS, and whether the certificate is verified', {
  skip: !openssl && 'openssl is not installed',
}, async (t) => {
  const address = '127.0.0.1';
  assert.deepEqual(await linkOf(new URL(server.deps.config.databaseUrl)), { address, tls: 'none' });
  const { url, ca } = await databaseWithTls(t);
  assert.deepEqual(await linkOf(url, `sslmode=verify-full&sslrootcert=${ca}`), { address, tls: 'verified' });
  const unverified = { address, tls: 'unverified' };
  for (const search of [
    'sslmode=no-verify',
    'ssl=no-verify',
    'uselibpqcompat=true&sslmode=require',
    `sslmode=no-verify&sslrootcert=${ca}`,
  ])
    assert.deepEqual(await linkOf(url, search), unverified, search);
  assert.match(((await linkOf(url, 'sslmode=verify-full')) as { down: string }).down, /self-signed/);
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  t.after(() => {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  });
  assert.deepEqual(await linkOf(url, 'sslmode=verify-full'), unverified);
});
