import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  decidedOfMetadata,
  identityMetadata,
  identityOfMetadata,
  lineMetadata,
  linesOfMetadata,
  orderDescription,
  personKeys,
  promisedMetadata,
  promisedOfMetadata,
  refundMetadata,
  shorten,
} from './intentText.ts';
import { productTypes } from './product.ts';
import type { RefundedLine } from './refunds.ts';

const membership = {
  productId: 2,
  type: 'membership',
  name: 'Membership with Honor Cord',
  priceCents: 8900,
} as const;
const pin = { productId: 30, type: 'store', name: 'Lapel Pin', priceCents: 1200 } as const;

test('an intent says in words and in data what it is for', () => {
  assert.equal(
    orderDescription('Society', [membership, pin]),
    'Society: Membership with Honor Cord $89.00; Lapel Pin $12.00',
  );
  const { lines, ...others } = lineMetadata([membership, pin]);
  assert.equal(lines, '2 membership 89.00 Membership with Honor Cord\n30 store 12.00 Lapel Pin');
  assert.deepEqual(new Set(Object.values(others)), new Set(['']));
});

test('every order that can be made fits what Stripe takes, and loses no line', () => {
  const line = fc.record({
    productId: fc.integer({ min: 1, max: 2_147_483_647 }),
    type: fc.constantFrom(...productTypes),
    name: fc.string({ minLength: 1, maxLength: 400 }),
    priceCents: fc.integer({ min: 50, max: 1_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 50 }), (lines) => {
      assert.ok(orderDescription('Society', lines).length <= 1_000);
      const metadata = lineMetadata(lines);
      assert.ok(Object.keys(metadata).length <= 40);
      for (const value of Object.values(metadata)) assert.ok(value.length <= 500);
      const told = Object.values(metadata).join('\n');
      for (const { productId, type, priceCents } of lines)
        assert.ok(told.includes(`${productId} ${type} ${(priceCents / 100).toFixed(2)} `));
      const shortened = (text: string) => text.replace(/\s+/g, ' ').slice(0, 49);
      assert.deepEqual(
        linesOfMetadata(metadata)?.map((read) => ({ ...read, name: shortened(read.name) })),
        lines.map((sold) => ({ ...sold, name: shortened(sold.name) })),
      );
    }),
  );
});

test('what a refund was for fits what Stripe takes, and is read back as it was', () => {
  const line = fc.record({
    line: fc.nat(49),
    productId: fc.integer({ min: 1, max: 2_147_483_647 }),
    name: fc.string({ minLength: 1, maxLength: 400 }),
    cents: fc.integer({ min: 1, max: 1_000_000 }),
  });
  const reasons = fc.constantFrom('requested' as const, 'ineligible' as const);
  fc.assert(
    fc.property(fc.array(line, { minLength: 1, maxLength: 50 }), reasons, (lines, reason) => {
      const metadata = refundMetadata({ reason, lines });
      // Stripe allows 50 keys, three of which are the app, the environment and the refund's uuid.
      assert.ok(Object.keys(metadata).length <= 47);
      for (const value of Object.values(metadata)) assert.ok(value.length > 0 && value.length <= 500);
      const shortened = (of: readonly RefundedLine[] | null | undefined) =>
        of?.map((each) => ({ ...each, name: each.name.replace(/\s+/g, ' ').slice(0, 49) }));
      const sum = lines.reduce((total, { cents }) => total + cents, 0);
      const read = decidedOfMetadata(metadata, sum);
      assert.deepEqual([read?.reason, shortened(read?.lines)], [reason, shortened(lines)]);
      assert.equal(decidedOfMetadata(metadata, sum + 1), null, 'what does not add up is not believed');
    }),
  );
});

test('a refund of a payment that bought nothing is for none of its lines', () => {
  for (const reason of ['duplicate', 'unconfirmed'] as const) {
    assert.deepEqual(refundMetadata({ reason, lines: null }), { reason });
    assert.deepEqual(decidedOfMetadata({ reason }, 6500), { reason, lines: null });
  }
});

test('what a refund was for is not read from metadata that does not say it', () => {
  const lines = '0 1 65.00 Membership';
  assert.deepEqual(decidedOfMetadata({ reason: 'requested', lines }, 6500)?.lines, [
    { line: 0, productId: 1, name: 'Membership', cents: 6500 },
  ]);
  for (const metadata of [
    {},
    { reason: 'requested', lines: `${lines}\nbroken` },
    { lines },
    { reason: 'dashboard', lines },
    { reason: 'requested' },
    { reason: 'requested', lines: 'Membership' },
    { reason: 'requested', lines: '0 1 65.00' },
    { reason: 'requested', lines: '0 1 65 Membership' },
    { reason: 'requested', lines: `x${lines}` },
  ])
    assert.equal(decidedOfMetadata(metadata, 6500), null, JSON.stringify(metadata));
});

test('what an order promised besides its lines is read back from its intent', () => {
  const donation = { productId: 20, type: 'donation', name: 'Scholarships', priceCents: 2500 } as const;
  const lines = [donation, membership, pin];
  for (const cord of ['Honor Cord', null]) {
    const promised = { goods: [null, cord, 'Lapel Pin'], processingFeeCents: 1500 };
    const metadata = promisedMetadata(lines, promised);
    assert.deepEqual(metadata, { fee: '15.00', goods: cord ?? '' });
    assert.deepEqual(promisedOfMetadata(metadata, lines), promised);
  }
  const long = { goods: ['x'.repeat(501)], processingFeeCents: 0 };
  assert.equal(promisedMetadata([membership], long).goods.length, 500);
  // Stripe does not store an empty value, so the metadata of an order without goods has no key `goods`.
  assert.deepEqual(promisedOfMetadata({ fee: '0.00' }, [membership]), {
    goods: [null],
    processingFeeCents: 0,
  });
  for (const older of [{}, { goods: 'Honor Cord' }, { fee: '5' }, { fee: 'x5.00' }, { fee: '5.000' }])
    assert.equal(promisedOfMetadata(older, lines), null);
});

/** Returns an order line whose name has `length` characters. In metadata, the whole line has 13 characters more. */
const named = (length: number) =>
  ({ productId: 1, type: 'store', name: 'x'.repeat(length), priceCents: 100 }) as const;

test('a value of metadata is filled up to the 500 characters that Stripe takes, and not beyond', () => {
  const seven = Array.from({ length: 7 }, () => named(50));
  const full = lineMetadata([...seven, named(39)]);
  assert.deepEqual([full.lines?.length, full.lines_2], [500, '']);
  const over = lineMetadata([...seven, named(40)]);
  assert.deepEqual([over.lines?.length, over.lines_2], [447, `1 store 1.00 ${'x'.repeat(40)}`]);
});

test('an order fills at most twelve values of metadata; one that needs more is refused rather than cut', () => {
  const most = Array.from({ length: 84 }, () => named(50));
  const metadata = lineMetadata(most);
  assert.deepEqual(Object.keys(metadata), [
    'lines',
    ...Array.from({ length: 11 }, (_, index) => `lines_${index + 2}`),
  ]);
  assert.equal(Object.values(metadata).join('\n').split('\n').length, 84);
  assert.throws(() => lineMetadata([...most, named(50)]), RangeError);
});

test('a text is cut only when it is too long, and then ends with an ellipsis', () => {
  const nameIn = (length: number) => lineMetadata([named(length)]).lines?.slice(13);
  assert.equal(nameIn(50), 'x'.repeat(50));
  assert.equal(nameIn(51), `${'x'.repeat(49)}…`);
  const described = (length: number) =>
    orderDescription('S', [{ name: 'x'.repeat(length), priceCents: 100 }]);
  assert.equal(described(991), `S: ${'x'.repeat(991)} $1.00`);
  assert.equal(described(992), `S: ${'x'.repeat(992)} $1.…`);
});

test('what metadata does not say whole is not read as an order', () => {
  const { lines } = lineMetadata([membership, pin]);
  assert.deepEqual(linesOfMetadata({ lines: lines! }), [membership, pin]);
  assert.deepEqual(
    linesOfMetadata({ lines: '2 membership 89.00 A', lines_2: '30 store 12.00 B' })?.length,
    2,
  );
  for (const broken of [
    '',
    'Membership',
    '2 membership 89 Membership',
    '2 car 89.00 Car',
    'x membership 89.00 A',
    'and 2 membership 89.00 A',
  ])
    assert.equal(linesOfMetadata({ lines: broken }), null, broken);
  assert.equal(linesOfMetadata({ lines: `${lines}\nand more` }), null);
  assert.equal(linesOfMetadata({}), null);
});

test('a name is one line of metadata, whatever stands in it', () => {
  assert.equal(lineMetadata([{ ...pin, name: 'Lapel  \n Pin' }]).lines, '30 store 12.00 Lapel Pin');
});

const identity = {
  origin: 'school',
  programme: 'high-school',
  contactId: '101',
  school: 'Lincoln High School',
  firstName: 'Jordan',
  lastName: 'Rivera',
};

test('of whom a join is can be read again from its intent', () => {
  assert.deepEqual(identityOfMetadata(identityMetadata(identity)), identity);
  const little = { ...identity, contactId: null, school: null, firstName: null, lastName: null };
  assert.deepEqual(identityOfMetadata(identityMetadata(little)), little);
  assert.deepEqual(Object.values(identityMetadata(little)), ['school', 'high-school', '', '', '', '', '']);
  assert.equal(identityOfMetadata({ lines: '2 membership 89.00 A', origin: 'school' }), null);
  assert.equal(identityOfMetadata({ programme: 'high-school' }), null);
  assert.equal(identityMetadata({ ...identity, school: 'x'.repeat(600) }).school?.length, 500);
});

test('once a person is erased, an intent tells only how and for which programme they joined', () => {
  const told = identityMetadata(identity);
  const left = Object.entries(told).filter(([key]) => !personKeys.includes(key));
  assert.deepEqual(left, [
    ['origin', 'school'],
    ['programme', 'high-school'],
  ]);
});

test('a text is never cut in the middle of a character, which could not be sent', () => {
  const texts = [`${'a'.repeat(498)}😀b`, `😀${'a'.repeat(498)}😀b`];
  for (const text of texts)
    for (const limit of [499, 500, 501]) {
      const short = shorten(text, limit);
      assert.ok(short.length <= limit);
      assert.equal(short.isWellFormed(), true, `${limit}`);
    }
  assert.equal(shorten(`😀${'a'.repeat(10)}`, 5), '😀aa…');
});
