import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Join, joinOf, planWith } from './plan.ts';
import { runPlan } from './run.ts';

/** What the suite has found, each by the smallest join that shows it. */
const reportOf = (...joins: Partial<Join>[]) =>
  runPlan(planWith(joins.map((join, index) => [joinOf({ name: `join${index}`, ...join })])));
const differencesOf = async (join: Partial<Join>) => (await reportOf(join)).differences;

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

test('an order whose changes hang is charged as it is shown, what the bank holds is paid once or not at all, and a database that breaks off ends no server', async () => {
  const hung = (['hung', 'hungAfter'] as const).map((changesWhen) => ({
    changes: 'donation' as const,
    changesWhen,
  }));
  const held = [
    { until: 'soon', succeeds: true, reloads: true },
    { until: 'soon', succeeds: false, reloads: true },
    { until: 'nextDay', succeeds: true, reloads: false },
    { until: 'nextDay', succeeds: false, reloads: false },
  ] as const;
  const broken = (['commit:before', 'retrieveIntent:after', 'updateIntent:before'] as const).map((point) => ({
    breakOff: { point },
    changes: 'donation' as const,
    changesWhen: 'looking' as const,
  }));
  const report = await reportOf(
    ...hung,
    ...held.map((processing) => ({ processing, webhooks: 'lost' as const })),
    ...broken,
  );
  assert.deepEqual(report.differences, []);
  // Of nine, the one whose payment failed on the next day is not paid.
  assert.deepEqual([report.hung, report.held, report.exits, report.paid], [4, 4, 0, 8]);
  // Both servers may come by a point.
  assert.ok(report.breaks >= broken.length, String(report.breaks));
});

test('whose email is known is a member at HubSpot where no status stood, and elsewhere a notice', async () => {
  const { differences } = await reportOf(
    ...(['blank', 'prospect', 'former'] as const).flatMap((known) => [
      { known },
      { known, leaves: 'checkout' as const },
    ]),
    { known: 'blank', changes: 'email', changesWhen: 'looking' },
  );
  assert.deepEqual(differences, []);
});
