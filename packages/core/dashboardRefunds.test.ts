import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assignCommand } from '../../apps/staff/sentences/remedies.ts';
import { bought, membership, outside, paid } from '../../tests/harness/paidOrders.ts';
import {
  assignRefund,
  feeReadBy,
  isUnassigned,
  matchRefunds,
  possibleAssignments,
  withLines,
} from './dashboardRefunds.ts';
import type { OrderLine } from './orderLine.ts';
import { counts, type GivenBack, type PaidOrder, type RefundStatus, standingAfter } from './refunds.ts';

const cord = bought('Honor Cord', 2400);
const pin = bought('Lapel Pin', 1200);
const twin = { ...bought('Sticker', 1200), productId: 99 };
/** Returns the lines that each refund is matched to, as text with names and cents; null for an unmatched refund. */
function readings(order: PaidOrder, fee = 0): (string | null)[] {
  const matched = matchRefunds(order, fee);
  return order.refunds
    .filter(({ assignedBy }) => assignedBy === null)
    .map(
      ({ uuid }) =>
        matched
          .get(uuid)
          ?.map(({ name, cents }) => `${name} ${cents}`)
          .join(' + ') ?? null,
    );
}

for (const [what, lines, refunds, fee, read] of [
  ['one line', [membership('join'), pin], [outside(1200)], 0, ['Lapel Pin 1200']],
  ['two lines', [membership('join'), pin, cord], [outside(3600)], 0, ['Lapel Pin 1200 + Honor Cord 2400']],
  ['the membership less the fee', [membership('join'), pin], [outside(6000)], 500, ['Membership 6000']],
  ['a sum that no lines have', [membership('join'), pin], [outside(1000)], 0, [null]],
  ['a sum that two lines have', [membership('join'), pin, twin], [outside(1200)], 0, [null]],
  ['more than the membership, and nothing exactly', [membership('join'), cord], [outside(7000)], 0, [null]],
  [
    'two readings of the membership',
    [membership('join'), { ...pin, priceCents: 500 }],
    [outside(6500)],
    500,
    [null],
  ],
  [
    'two that together are one line',
    [membership('join'), pin],
    [outside(5000), outside(1500)],
    0,
    ['Membership 5000', 'Membership 1500'],
  ],
  [
    'one that failed, and another',
    [membership('join'), pin],
    [outside(5000, { status: 'failed' }), outside(1500)],
    0,
    [null, null],
  ],
  [
    'what was ours is not taken again',
    [membership('join'), pin, twin],
    [
      outside(1200, {
        assignedBy: 'us',
        lines: [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 }],
      }),
      outside(1200),
    ],
    0,
    ['Sticker 1200'],
  ],
  [
    'everything that was left, the fee too',
    [membership('join'), pin],
    [
      outside(6000, {
        assignedBy: 'us',
        lines: [{ line: 0, productId: 1, name: 'Membership', cents: 6000 }],
      }),
      outside(1700),
    ],
    500,
    ['Membership 500 + Lapel Pin 1200'],
  ],
  [
    'everything, in parts that are no lines',
    [membership('join'), pin],
    [outside(4000), outside(3700)],
    0,
    ['Membership 4000', 'Membership 2500 + Lapel Pin 1200'],
  ],
  [
    'the rest of a line of which some went back',
    [membership('join'), pin],
    [
      outside(1000, {
        assignedBy: 'us',
        lines: [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1000 }],
      }),
      outside(200),
    ],
    0,
    [null],
  ],
  [
    'an item less the fee, which only memberships have',
    [membership('join'), pin],
    [outside(700)],
    500,
    [null],
  ],
  [
    'a sum that is no line, and then a line',
    [membership('join'), pin],
    [outside(1000), outside(1200)],
    0,
    [null, 'Lapel Pin 1200'],
  ],
  [
    'a line, and then all that was left of two',
    [membership('join'), pin, cord],
    [
      outside(6000, {
        assignedBy: 'us',
        lines: [{ line: 0, productId: 1, name: 'Membership', cents: 6000 }],
      }),
      outside(1200),
      outside(2900),
    ],
    500,
    ['Lapel Pin 1200', 'Membership 500 + Honor Cord 2400'],
  ],
  [
    'a line that one of ours was for, which failed',
    [membership('join'), pin],
    [
      outside(1200, {
        assignedBy: 'us',
        status: 'failed',
        lines: [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 }],
      }),
      outside(1200),
    ],
    0,
    ['Lapel Pin 1200'],
  ],
  [
    'an item of a join whose membership costs no more than the fee',
    [{ ...membership('join'), priceCents: 500 }, pin],
    [outside(1200)],
    500,
    ['Lapel Pin 1200'],
  ],
  [
    'less than an item, where the membership costs less than the fee',
    [{ ...membership('join'), priceCents: 300 }, pin],
    [outside(1000)],
    500,
    [null],
  ],
  [
    'a sum that one line has with either of two others',
    [membership('join'), pin, twin, cord],
    [outside(3600)],
    0,
    [null],
  ],
] as [string, OrderLine[], GivenBack[], number, (string | null)[]][])
  test(`a refund from the dashboard is read by its amount: ${what}`, () => {
    assert.deepEqual(readings(paid(lines, refunds), fee), read);
  });

test('an upgrade has no processing fee that could have been kept', () => {
  const order = paid([membership('upgrade')], [outside(6000)]);
  assert.deepEqual(readings(order, 500), [null]);
});

test('a refund of an upgrade that a link sold is assigned to the upgrade, and to no membership', () => {
  const refund = outside(6000);
  const order = paid([membership('upgrade'), pin], [refund]);
  const assigned = (what: 'membership' | 'upgrade') =>
    assignRefund(order, refund, { membership: false, upgrade: false, items: [], [what]: true });
  assert.match(String(assigned('membership')), /Nothing of that/);
  assert.deepEqual(assigned('upgrade'), [{ line: 0, productId: 10, name: 'Membership', cents: 6000 }]);
  assert.deepEqual(readings(order, 500), [null], 'it has no fee');
  const none = paid([membership('upgrade'), pin], [{ ...refund, lines: [] }]);
  assert.equal(feeReadBy(none, 500), 500);
});

test('of every refund from elsewhere it is said that it was read or that it was not', () => {
  const order = paid([membership('join'), pin], [outside(1000), outside(300, { status: 'failed' })]);
  assert.deepEqual(
    [...matchRefunds(order, 0)],
    order.refunds.map(({ uuid }) => [uuid, null]),
  );
});

/** Returns the order in the form in which the server stores it, with the matched lines in its refunds. */
function written(order: PaidOrder, fee: number): PaidOrder {
  const matched = matchRefunds(order, fee);
  return {
    ...order,
    refunds: order.refunds.map((refund) => ({ ...refund, lines: matched.get(refund.uuid) ?? refund.lines })),
  };
}

const statuses = fc.constantFrom<RefundStatus>('succeeded', 'succeeded', 'pending', 'failed', 'canceled');

test('whatever comes back from the dashboard: no line twice, nothing more than came back, and a membership ends only by its own line or with everything', () => {
  const cents = fc.oneof(fc.nat(12_000), fc.constantFrom(6500, 6000, 1200, 2400, 500));
  fc.assert(
    fc.property(
      fc.subarray([pin, twin, cord, bought('Yard Sign', 2450), bought('Donation', 500)]),
      fc.array(fc.tuple(cents, statuses), { maxLength: 5 }),
      fc.constantFrom(0, 500),
      (items, given, fee) => {
        const lines = [membership('join'), ...items];
        let room = lines.reduce((sum, { priceCents }) => sum + priceCents, 0);
        const refunds = given.flatMap(([amount, status]) => {
          const amountCents = counts({ status }) ? Math.min(amount, room) : amount;
          if (amountCents === 0) return [];
          if (counts({ status })) room -= amountCents;
          return [outside(amountCents, { status })];
        });
        const order = written(paid(lines, refunds), fee);
        const gone = new Map<number, number>();
        for (const refund of order.refunds) {
          if (!counts(refund)) assert.equal(refund.lines, null);
          else if (refund.lines !== null)
            assert.equal(
              refund.lines.reduce((sum, part) => sum + part.cents, 0),
              refund.amountCents,
            );
          for (const part of refund.lines ?? []) {
            assert.ok(part.cents > 0);
            gone.set(part.line, (gone.get(part.line) ?? 0) + part.cents);
          }
        }
        const isEverything = room === 0;
        for (const [line, sum] of gone) {
          const { priceCents } = lines[line]!;
          const isWhole = sum === priceCents || (line === 0 && sum === priceCents - fee);
          assert.ok(isWhole || isEverything, `${sum} of ${priceCents}`);
        }
        if (isEverything) assert.ok(!order.refunds.some(isUnassigned));
        assert.equal(standingAfter(order), gone.has(0) ? 'refunded' : 'active');
        // Matching again changes nothing.
        assert.deepEqual(written(order, fee), order);
        // A later refund does not change lines that are already matched.
        const grown = written({ ...order, refunds: [...order.refunds, outside(1)] }, fee);
        if (room > 1)
          for (const [index, refund] of order.refunds.entries())
            if (refund.lines !== null) assert.deepEqual(grown.refunds[index], refund);
      },
    ),
  );
});

test('staff say what a refund was for: within what was paid for it, in the place of what its amount seemed to say', () => {
  const [first, second] = [outside(1200), outside(1200)];
  const order = paid([membership('join'), pin, cord], [first, second]);
  const none = { membership: false, upgrade: false, items: [] };
  assert.deepEqual(assignRefund(order, first, 'none'), []);
  assert.deepEqual(assignRefund(order, first, { ...none, membership: true }), [
    { line: 0, productId: 1, name: 'Membership', cents: 1200 },
  ]);
  assert.deepEqual(assignRefund(order, first, { ...none, items: [2400, 1200] }), [
    { line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 },
  ]);
  const said: GivenBack = {
    ...first,
    assignedBy: 'staff',
    lines: [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 }],
  };
  const gone = paid([membership('join'), pin, cord], [said, second]);
  assert.match(String(assignRefund(gone, second, { ...none, items: [1200] })), /has gone back already/);
  assert.match(String(assignRefund(gone, second, { ...none, upgrade: true })), /Nothing of that/);
  assert.match(
    String(assignRefund(order, outside(3000), { ...none, items: [2400] })),
    /^\$30\.00 went back; of that only \$24\.00/,
  );
});

test('staff may say again what a refund was for, and what only its amount said of another does not stand in the way', () => {
  const lines = [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 }];
  const asPin = { membership: false, upgrade: false, items: [1200] };
  const said = outside(1200, { assignedBy: 'staff', lines });
  assert.deepEqual(assignRefund(paid([membership('join'), pin], [said]), said, asPin), lines);
  const [read, other] = [outside(1200, { lines }), outside(1200)];
  assert.deepEqual(assignRefund(paid([membership('join'), pin], [read, other]), other, asPin), lines);
});

test('nobody is told twice: what staff have said, even that it was for nothing, is not read by its amount', () => {
  const order = paid([membership('join'), pin], [outside(6500, { assignedBy: 'staff', lines: [] })]);
  assert.deepEqual(
    [matchRefunds(order, 0).size, standingAfter(order), order.refunds.some(isUnassigned)],
    [0, 'active', false],
  );
});

test('dashboard refunds are read by the fee that they were read by before, else by the one of today', () => {
  const back = (line: number, cents: number) => ({ line, productId: line, name: 'Thing', cents });
  const feeOf = (...refunds: GivenBack[]) => feeReadBy(paid([pin, membership('join')], refunds), 300);
  const lessFive = outside(6000, { lines: [back(1, 6000)] });

  assert.equal(feeOf(), 300);
  assert.equal(feeOf(outside(6000)), 300, 'it says of no line yet');
  assert.equal(feeOf(outside(1200, { lines: [back(0, 1200)] })), 300, 'the membership has not gone back');
  assert.equal(feeOf(lessFive), 500);
  assert.equal(feeOf(outside(1200, { lines: [back(0, 1200)] }), lessFive), 500);
  assert.equal(feeOf(outside(7200, { lines: [back(0, 1200), back(1, 6000)] })), 500, 'the pin is none of it');
  const [half, rest] = [outside(2000, { lines: [back(1, 2000)] }), outside(4000, { lines: [back(1, 4000)] })];
  assert.equal(feeOf(half, rest), 500, 'two refunds together');
  assert.equal(feeOf(outside(6500, { lines: [back(1, 6500)] })), 300, 'whole, so without a fee');
  assert.equal(feeOf(outside(6600, { lines: [back(1, 6600)] })), 300);
  const said = outside(6000, { assignedBy: 'staff', lines: [back(1, 6000)] });
  assert.equal(feeOf(said), 300, 'staff said what it was for: no fee was read from it');
  assert.equal(feeOf(half, { ...said, amountCents: 4000, lines: [back(1, 4000)] }), 300);
  assert.equal(feeOf(lessFive, outside(1200, { assignedBy: 'us', lines: [back(0, 1200)] })), 500);
  assert.equal(
    feeReadBy(paid([pin], [outside(1200, { lines: [back(0, 1200)] })]), 300),
    300,
    'no membership',
  );
});

test('only refunds made elsewhere get lines by their amount, or none', () => {
  const lines = [membership('join'), bought('Lapel Pin', 1200), bought('Honor Cord', 1500)];
  const cordLine = [{ line: 2, productId: 1500, name: 'Honor Cord', cents: 1500 }];
  const ours = outside(1500, { assignedBy: 'us', lines: cordLine });
  const [elsewhere, unclear] = [outside(1200), outside(700)];
  const told = withLines(paid(lines, [elsewhere, unclear, ours]), 0).map((refund) =>
    refund.lines?.map(({ line, cents }) => [line, cents]),
  );
  assert.deepEqual(told, [[[1, 1200]], undefined, [[2, 1500]]]);
});

for (const [what, lines, cents, commands] of [
  [
    'each line that suffices, and two others together',
    [membership('join'), pin, cord],
    3000,
    ['--membership', '--items 1200,2400'],
  ],
  [
    'all lines where no two suffice',
    [membership('join'), pin, cord],
    10100,
    ['--membership --items 1200,2400'],
  ],
  ['none where all do not suffice', [membership('join'), pin], 7701, []],
] as const)
  test(`a refund made elsewhere may have been for ${what}`, () => {
    const refund = outside(cents);
    const order = paid([...lines], [refund]);
    const found = possibleAssignments(order, refund);
    const given = found.map((parts) =>
      assignCommand(
        'r',
        parts.map(({ line }) => order.lines[line]!),
      ),
    );
    assert.deepEqual(
      given,
      commands.map((options) => `npm run operator -- refund assign r ${options}`),
    );
  });

test('what staff have said of another refund is no more in what a refund may have been for', () => {
  const [first, second] = [outside(1200), outside(1200)];
  const lines = [{ line: 1, productId: 1200, name: 'Lapel Pin', cents: 1200 }];
  const order = paid([membership('join'), pin], [{ ...first, assignedBy: 'staff', lines }, second]);
  assert.deepEqual(
    possibleAssignments(order, second).map((parts) => parts.map(({ name }) => name)),
    [['Membership']],
  );
  assert.equal(possibleAssignments(order, first).length, 2, 'it may be said anew');
});
