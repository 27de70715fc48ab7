import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sharedServer } from '../tests/harness/testServer.ts';
import { arrange, ops } from './matrix.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
test('two refunds of one payment while an upgrade by link is confirmed do not lock each other out', async () => {
  const errors: string[] = [];
  let rounds = 0;
  for (; rounds < 60 && errors.length === 0; rounds++) {
    const ctx = await arrange(server);
    const results = await Promise.allSettled(['refundPi', 'linkUpgrade', 'refundPi', 'refundPi'].map((name) => ops[name]!(server, ctx)));
    for (const result of results) if (result.status === 'rejected') errors.push(JSON.stringify({ text: String(result.reason), detail: result.reason.detail, where: result.reason.where, stack: String(result.reason.stack).split('\n').filter((l: string) => l.includes('apps/server')).slice(0, 6) }));
  }
  console.log(rounds, 'rounds', errors);
  assert.deepEqual(errors, []);
});
