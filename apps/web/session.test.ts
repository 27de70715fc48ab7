import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { drop, forgetSession, keep, recall, storedSession, storeSession } from './session.ts';

/** A browser's storage; `broken` as in a private window or when it is full. */
function storages({ broken = false } = {}): { local: Map<string, string>; tab: Map<string, string> } {
  const local = new Map<string, string>();
  const tab = new Map<string, string>();
  const storage = (map: Map<string, string>) => ({
    getItem: (key: string) => {
      if (broken) throw new Error('denied');
      return map.get(key) ?? null;
    },
    setItem: (key: string, value: string) => {
      if (broken) throw new Error('full');
      map.set(key, value);
    },
    removeItem: (key: string) => void map.delete(key),
  });
  Object.assign(globalThis, { localStorage: storage(local), sessionStorage: storage(tab) });
  return { local, tab };
}

afterEach(() => forgetSession());

test('the session id is kept under the name that the specification gives', () => {
  const { local } = storages();
  storeSession('a');
  assert.equal(local.get('joinSessionUuid'), 'a');
  assert.equal(storedSession(), 'a');
});

test('a new join takes the place of the old one and of what was typed for it', () => {
  const { tab } = storages();
  storeSession('a');
  keep('joinDraft', { city: 'Austin' });
  storeSession('b');
  assert.equal(recall('joinDraft'), null);
  assert.equal(tab.size, 0);
});

test('what was typed is recalled for its own session only, until it is dropped', () => {
  const { local } = storages();
  storeSession('a');
  keep('joinDraft', { city: 'Austin' });
  assert.deepEqual(recall('joinDraft'), { city: 'Austin' });
  local.set('joinSessionUuid', 'b');
  assert.equal(recall('joinDraft'), null);
  local.set('joinSessionUuid', 'a');
  drop('joinDraft');
  assert.equal(recall('joinDraft'), null);
});

test('Start Over leaves nothing behind', () => {
  const { local, tab } = storages();
  storeSession('a');
  keep('joinDraft', {});
  keep('joinReturn', {});
  forgetSession();
  assert.equal(storedSession(), null);
  assert.equal(local.size + tab.size, 0);
});

test('a storage that throws does not end the page: memory keeps the join', () => {
  storages({ broken: true });
  storeSession('a');
  keep('joinDraft', { city: 'Austin' });
  assert.equal(storedSession(), 'a');
  assert.deepEqual(recall('joinDraft'), { city: 'Austin' });
});
