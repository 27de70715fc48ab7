import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { calls } from '#contract/calls.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
} from '../../../../tests/harness/steps.ts';
import { browser, type Client, sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { buildApp } from '../../app.ts';
import { BUSY, levelOf } from './shedding.ts';

const server = await sharedServer();
const limits = { eventLoopDelayMs: 100, heapBytes: 1_000_000, rssBytes: 1_000_000 };

/** Starts a server whose measured load is `level` (or what it returns) times its limits. Returns a client of it. */
async function underPressure(t: TestContext, level: number | (() => number)): Promise<Client> {
  const now = typeof level === 'number' ? () => level : level;
  const deps = { ...server.deps, config: { ...server.deps.config, shedding: limits } };
  const app = await buildApp(deps, {
    measured: () => ({ eventLoopDelay: 0, heapUsed: now() * limits.heapBytes, rssBytes: 0 }),
  });
  t.after(() => app.close());
  return browser(await app.listen({ host: '127.0.0.1', port: 0 }));
}

async function statusOf(client: Client, path: string, method = 'GET'): Promise<number> {
  const answer = await client.fetch(path, {
    method,
    ...(method === 'POST' && { headers: { 'content-type': 'application/json' }, body: '{}' }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

/** Makes an upload, one call of each priority, and a webhook call. Returns which of them are accepted (not answered with 503). */
async function letIn(client: Client, uuid: string) {
  const isIn = async (name: keyof typeof calls) =>
    (await statusOf(client, calls[name].path.replace(/\{\w+\}/, uuid), calls[name].method)) !== 503;
  return {
    new: await isIn('checkEligibility'),
    upload: await isIn('uploadTranscript'),
    joining: await isIn('getCheckoutDetails'),
    paying: await isIn('beginPayment'),
    webhook: (await statusOf(client, '/api/webhooks/stripe', 'POST')) !== 503,
  };
}

test('new joins and uploads are refused first, then who is joining, and who is paying last', async (t) => {
  const uuid = await orderingJoin(server.client());
  const all = { new: true, upload: true, joining: true, paying: true, webhook: true };
  assert.deepEqual(await letIn(await underPressure(t, 0.9), uuid), all);
  assert.deepEqual(await letIn(await underPressure(t, 1.1), uuid), { ...all, new: false, upload: false });
  const third = await underPressure(t, 1.3);
  assert.deepEqual(await letIn(third, uuid), { ...all, new: false, upload: false, joining: false });
  assert.equal(await statusOf(third, '/readyz'), 200);
  const full = await underPressure(t, 1.6);
  assert.ok(!Object.values(await letIn(full, uuid)).includes(true));
  assert.equal(await statusOf(full, '/healthz'), 200);
  const ready = await full.fetch('/readyz');
  assert.equal(ready.status, 503);
  assert.deepEqual(await ready.json(), { ready: false, missing: ['overloaded'] });
});

test('a join that is paying ends as a membership while everybody else is refused', async (t) => {
  let level = 0;
  const busy = await underPressure(t, () => level);
  const uuid = await orderingJoin(busy);
  const intent = await openIntent(busy, uuid);
  level = 1.4;
  assert.equal((await busy.call('getWelcome', { params: { uuid } })).status, 503);
  assert.equal((await beginPayment(busy, uuid, intent.revision)).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(busy, uuid, intent)).data.status, 'succeeded');
  assert.equal((await busy.call('getUpgradeDetails', { params: { uuid } })).status, 200);
});

test('whoever is refused is told when to come again: a call by its header, a page by itself and without a script', async (t) => {
  const busy = await underPressure(t, 1.1);
  const refused = await busy.call('checkEligibility', { body: { invitationCode: 'HONOR101' } });
  assert.equal(refused.status, 503);
  assert.equal(refused.message, BUSY);
  assert.match(refused.headers.get('retry-after')!, /^(1\d|20)$/);
  const page = await busy.fetch('/registration/get-started');
  assert.equal(page.status, 503);
  assert.match(page.headers.get('content-type')!, /^text\/html/);
  assert.equal(page.headers.get('cache-control'), 'no-store');
  const html = await page.text();
  assert.ok(html.includes(`<meta http-equiv="refresh" content="${page.headers.get('retry-after')}">`));
  assert.ok(html.includes(BUSY) && !html.includes('<script'));
  assert.ok(page.headers.get('content-security-policy')!.includes("script-src 'self'"));
});

test('a server whose event loop has no time left refuses who is new, and takes them again when it has', async (t) => {
  const shedding = { eventLoopDelayMs: 200, heapBytes: 0, rssBytes: 0 };
  const app = await buildApp({ ...server.deps, config: { ...server.deps.config, shedding } });
  t.after(() => app.close());
  const client = browser(await app.listen({ host: '127.0.0.1', port: 0 }));
  const isLetIn = async () => (await statusOf(client, calls.checkEligibility.path, 'POST')) !== 503;
  // What building the app has cost is forgotten soon.
  await until(isLetIn);
  let isBusy = true;
  const work = (async () => {
    while (isBusy) {
      for (const end = performance.now() + 600; performance.now() < end; );
      await setImmediate();
    }
  })();
  await until(async () => !(await isLetIn()));
  isBusy = false;
  await work;
  await until(isLetIn);
});

test('the tightest limit counts, and one that is not set never does', () => {
  const measured = { eventLoopDelay: 50, heapUsed: 300, rssBytes: 900 };
  assert.equal(levelOf(measured, { eventLoopDelayMs: 100, heapBytes: 200, rssBytes: 1000 }), 1.5);
  assert.equal(levelOf(measured, { eventLoopDelayMs: 100, heapBytes: 0, rssBytes: 0 }), 0.5);
  assert.equal(levelOf(measured, { eventLoopDelayMs: 0, heapBytes: 0, rssBytes: 0 }), 0);
});
