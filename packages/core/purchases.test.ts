import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OrderLine } from './orderLine.ts';
import { purchasesOf } from './purchases.ts';
import type { GivenBack } from './refunds.ts';

const line = (type: OrderLine['type'], name: string, priceCents: number): OrderLine => ({
  productId: 1,
  type,
  name,
  priceCents,
});
const lines = [
  line('membership', 'Membership', 6500),
  line('donation', 'Donation', 2500),
  line('donation_other', 'Donation', 1000),
  line('store', 'Lapel Pin', 1200),
  line('store', 'Honor Stole', 3800),
];
const order = (...refunds: GivenBack[]) => ({ lines, amountCents: 15_000, refunds });
const upgrade = {
  lines: [line('membership_upgrade', 'Distinguished Member', 4500)],
  amountCents: 4500,
  refunds: [],
};
const back = (at: number, cents: number, status: GivenBack['status'] = 'succeeded'): GivenBack => ({
  uuid: `${at}`,
  assignedBy: 'us',
  amountCents: cents,
  status,
  lines: [{ line: at, productId: 1, name: '', cents }],
});

test('each kind of thing that was bought is told by itself', () => {
  assert.deepEqual(purchasesOf([order(), upgrade], true), {
    membership: 'Membership',
    upgrade: 'Distinguished Member',
    donationCents: 3500,
    items: ['Lapel Pin', 'Honor Stole'],
  });
});

test('what nobody bought is not told', () => {
  const only = { lines: lines.slice(0, 1), amountCents: 6500, refunds: [] };
  assert.deepEqual(purchasesOf([only], false), {
    membership: 'Membership',
    upgrade: null,
    donationCents: null,
    items: null,
  });
  assert.equal(purchasesOf([], false).membership, null);
});

test('what a refund names is gone, in part or whole; one that failed took nothing', () => {
  const { donationCents, items } = purchasesOf(
    [order(back(1, 2500), back(2, 400, 'due'), back(3, 1200, 'pending'), back(4, 3800, 'failed'))],
    false,
  );
  assert.deepEqual([donationCents, items], [600, ['Honor Stole']]);
});

test('of an upgrade that has ended, and of a payment that went back as a whole, nothing is left but the name of the membership', () => {
  const whole: GivenBack = {
    uuid: 'whole',
    assignedBy: null,
    amountCents: 15_000,
    status: 'succeeded',
    lines: null,
  };
  assert.deepEqual(purchasesOf([order(whole), upgrade], false), {
    membership: 'Membership',
    upgrade: '',
    donationCents: 0,
    items: [],
  });
});
