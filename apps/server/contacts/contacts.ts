import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { FieldRules } from '#core/crmFields.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import type { Database } from '../platform/database/client.ts';
import type { CrmContact } from '../providers/hubspot/answers.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { CrmRefused, CrmUnavailable } from '../providers/hubspot/errors.ts';
import { crmValue, isMember, readProperties, toProfile } from '../providers/hubspot/properties.ts';
import { isContactOfJoin } from '../session/members.ts';
import { followMerges, takeIn } from './followContacts.ts';

/** Our mirror of HubSpot's contacts. A join never waits for HubSpot longer than two seconds and never fails because of it. */
export interface Contacts {
  /**
   * Looks up an unknown code in HubSpot and stores the contact it finds in the mirror. `unavailable` when HubSpot cannot answer
   * now. A `suspect`, whose address has tried several wrong codes, gets fewer of the scarce searches.
   */
  learnCode(code: string, who?: 'joiner' | 'suspect'): Promise<'known' | 'unknown' | 'unavailable'>;
  /**
   * Brings one contact in the mirror up to date. The caller waits at most two seconds; a later answer still reaches the mirror. The
   * data of a deleted contact is removed; a merged contact gives way to the one that remains. If the mirror lacks the contact:
   * `unknown` when HubSpot does not have it either, `unavailable` when HubSpot cannot answer now.
   */
  refresh(contactId: string): Promise<'known' | 'unknown' | 'unavailable'>;
}

const PATIENCE_MS = 2_000;
const SLOWEST_MS = 20_000;
/** How long (ms) a code that HubSpot did not know is not looked up again. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;
/**
 * How many look-ups may wait for HubSpot's searches at the same time: about as many as HubSpot answers in two seconds. Suspects get
 * fewer places: some stay free for others, and a crowd of suspects does not load the database by polling for its turn.
 */
const MOST_LOOK_UPS = { joiner: 12, suspect: 4 } as const;

export function mirroredContacts(
  database: Database,
  hubspot: HubspotClient,
  rules: FieldRules,
  now: () => Date,
): Contacts {
  const misses = new Map<string, number>();
  const lookUps = new Map<string, ReturnType<Contacts['learnCode']>>();
  const reader = readTogether(hubspot, readProperties(rules), (asked, found) =>
    takeIn(database, rules, asked, found),
  );

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
      // Concurrent look-ups of one code share a call.
      const running = lookUps.get(code);
      if (running) return running;
      if (lookUps.size >= MOST_LOOK_UPS[who]) return 'unavailable';
      const started = lookUp(code, who).finally(() => lookUps.delete(code));
      lookUps.set(code, started);
      return started;
    },
    async refresh(contactId) {
      // The joiner waits two seconds at most; a later answer still reaches the mirror.
      const asked = isRecordId(contactId) ? reader(contactId) : Promise.resolve(false);
      const isAtHubspot = await Promise.race([
        asked.catch(unanswered),
        pause(PATIENCE_MS, null, { ref: false }),
      ]);
      if (isAtHubspot) return 'known';
      const mirrored = await database
        .selectFrom('contact')
        .select('id')
        .where('id', '=', contactId)
        .where('deleted_at', 'is', null)
        .executeTakeFirst();
      if (mirrored) return 'known';
      return isAtHubspot === null ? 'unavailable' : 'unknown';
    },
  };
}

/** Returns null when HubSpot cannot answer, so that the caller relies on the mirror; throws any other error. */
function unanswered(error: unknown): null {
  if (error instanceof CrmUnavailable || error instanceof CrmRefused) return null;
  throw error;
}

/**
 * Whether these digits are an id as HubSpot writes it: below 2^63, without leading zeros. Any other would make HubSpot refuse the
 * whole batch, or answer with another id.
 */
function isRecordId(contactId: string): boolean {
  const id = BigInt(contactId);
  return id < 2n ** 63n && String(id) === contactId;
}

/** HubSpot's largest batch. */
const BATCH = 100;
/** When the running call takes longer than this (ms), the next batch is sent in parallel. */
const HELD_UP_MS = 500;

/**
 * Returns a function that reads a contact from HubSpot into the mirror and resolves to whether HubSpot has it. Requests made during
 * a running call share the next call: a mailing that everybody opens at once costs a few calls, not one per person.
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
 * Retries a call to HubSpot for up to two seconds, since HubSpot answers only a few searches a second. `when`: whether to retry
 * only when HubSpot limits the rate (`limited`), or also after a failure (`unavailable`).
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
 * Writes what HubSpot says of contacts into the mirror, with the invite codes that lead to them, and follows contacts that were
 * merged into these. Until HubSpot has been told that a membership bought here has ended, its status "member" is not copied.
 */
export async function keepContacts(
  database: Database,
  rules: FieldRules,
  contacts: readonly CrmContact[],
): Promise<void> {
  if (contacts.length === 0) return;
  const rows = contacts.map(({ id, properties }) => {
    const code = crmValue(rules, properties, 'invitationCode') ?? '';
    return {
      id,
      profile: toProfile(rules, properties),
      email: crmValue(rules, properties, 'email'),
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
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as found (id text, profile jsonb, email text, is_member boolean, code text)
    ), kept as (
      insert into contact (id, profile, email, is_member, fetched_at)
      select id, profile, email, is_member and not exists (
        select from join_session join membership on membership.session_uuid = join_session.uuid
        where ${isContactOfJoin('found.id', 'join_session')} and profile_revision <> crm_revision and type = 'membership' and not is_held
      ), now() from found
      on conflict (id) do update set profile = excluded.profile, email = excluded.email, is_member = excluded.is_member, fetched_at = now(), fill_at = null, deleted_at = null, merged_into = null
      returning id
    )
    insert into invitation (code, contact_id)
    select distinct on (code) code, kept.id from kept join found using (id) where code is not null
    on conflict (code) do nothing`.execute(database);
}
