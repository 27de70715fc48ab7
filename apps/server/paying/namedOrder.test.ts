import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedOrder } from './namedOrder.ts';

const metadata = { app: 'induct', environment: 'live', session: 'u', kind: 'join', revision: '3' };
const named = (change: Record<string, string | undefined>) =>
  namedOrder({ environment: 'live' }, { metadata: { ...metadata, ...change } as Record<string, string> });

for (const kind of ['join', 'upgrade'] as const) {
  test(`an intent of ours names the ${kind} that it sells`, () =>
    assert.deepEqual(named({ kind }), { uuid: 'u', kind, revision: 3 }));

  for (const other of [{ environment: 'staging' }, { app: 'shop' }, { session: undefined }])
    test(`one of the ${kind} with ${JSON.stringify(other)} is not ours`, () =>
      assert.equal(named({ kind, ...other }), null));
}

test('an intent that names its join in capitals, as servers before 0.7.2 let a page write it, is ours', () =>
  assert.equal(
    named({ session: 'ABCDEF00-0000-4000-8000-000000000000' })?.uuid,
    'abcdef00-0000-4000-8000-000000000000',
  ));

test('one of another kind is not ours', () => assert.equal(named({ kind: 'dues' }), null));
