/**
 * What the browser keeps of a join. The session id is in local storage under the name that the specification gives
 * (section 3); drafts and payment returns are in session storage, gone with the tab. A storage that throws or is
 * full (private windows, school computers) must not end the page: then memory keeps it.
 */
const SESSION_KEY = 'joinSessionUuid';
const TAB_KEYS = ['joinDraft', 'joinReturn'] as const;
type TabKey = (typeof TAB_KEYS)[number];

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
  return read(local, SESSION_KEY) || null;
}

/** A new join replaces an unfinished one, and what was typed for that one. */
export function storeSession(uuid: string): void {
  if (storedSession() !== uuid) forgetTab();
  write(local, SESSION_KEY, uuid);
}

export function forgetSession(): void {
  remove(local, SESSION_KEY);
  forgetTab();
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
