import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { z } from 'zod';
import { lineUuid, MOST_REVISIONS, readLineUuid } from './orderLine.ts';

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
