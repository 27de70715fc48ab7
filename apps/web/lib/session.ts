import type { Body } from '#contract/schemas.ts';
import type { SubmittedDetails } from '#core/studentDetails.ts';

/**
 * What the browser stores about a join. The join's id and programme are in local storage (specification, section 3). Everything
 * else that this tab knows about the join is in session storage. It is deleted when the tab is closed, on Start Over, and when
 * the tab begins or opens another join. If a storage fails or is full, memory is used instead. Two tabs may have different joins,
 * but local storage has only the join that was stored last. A tab whose join was replaced there keeps its own join.
 */

/** The id of the join that was last begun or opened in this browser. `storeSession` writes it, and Start Over removes it. */
const SESSION_KEY = 'joinSessionUuid';
/**
 * The programme of that join, written and removed together with the id. The id is stored with it, because a programme is only
 * valid for its join.
 */
const PROGRAMME_KEY = 'joinProgramme';
/** The join that this tab had when it was last left or hidden. Written by `keepOwnJoin`. */
const LEFT_KEY = 'joinLeft';
/**
 * This tab's own join, and the join by which another tab has replaced it. `keepOwnJoin` writes it, and removes it when both are
 * the same.
 */
const OWN_KEY = 'joinOwn';
/** The keys of everything in session storage. */
const tabKeys = [LEFT_KEY, OWN_KEY];

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
    // If the storage fails, nothing was ever stored in it, so there is nothing to remove.
  }
}

const local = () => localStorage;
const tab = () => sessionStorage;

/**
 * Makes an accessor for a value about this tab's present join in session storage. A value that was stored for another join is
 * ignored.
 */
function tabValue<T>(key: string) {
  tabKeys.push(key);
  return {
    keep: (value: T): void => write(tab, key, JSON.stringify({ session: storedSession(), value })),
    recall(): T | null {
      const text = read(tab, key);
      if (!text) return null;
      try {
        const kept = JSON.parse(text) as { session: string | null; value: T };
        return kept.session === storedSession() ? kept.value : null;
      } catch {
        return null;
      }
    },
    drop: (): void => remove(tab, key),
  };
}

/** The values typed in Student Details. Written by the form; removed when the membership is paid. */
export const draft = tabValue<SubmittedDetails>('joinDraft');
/** The typed invite code. Written by Get Started; removed when a join begins. */
export const typedCode = tabValue<string>('joinCode');
/** The typed amount of a custom donation. Written by Checkout; removed when the donation is in the order. */
export const typedDonation = tabValue<string>('joinDonation');
/**
 * The parameters with which the card provider returns to the page, one of which is a secret. Written by the payment return;
 * removed when the payment is settled, unless it is refunded.
 */
export const paymentReturn = tabValue<Body<'postPayment'>>('joinReturn');
/** The same for somebody who pays by a pay link. Written by the link's page; removed when the payment is settled. */
export const payReturn = tabValue<Body<'postPayment'>>('payReturn');
/**
 * The last try to pay by a pay link: the link's token, and the client secret that the next try uses again. Written by the link's
 * page before the card is charged; removed when the payment has succeeded or is refunded.
 */
export const payTry = tabValue<{ token: string; clientSecret: string }>('payTry');
/** The path of the join's pay link, which is a credential. Written by Checkout; removed when the link ends. */
export const payLink = tabValue<{ path: string; expiresAt: string }>('joinPayLink');
/**
 * The token of a letter's link. Written by the page that opens the link; removed when the join is opened or the link is refused.
 */
export const passToken = tabValue<string>('joinPass');

export function storedSession(): string | null {
  const last = read(local, SESSION_KEY) || null;
  return last && ownInsteadOf(last);
}

/** Returns the tab's own join if another tab has replaced that join by `last`; otherwise `last`. */
function ownInsteadOf(last: string): string {
  const [own, insteadOf] = read(tab, OWN_KEY)?.split(' ') ?? [];
  return own && insteadOf === last ? own : last;
}

/**
 * Stores a new join. The new join replaces the tab's previous join, whose drafts are deleted. `programme` is the key of the join's
 * programme, if it is known.
 */
export function storeSession(uuid: string, programme?: string | null): void {
  if (storedSession() !== uuid) forgetTab();
  write(local, SESSION_KEY, uuid);
  if (programme) write(local, PROGRAMME_KEY, `${uuid} ${programme}`);
  else if (storedProgramme() === null) remove(local, PROGRAMME_KEY);
  startedOver = null;
  wasReturnLost = false;
}

/** Returns the key of the present join's programme; null if it is unknown. */
export function storedProgramme(): string | null {
  const [uuid, programme] = read(local, PROGRAMME_KEY)?.split(' ') ?? [];
  return programme && uuid === storedSession() ? programme : null;
}

export function forgetSession(): void {
  remove(local, SESSION_KEY);
  remove(local, PROGRAMME_KEY);
  forgetTab();
}

let wasReturnLost = false;

/**
 * Records that the card provider returned to a browser that knows no join: it is not the browser that paid, or it stores nothing.
 * Only this fact is kept, and only until the page is left, since the return's parameters include a secret.
 */
export function noteLostReturn(): void {
  wasReturnLost = true;
}

/** Whether `noteLostReturn` was called since the page was loaded, and no join was stored after that. */
export const hasLostReturn = () => wasReturnLost;

/** How long (ms) Start Over can be undone. */
export const UNDO_MS = 60_000;

/**
 * The data that Start Over removed, and the path where it was pressed. Kept only in the page's memory, so that nothing is left on
 * a shared computer after the tab is closed.
 */
interface StartedOver {
  uuid: string;
  programme: string | null;
  path: string;
  drafts: [key: string, value: string][];
  /** The time until which Start Over can be undone (performance.now, ms). */
  until: number;
}
let startedOver: StartedOver | null = null;

/**
 * Removes the stored session id and everything that this tab stored about the join, such as typed values (specification, section
 * 4). {@link undoStartOver} restores the removed data and returns `path`.
 */
export function startOver(path: string): void {
  const uuid = storedSession();
  const programme = storedProgramme();
  const drafts = tabKeys.flatMap((key) => {
    const value = read(tab, key);
    return value === null ? [] : [[key, value] as [string, string]];
  });
  forgetSession();
  startedOver = uuid === null ? null : { uuid, programme, path, drafts, until: performance.now() + UNDO_MS };
}

/**
 * Whether Start Over was pressed since this page was loaded, and no join was stored after that. If so, an open join must not be
 * continued without asking the joiner.
 */
export const hasStartedOver = () => startedOver !== null;

/** Returns for how many more ms Start Over can be undone; 0 when it cannot. */
export function undoMs(): number {
  return startedOver === null ? 0 : Math.max(0, startedOver.until - performance.now());
}

/**
 * Undoes Start Over: restores all that it removed, and returns the path of the page on which the button was pressed. After
 * {@link UNDO_MS} it restores nothing and returns null.
 */
export function undoStartOver(): string | null {
  if (startedOver === null || undoMs() === 0) return null;
  const { uuid, programme, path, drafts } = startedOver;
  storeSession(uuid, programme);
  for (const [key, value] of drafts) write(tab, key, value);
  return path;
}

/**
 * Makes this tab continue with its own join when another tab stores a different one. An open page learns of this by an event. It
 * gets no event while the tab is at the card provider's page, was discarded by the phone, or is in the back/forward cache. So the
 * tab's join is recorded whenever the page is hidden or left.
 */
export function keepOwnJoin(): void {
  goOnWith(read(tab, LEFT_KEY));
  let left: string | null = null;
  const leave = () => {
    left = storedSession();
    if (left) write(tab, LEFT_KEY, left);
  };
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'hidden') leave();
  });
  window.addEventListener('pagehide', leave);
  window.addEventListener('pageshow', ({ persisted }) => {
    if (!persisted) return;
    // Start Over was pressed meanwhile in another tab, so the page must no longer show that join.
    if (left && !storedSession()) window.location.reload();
    else goOnWith(left);
  });
  window.addEventListener('storage', ({ key, oldValue, newValue }) => {
    if (key === SESSION_KEY && oldValue && newValue) stayWith(ownInsteadOf(oldValue), newValue);
  });
}

/** Makes the tab continue with this join, unless it is null or no join is stored any more. */
function goOnWith(own: string | null): void {
  const last = read(local, SESSION_KEY);
  if (own && last) stayWith(own, last);
}

function stayWith(own: string, last: string): void {
  if (own === last) remove(tab, OWN_KEY);
  else write(tab, OWN_KEY, `${own} ${last}`);
}

function forgetTab(): void {
  for (const key of tabKeys) remove(tab, key);
}
