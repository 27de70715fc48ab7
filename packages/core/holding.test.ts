import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Holding, isHeldIn, isOpenIn, mayBuyUpgrade, seesJoiner } from './holding.ts';

const holdings: Record<string, Holding> = {
  stranger: { began: false, proven: false, paid: false },
  began: { began: true, proven: false, paid: false },
  proven: { began: false, proven: true, paid: false },
  paid: { began: false, proven: false, paid: true },
};
const who = (may: (holding: Holding) => boolean) =>
  Object.keys(holdings)
    .filter((name) => may(holdings[name]!))
    .join(' ');

for (const [state, isProven, isHeld, isOpen] of [
  ['ordering', false, 'began proven paid', 'stranger began proven paid'],
  ['ordering', true, 'proven paid', 'proven paid'],
  ['paid', false, 'began proven paid', 'began proven paid'],
  ['paid', true, 'proven paid', 'proven paid'],
] as const)
  test(`a join that is ${state}${isProven ? ' and proven' : ''} is held by ${isHeld}, and open to ${isOpen}`, () => {
    const join = { state, isProven, origin: 'invite' };
    assert.equal(
      who((holding) => isHeldIn(holding, join)),
      isHeld,
    );
    assert.equal(
      who((holding) => isOpenIn(holding, join)),
      isOpen,
    );
  });

test('a checkout link shows who the joiner is only to who has proven to be them', () => {
  assert.equal(
    who((holding) => seesJoiner(holding, { origin: 'checkout' })),
    'proven',
  );
  assert.equal(
    who((holding) => seesJoiner(holding, { origin: 'invite' })),
    'stranger began proven paid',
  );
});

test('the saved card is charged where it was paid with, or where the join began until it is proven', () => {
  assert.equal(
    who((holding) => mayBuyUpgrade(holding, { isProven: false, byPayLink: false })),
    'began paid',
  );
  assert.equal(
    who((holding) => mayBuyUpgrade(holding, { isProven: true, byPayLink: false })),
    'paid',
  );
});
