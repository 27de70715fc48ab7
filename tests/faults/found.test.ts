import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aftermaths, type Join, joinOf, planWith } from './plan.ts';
import { runPlan } from './run.ts';

/** The defects that this suite has found, each with the smallest joins that reproduce it. All are played in one run. */
const found: Record<string, Partial<Join>[]> = {
  'an order that another tab changed is not charged at the older total, however late the older one reaches Stripe':
    [
      {
        changes: 'donation',
        changesWhen: 'behind',
        hesitatesMs: 500,
        faults: [{ operation: 'updateIntent', kind: 'slow', ms: 350, times: 1 }],
      },
    ],
  'an email that is corrected after Stripe did not answer keeps nobody from paying': [
    {
      changes: 'email',
      changesWhen: 'looking',
      faults: [{ operation: 'createIntent', kind: 'status', status: 500, times: 3 }],
    },
  ],
  'an upgrade that was declined is told so again when the answer was lost': [
    { upgrade: 'declined', kill: { point: 'confirmWithSavedCard:after' } },
  ],
  'an order whose changes hang is charged as it is shown': (['hung', 'hungAfter'] as const).map(
    (changesWhen) => ({ changes: 'donation', changesWhen }),
  ),
  'what the bank holds is paid once or not at all': (
    [
      { until: 'soon', succeeds: true, reloads: true },
      { until: 'soon', succeeds: false, reloads: true },
      { until: 'nextDay', succeeds: true, reloads: false },
      { until: 'nextDay', succeeds: false, reloads: false },
    ] as const
  ).map((processing) => ({ processing, webhooks: 'lost' })),
  'a database that breaks off ends no server': (
    ['commit:before', 'retrieveIntent:after', 'updateIntent:before'] as const
  ).map((point) => ({ breakOff: { point }, changes: 'donation', changesWhen: 'looking' })),
  'whose email is known is a member at HubSpot: in that contact if it has no name or theirs, otherwise in one of their own':
    [
      ...(['blank', 'prospect', 'former'] as const).flatMap((known) => [
        { known },
        { known, leaves: 'checkout' as const },
      ]),
      { known: 'blank', changes: 'email', changesWhen: 'looking' },
    ],
  'whatever becomes of a payment later, at the dashboard or the bank, its member and its upgrade follow it':
    aftermaths.map((aftermath, index) => ({
      aftermath,
      extras: [20, 30],
      upgrade: 'take',
      webhooks: index % 2 === 0 ? 'lost' : 'deliver',
    })),
  'a payer who leaves at the bank keeps the joiner from paying for a while, not for ever': [
    { payer: 'instead', cards: [{ card: 'threeDSecure2Required', authentication: 'leave' }] },
  ],
};
const groups = Object.entries(found).map(([sentence, joins], group) => ({
  sentence,
  joins: joins.map((join, index) => joinOf({ name: `${'abcdefghi'[group]}${index}`, ...join })),
}));
const report = await runPlan(planWith(groups.flatMap(({ joins }) => joins.map((join) => [join]))));

for (const { sentence, joins } of groups)
  test(sentence, () => {
    const people = report.people.filter(({ join }) => joins.some(({ name }) => name === join.name));
    assert.equal(people.length, joins.length);
    const told = people.flatMap(({ join, uuid }) => [String(uuid), `join ${join.name} `]);
    assert.deepEqual(
      report.differences.filter(({ subject, text }) =>
        told.some((name) => `${subject} ${text}`.includes(name)),
      ),
      [],
    );
  });

test('and nothing else differs', () => {
  assert.deepEqual(report.differences, []);
  const { hung, held, exits, refunds, paid } = report;
  // In each of two orders, two changes of the intent hang. The bank leaves four payments undecided for a while, and Stripe makes
  // six refunds. No server may exit by itself.
  assert.deepEqual([hung, held, exits, refunds], [4, 4, 0, 6]);
  // 21 memberships are active at the end. The other joins have none: some people left, one payment failed on the next day, and
  // three memberships ended by a refund or dispute.
  assert.equal(paid, 21);
  // In each of three joins, a server's database connections are ended when it reaches the planned point. If both servers reach
  // the point, the connections of both are ended. So there may be more than three breaks.
  assert.ok(report.breaks >= 3, String(report.breaks));
});
