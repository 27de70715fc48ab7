import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandOf } from '../../apps/staff/sentences/remedies.ts';
import { differenceSentence } from './differenceSentence.ts';
import { ABANDONED_MINUTES, differencesOf, type Sides } from './reconciliation.ts';
import type { GivenBack } from './refunds.ts';

/** The data of a paid and confirmed join in which Stripe and the database agree on money and membership. */
const agreed: Sides = {
  intentId: 'pi_1',
  kind: 'join',
  stripe: {
    status: 'succeeded',
    amountReceivedCents: 7700,
    refundedCents: 0,
    dispute: null,
    lostCents: 0,
    tellsOrder: false,
    ageMinutes: 60,
  },
  payment: { status: 'succeeded', amountCents: 7700, refundedCents: 0, dispute: null, refunds: [] },
  session: { uuid: 'u', state: 'paid', upgrade: 'open' },
  snapshot: {
    amountCents: 7700,
    lines: [
      { productId: 1, type: 'membership', name: 'Membership', priceCents: 6500 },
      { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 },
    ],
  },
  memberships: [{ productId: 1, standing: 'active', isHeld: true, isReplaced: false }],
};
const stripe = agreed.stripe!;
const payment = agreed.payment!;
const session = agreed.session!;
const returned = {
  stripe: { ...stripe, refundedCents: 7700 },
  payment: {
    ...payment,
    status: 'duplicate' as const,
    refundedCents: 7700,
    refunds: [
      { uuid: 'r', amountCents: 7700, status: 'succeeded' as const, lines: null, assignedBy: 'us' as const },
    ],
  },
  memberships: [],
};
/** Returns a lost dispute as an entry of the payment's refunds: it took `amountCents` of one line of the order. */
const lost = (amountCents: number, line: number): GivenBack => ({
  uuid: 'lost',
  amountCents,
  status: 'succeeded',
  lines: [{ line, productId: 1, name: '', cents: amountCents }],
  assignedBy: null,
  isDispute: true,
});
const open = {
  stripe: { ...stripe, status: 'requires_payment_method', amountReceivedCents: 0 },
  payment: { ...payment, status: 'open' as const },
  session: { ...session, state: 'ordering' },
  memberships: [],
};

const inOrder: [string, Partial<Sides>][] = [
  ['paid, confirmed and held', {}],
  ['an open order', open],
  [
    'an intent that is cancelled on both sides',
    { ...open, stripe: { ...open.stripe, status: 'canceled' }, payment: { ...payment, status: 'canceled' } },
  ],
  ['a duplicate that has gone back', returned],
  [
    'refunded, and its contact has joined anew',
    {
      ...returned,
      payment: { ...returned.payment, status: 'succeeded' },
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
    },
  ],
  [
    'lost in part by a dispute after its refund failed, and its contact has joined anew',
    {
      stripe: { ...stripe, dispute: 'lost', lostCents: 1200 },
      payment: { ...payment, dispute: 'lost', refunds: [lost(1200, 1)] },
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
    },
  ],
  [
    'disputed after its refund failed, and its contact has joined anew',
    {
      stripe: { ...stripe, dispute: 'open' },
      payment: { ...payment, dispute: 'open' },
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
    },
  ],
  [
    'disputed in part and lost: the membership is still paid for',
    {
      stripe: { ...stripe, dispute: 'lost', lostCents: 1200 },
      payment: { ...payment, dispute: 'lost', refunds: [lost(1200, 1)] },
    },
  ],
  [
    'lost before amounts were kept',
    {
      stripe: { ...stripe, dispute: 'lost', lostCents: 7700 },
      payment: { ...payment, dispute: 'lost' },
      memberships: [{ productId: 1, standing: 'charged_back', isHeld: false, isReplaced: false }],
    },
  ],
  [
    'paid a moment ago, on its way',
    { stripe: { ...stripe, ageMinutes: 2 }, payment: { ...payment, status: 'open' }, memberships: [] },
  ],
  [
    'an intent made a moment ago, on its way',
    { ...open, stripe: { ...open.stripe, ageMinutes: 2 }, payment: null },
  ],
  [
    'paid and given back in full before it was confirmed here',
    { stripe: returned.stripe, payment: { ...payment, status: 'open' }, memberships: [] },
  ],
  [
    'refunded in full',
    {
      stripe: returned.stripe,
      payment: { ...returned.payment, status: 'succeeded' },
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: false }],
    },
  ],
  [
    'disputed',
    {
      stripe: { ...stripe, dispute: 'open' },
      payment: { ...payment, dispute: 'open' },
      memberships: [{ productId: 1, standing: 'disputed', isHeld: true, isReplaced: false }],
    },
  ],
  [
    'of another amount, and all of it has gone back',
    { ...returned, snapshot: { ...agreed.snapshot!, amountCents: 6500 } },
  ],
];
for (const [what, change] of inOrder)
  test(`no difference: ${what}`, () => {
    assert.deepEqual(differencesOf({ ...agreed, ...change }, 10), []);
  });

const settle = 'npm run operator -- settle pi_1';
const refund = 'npm run operator -- refund pi_1';
/** A failed or cancelled refund of the membership less the processing fee. */
const refundOfDues = (status: 'failed' | 'canceled'): GivenBack => ({
  uuid: 'r',
  amountCents: 6000,
  status,
  lines: [{ line: 0, productId: 1, name: 'Membership', cents: 6000 }],
  assignedBy: 'us',
});

const different: [string, string, Partial<Sides>][] = [
  // A part of the payment was lost in a dispute. Our row lacks the amount, so in the database all of the payment
  // counts as lost; at Stripe only the part does.
  [
    'dispute_amount',
    settle,
    {
      stripe: { ...stripe, dispute: 'lost', lostCents: 1200 },
      payment: { ...payment, dispute: 'lost' },
      memberships: [{ productId: 1, standing: 'charged_back', isHeld: false, isReplaced: false }],
    },
  ],
  [
    'dispute_amount',
    settle,
    {
      stripe: { ...stripe, dispute: 'lost', lostCents: 7700 },
      payment: { ...payment, dispute: 'lost', refunds: [lost(1200, 1)] },
    },
  ],
  [
    'unconfirmed',
    settle,
    { payment: { ...payment, status: 'open' }, memberships: [], session: { ...session, state: 'paying' } },
  ],
  ['unconfirmed', settle, { payment: null, memberships: [], session: { ...session, state: 'ordering' } }],
  [
    'unconfirmed',
    settle,
    {
      stripe: { ...stripe, refundedCents: 1000 },
      payment: null,
      memberships: [],
      session: { ...session, state: 'ordering' },
    },
  ],
  ['nothing_sold', refund, { session: null, snapshot: null, payment: null, memberships: [] }],
  ['nothing_sold', refund, { snapshot: null, payment: null, memberships: [] }],
  [
    'not_here',
    settle,
    {
      stripe: { ...stripe, tellsOrder: true },
      session: null,
      snapshot: null,
      payment: null,
      memberships: [],
    },
  ],
  ['other_amount', refund, { stripe: { ...stripe, amountReceivedCents: 100 } }],
  ['other_amount', refund, { snapshot: { ...agreed.snapshot!, lines: [agreed.snapshot!.lines[0]!] } }],
  ['other_amount_here', settle, { payment: { ...payment, amountCents: 6500 } }],
  ['money_without_member', settle, { memberships: [] }],
  [
    'other_product',
    settle,
    { memberships: [{ productId: 2, standing: 'active', isHeld: true, isReplaced: false }] },
  ],
  [
    'standing',
    settle,
    { memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: false }] },
  ],
  [
    'paid_anew',
    'npm run operator -- refund u',
    { memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }] },
  ],
  [
    'paid_anew',
    'npm run operator -- refund u --ineligible',
    {
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
      payment: { ...payment, refunds: [refundOfDues('failed')] },
    },
  ],
  [
    'paid_anew',
    'npm run operator -- refund u --ineligible',
    {
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
      payment: { ...payment, refunds: [refundOfDues('canceled')] },
    },
  ],
  [
    'paid_anew',
    'npm run operator -- refund u',
    {
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
      payment: { ...payment, refunds: [{ ...refundOfDues('failed'), assignedBy: 'staff' }] },
    },
  ],
  // Which amount of the membership is to be refunded does not depend on a failed refund of another line, or of unknown lines
  // (null).
  [
    'paid_anew',
    'npm run operator -- refund u',
    {
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
      payment: {
        ...payment,
        refunds: [
          {
            ...refundOfDues('failed'),
            amountCents: 1200,
            lines: [{ line: 1, productId: 30, name: 'Lapel Pin', cents: 1200 }],
          },
          { ...refundOfDues('failed'), uuid: 's', lines: null },
        ],
      },
    },
  ],
  // The last failed refund of the membership decides: the first was of the whole price, the last of the price less the fee.
  [
    'paid_anew',
    'npm run operator -- refund u --ineligible',
    {
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: true }],
      payment: {
        ...payment,
        refunds: [
          {
            ...refundOfDues('failed'),
            amountCents: 6500,
            lines: [{ line: 0, productId: 1, name: 'Membership', cents: 6500 }],
          },
          { ...refundOfDues('failed'), uuid: 's' },
          { ...refundOfDues('failed'), uuid: 'of no line', lines: null },
        ],
      },
    },
  ],
  ['refunds', settle, { stripe: { ...stripe, refundedCents: 7700 } }],
  ['refunds', settle, { payment: { ...payment, refundedCents: 1000 } }],
  ['dispute', settle, { stripe: { ...stripe, dispute: 'lost' } }],
  ['session', settle, { session: { ...session, state: 'ordering' } }],
  ['session', settle, { kind: 'upgrade' }],
  [
    'refund_due',
    settle,
    {
      payment: {
        ...payment,
        refunds: [{ uuid: 'r', amountCents: 1200, status: 'due', lines: [], assignedBy: 'us' }],
      },
    },
  ],
  [
    'refund_waits',
    settle,
    {
      stripe: { ...stripe, refundedCents: 1000 },
      payment: {
        ...payment,
        refundedCents: 1000,
        refunds: [
          {
            uuid: 'r',
            amountCents: 1000,
            status: 'pending',
            lines: [],
            refusal: 'No money.',
            assignedBy: 'us',
          },
        ],
      },
    },
  ],
  [
    'refund_unassigned',
    'npm run operator -- refund assign r',
    {
      stripe: { ...stripe, refundedCents: 1000 },
      payment: {
        ...payment,
        refundedCents: 1000,
        refunds: [{ uuid: 'r', amountCents: 1000, status: 'succeeded', lines: null, assignedBy: null }],
      },
    },
  ],
  ['not_returned', refund, { ...returned, stripe, payment: { ...payment, status: 'duplicate' } }],
  [
    'not_returned',
    refund,
    {
      ...returned,
      stripe,
      payment: {
        ...payment,
        status: 'duplicate',
        refunds: returned.payment.refunds.map((failed) => ({ ...failed, status: 'failed' as const })),
      },
    },
  ],
  ['member_without_money', refund, { ...returned, memberships: agreed.memberships }],
  ['paid_here_only', settle, { stripe: null }],
  ['paid_here_only', settle, { stripe: { ...stripe, status: 'canceled', amountReceivedCents: 0 } }],
  ['open_here_only', settle, { ...open, stripe: null }],
  ['open_here_only', settle, { ...open, stripe: { ...open.stripe, status: 'canceled' } }],
  ['unknown_intent', settle, { ...open, payment: null }],
  ['open_there_only', settle, { ...open, payment: { ...payment, status: 'canceled' } }],
  ['pending', settle, { ...open, stripe: { ...open.stripe, ageMinutes: 27 * 60 } }],
];
for (const [kind, repair, change] of different)
  test(`a difference: ${kind} (${Object.keys(change).join(', ')})`, () => {
    const [found, ...more] = differencesOf({ ...agreed, ...change }, 10);
    assert.deepEqual([found?.kind, found && commandOf(found.remedy), more], [kind, repair, []]);
  });

test('a refund that Stripe does not make yet is told with what Stripe says', () => {
  const refunds: NonNullable<Sides['payment']>['refunds'] = [
    {
      uuid: 'r',
      amountCents: 1200,
      status: 'due',
      lines: [],
      assignedBy: 'us',
      refusal: 'Not enough in the balance.',
    },
  ];
  assert.deepEqual(textsOf({ payment: { ...payment, refunds } }), [
    'A refund of $12.00 was decided and is not made yet. Stripe says: Not enough in the balance.',
  ]);
});

/** Returns the sentences that staff read about the differences. */
function textsOf(change: Partial<Sides>): string[] {
  return differencesOf({ ...agreed, ...change }, 10).map(differenceSentence);
}

const due = {
  ...payment,
  refunds: [{ uuid: 'r', amountCents: 1200, status: 'due' as const, lines: [], assignedBy: 'us' as const }],
};

const texts: [string, Partial<Sides>, string][] = [
  [
    'a member whom Stripe knows nothing of',
    { stripe: null },
    'We hold it as paid, with a membership; Stripe knows no such payment.',
  ],
  [
    'a payment that bought nothing and that Stripe cancelled',
    { stripe: { ...stripe, status: 'canceled' }, memberships: [] },
    'We hold it as paid; Stripe says canceled.',
  ],
  [
    'a payment whose membership has ended and that Stripe cancelled',
    {
      stripe: { ...stripe, status: 'canceled' },
      memberships: [{ productId: 1, standing: 'refunded', isHeld: false, isReplaced: false }],
    },
    'We hold it as paid; Stripe says canceled.',
  ],
  [
    'a duplicate that Stripe never took',
    { stripe: { ...stripe, status: 'canceled' }, payment: returned.payment, memberships: [] },
    'We hold it as paid; Stripe says canceled.',
  ],
  [
    'an intent that is open after 27 hours and a half',
    { ...open, stripe: { ...open.stripe, ageMinutes: 27.5 * 60 } },
    'It has been requires_payment_method for 27 hours.',
  ],
  [
    'money for a join that is not there',
    { session: null, snapshot: null, payment: null, memberships: [] },
    'Stripe took $77.00 for a join that does not exist.',
  ],
  [
    'money for an order that nobody saw',
    { snapshot: null },
    'Stripe took $77.00 for an order that was never shown.',
  ],
  [
    'money that we never heard of',
    { payment: null, memberships: [], session: { ...session, state: 'paying' } },
    'Stripe took $77.00; here it is unknown.',
  ],
  [
    'money for a payment that we cancelled',
    { payment: { ...payment, status: 'canceled' }, memberships: [] },
    'Stripe took $77.00; here it is canceled.',
  ],
  [
    'a dispute that we do not know of',
    { stripe: { ...stripe, dispute: 'open' } },
    'At Stripe its dispute is open, here none.',
  ],
  [
    'a dispute that Stripe does not know of',
    {
      payment: { ...payment, dispute: 'open' },
      memberships: [{ productId: 1, standing: 'disputed', isHeld: true, isReplaced: false }],
    },
    'At Stripe its dispute is none, here open.',
  ],
  [
    'a membership that is not the one that was paid for',
    { memberships: [{ productId: 2, standing: 'active', isHeld: true, isReplaced: false }] },
    'Product 1 was paid for, product 2 is held.',
  ],
  [
    'a membership of which nothing was paid',
    { snapshot: { amountCents: 7700, lines: [{ ...agreed.snapshot!.lines[1]!, priceCents: 7700 }] } },
    'No membership was paid for, product 1 is held.',
  ],
  [
    'a join that does not know that it is paid',
    { session: { ...session, state: 'ordering' } },
    'It is paid; its join says ordering.',
  ],
  [
    'a refund that nobody has asked Stripe for yet',
    { payment: due },
    'A refund of $12.00 was decided and is not made yet.',
  ],
  ['an upgrade that is still offered', { kind: 'upgrade' }, 'It is paid; its join says open.'],
];
for (const [what, change, text] of texts)
  test(`staff read of ${what}: ${text}`, () => {
    assert.deepEqual(textsOf(change), [text]);
  });

/** Differences that are reported only from a certain age (minutes) of the intent. */
const timed: [string, number, (ageMinutes: number) => Partial<Sides>][] = [
  [
    'a payment that we have not confirmed',
    10,
    (ageMinutes) => ({ stripe: { ...stripe, ageMinutes }, payment: null, memberships: [] }),
  ],
  [
    'an intent that we do not know',
    10,
    (ageMinutes) => ({ ...open, stripe: { ...open.stripe, ageMinutes }, payment: null }),
  ],
  ['a refund that is due', 10, (ageMinutes) => ({ stripe: { ...stripe, ageMinutes }, payment: due })],
  ['an open intent', 26 * 60, (ageMinutes) => ({ ...open, stripe: { ...open.stripe, ageMinutes } })],
];
for (const [what, fromMinutes, sidesAt] of timed)
  test(`${what} is told from ${fromMinutes} minutes on, and not before`, () => {
    assert.deepEqual(textsOf(sidesAt(fromMinutes - 1)), []);
    assert.equal(textsOf(sidesAt(fromMinutes)).length, 1);
  });

test('a duplicate whose money is on its way back, or with its bank, is not asked for again', () => {
  const duplicate = { ...due, status: 'duplicate' as const };
  const kindsOf = (change: Partial<Sides>) =>
    differencesOf({ ...agreed, memberships: [], ...change }, 10).map(({ kind }) => kind);
  assert.deepEqual(kindsOf({ payment: duplicate }), ['refund_due']);
  assert.deepEqual(
    kindsOf({
      stripe: { ...stripe, dispute: 'lost', lostCents: 7700 },
      payment: { ...duplicate, dispute: 'lost', refunds: [] },
    }),
    [],
  );
});

test('money for an order that nobody saw is in order once all of it has gone back', () => {
  for (const change of [{ snapshot: null }, { session: null }])
    assert.deepEqual(textsOf({ ...returned, ...change }), []);
});

const upgrade = {
  ...agreed,
  kind: 'upgrade' as const,
  session: { ...session, upgrade: 'taken' },
  snapshot: {
    amountCents: 7700,
    lines: [{ productId: 10, type: 'membership_upgrade' as const, name: 'Upgrade', priceCents: 7700 }],
  },
  memberships: [{ productId: 10, standing: 'active' as const, isHeld: true, isReplaced: false }],
};

test('an open intent is cancelled after a day, that of an upgrade after twice the half hour for which it is offered', () => {
  assert.deepEqual(ABANDONED_MINUTES, { join: 1_440, upgrade: 60 });
});

test('an upgrade that was paid for and taken agrees, whatever state its join is in', () => {
  assert.deepEqual(textsOf(upgrade), []);
});

test('an upgrade that was bought anew while its refund failed is given back alone', () => {
  const memberships = [{ productId: 10, standing: 'refunded' as const, isHeld: false, isReplaced: true }];
  const [difference] = differencesOf({ ...upgrade, memberships }, 10);
  assert.deepEqual(
    [difference?.kind, difference && commandOf(difference.remedy)],
    ['paid_anew', 'npm run operator -- refund u --no-membership --upgrade'],
  );
});
