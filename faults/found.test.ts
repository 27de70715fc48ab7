import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Join, joinOf } from './plan.ts';
import { runPlan } from './run.ts';

/** What the suite has found, each by the smallest join that shows it. */
const differencesOf = async (join: Partial<Join>) =>
  (await runPlan({ seed: 0, killsEverywhere: false, night: [], units: [[joinOf(join)]] })).differences;

test('an order that another tab changed is not charged at the older total, however late the older one reaches Stripe', async () => {
  const join = joinOf({
    changes: 'donation',
    changesWhen: 'behind',
    hesitatesMs: 500,
    faults: [{ operation: 'updateIntent', kind: 'slow', ms: 350, times: 1 }],
  });
  assert.deepEqual(await differencesOf(join), []);
});

test('an email that is corrected after Stripe did not answer keeps nobody from paying', async () => {
  const join = joinOf({
    changes: 'email',
    changesWhen: 'looking',
    faults: [{ operation: 'createIntent', kind: 'status', status: 500, times: 3 }],
  });
  assert.deepEqual(await differencesOf(join), []);
});

test('an upgrade that was declined is told so again when the answer was lost', async () => {
  assert.deepEqual(
    await differencesOf(joinOf({ upgrade: 'declined', kill: { point: 'confirmWithSavedCard:after' } })),
    [],
  );
});
