import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type DueJoin, valuesOf } from './dueJoins.ts';

/** A paid join by a school's code. HubSpot's contact with the join's email is the proven contact of another join. */
const shared = {
  whose: 'shared',
  has_others: true,
  others_hold: true,
  state: 'paid',
  details: null,
  status: 'member',
  paid_at: new Date('2026-11-20T10:00:00Z'),
  amount_cents: 6500,
  orders: [
    {
      lines: [{ productId: 1, type: 'membership', name: 'Membership', priceCents: 6500 }],
      amountCents: 6500,
      refunds: [],
    },
  ],
  holds_upgrade: false,
  transcript_at: null,
  crm_known: {},
} as unknown as DueJoin;
const fieldsOf = (row: DueJoin) => valuesOf(row).map(({ field }) => field);

test('beside a proven join of the contact, a join of its email tells no purchases, and takes back only those that it told', () => {
  assert.deepEqual(fieldsOf(shared).sort(), ['membershipStatus', 'paidAt']);
  const told = { ...shared, crm_known: { membership: 'Membership', donation: '' } } as DueJoin;
  assert.deepEqual(fieldsOf(told).sort(), ['membership', 'membershipStatus', 'paidAt']);
});
