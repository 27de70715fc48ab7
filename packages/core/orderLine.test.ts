import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { lineUuid, MOST_LINES, MOST_REVISIONS, readLineUuid, withLine, withMembership } from './orderLine.ts';

test('a line’s uuid names its session and its number, and is no session’s', () => {
  fc.assert(
    fc.property(fc.uuid({ version: 4 }), fc.integer({ min: 1, max: MOST_REVISIONS }), (session, number) => {
      const uuid = lineUuid(session, number);
      assert.equal(z.uuid({ version: 'v8' }).parse(uuid), uuid);
      const read = readLineUuid(uuid)!;
      assert.equal(read.number, number);
      assert.ok(read.session.from <= session && session <= read.session.to);
      assert.equal(readLineUuid(session), null);
    }),
  );
});

test('lines of different sessions or numbers have different uuids', () => {
  const [one, other] = [randomUUID(), randomUUID()];
  assert.equal(
    new Set([lineUuid(one, 1), lineUuid(one, 2), lineUuid(other, 1), lineUuid(other, 256)]).size,
    4,
  );
});

const open = { productId: 20, type: 'donation', name: 'Donation', priceCents: 1000 } as const;
const membership = { productId: 1, type: 'membership', name: 'Membership', priceCents: 6500 } as const;

test('a line that is added has the number of the revision that adds it, and a membership replaces another one', () => {
  const order = {
    revision: 7,
    lines: [
      { ...membership, number: 1 },
      { ...open, number: 7 },
    ],
  };
  const store = { productId: 30, type: 'store', name: 'Pin', priceCents: 1200 } as const;
  assert.deepEqual(withLine(order, store), [...order.lines, { ...store, number: 8 }]);
  const other = { ...membership, productId: 2, priceCents: 8900 };
  assert.deepEqual(withMembership(order, other), [
    { ...other, number: 8 },
    { ...open, number: 7 },
  ]);
});

test('an order takes no line above its limits', () => {
  const full = {
    revision: 60,
    lines: Array.from({ length: MOST_LINES }, (_, at) => ({ ...open, number: at + 1 })),
  };
  assert.equal(withLine(full, open), null);
  assert.notEqual(withLine({ ...full, lines: full.lines.slice(1) }, open), null);
  const changed = { revision: MOST_REVISIONS, lines: [] };
  assert.deepEqual([withLine(changed, open), withMembership(changed, membership)], [null, null]);
});
