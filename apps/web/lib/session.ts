/**
 * What the browser keeps of a join. The session id is in local storage under the name that the specification gives
 * (section 3); drafts and payment returns are in session storage, gone with the tab. A storage that throws or is
 * full (private windows, school computers) must not end the page: then memory keeps it.
 *
 * Two tabs may have two joins: local storage has the one that was stored last. A tab that has seen another one take the
 * place of its own goes on with its own, as long as local storage has that other one.
 */
const SESSION_KEY = 'joinSessionUuid';
type TabKey = 'joinDraft' | 'joinReturn';
/** The join that this tab is paying for, while the card provider may have its page. */
const PAYING_KEY = 'joinPaying';
const OWN_KEY = 'joinOwn';
const TAB_KEYS = ['joinDraft', 'joinReturn', PAYING_KEY, OWN_KEY] as const;

const memory = new Map<string, string>();

function read(storage: () => Storage, key: string): string | null {
  try {
    return storage().getItem(key) ?? memory.get(key) ?? null;
  } catch {
    return memory.get(key) ?? null;
  }
}

function write(storage: () => Storage, key: string, value: string): void {
  try {
    storage().setItem(key, value);
    memory.delete(key);
  } catch {
    memory.set(key, value);
  }
}

function remove(storage: () => Storage, key: string): void {
  memory.delete(key);
  try {
    storage().removeItem(key);
  } catch {
    // Nothing was stored there.
  }
}

const local = () => localStorage;
const tab = () => sessionStorage;

export function storedSession(): string | null {
  const last = read(local, SESSION_KEY) || null;
  return last && ownInsteadOf(last);
}

/** The tab's own join where it was `last` that took its place, otherwise `last`. */
function ownInsteadOf(last: string): string {
  const [own, insteadOf] = read(tab, OWN_KEY)?.split(' ') ?? [];
  return own && insteadOf === last ? own : last;
}

/** A new join replaces the tab's unfinished one, and what was typed for that one. */
export function storeSession(uuid: string): void {
  if (storedSession() !== uuid) forgetTab();
  write(local, SESSION_KEY, uuid);
}

export function forgetSession(): void {
  remove(local, SESSION_KEY);
  forgetTab();
}

/** From now on another tab's new join leaves this tab's alone. */
export function keepOwnJoin(): void {
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === SESSION_KEY && oldValue && newValue) stayWith(ownInsteadOf(oldValue), newValue);
  });
}

/** Before the card provider may lead to a page of its own. */
export function leaveToPay(uuid: string): void {
  write(tab, PAYING_KEY, uuid);
}

/** Back from there the tab is at the join that it left for, whichever was started elsewhere meanwhile. */
export function returnFromPaying(): void {
  const paying = read(tab, PAYING_KEY);
  const last = read(local, SESSION_KEY);
  if (paying && last) stayWith(paying, last);
  remove(tab, PAYING_KEY);
}

function stayWith(own: string, last: string): void {
  if (own === last) remove(tab, OWN_KEY);
  else write(tab, OWN_KEY, `${own} ${last}`);
}

function forgetTab(): void {
  for (const key of TAB_KEYS) remove(tab, key);
}

/** Something kept for this session in this tab, or null; what another session left behind is not shown. */
export function recall<T>(key: TabKey): T | null {
  const text = read(tab, key);
  if (!text) return null;
  try {
    const kept = JSON.parse(text) as { session: string | null; value: T };
    return kept.session === storedSession() ? kept.value : null;
  } catch {
    return null;
  }
}

export function keep(key: TabKey, value: unknown): void {
  write(tab, key, JSON.stringify({ session: storedSession(), value }));
}

export function drop(key: TabKey): void {
  remove(tab, key);
}
