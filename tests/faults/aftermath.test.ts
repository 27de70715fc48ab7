import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aftermaths, joinOf, planWith } from './plan.ts';
import { runPlan } from './run.ts';

test('whatever becomes of a payment later, at the dashboard or the bank, its member and its upgrade follow it', async () => {
  const units = aftermaths.map((aftermath, index) => [
    joinOf({
      name: aftermath,
      aftermath,
      extras: [20, 30],
      upgrade: 'take',
      webhooks: index % 2 === 0 ? 'lost' : 'deliver',
    }),
  ]);
  const { differences, paid, refunds } = await runPlan(planWith(units));
  assert.deepEqual(differences, []);
  // Returned, failed and won: three memberships are active. Two ended, and their upgrades went back with them.
  assert.deepEqual([paid, refunds], [3, 5]);
});
