import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { keepContacts, lookAtContacts, type Mirror } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import { LARGEST_PAGE } from './hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { patiently } from './hubspot/patiently.ts';

/**
 * Our mirror of HubSpot's contacts. A caller waits at most two seconds for HubSpot; a failure of HubSpot is returned as
 * `unavailable`, not thrown.
 */
export interface Contacts {
  /**
   * Searches HubSpot for the contact with an invite code, and writes it into the mirror. `who` is `suspect` if the caller may be
   * guessing: the counted address has recently tried other wrong codes, or the code is a slip. They get fewer places in the
   * queue.
   */
  learnCode(code: string, who?: 'joiner' | 'suspect'): Promise<'known' | 'unknown' | 'unavailable'>;
  /**
   * Reads one contact from HubSpot into the mirror ({@link lookAtContacts}). An answer that comes after the two seconds still
   * updates the mirror. `unknown`: neither HubSpot nor the mirror has the contact. `unavailable`: the mirror does not have it, and HubSpot cannot answer now.
   */
  refresh(contactId: string): Promise<'known' | 'unknown' | 'unavailable'>;
  /**
   * Searches HubSpot for contacts by an id, an email or a name that staff have typed, and reads them into the mirror; by a name,
   * at most {@link MOST_NAMED}. Null: the text is none of these.
   */
  learnWho(text: string): Promise<'known' | 'unknown' | 'unavailable' | null>;
}

/** The most contacts that are read for one name. */
export const MOST_NAMED = 20;
/** HubSpot's id of a contact. */
const CONTACT = /^\d{1,20}$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
/** One or more words of letters, as in "O'Brien, Mary-Ann". HubSpot is searched for the first and the last word. */
const NAME = /^\p{L}[\p{L}\p{M}'’.-]+(,?\s+\p{L}[\p{L}\p{M}'’.-]*)*$/u;

const PATIENCE_MS = 2_000;
const SLOWEST_MS = 20_000;
/** How long (ms) HubSpot is not searched again for a code that HubSpot did not know. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;
/**
 * The most searches for codes that may wait at the same time: about as many as HubSpot answers in two seconds. Suspects get fewer
 * places, so that some are left for joiners. Each waiting search polls the database for a token, so too many would overload it.
 */
const MOST_LOOK_UPS = { joiner: 12, suspect: 4 } as const;

export function mirroredContacts(mirror: Mirror, now: () => Date): Contacts {
  const { database, hubspot } = mirror;
  const misses = new Map<string, number>();
  const lookUps = new Map<string, ReturnType<Contacts['learnCode']>>();
  const reader = readTogether(mirror);

  async function lookUp(code: string, who: 'joiner' | 'suspect'): ReturnType<Contacts['learnCode']> {
    const found = await patiently((timeoutMs) => hubspot.findByCode(code, { timeoutMs, who }), PATIENCE_MS)
      .then((contact) => contact ?? 'unknown')
      .catch(unanswered);
    if (found === null) return 'unavailable';
    if (found === 'unknown') {
      if (misses.size >= MISSES_KEPT) misses.delete(misses.keys().next().value!);
      misses.set(code, now().getTime() + MISS_MS);
      return 'unknown';
    }
    await keep([found]);
    return 'known';
  }

  const keep = (found: readonly CrmContact[]) =>
    keepContacts(database, mirror.society.crm.fields, new Map(found.map((each) => [each.id, each])));

  async function askWho(text: string, timeoutMs: number): Promise<CrmContact[]> {
    if (EMAIL.test(text)) {
      const found = await hubspot.findByEmail(text, timeoutMs);
      return found ? [found] : [];
    }
    const words = text.split(/[,\s]+/);
    const last = words.length > 1 ? words.at(-1)! : null;
    return hubspot.findByName(words[0]!, last, { most: MOST_NAMED, timeoutMs, who: 'suspect' });
  }

  return {
    async learnCode(code, who = 'joiner') {
      if ((misses.get(code) ?? 0) > now().getTime()) return 'unknown';
      // Concurrent look-ups of the same code share one search.
      const running = lookUps.get(code);
      if (running) return running;
      if (lookUps.size >= MOST_LOOK_UPS[who]) return 'unavailable';
      const started = lookUp(code, who).finally(() => lookUps.delete(code));
      lookUps.set(code, started);
      return started;
    },
    async learnWho(text) {
      if (CONTACT.test(text)) return this.refresh(text);
      if (!EMAIL.test(text) && !NAME.test(text)) return null;
      const found = await patiently((timeoutMs) => askWho(text, timeoutMs), PATIENCE_MS).catch(unanswered);
      if (found === null) return 'unavailable';
      await keep(found);
      return found.length > 0 ? 'known' : 'unknown';
    },
    async refresh(contactId) {
      const asked = isRecordId(contactId) ? reader(contactId) : Promise.resolve(false);
      const isAtHubspot = await Promise.race([
        asked.catch(unanswered),
        pause(PATIENCE_MS, null, { ref: false }),
      ]);
      if (isAtHubspot) return 'known';
      const { rows } = await sql`
        select from person where contact_id = ${contactId} and deleted_at is null`.execute(database);
      if (rows.length > 0) return 'known';
      return isAtHubspot === null ? 'unavailable' : 'unknown';
    },
  };
}

/** Returns null if HubSpot is unavailable or refuses, so that the caller reads the mirror. Rethrows any other error. */
function unanswered(error: unknown): null {
  if (error instanceof CrmUnavailable || error instanceof CrmRefused) return null;
  throw error;
}

/**
 * Whether a number is written like an id of HubSpot: below 2^63, without leading zeros. Any other number would make HubSpot
 * refuse the whole batch, or answer with a different id.
 */
export function isRecordId(contactId: string): boolean {
  const id = BigInt(contactId);
  return id < 2n ** 63n && String(id) === contactId;
}

/** If the running call takes longer than this (ms), the next batch is read without waiting for the end of that call. */
const HELD_UP_MS = 500;

/**
 * Returns a function that reads a contact into the mirror and resolves to whether HubSpot has it. Ids that are requested while a
 * call runs are read together by the next one: when everybody opens a mailing at once, a few calls are enough.
 */
function readTogether(mirror: Mirror): (contactId: string) => Promise<boolean> {
  const waiting = new Map<string, PromiseWithResolvers<boolean>>();
  let underWay = 0;
  let since = 0;

  async function send(): Promise<void> {
    const batch = [...waiting].slice(0, LARGEST_PAGE);
    for (const [id] of batch) waiting.delete(id);
    underWay++;
    since = performance.now();
    try {
      const ids = batch.map(([id]) => id);
      const found = await patiently(
        () => lookAtContacts(mirror, ids, { timeoutMs: SLOWEST_MS }),
        PATIENCE_MS,
        'limited',
      );
      for (const [id, { resolve }] of batch) resolve(found.has(id));
    } catch (error) {
      for (const [, { reject }] of batch) reject(error);
    } finally {
      underWay--;
      if (waiting.size > 0) void send();
    }
  }

  return (contactId) => {
    const asked = waiting.get(contactId) ?? Promise.withResolvers<boolean>();
    waiting.set(contactId, asked);
    if (underWay === 0 || performance.now() - since > HELD_UP_MS) void send();
    return asked.promise;
  };
}
