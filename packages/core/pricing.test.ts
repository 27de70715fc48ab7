import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { matchRefunds } from './dashboardRefunds.ts';
import { displayPrice, fromPrice, parseDonation, shortPrice, toPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import { summarise } from './orderSummary.ts';
import { HIGHEST_OVERRIDE_CENTS, salePrice } from './price.ts';
import type { ProductType } from './product.ts';
import {
  type Dispute,
  type GivenBack,
  type PaidOrder,
  planRefund,
  type RefundWish,
  standingAfter,
} from './refunds.ts';

/** The test computes each example in the tables of docs/pricing.md. */
const page = readFileSync(new URL('../../docs/pricing.md', import.meta.url), 'utf8');

/** Returns the rows of the table whose header begins with these columns. */
function table(...columns: string[]): string[][] {
  const lines = page.split('\n');
  const header = `| ${columns.join(' | ')} |`;
  const at = lines.indexOf(header);
  assert.notEqual(at, -1, `docs/pricing.md has no table "${header}"`);
  const rows: string[][] = [];
  for (const line of lines.slice(at + 2)) {
    if (!line.startsWith('|')) break;
    rows.push(
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  }
  assert.ok(rows.length > 1);
  return rows;
}

/** Parses a cell with names and prices, such as "Membership 95.00 + Lapel Pin 12.00". */
function parts(cell: string): { name: string; cents: number }[] {
  if (cell === '' || cell === 'nothing') return [];
  return cell.split(' + ').map((part) => {
    const [, name, price] = /^(.+) (\d+\.\d\d)$/.exec(part)!;
    return { name: name!, cents: fromPrice(price!) };
  });
}

const ids: Record<string, [number, ProductType]> = {
  Membership: [1, 'membership'],
  'Membership with Honor Cord': [2, 'membership'],
  Upgrade: [10, 'membership_upgrade'],
  Donation: [21, 'donation'],
  'Lapel Pin': [30, 'store'],
  'Honor Stole': [31, 'store'],
  'Framed Certificate': [32, 'store'],
  'Yard Sign': [33, 'store'],
};
const paid = (cell: string): OrderLine[] =>
  parts(cell).map(({ name, cents }) => ({
    name,
    productId: ids[name]![0],
    type: ids[name]![1],
    priceCents: cents,
  }));

/**
 * Parses a cell about refunded money. Each entry is the name of a refunded line, or `dashboard` (a refund made there), `lost` (in
 * a dispute) or `failed` (a refund that failed).
 */
function back(cell: string, lines: readonly OrderLine[]): GivenBack[] {
  return parts(cell).flatMap(({ name, cents }, index): GivenBack[] => {
    const line = lines.findIndex((one) => one.name === name);
    const refund = { uuid: `${index}`, amountCents: cents, status: 'succeeded' as const };
    if (name === 'dashboard' || name === 'lost')
      return [{ ...refund, lines: null, assignedBy: null, isDispute: name === 'lost' }];
    const failed = name === 'failed';
    if (!failed && line < 0) return [];
    const part = { line: failed ? 0 : line, productId: 0, name, cents };
    return [{ ...refund, status: failed ? 'failed' : 'succeeded', lines: [part], assignedBy: 'us' }];
  });
}

/**
 * Builds an order from a row of the table: `cell` has the paid lines, `already` the earlier refunds. Dashboard refunds are
 * matched to lines by amount, as the server does it.
 */
function order(
  intentId: string,
  cell: string,
  already: string,
  fee: string,
  dispute: Dispute | null = null,
): PaidOrder {
  const lines = paid(cell);
  const refunds = back(already, lines);
  const matched = matchRefunds({ lines, refunds }, fromPrice(fee));
  return {
    intentId,
    lines,
    amountCents: sum(lines),
    refunds: refunds.map((refund) => ({ ...refund, lines: matched.get(refund.uuid) ?? refund.lines })),
    dispute,
    processingFeeCents: fromPrice(fee),
  };
}

const sum = (lines: readonly OrderLine[]) => lines.reduce((total, { priceCents }) => total + priceCents, 0);

for (const [cents, wire, people, card] of table('cents', 'on the wire', 'for people', 'on a membership card'))
  test(`${cents} cents are written as ${wire}, ${people} and ${card}`, () => {
    const amount = Number(cents);
    assert.deepEqual([toPrice(amount), displayPrice(amount), shortPrice(amount)], [wire, people, card]);
    assert.equal(fromPrice(wire!), amount);
  });

for (const [price, floor, c, sold] of table("product's price", 'floor', '`c`', 'sold at'))
  test(`a product of ${price} with the floor ${floor || 'none'} and c=${c || 'none'} is sold at: ${sold}`, () => {
    const product = { priceCents: fromPrice(price!), ...(floor ? { floorCents: fromPrice(floor) } : {}) };
    const at = salePrice(product, c === '' ? null : Number(c));
    assert.equal(typeof at === 'number' ? toPrice(at) : `refused: ${at}`, sold);
  });

test('a link may sell at the highest price, and at no cent more', () => {
  const product = { priceCents: 6500 };
  assert.equal(salePrice(product, HIGHEST_OVERRIDE_CENTS), HIGHEST_OVERRIDE_CENTS);
  assert.equal(salePrice(product, HIGHEST_OVERRIDE_CENTS + 1), 'too high');
});

for (const [typed, donated] of table('typed', 'donated'))
  test(`"${typed}" donates ${donated}`, () => {
    const cents = parseDonation(typed!, 1_000_000);
    assert.equal(cents === null ? 'nothing' : toPrice(cents), donated);
  });

for (const [cell, subtotal, tax, total] of table('order', 'subtotal', 'tax', 'total due today'))
  test(`${cell} comes to ${total}`, () => {
    const lines = paid(cell!);
    const summary = summarise(lines);
    assert.deepEqual([summary.subtotalCents, summary.taxCents, summary.totalDueTodayCents].map(toPrice), [
      subtotal,
      tax,
      total,
    ]);
    assert.notEqual(summary.membership, null);
  });

for (const [fee, join, upgrade, already, asked, goesBack] of table(
  'fee',
  'paid to join',
  'paid for the upgrade',
  'already back',
  'asked',
  'goes back',
))
  test(`of ${join}${upgrade ? ` and ${upgrade}` : ''}${already ? `, with ${already} back` : ''}, "${asked}" gives ${goesBack}`, () => {
    const orders = [
      order('join', join!, already!, fee!),
      ...(upgrade ? [order('upgrade', upgrade, already!, fee!)] : []),
    ];
    const plan = planRefund(orders, wishOf(asked!));
    const given = plan.refunds.flatMap(({ lines }) => lines.map(({ name, cents }) => ({ name, cents })));
    assert.deepEqual(given, parts(goesBack!));
    for (const { amountCents, lines } of plan.refunds)
      assert.equal(
        amountCents,
        lines.reduce((total, { cents }) => total + cents, 0),
      );
    assert.equal(new Set(plan.refunds.map(({ intentId }) => intentId)).size, plan.refunds.length);
  });

function wishOf(asked: string): RefundWish {
  const items = /--items (\S+)/.exec(asked)?.[1] ?? 'none';
  return {
    membership: !asked.includes('--no-membership'),
    ineligible: asked.includes('--ineligible'),
    upgrade: asked.includes('--upgrade'),
    items: items === 'none' || items === 'all' ? items : items.split(',').map(Number),
  };
}

for (const [fee, cell, gone, dispute, membership] of table('fee', 'paid', 'back', 'dispute', 'membership'))
  test(`${cell} with ${gone || 'nothing'} back${dispute ? ` and a dispute that is ${dispute}` : ''} (fee ${fee}) is ${membership}`, () => {
    const paidOrder = order('join', cell!, gone!, fee!, (dispute || null) as Dispute | null);
    assert.equal(standingAfter(paidOrder), membership);
  });
