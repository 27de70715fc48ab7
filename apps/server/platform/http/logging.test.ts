import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { calls, pathOf } from '#contract/calls.ts';
import { orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { browser, sharedServer } from '../../../../tests/harness/testServer.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import { buildApp } from '../../app.ts';
import { wire } from '../../wire.ts';
import { createLog } from './logging.ts';

const server = await sharedServer();

test('whatever is logged while a call runs carries the id of its request, also by what speaks to a provider', async (t) => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const { config } = server.deps;
  // Nothing listens at this HubSpot URL.
  const hubspot = { ...config.providers.hubspot, url: 'http://127.0.0.1:9' };
  const wired = await wire({ ...config, providers: { ...config.providers, hubspot } }, log);
  const app = await buildApp(wired.deps);
  t.after(async () => {
    await app.close();
    await Promise.all([wired.database.destroy(), wired.background.destroy()]);
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });

  const post = () =>
    request(url + calls.checkEligibility.path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
  const answerTo = async (sent: ClientRequest) => {
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    return answer.resume().headers['x-request-id'];
  };
  // The body of this request is sent long after its headers.
  const slow = post();
  slow.flushHeaders();
  const quick = await answerTo(post().end(JSON.stringify({ invitationCode: 'LINCOLN2026', isTOLA: true })));
  const ids = [quick, await answerTo(slow.end(JSON.stringify({ invitationCode: 'NOBODY1', isTOLA: true })))];
  await app.close();
  const idsOf = (msg: string) => lines.filter((line) => line.msg === msg).map(({ reqId }) => reqId);
  assert.deepEqual(idsOf('answered').toSorted(), ids.toSorted());
  assert.deepEqual(new Set(idsOf('a provider did not do a call')), new Set([ids[1]]));
});

/** Builds an app that logs at every level into `lines`. */
async function loggingAll(t: TestContext) {
  const lines: string[] = [];
  const log = createLog('trace', { write: (line) => void lines.push(line) });
  const app = await buildApp({ ...server.deps, log });
  t.after(() => app.close());
  return { app, log, lines };
}

test('nothing of a link in a letter, of a code or of an email is logged, however much is', async (t) => {
  const { app, lines } = await loggingAll(t);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const client = browser(url);
  const uuid = await orderingJoin(client);
  const token = new URL(server.deps.passes.address(uuid)).hash.slice(1);
  const device = browser(url);
  await device.call('openPass', { body: { token } });
  await device.call('openPass', { body: { token: `${token}x` } });
  await device.call('sendPassCode', { body: { token } });
  await device.call('provePassByCode', { body: { token, code: '482913' } });
  await device.call('provePassByName', { body: { token, lastName: 'Rivera', zipcode: '78701' } });
  await device.call('sendPassLinks', { body: { email: 'jordan.rivera@example.com' } });
  // At the log level `trace` the form parser logs its options, which include the request's headers.
  const { uuid: paid } = await paidJoin(server, client, undefined, { lastName: 'Rivera' });
  const upload = { name: 'jordan-secret.pdf' };
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid: paid }), upload)).status, 200);
  await app.close();
  const logged = lines.join('');
  assert.match(logged, /prove-by-name/);
  assert.match(logged, /options to busboy/);
  const secrets = [token, uuid, paid, '482913', 'Rivera', '78701', 'example.com', 'jordan-secret'];
  for (const secret of [...secrets, 'induct_join', 'multipart/form-data'])
    assert.ok(!logged.includes(secret), secret);
});

test('the values of a row that PostgreSQL refuses are not logged with its error', async (t) => {
  const { app, log, lines } = await loggingAll(t);
  const refused = () =>
    sql`insert into person (contact_id, email, profile) values ('9001', 'jordan.rivera@example.com', null)`.execute(
      server.deps.database,
    );
  app.get('/api/refused', refused);
  assert.equal((await app.inject('/api/refused')).statusCode, 500);
  await assert.rejects(refused, (err: { detail: string }) => {
    assert.match(err.detail, /jordan\.rivera/);
    log.error({ err }, 'a background task failed');
    return true;
  });
  assert.equal(lines.join('').match(/null value in column \\"profile\\"/g)?.length, 4, 'message and stack');
  assert.ok(!lines.join('').includes('jordan.rivera'));
});

test('a line that no request caused names none', () => {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).info('started');
  assert.ok(!('reqId' in JSON.parse(lines[0]!)));
});
