import assert from 'node:assert/strict';
import { test } from 'node:test';
import { calls } from '#contract/calls.ts';
import { buildApp } from '../app.ts';
import { startTestServer } from '../testing/testServer.ts';
import { wire } from '../wire.ts';
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

  const ids = await Promise.all(
    ['NOBODY1', 'NOBODY2', 'NOBODY3'].map(async (invitationCode) => {
      const { headers } = await fetch(url + calls.checkEligibility.path, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ invitationCode, isTOLA: true }),
      });
      return headers.get('x-request-id');
    }),
  );
  const idsOf = (msg: string) => lines.filter((line) => line.msg === msg).map(({ reqId }) => reqId);
  assert.deepEqual(idsOf('answered').toSorted(), ids.toSorted());
  // Once it is known that HubSpot does not answer, others do not ask.
  const asked = idsOf('a provider did not do a call');
  assert.ok(asked.length > 0);
  assert.deepEqual(
    asked.filter((id) => !ids.includes(id as string)),
    [],
  );
});

test('a line that no request caused names none', () => {
  const lines: string[] = [];
  createLog('info', { write: (line) => void lines.push(line) }).info('started');
  assert.ok(!('reqId' in JSON.parse(lines[0]!)));
});
