import assert from 'node:assert/strict';
import { test } from 'node:test';
import { membershipStandings } from '#core/refunds.ts';
import { isHeld } from './joins.ts';
import type { PersonData } from './loadPerson.ts';

type Join = PersonData['joins'][number];
type Payment = Join['payments'][number];

test('there is a certificate of a membership that is active or disputed, and of no other payment', () => {
  const isHeldWith = (payment: Pick<Payment, 'memberNumber' | 'standing'>) =>
    isHeld({ payments: [payment] } as Join);
  assert.deepEqual(
    membershipStandings.filter((standing) => isHeldWith({ memberNumber: '7K3M9QXR', standing })),
    ['active', 'disputed'],
  );
  assert.equal(isHeldWith({ memberNumber: null, standing: null }), false);
});
