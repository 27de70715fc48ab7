import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { test } from 'node:test';
import { calls } from '#contract/calls.ts';
import { startTestServer } from '../../../../tests/harness/testServer.ts';
import { buildApp } from '../../app.ts';
import { wire } from '../../wire.ts';
import { createLog } from './logging.ts';

test('whatever is logged while a call runs carries the id of its request, also by what speaks to a provider', async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const lines: Record<string, unknown>[] = [];
  const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
  const { config } = server.deps;
  // Where nobody answers.
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
  // One whose body comes when its handling has begun long since.
  const slow = post();
  slow.flushHeaders();
  const quick = await answerTo(post().end(JSON.stringify({ invitationCode: 'LINCOLN2026', isTOLA: true })));
  const ids = [quick, await answerTo(slow.end(JSON.stringify({ invitationCode: 'NOBODY1', isTOLA: true })))];
  await app.close();
  const idsOf = (msg: string) => lines.filter((line) => line.msg === msg).map(({ reqId }) => reqId);
  assert.deepEqual(idsOf('answered').toSorted(), ids.toSorted());
  assert.deepEqual(new Set(idsOf('a provider did not do a call')), new Set([ids[1]]));
});

test('a line that no request caused names none', () => {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).info('started');
  assert.ok(!('reqId' in JSON.parse(lines[0]!)));
});
