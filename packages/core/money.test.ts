import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  displayPrice,
  donationError,
  fromDollars,
  fromPrice,
  parseDonation,
  shortPrice,
  toDollars,
  toPrice,
} from './money.ts';

test('a price survives the way over the wire and back, for every amount', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999_999_999 }), (cents) => fromPrice(toPrice(cents)) === cents),
  );
});

test('dollars as the wire gives them come back as the same cents, and what is between two cents is rounded', () => {
  assert.deepEqual([0, 5, 1250, 2500].map(toDollars), [0, 0.05, 12.5, 25]);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 99_999_999_999 }),
      (cents) => fromDollars(toDollars(cents)) === cents,
    ),
  );
  assert.equal(fromDollars(0.1 + 0.2), 30);
});

test('prices for people have a dollar sign, thousands and cents; short ones drop .00 only', () => {
  assert.equal(displayPrice(6500), '$65.00');
  assert.equal(displayPrice(1_234_567), '$12,345.67');
  assert.equal(displayPrice(5), '$0.05');
  assert.equal(shortPrice(6500), '$65');
  assert.equal(shortPrice(2450), '$24.50');
  assert.equal(shortPrice(100_000_000), '$1,000,000');
});

test('what is not an amount in cents or a price is refused', () => {
  for (const cents of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
    assert.throws(() => toPrice(cents), RangeError);
  for (const price of ['', '-1.00', '1.234', '1,000.00', 'abc', '1e3', ' 1.00'])
    assert.throws(() => fromPrice(price), RangeError);
});

const donations: [string | number, number | null][] = [
  ['25', 2500],
  ['25.5', 2550],
  ['25.50', 2550],
  [' $1,000.00 ', 100_000],
  [0.1 + 0.2, null], // nobody means the amount 0.30000000000000004
  [19.99, 1999],
  ['0.50', 50],
  ['0.49', null],
  ['0', null],
  ['-5', null],
  ['', null],
  ['abc', null],
  ['1.234', null],
  ['1e3', null],
  ['10000', 1_000_000],
  ['10000.01', null],
  [Number.NaN, null],
  ['1,00', null],
  ['$25', 2500],
  ['$ 25', 2500],
  ['2 5', null],
  ['25$', null],
  ['1$000', null],
];
for (const [typed, cents] of donations)
  test(`a typed donation of ${JSON.stringify(typed)} is ${cents === null ? 'none' : `${cents} cents`}`, () => {
    assert.equal(parseDonation(typed, 1_000_000), cents);
  });

const RANGE = 'Please enter an amount from $0.50 to $10,000.00.';
const FORM = 'Please enter an amount in dollars, such as 25 or 25.50.';
for (const [sentence, all] of [
  [
    FORM,
    ['', 'ten', '.5', '5.', '25.999', '1.234', '20,50', '1,00', '1e3', '2 5', '25$', '--5', '٢٥', Number.NaN],
  ],
  [RANGE, ['0', '0.49', '-5', '-$5', -5, '10000.01', '10,000.01', '12345678901', '12345678901.50', 0]],
] as const)
  test(`a donation that is refused is told about its ${sentence === FORM ? 'form' : 'range'}: ${all.join(' ')}`, () => {
    for (const typed of all) {
      assert.equal(parseDonation(typed, 1_000_000), null);
      assert.equal(donationError(typed, 1_000_000), sentence, String(typed));
    }
  });

test('a donation is never below the minimum or above the maximum, whatever is typed', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.double(), fc.float().map(String)), (typed) => {
      const cents = parseDonation(typed, 1_000_000);
      return cents === null || (Number.isInteger(cents) && cents >= 50 && cents <= 1_000_000);
    }),
  );
});
