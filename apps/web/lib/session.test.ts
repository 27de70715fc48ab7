import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  forgetSession,
  hasStartedOver,
  keepOwnJoin,
  startOver,
  storedProgramme,
  storedSession,
  storeSession,
  typedCode,
  typedDonation,
  UNDO_MS,
  undoMs,
  undoStartOver,
} from './session.ts';

interface Storages {
  local: Map<string, string>;
  tab: Map<string, string>;
}

/**
 * Makes the storages of one browser tab, and removes the join of the previous test. With `broken`, reading and writing fail, as
 * in a private window or when the storage is full.
 */
function storages({ broken = false } = {}): Storages {
  forgetSession();
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

test('the session id is kept under the name that the specification gives', () => {
  const { local } = storages();
  storeSession('a');
  assert.equal(local.get('joinSessionUuid'), 'a');
  assert.equal(storedSession(), 'a');
});

test('a new join takes the place of the old one and of what was typed for it', () => {
  const { tab } = storages();
  storeSession('a');
  typedDonation.keep('25');
  storeSession('b');
  assert.equal(typedDonation.recall(), null);
  assert.equal(tab.size, 0);
});

test('what was typed is recalled for its own session only, until it is dropped', () => {
  const { local } = storages();
  storeSession('a');
  typedDonation.keep('25');
  assert.deepEqual(typedDonation.recall(), '25');
  local.set('joinSessionUuid', 'b');
  assert.equal(typedDonation.recall(), null);
  local.set('joinSessionUuid', 'a');
  typedDonation.drop();
  assert.equal(typedDonation.recall(), null);
});

test('Start Over leaves nothing behind', () => {
  const { local, tab } = storages();
  storeSession('a');
  typedDonation.keep('25');
  typedCode.keep('HONOR101');
  forgetSession();
  assert.equal(storedSession(), null);
  assert.equal(local.size + tab.size, 0);
});

test('a storage that throws does not end the page: memory keeps the join', () => {
  storages({ broken: true });
  storeSession('a');
  typedDonation.keep('25');
  assert.equal(storedSession(), 'a');
  assert.deepEqual(typedDonation.recall(), '25');
});

/** Opens a page that keeps its own join. The returned functions simulate the events that the browser sends to the page. */
function openPage() {
  const listeners = new Map<string, (event: object) => void>();
  const reloads: number[] = [];
  const addEventListener = (type: string, listener: (event: object) => void) => listeners.set(type, listener);
  const document = { addEventListener, visibilityState: 'visible' };
  const location = { reload: () => reloads.push(1) };
  Object.assign(globalThis, { window: { addEventListener, location }, document });
  keepOwnJoin();
  const dispatch = (type: string, event: object = {}) => listeners.get(type)!(event);
  return {
    reloads,
    hears: (oldValue: string, newValue: string) =>
      dispatch('storage', { key: 'joinSessionUuid', oldValue, newValue }),
    /** Hides the page, as a browser does before it leaves a page. */
    hide: () => {
      document.visibilityState = 'hidden';
      dispatch('visibilitychange');
    },
    leave: () => dispatch('pagehide'),
    restore: () => dispatch('pageshow', { persisted: true }),
  };
}

test('a tab goes on with its own join when other tabs start theirs; a new tab has the newest', () => {
  const { local } = storages();
  const page = openPage();
  storeSession('a');
  typedDonation.keep('25');
  for (const [before, now] of [
    ['a', 'b'],
    ['b', 'c'],
  ] as const) {
    local.set('joinSessionUuid', now);
    page.hears(before, now);
  }
  assert.deepEqual([storedSession(), typedDonation.recall()], ['a', '25']);
  use({ local, tab: new Map() });
  openPage();
  assert.equal(storedSession(), 'c');
});

test('back from the card provider, or loaded again after the phone discarded it, a tab has its join, though it heard of no other', () => {
  for (const away of ['hide', 'leave'] as const) {
    const { local } = storages();
    const page = openPage();
    storeSession('a');
    typedDonation.keep('25');
    page[away]();
    local.set('joinSessionUuid', 'b');
    openPage();
    assert.deepEqual([storedSession(), typedDonation.recall()], ['a', '25'], away);
    storeSession('c');
    assert.equal(storedSession(), 'c');
  }
});

test('a page that Back brings up as it was goes on with the join that it shows, and so does the one that was left for it', () => {
  const { local } = storages();
  const first = openPage();
  storeSession('a');
  first.leave();
  // The next page in the same tab begins a join.
  const second = openPage();
  storeSession('b');
  second.leave();
  first.restore();
  assert.equal(storedSession(), 'a');
  first.leave();
  second.restore();
  assert.equal(storedSession(), 'b');
  assert.equal(local.get('joinSessionUuid'), 'b');
  assert.deepEqual([...first.reloads, ...second.reloads], []);
});

test('a page that Back brings up after Start Over is loaded again: it would show the join', () => {
  storages();
  const page = openPage();
  storeSession('a');
  page.leave();
  startOver('/registration/membership');
  page.restore();
  assert.equal(page.reloads.length, 1);
  const empty = openPage();
  empty.leave();
  empty.restore();
  assert.equal(empty.reloads.length, 0, 'it showed none');
});

test('a session id that is stored by hand counts, and one that is gone is gone for every tab', () => {
  const { local } = storages();
  const page = openPage();
  storeSession('a');
  local.set('joinSessionUuid', 'by hand');
  assert.equal(storedSession(), 'by hand');
  page.leave();
  openPage();
  assert.equal(storedSession(), 'by hand');
  local.delete('joinSessionUuid');
  openPage();
  assert.equal(storedSession(), null);
});

test('Start Over leaves nothing in storage, and is undone with what was typed within a minute', (t) => {
  const { local, tab } = storages();
  let now = 5_000;
  t.mock.method(performance, 'now', () => now);
  storeSession('a');
  typedDonation.keep('25');
  startOver('/registration/student-details');
  assert.deepEqual([storedSession(), local.size, tab.size], [null, 0, 0]);
  now += UNDO_MS - 1;
  assert.equal(undoMs(), 1);
  assert.equal(undoStartOver(), '/registration/student-details');
  assert.equal(storedSession(), 'a');
  assert.deepEqual(typedDonation.recall(), '25');
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

test('the programme of a join is known until the join is forgotten or replaced, and again when Start Over is undone', () => {
  const { local } = storages();
  storeSession('a', 'undergraduate');
  assert.equal(storedProgramme(), 'undergraduate');
  storeSession('a');
  assert.equal(storedProgramme(), 'undergraduate');
  startOver('/registration/checkout');
  assert.equal(storedProgramme(), null);
  assert.deepEqual([...local], []);
  undoStartOver();
  assert.equal(storedProgramme(), 'undergraduate');
  storeSession('b');
  assert.equal(storedProgramme(), null);
  assert.deepEqual([...local], [['joinSessionUuid', 'b']]);
});
