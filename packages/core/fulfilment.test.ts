import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addressFrom, goodsOf, goodsOfOrder, type ShippedOrder } from './fulfilment.ts';
import type { OrderLine } from './orderLine.ts';
import type { GivenBack } from './refunds.ts';

const lines: OrderLine[] = [
  { productId: 2, type: 'membership', name: 'Membership with Honor Cord', priceCents: 8900 },
  { productId: 21, type: 'donation', name: 'Donation', priceCents: 2500 },
  { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 },
];
const ships = (id: number) => ({ 2: 'Honor Cord' })[id];
const goods = ['Honor Cord', null, 'Lapel Pin'];
const order = (change: Partial<ShippedOrder> = {}): ShippedOrder => ({
  lines,
  goods,
  refunds: [],
  dispute: null,
  standing: 'active',
  hasLostBase: false,
  shipments: [],
  ...change,
});
const back = (
  amountCents: number,
  line: number | null,
  status: GivenBack['status'] = 'succeeded',
): ShippedOrder['refunds'][number] => ({
  amountCents,
  status,
  lines: line === null ? null : [{ line, productId: 0, name: '', cents: amountCents }],
});
const told = (change: Partial<ShippedOrder> = {}) =>
  goodsOfOrder(order(change)).map(({ name, state }) => `${name} ${state.is}`);

test('store items are goods, and of a membership what it ships', () => {
  assert.deepEqual(
    lines.map((line) => goodsOf(line, ships)),
    goods,
  );
  assert.deepEqual(
    lines.map((line) => goodsOf(line, () => undefined)),
    [null, null, 'Lapel Pin'],
  );
  assert.deepEqual(told(), ['Honor Cord open', 'Lapel Pin open']);
});

test('what was refunded is not sent, and what remains is', () => {
  assert.deepEqual(told({ refunds: [back(1200, 2)] }), ['Honor Cord open', 'Lapel Pin ended']);
  assert.deepEqual(told({ refunds: [back(8900, 0)], standing: 'refunded' }), [
    'Honor Cord ended',
    'Lapel Pin open',
  ]);
  const both = { ...back(3700, 1), lines: [...back(2500, 1).lines!, ...back(1200, 2).lines!] };
  assert.deepEqual(told({ refunds: [both] }), ['Honor Cord open', 'Lapel Pin ended']);
  assert.deepEqual(told({ refunds: [back(1200, 2, 'failed')] }), ['Honor Cord open', 'Lapel Pin open']);
  assert.deepEqual(told({ refunds: [back(12_600, null)] }), ['Honor Cord ended', 'Lapel Pin ended']);
});

test('an item of which a part went back is sent, until all of it has', () => {
  const part = { refunds: [back(500, 2)] };
  assert.deepEqual(told(part), ['Honor Cord open', 'Lapel Pin open']);
  assert.deepEqual(told({ refunds: [back(500, 2), back(700, 2)] }), ['Honor Cord open', 'Lapel Pin ended']);
  assert.deepEqual(told({ refunds: [back(500, 2), back(700, 2, 'failed')] }), [
    'Honor Cord open',
    'Lapel Pin open',
  ]);
  const sent = { line: 2, shippedAt: new Date(0), shippedBy: 'staff', note: null };
  const [, pin] = goodsOfOrder(order({ ...part, shipments: [sent] }));
  assert.deepEqual(pin!.state, { is: 'sent', shipment: sent, isOwed: true });
});

test('a membership that ended sends nothing more, and a lost dispute ends all of its payment', () => {
  assert.deepEqual(told({ standing: 'refunded' }), ['Honor Cord ended', 'Lapel Pin open']);
  assert.deepEqual(told({ standing: 'void' }), ['Honor Cord ended', 'Lapel Pin open']);
  assert.deepEqual(told({ standing: null }), ['Honor Cord ended', 'Lapel Pin open']);
  assert.deepEqual(told({ dispute: 'lost', standing: 'charged_back' }), [
    'Honor Cord ended',
    'Lapel Pin ended',
  ]);
});

test('what a lost dispute took is not sent, and what it left is', () => {
  const lost = (amountCents: number, line: number | null) => ({
    ...back(amountCents, line),
    isDispute: true,
  });
  const after = (...refunds: ShippedOrder['refunds']) => told({ dispute: 'lost', refunds });
  assert.deepEqual(after(lost(1200, 2)), ['Honor Cord open', 'Lapel Pin ended']);
  assert.deepEqual(after(lost(1000, null)), ['Honor Cord held', 'Lapel Pin held']);
  assert.deepEqual(after(back(8900, 0), lost(3700, null)), ['Honor Cord ended', 'Lapel Pin ended']);
  const [, pin] = goodsOfOrder(order({ dispute: 'lost', refunds: [lost(1200, 2)] }));
  assert.deepEqual(pin!.state, { is: 'ended', because: 'a dispute over its money was lost' });
});

test('what the bank has for now, or went back without saying what for, is held', () => {
  assert.deepEqual(told({ dispute: 'open', standing: 'disputed' }), ['Honor Cord held', 'Lapel Pin held']);
  assert.deepEqual(told({ refunds: [back(500, null)] }), ['Honor Cord held', 'Lapel Pin held']);
  assert.deepEqual(told({ refunds: [back(500, null, 'canceled')] }), ['Honor Cord open', 'Lapel Pin open']);
});

test('what an upgrade sends waits for staff when the membership that it upgrades has ended', () => {
  assert.deepEqual(told({ hasLostBase: true }), ['Honor Cord held', 'Lapel Pin open']);
});

test('what was sent stays sent, and says when its money went back afterwards', () => {
  const sent = { line: 2, shippedAt: new Date(0), shippedBy: 'staff', note: null };
  const [cord, pin] = goodsOfOrder(order({ shipments: [sent] }));
  assert.deepEqual(cord!.state, { is: 'open' });
  assert.deepEqual(pin!.state, { is: 'sent', shipment: sent, isOwed: true });
  const [, refunded] = goodsOfOrder(order({ shipments: [sent], refunds: [back(1200, 2)] }));
  assert.deepEqual(refunded!.state, { is: 'sent', shipment: sent, isOwed: false });
  const [, disputed] = goodsOfOrder(order({ shipments: [sent], dispute: 'open' }));
  assert.deepEqual(disputed!.state, { is: 'sent', shipment: sent, isOwed: true });
});

test('a parcel goes where the joiner said, else where the contact lives, else nowhere', () => {
  const typed = { address1: '12 Oak Street', city: 'Austin', zipcode: '78701' };
  const profile = { address: '1 Elm Road', city: 'Reno', zip: '89501' };
  assert.deepEqual(addressFrom(typed, profile), {
    address1: '12 Oak Street',
    address2: '',
    city: 'Austin',
    state: '',
    zip: '78701',
    country: '',
  });
  assert.equal(addressFrom(null, profile)!.address1, '1 Elm Road');
  assert.equal(addressFrom({ address1: '12 Oak Street' }, profile)!.zip, '89501');
  assert.equal(addressFrom(null, { city: 'Reno' }), null);
  assert.equal(addressFrom(null, null), null);
});

test('what a lost dispute took is told as that, and what was refunded beside it as refunded', () => {
  const why = (refunds: ShippedOrder['refunds']) =>
    goodsOfOrder(order({ refunds })).map(({ state }) => (state.is === 'ended' ? state.because : state.is));
  const lost = 'a dispute over its money was lost';
  const dispute = (amountCents: number, line: number | null) => ({
    ...back(amountCents, line),
    isDispute: true,
  });
  assert.deepEqual(why([dispute(1200, 2)]), ['open', lost]);
  assert.deepEqual(why([back(1200, 2), dispute(2500, 1)]), ['open', 'refunded']);
  assert.deepEqual(why([dispute(5000, 0), back(1200, 2)]), [lost, 'refunded']);
  assert.deepEqual(why([back(12_600, null)]), ['refunded', 'refunded']);
  assert.deepEqual(why([back(10_000, null), dispute(2600, null)]), [lost, lost]);
  const over = { ...dispute(2600, null), status: 'canceled' as const };
  assert.deepEqual(why([back(12_600, null), over]), ['refunded', 'refunded']);
});
