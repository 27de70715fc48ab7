import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  drop,
  forgetSession,
  hasStartedOver,
  keep,
  keepOwnJoin,
  leaveToPay,
  recall,
  returnFromPaying,
  startOver,
  storedSession,
  storeSession,
  UNDO_MS,
  undoMs,
  undoStartOver,
} from './session.ts';

interface Storages {
  local: Map<string, string>;
  tab: Map<string, string>;
}

/** Makes the storages of one browser tab. With `broken` each write fails, as in a private window or when the storage is full. */
function storages({ broken = false } = {}): Storages {
  const made = { local: new Map<string, string>(), tab: new Map<string, string>() };
  use(made, { broken });
  return made;
}

function use({ local, tab }: Storages, { broken = false } = {}): void {
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

/** Stores a join as another tab would, and dispatches the browser's storage event in this tab. */
function otherTabStores(
  { local }: Storages,
  newValue: string,
  hear: (event: object) => void = () => {},
): void {
  const oldValue = local.get('joinSessionUuid') ?? null;
  local.set('joinSessionUuid', newValue);
  hear({ key: 'joinSessionUuid', oldValue, newValue });
}

test('a tab goes on with its own join when other tabs start theirs; a new tab has the newest', () => {
  const storage = storages();
  let hear: (event: object) => void = () => {};
  Object.assign(globalThis, {
    window: { addEventListener: (_: string, listener: typeof hear) => (hear = listener) },
  });
  keepOwnJoin();
  storeSession('a');
  keep('joinDraft', { city: 'Austin' });
  otherTabStores(storage, 'b', hear);
  otherTabStores(storage, 'c', hear);
  assert.deepEqual([storedSession(), recall('joinDraft')], ['a', { city: 'Austin' }]);
  use({ local: storage.local, tab: new Map() });
  assert.equal(storedSession(), 'c');
});

test('back from the card provider a tab is at the join that it left for, though it heard of no other', () => {
  const storage = storages();
  storeSession('a');
  leaveToPay('a');
  otherTabStores(storage, 'b');
  returnFromPaying();
  keep('joinReturn', { paymentIntent: 'pi_1' });
  assert.deepEqual([storedSession(), recall('joinReturn')], ['a', { paymentIntent: 'pi_1' }]);
  storeSession('c');
  assert.equal(storedSession(), 'c');
});

test('a session id that is stored by hand counts, and one that is gone is gone for every tab', () => {
  const { local } = storages();
  storeSession('a');
  local.set('joinSessionUuid', 'by hand');
  assert.equal(storedSession(), 'by hand');
  local.delete('joinSessionUuid');
  leaveToPay('a');
  returnFromPaying();
  assert.equal(storedSession(), null);
});

test('Start Over leaves nothing in storage, and is undone with what was typed within a minute', (t) => {
  const { local, tab } = storages();
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  storeSession('a');
  keep('joinDraft', { city: 'Austin' });
  startOver('/registration/student-details');
  assert.deepEqual([storedSession(), local.size, tab.size], [null, 0, 0]);
  now += UNDO_MS - 1;
  assert.equal(undoMs(), 1);
  assert.equal(undoStartOver(), '/registration/student-details');
  assert.equal(storedSession(), 'a');
  assert.deepEqual(recall('joinDraft'), { city: 'Austin' });
  assert.deepEqual([undoMs(), undoStartOver()], [0, null], 'once');
});

test('after a minute, or when another join has begun, Start Over is not undone', (t) => {
  storages();
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  storeSession('a');
  startOver('/registration/membership');
  now += UNDO_MS;
  assert.deepEqual([undoMs(), undoStartOver(), storedSession()], [0, null, null]);
  assert.equal(hasStartedOver(), true, 'though the next code still begins a new join');
  storeSession('b');
  startOver('/registration/membership');
  storeSession('c');
  assert.deepEqual([undoMs(), undoStartOver(), storedSession(), hasStartedOver()], [0, null, 'c', false]);
});
