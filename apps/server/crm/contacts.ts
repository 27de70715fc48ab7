import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { FieldRules } from '#core/crmFields.ts';
import { MEMBER } from '#core/crmFields.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { Database } from '../platform/database/client.ts';
import { wordsWith } from '../session/words.ts';
import { followMerges, type Mirror, takeIn } from './followContacts.ts';
import type { CrmContact } from './hubspot/answers.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from './hubspot/errors.ts';
import { crmValue, isMember, readProperties, toProfile } from './hubspot/properties.ts';

/**
 * Our mirror of HubSpot's contacts. A caller waits at most two seconds for HubSpot; a failure of HubSpot is returned as
 * `unavailable`, not thrown.
 */
export interface Contacts {
  /**
   * Searches HubSpot for the contact with an invite code and writes the contact into the mirror. `unavailable`: HubSpot cannot
   * answer now. `who` is `suspect` if the caller may be guessing: the counted address has recently tried other wrong codes, or
   * the code is a slip. Suspects get fewer places in the queue of searches, whose rate HubSpot limits.
   */
  learnCode(code: string, who?: 'joiner' | 'suspect'): Promise<'known' | 'unknown' | 'unavailable'>;
  /**
   * Updates one contact of the mirror from HubSpot. The caller waits at most two seconds; a later answer still updates the mirror.
   * If the contact was deleted in HubSpot, its data is removed. If it was merged, its joins move to the remaining contact.
   * - `unknown`: neither HubSpot nor the mirror has the contact.
   * - `unavailable`: the mirror does not have the contact, and HubSpot cannot answer now.
   */
  refresh(contactId: string): Promise<'known' | 'unknown' | 'unavailable'>;
}

const PATIENCE_MS = 2_000;
const SLOWEST_MS = 20_000;
/** How long (ms) HubSpot is not searched again for a code that HubSpot did not know. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;
/**
 * The most searches for codes that may wait for HubSpot at the same time: about as many as HubSpot answers in two seconds. The
 * lower number for suspects keeps suspects from taking all places, and from loading the database: each waiting search asks the
 * database again and again whether the budget allows the search.
 */
const MOST_LOOK_UPS = { joiner: 12, suspect: 4 } as const;

export function mirroredContacts(mirror: Mirror, now: () => Date): Contacts {
  const { database, hubspot } = mirror;
  const rules = mirror.society.crm.fields;
  const misses = new Map<string, number>();
  const lookUps = new Map<string, ReturnType<Contacts['learnCode']>>();
  const reader = readTogether(hubspot, readProperties(rules), (asked, found) => takeIn(mirror, asked, found));

  async function lookUp(code: string, who: 'joiner' | 'suspect'): ReturnType<Contacts['learnCode']> {
    let found: CrmContact | null;
    try {
      found = await patiently((timeoutMs) => hubspot.findByCode(code, { timeoutMs, who }));
    } catch (error) {
      if (error instanceof CrmUnavailable || error instanceof CrmRefused) return 'unavailable';
      throw error;
    }
    if (!found) {
      if (misses.size >= MISSES_KEPT) misses.delete(misses.keys().next().value!);
      misses.set(code, now().getTime() + MISS_MS);
      return 'unknown';
    }
    await keepContacts(database, rules, [found]);
    return 'known';
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
    async refresh(contactId) {
      const asked = isRecordId(contactId) ? reader(contactId) : Promise.resolve(false);
      const isAtHubspot = await Promise.race([
        asked.catch(unanswered),
        pause(PATIENCE_MS, null, { ref: false }),
      ]);
      if (isAtHubspot) return 'known';
      const mirrored = await database
        .selectFrom('person')
        .select('id')
        .where('contact_id', '=', contactId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (mirrored) return 'known';
      return isAtHubspot === null ? 'unavailable' : 'unknown';
    },
  };
}

/** Returns null if HubSpot is unavailable or refuses, so that the caller asks the mirror. Rethrows any other error. */
function unanswered(error: unknown): null {
  if (error instanceof CrmUnavailable || error instanceof CrmRefused) return null;
  throw error;
}

/**
 * Whether a number is written like an id of HubSpot: below 2^63, without leading zeros. Any other number would make HubSpot refuse
 * the whole batch, or answer with a different id.
 */
export function isRecordId(contactId: string): boolean {
  const id = BigInt(contactId);
  return id < 2n ** 63n && String(id) === contactId;
}

/** HubSpot's largest batch. */
const BATCH = 100;
/** If the running call takes longer than this (ms), the next batch is read without waiting for the end of that call. */
const HELD_UP_MS = 500;

/**
 * Returns a function that reads one contact from HubSpot into the mirror and resolves to whether HubSpot has the contact. Ids
 * that are requested while a call to HubSpot runs are read together by the next call. When everybody opens a mailing at once, a
 * few calls are enough instead of one call for each person.
 */
function readTogether(
  hubspot: HubspotClient,
  properties: readonly string[],
  keep: (asked: string[], found: Map<string, CrmContact>) => Promise<void>,
): (contactId: string) => Promise<boolean> {
  const waiting = new Map<string, PromiseWithResolvers<boolean>>();
  let underWay = 0;
  let since = 0;

  async function send(): Promise<void> {
    const batch = [...waiting].slice(0, BATCH);
    for (const [id] of batch) waiting.delete(id);
    underWay++;
    since = performance.now();
    try {
      const ids = batch.map(([id]) => id);
      const found = await patiently(() => hubspot.readContacts(ids, properties, SLOWEST_MS), 'limited');
      await keep(ids, found);
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

/**
 * Makes a call to HubSpot, and retries it for at most two seconds, because HubSpot allows only a few searches a second. If `when`
 * is `limited`, retries only after a rate limit; if `unavailable`, also after any other failure.
 */
async function patiently<T>(
  call: (timeoutMs: number) => Promise<T>,
  when: 'limited' | 'unavailable' = 'unavailable',
): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call(Math.max(1, Math.ceil(end - performance.now())));
    } catch (error) {
      if (!(error instanceof CrmUnavailable)) throw error;
      if (when === 'limited' && error.retryAfterMs === 0) throw error;
      const wait = Math.max(error.retryAfterMs, 100) * (1 + Math.random() / 4);
      if (performance.now() + wait >= end) throw error;
      await pause(wait);
    }
  }
}

/**
 * Writes contacts from HubSpot into the mirror, with their invite codes, and follows contacts that were merged into them. A
 * status "member" from HubSpot is ignored in two cases: HubSpot has not yet been told that the membership bought here has ended; or
 * a join of ours told HubSpot so, and then only our memberships count.
 */
export async function keepContacts(
  database: Database,
  rules: FieldRules,
  contacts: readonly CrmContact[],
): Promise<void> {
  if (contacts.length === 0) return;
  const rows = contacts.map(({ id, properties }) => {
    const code = crmValue(rules, properties, 'invitationCode') ?? '';
    const profile = toProfile(rules, properties);
    const email = crmValue(rules, properties, 'email');
    return {
      id,
      profile,
      email,
      likeness: likenessOf({ ...profile, personalEmail: profile.personalEmail || email }),
      words: searchWords({ ...profile, email: email ?? profile.email }),
      is_member: isMember(rules, properties),
      code: code !== '' && inviteCodeError(code) === null ? normaliseInviteCode(code) : null,
    };
  });
  await writeContacts(database, rows);
  await followMerges(database, contacts);
}

async function writeContacts(database: Database, rows: readonly object[]): Promise<void> {
  await sql`
    with found as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as found (id text, profile jsonb, email text, likeness text, words text, is_member boolean, code text)
    ), kept as (
      insert into person (contact_id, profile, email, likeness, words, is_member, fetched_at)
      select id, profile, email, likeness, words, is_member and not exists (
        select from person own join crm_delivery on person_id = own.id
        where own.contact_id = found.id and (sent ->> 'membershipStatus' = ${MEMBER} or due_at is not null and exists (
          select from membership where membership.person_id = own.id and type = 'membership' and not is_held))
      ), now() from found
      on conflict (contact_id) do update set profile = excluded.profile, email = excluded.email, is_member = excluded.is_member,
        likeness = case when person.details is null then excluded.likeness else person.likeness end,
        words = case when not person.made_contact then ${wordsWith(sql`excluded.words`)}
          when strpos(person.words, excluded.words) > 0 then person.words else person.words || ' ' || excluded.words end,
        fetched_at = now(), fill_at = null, deleted_at = null,
        merged_into = case when person.deleted_at is null then person.merged_into end
      returning coalesce(merged_into, id) as id, contact_id
    )
    insert into invitation (code, person_id)
    select distinct on (code) code, kept.id from kept join found on found.id = kept.contact_id where code is not null
    on conflict (code) do nothing`.execute(database);
}
