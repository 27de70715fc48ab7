import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from './keys.ts';
import { CONFIRMED, clientOf } from './stripe/test-support.ts';

interface Started {
  process: ChildProcess;
  stripe: { url: string };
  hubspot: { url: string };
}

async function start(t: TestContext, dataDir: string, env: Record<string, string> = {}): Promise<Started> {
  const child = fork(join(import.meta.dirname, 'main.ts'), {
    env: { ...process.env, EMULATORS_DATA_DIR: dataDir, ...env },
    execArgv: ['--disable-warning=ExperimentalWarning'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [message] = await once(child, 'message');
  return { process: child, ...message };
}

test('every answered write is there after kill -9, on the same ports', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'emulators-'));
  let started = await start(t, dataDir);
  const ports = {
    STRIPE_EMULATOR_PORT: new URL(started.stripe.url).port,
    HUBSPOT_EMULATOR_PORT: new URL(started.hubspot.url).port,
  };
  const stripe = clientOf(started.stripe.url);
  const ids: string[] = [];
  for (let kill = 0; kill < 3; kill += 1) {
    const writing = (async () => {
      while (true) {
        const order = { ...CONFIRMED, amount: 500, payment_method: 'pm_card_visa' } as const;
        ids.push((await stripe.paymentIntents.create(order)).id);
        if (ids.length === (kill + 1) * 10) started.process.kill('SIGKILL');
      }
    })();
    await Promise.all([assert.rejects(writing), once(started.process, 'exit')]);
    started = await start(t, dataDir, ports);
  }
  const kept = await stripe.paymentIntents.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
  const charged = await stripe.charges.list({ limit: 100 }).autoPagingToArray({ limit: 1000 });
  assert.ok(ids.length >= 30);
  assert.deepEqual(
    ids.filter((id) => !kept.some((intent) => intent.id === id)),
    [],
  );
  assert.equal(charged.length, kept.length, 'no intent without its charge, no charge without its intent');
});

test('a contact written before kill -9 is there afterwards, and the seed is not sown twice', async (t) => {
  const dataDir = mkdtempSync(join(tmpdir(), 'emulators-'));
  const first = await start(t, dataDir);
  const call = (url: string, path: string, init: object = {}) =>
    fetch(`${url}/crm/objects/2026-09/contacts${path}`, {
      headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
      ...init,
    });
  await call(first.hubspot.url, '/101', {
    method: 'PATCH',
    body: JSON.stringify({ properties: { city: 'Dallas' } }),
  });
  first.process.kill('SIGKILL');
  await once(first.process, 'exit');
  const second = await start(t, dataDir);
  const found = await (await call(second.hubspot.url, '/101?properties=city')).json();
  assert.equal(found.properties.city, 'Dallas');
});

for (const [name, end] of [
  ['SIGTERM', (child: ChildProcess) => child.kill('SIGTERM')],
  ['SIGINT', (child: ChildProcess) => child.kill('SIGINT')],
  ['the death of its parent', (child: ChildProcess) => child.disconnect()],
] as const) {
  test(`the process ends cleanly on ${name}`, async (t) => {
    const { process: child } = await start(t, mkdtempSync(join(tmpdir(), 'emulators-')));
    end(child);
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });
}
