import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commandOf } from '../../apps/staff/sentences/remedies.ts';
import { bought, membership, outside, paid } from '../../tests/harness/paidOrders.ts';
import { withLines } from './dashboardRefunds.ts';
import type { OrderLine } from './orderLine.ts';
import type { MembershipType } from './product.ts';
import {
  absentItems,
  type Dispute,
  decideAgain,
  type GivenBack,
  isHeld,
  leftCents,
  type PaidOrder,
  planRefund,
  type RefundedLine,
  type RefundStatus,
  type RefundWish,
  restOf,
  standingAfter,
  standingsAfter,
} from './refunds.ts';
import { giveBack } from './remedy.ts';

const line = fc.record({
  productId: fc.integer({ min: 1, max: 40 }),
  type: fc.constantFrom('donation' as const, 'donation_other' as const, 'store' as const),
  name: fc.constant('Thing'),
  priceCents: fc.integer({ min: 50, max: 100_000 }),
});
const orders = fc
  .record({ items: fc.array(line, { maxLength: 4 }), upgraded: fc.boolean(), dashboard: fc.nat(20_000) })
  .map(({ items, upgraded, dashboard }): PaidOrder[] => {
    const order = (kind: 'join' | 'upgrade', lines: OrderLine[]): PaidOrder => {
      const amountCents = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
      const gone = Math.min(dashboard, amountCents);
      return {
        intentId: kind,
        lines,
        amountCents,
        refunds: gone > 0 ? [outside(gone)] : [],
        dispute: null,
        processingFeeCents: 0,
      };
    };
    return [
      order('join', [membership('join'), ...items]),
      ...(upgraded ? [order('upgrade', [membership('upgrade')])] : []),
    ];
  });
const wish = fc.record({
  membership: fc.boolean(),
  ineligible: fc.boolean(),
  upgrade: fc.boolean(),
  items: fc.oneof(
    fc.constant('none' as const),
    fc.constant('all' as const),
    fc.array(fc.integer({ min: 1, max: 40 })),
  ),
});

const carryOut = (paid: PaidOrder[], asked: RefundWish): PaidOrder[] => {
  const { refunds } = planRefund(paid, asked);
  return paid.map((order) => ({
    ...order,
    refunds: [
      ...order.refunds,
      ...refunds
        .filter(({ intentId }) => intentId === order.intentId)
        .map(({ amountCents, lines }) => outside(amountCents, { lines, status: 'due', assignedBy: 'us' })),
    ],
  }));
};

test('whatever went back before, a lost dispute leaves held and refunded what a refund of its amount would', () => {
  fc.assert(
    fc.property(orders, fc.integer({ min: 1, max: 100_000 }), fc.constantFrom(0, 500), (paid, most, fee) => {
      for (const order of paid) {
        const amountCents = Math.min(most, leftCents(order));
        if (amountCents === 0) continue;
        const after = (change: Partial<GivenBack>, dispute: Dispute | null) => {
          const refunds = [...order.refunds, outside(amountCents, { uuid: 'last', ...change })];
          const given = withLines({ ...order, refunds }, fee);
          return {
            lines: given.map(({ lines }) => lines),
            isHeld: isHeld(standingAfter({ ...order, refunds: given, dispute })),
          };
        };
        assert.deepEqual(after({ isDispute: true }, 'lost'), after({}, null));
      }
    }),
  );
});

test('a lost dispute ends a membership as a refund of what it took would, and is told from one', () => {
  const lines = [membership('join'), { ...membership('join'), type: 'store' as const, priceCents: 1200 }];
  const of = (line: number, amountCents: number) =>
    outside(amountCents, { lines: [{ line, productId: 1, name: '', cents: amountCents }] });
  const lost = (refund: GivenBack): GivenBack => ({ ...refund, isDispute: true });
  const standing = (...refunds: GivenBack[]) => standingAfter({ lines, refunds, dispute: 'lost' });
  assert.equal(standing(lost(of(1, 1200))), 'active');
  assert.equal(standing(lost(outside(1000))), 'disputed', 'until staff say what for');
  assert.equal(standing(lost(outside(1000, { lines: [] }))), 'active', 'staff: for none of the lines');
  assert.equal(standing(lost(of(1, 1200)), outside(1000)), 'active', 'a refund of the dashboard alone waits');
  assert.equal(standing(lost(of(1, 1200)), lost(outside(1000, { status: 'canceled' }))), 'active');
  assert.equal(standing(of(0, 6000), lost(outside(1000))), 'refunded');
  assert.equal(standing(lost(of(0, 6500))), 'charged_back');
  assert.equal(standing(lost(outside(7700))), 'charged_back');
  assert.equal(standing(outside(1200), lost(outside(6500))), 'charged_back');
  assert.equal(standing(of(0, 6500), lost(of(1, 1200))), 'refunded');
  assert.equal(standing(of(0, 6000), lost(outside(1700))), 'refunded', 'what ended it first');
  const rest: RefundedLine[] = [
    { line: 0, productId: 1, name: '', cents: 500 },
    { line: 1, productId: 1, name: '', cents: 1200 },
  ];
  assert.equal(standing(of(0, 6000), lost(outside(1700, { lines: rest }))), 'refunded', 'of its fee');
  const failed = { ...of(0, 6000), status: 'failed' as const };
  assert.equal(standing(failed, lost(outside(7700, { lines: rest }))), 'charged_back');
  assert.equal(standing(), 'charged_back', 'before amounts were kept');
  assert.equal(standing(lost(outside(7700, { status: 'canceled' }))), 'charged_back');
});

test('whatever is asked, in whatever order, never more goes back than was paid, and asked again nothing does', () => {
  fc.assert(
    fc.property(
      orders,
      fc.array(wish, { minLength: 1, maxLength: 4 }),
      fc.nat(10_000),
      (paid, wishes, fee) => {
        let now = paid.map((order) => ({ ...order, processingFeeCents: fee }));
        for (const asked of wishes) {
          now = carryOut(now, asked);
          assert.deepEqual(
            planRefund(now, asked).refunds.filter(({ amountCents }) => amountCents > 0),
            [],
          );
        }
        for (const { amountCents, refunds } of now)
          assert.ok(refunds.reduce((sum, one) => sum + one.amountCents, 0) <= amountCents);
      },
    ),
  );
});

test('how memberships would stand after a plan is how they stand when it is carried out', () => {
  fc.assert(
    fc.property(orders, wish, fc.nat(10_000), (paid, asked, fee) => {
      const now = paid.map((order) => ({ ...order, processingFeeCents: fee }));
      const standings = carryOut(now, asked).map((order) => standingAfter(order));
      assert.deepEqual(standingsAfter(now, planRefund(now, asked)), standings);
    }),
  );
});

test('asked for everything, everything that is left goes back', () => {
  const everything: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'all' };
  fc.assert(
    fc.property(orders, (paid) => {
      for (const order of carryOut(paid, everything)) assert.equal(leftCents(order), 0);
    }),
  );
});

test('what cannot go back is said, and so is what is not there', () => {
  const order = paid([membership('join')], [outside(2000, { status: 'pending' })]);
  const asked: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'all' };
  assert.deepEqual(planRefund([order], asked).notes, [
    'Membership: $20.00 of $65.00 cannot go back, since it already went back without saying what for.',
    'This join has no upgrade that was paid for.',
  ]);
});

test('a refund that Stripe has not made yet is told from one that is made', () => {
  const asked: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'none' };
  const lines = [{ line: 0, productId: 1, name: 'Membership', cents: 6500 }];
  const notes = (status: RefundStatus) =>
    planRefund([paid([membership('join')], [outside(6500, { status, lines, assignedBy: 'us' })])], asked)
      .notes;
  assert.deepEqual(notes('due'), ['Membership is to go back already.']);
  for (const status of ['pending', 'succeeded'] as const)
    assert.deepEqual(notes(status), ['Membership has already been refunded.']);
  const pin = { line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 };
  const refunds = [
    outside(6500, { status: 'due', lines, assignedBy: 'us' }),
    outside(1200, { lines: [pin], assignedBy: 'us' }),
  ];
  const beside = paid([membership('join'), bought('Lapel Pin', 1200)], refunds);
  assert.deepEqual(planRefund([beside], asked).notes, ['Membership is to go back already.']);
});

test('what is due or pending has gone, what failed or was cancelled has not', () => {
  const left = (status: RefundStatus) =>
    leftCents({ amountCents: 6500, refunds: [{ amountCents: 2000, status }] });
  assert.deepEqual(
    (['due', 'pending', 'succeeded', 'failed', 'canceled'] as const).map(left),
    [4500, 4500, 4500, 6500, 6500],
  );
});

test('a membership that goes back while its upgrade stays paid is said, with what to do', () => {
  const asked: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'none' };
  const join = paid([membership('join'), bought('Lapel Pin', 1200)], []);
  const upgrade = paid([membership('upgrade')], [], { intentId: 'up' });
  const note =
    'The upgrade stays paid and held: Membership, $65.00. It goes back only if it is asked for, too.';
  const notes = (order: PaidOrder, wish: RefundWish = asked) => planRefund([join, order], wish).notes;
  assert.deepEqual(notes(upgrade), [note]);
  assert.deepEqual(notes(upgrade, { ...asked, upgrade: true }), []);
  assert.deepEqual(notes(upgrade, { ...asked, membership: false }), []);
  assert.deepEqual(notes({ ...upgrade, dispute: 'lost' }), []);
  assert.deepEqual(notes({ ...upgrade, refunds: [outside(6500)] }), []);
});

test('an upgrade that a link sold in a join of its own is an upgrade: whole, and only when it is asked for', () => {
  const order = paid([membership('upgrade'), bought('Lapel Pin', 1200)], [], { processingFeeCents: 500 });
  const asked: RefundWish = { membership: true, ineligible: true, upgrade: false, items: 'none' };
  const { refunds, notes } = planRefund([order], asked);
  assert.deepEqual(
    [refunds, notes],
    [
      [],
      [
        'This join bought an upgrade and no membership: Membership, $65.00. It goes back only if it is asked for.',
      ],
    ],
  );
  const plan = planRefund([order], { ...asked, upgrade: true });
  assert.deepEqual(
    [plan.refunds.map(({ amountCents }) => amountCents), plan.notes],
    [[6500], []],
    'without a fee, and without the pin',
  );
});

test('of a membership or upgrade of which a part went back, the rest was kept and is not planned', () => {
  for (const kind of ['join', 'upgrade'] as const) {
    const bought = membership(kind);
    const lines = [{ line: 0, productId: bought.productId, name: bought.name, cents: 2000 }];
    const order = paid([bought], [outside(2000, { lines, assignedBy: 'staff' })]);
    const asked = {
      membership: kind === 'join',
      ineligible: false,
      upgrade: kind === 'upgrade',
      items: 'none',
    } as const;
    const plan = planRefund([order], asked);
    assert.deepEqual([plan.refunds, plan.notes], [[], ['Membership has already been refunded.']]);
  }
});

test('nothing of a disputed payment is planned; the other payment is', () => {
  const asked: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'none' };
  const join = paid([membership('join')], []);
  const upgrade = paid([membership('upgrade')], [], { intentId: 'up', dispute: 'open' });
  const { refunds, disputed, notes } = planRefund([join, upgrade], asked);
  assert.deepEqual([refunds.map(({ intentId }) => intentId), disputed], [['pi'], ['up']]);
  assert.match(notes.join(), /Payment up is disputed/);
  const lost = { ...upgrade, refunds: [outside(1000, { isDispute: true })], dispute: 'lost' as const };
  assert.match(planRefund([lost], asked).notes.join(), /dispute over payment up was lost, .* by other means/);
});

test('an item that is asked for is found, and said when it has gone back already', () => {
  const asked: RefundWish = { membership: false, ineligible: false, upgrade: false, items: [1200] };
  const pin = bought('Lapel Pin', 1200);
  const order = paid([membership('join'), pin], []);
  const { refunds, notes } = planRefund([order], asked);
  assert.deepEqual([refunds.map(({ amountCents }) => amountCents), notes], [[1200], []]);
  assert.deepEqual(planRefund(carryOut([order], asked), asked).notes, ['Lapel Pin is to go back already.']);
});

test('of an item of which a part went back the rest goes back when it is asked for, and then nothing', () => {
  const asked: RefundWish = { membership: false, ineligible: false, upgrade: false, items: [1200] };
  const part = [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 500 }];
  for (const assignedBy of ['staff', 'us'] as const) {
    const order = paid(
      [membership('join'), bought('Lapel Pin', 1200)],
      [outside(500, { assignedBy, lines: part })],
    );
    const { refunds, notes } = planRefund([order], asked);
    assert.deepEqual(
      [refunds.flatMap(({ lines }) => lines), notes],
      [[{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 700 }], []],
    );
    assert.deepEqual(planRefund(carryOut([order], asked), asked), {
      refunds: [],
      disputed: [],
      notes: ['Lapel Pin has already been refunded.'],
    });
  }
});

test('the fee is kept of who was not eligible, also when a part went back without saying what for', () => {
  const asked: RefundWish = { membership: true, ineligible: true, upgrade: false, items: 'none' };
  const order = { ...paid([membership('join')], [outside(2000)]), processingFeeCents: 500 };
  const [refund] = planRefund([order], asked).refunds;
  assert.equal(refund!.amountCents + 2000, order.amountCents - 500);
});

test('the fee is kept of the membership alone: an item goes back in full, whatever of the membership went back before', () => {
  const asked: RefundWish = { membership: true, ineligible: true, upgrade: false, items: 'all' };
  const pin = { line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 };
  for (const cents of [6500, 6200, 6000]) {
    const back = outside(cents, {
      assignedBy: 'staff',
      lines: [{ line: 0, productId: 1, name: 'Membership', cents }],
    });
    const change = { processingFeeCents: 500 };
    const plan = planRefund([paid([membership('join'), bought('Lapel Pin', 1200)], [back], change)], asked);
    assert.deepEqual(
      [plan.refunds.flatMap(({ lines }) => lines), plan.notes],
      [[pin], ['Membership has already been refunded.']],
      `after ${cents}`,
    );
  }
});

test('a fee that is higher than the price keeps the membership, and nothing of an item', () => {
  const asked: RefundWish = { membership: true, ineligible: true, upgrade: false, items: 'all' };
  const order = paid([membership('join'), bought('Lapel Pin', 1200)], [], { processingFeeCents: 7000 });
  assert.deepEqual(
    planRefund([order], asked).refunds.map(({ amountCents }) => amountCents),
    [1200],
  );
});

test('a refund names no line of which nothing is left to go back', () => {
  const everything: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'all' };
  const order = paid([membership('join'), bought('Lapel Pin', 1200)], [outside(7000)]);
  assert.deepEqual(
    planRefund([order], everything).refunds.flatMap(({ lines }) => lines),
    [{ line: 0, productId: 1, name: 'Membership', cents: 700 }],
  );
});

test('the rest of an order is what its refunds have left of each line', () => {
  const part = { line: 0, productId: 1, name: 'Membership', cents: 6000 };
  const order = paid(
    [membership('join'), bought('Lapel Pin', 1200)],
    [outside(6000, { assignedBy: 'us', lines: [part] })],
  );
  assert.deepEqual(
    restOf(order).map(({ name, cents }) => `${name} ${cents}`),
    ['Membership 500', 'Lapel Pin 1200'],
  );
  assert.deepEqual(restOf({ ...order, refunds: [outside(7700)] }), []);
});

test('who bought no membership holds none by it', () => {
  assert.equal(standingAfter(paid([bought('Lapel Pin', 1200)], [])), 'void');
});

test('the command that gives back what a join holds asks for that alone', () => {
  const told = (...types: MembershipType[]) => commandOf(giveBack('JOIN', types));
  assert.equal(told('membership'), 'npm run operator -- refund JOIN');
  assert.equal(told('membership_upgrade'), 'npm run operator -- refund JOIN --no-membership --upgrade');
  assert.equal(told('membership', 'membership_upgrade'), 'npm run operator -- refund JOIN --upgrade');
});

test('the command that decides a refund again names its lines and keeps its fee', () => {
  const told = (order: OrderLine[], reason: 'ineligible' | 'requested', isTrial = false) =>
    commandOf(
      decideAgain(
        'JOIN',
        paid(order, []),
        { lines: [{ line: 0, productId: 1200, name: '', cents: 1 }], reason },
        { isTrial },
      ),
    );
  assert.equal(told([membership('join')], 'ineligible'), 'npm run operator -- refund JOIN --ineligible');
  assert.equal(told([membership('join')], 'requested'), 'npm run operator -- refund JOIN');
  assert.equal(
    told([bought('Lapel Pin', 1200)], 'ineligible', true),
    'npm run operator -- refund JOIN --no-membership --items 1200 --dry-run',
  );
  assert.equal(told([], 'requested'), 'npm run operator -- refund JOIN', 'of an order that is lost');
  assert.equal(told([], 'requested', true), 'npm run operator -- refund JOIN --dry-run');
  const decided = { lines: [], reason: 'requested' } as const;
  assert.equal(commandOf(decideAgain('JOIN', paid([], []), decided)), 'npm run operator -- refund JOIN');
});

test('the command that decides a refund again gives back all that is left where another refund of its membership counts', () => {
  const dues = (cents: number) => [{ line: 0, productId: 1, name: 'Membership', cents }];
  const failed = outside(6000, { assignedBy: 'us', status: 'failed', lines: dues(6000) });
  const told = (order: OrderLine[], ...others: GivenBack[]) =>
    commandOf(
      decideAgain(
        'JOIN',
        paid(order, [failed, ...others]),
        { lines: dues(6000), reason: 'ineligible' },
        { isTrial: true },
      ),
    );
  const fee = outside(500, { assignedBy: 'us', lines: dues(500) });
  const again = 'npm run operator -- refund JOIN --ineligible --dry-run';
  const pin = bought('Lapel Pin', 1200);
  for (const kind of ['join', 'upgrade'] as const)
    assert.equal(told([membership(kind)], fee), 'npm run operator -- refund pi');
  assert.equal(told([membership('join')], { ...fee, status: 'failed' }), again);
  assert.equal(told([membership('join')], outside(500)), again, 'of what is not known what for');
  assert.match(told([membership('join'), pin], fee), /dashboard/, 'the pin would go back as well');
  const ofPin = outside(1200, {
    assignedBy: 'us',
    lines: [{ line: 1, productId: 1200, name: '', cents: 1200 }],
  });
  assert.equal(told([membership('join'), pin], ofPin), again, 'of something else');
  const ofBoth = [...dues(6000), { line: 1, productId: 1200, name: '', cents: 1200 }];
  const both = paid([membership('join'), pin], [fee, { ...failed, amountCents: 7200, lines: ofBoth }]);
  assert.equal(
    commandOf(decideAgain('JOIN', both, { lines: ofBoth, reason: 'ineligible' })),
    'npm run operator -- refund pi',
    'of the membership and something else',
  );
  assert.equal(told([membership('join'), pin], ofPin, fee), 'npm run operator -- refund pi');
});

test('a membership is no item, and an item of any of the orders is one', () => {
  const pin = { ...membership('join'), type: 'store' as const, productId: 30 };
  const orders = [{ lines: [membership('join')] }, { lines: [pin] }];
  const wish: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'all' };
  assert.deepEqual(absentItems(orders, wish), []);
  assert.deepEqual(
    absentItems(orders, { ...wish, items: [pin.productId, membership('join').productId, 999] }),
    [membership('join').productId, 999],
  );
});
