import assert from 'node:assert/strict';
import { test } from 'node:test';
import { documentKeys, idOfKey, keyIdOf } from './envelope.ts';
import { DocumentFault } from './storage.ts';

const OLD = '0f'.repeat(32);
const NEW = 'a5'.repeat(32);
const lacksKey = (error: unknown) => error instanceof DocumentFault && error.isKeyMissing;
const isChanged = (error: unknown) => error instanceof DocumentFault && !error.isKeyMissing;

test('an envelope opens with its key, first or second, and says which one it needs without it', () => {
  const { dataKey, envelope } = documentKeys([OLD]).make('a');
  assert.equal(keyIdOf(envelope, 'a'), idOfKey(OLD));
  assert.notEqual(idOfKey(OLD), idOfKey(NEW));
  for (const keys of [[OLD], [NEW, OLD], [OLD, NEW], [OLD.toUpperCase()]] as const)
    assert.deepEqual(documentKeys(keys).open(envelope, 'a'), dataKey);
  assert.throws(() => documentKeys([NEW]).open(envelope, 'a'), lacksKey);
});

test('the first key makes envelopes, and puts others under itself with the same data key', () => {
  const { dataKey, envelope } = documentKeys([OLD]).make('a');
  const both = documentKeys([NEW, OLD]);
  assert.equal(keyIdOf(both.make('b').envelope, 'b'), idOfKey(NEW));
  const rewrapped = both.rewrap(envelope, 'a')!;
  assert.deepEqual(documentKeys([NEW]).open(rewrapped, 'a'), dataKey);
  assert.equal(both.rewrap(rewrapped, 'a'), null);
  assert.throws(() => documentKeys([NEW]).rewrap(envelope, 'a'), lacksKey);
});

test('data keys and envelopes are all different', () => {
  const keys = documentKeys([OLD]);
  const made = Array.from({ length: 100 }, () => keys.make('a'));
  assert.equal(new Set(made.map(({ dataKey }) => dataKey.key.toString('hex'))).size, 100);
  // The first 16 Base64 digits are the nonce, which GCM must never use twice.
  assert.equal(new Set(made.map(({ envelope }) => envelope.split(' ')[4]!.slice(0, 16))).size, 100);
});

test('an envelope that was changed, is of another document, or names another key of ours is refused', () => {
  const keys = documentKeys([NEW, OLD]);
  const { envelope } = keys.make('a');
  assert.throws(() => keys.open(envelope, 'b'), isChanged);
  assert.throws(() => keys.open(envelope.replace(idOfKey(NEW), idOfKey(OLD)), 'a'), isChanged);
  const [what, of, version, id, wrapped] = envelope.trim().split(' ');
  for (let place = 0; place < wrapped!.length; place += 1) {
    const other = wrapped![place] === 'A' ? 'B' : 'A';
    const changed = `${wrapped!.slice(0, place)}${other}${wrapped!.slice(place + 1)}`;
    assert.throws(() => keys.open(`${[what, of, version, id, changed].join(' ')}\n`, 'a'), isChanged);
  }
  for (const text of ['', 'induct envelope 1', envelope.slice(0, -2), `${envelope} `, '\0'.repeat(100)])
    assert.throws(() => keys.open(text, 'a'), isChanged);
});
