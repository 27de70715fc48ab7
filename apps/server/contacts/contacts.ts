import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { FieldRules } from '#core/crmFields.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import type { Database } from '../database/client.ts';
import { type CrmContact, CrmRefused, CrmUnavailable, type HubspotClient } from '../hubspot/client.ts';
import { crmValue, isMember, toProfile } from '../hubspot/properties.ts';

/** Our mirror of HubSpot's contacts. A join never waits for HubSpot longer than two seconds and never fails because of it. */
export interface Contacts {
  /** Looks a code up in HubSpot on its first use and keeps what it finds; `unavailable` when HubSpot cannot say now. */
  learnCode(code: string): Promise<'known' | 'unknown' | 'unavailable'>;
  /** Brings one contact up to date, within two seconds or behind; `unknown` when neither HubSpot nor the mirror has it. */
  refresh(contactId: string): Promise<'known' | 'unknown'>;
}

const PATIENCE_MS = 2_000;
const SLOWEST_MS = 20_000;
/** A code that HubSpot did not know is not asked for again for a while. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;

export function mirroredContacts(
  database: Database,
  hubspot: HubspotClient,
  rules: FieldRules,
  now: () => Date,
): Contacts {
  const misses = new Map<string, number>();
  const lookUps = new Map<string, ReturnType<Contacts['learnCode']>>();

  async function lookUp(code: string): ReturnType<Contacts['learnCode']> {
    let found: CrmContact | null;
    try {
      found = await patiently((timeoutMs) => hubspot.findByCode(code, timeoutMs));
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
    async learnCode(code) {
      if ((misses.get(code) ?? 0) > now().getTime()) return 'unknown';
      // Equal look-ups at the same time are one.
      const running = lookUps.get(code) ?? lookUp(code).finally(() => lookUps.delete(code));
      lookUps.set(code, running);
      return running;
    },
    async refresh(contactId) {
      // The joiner waits two seconds; an answer that comes later still reaches the mirror.
      const asked = hubspot.getContact(contactId, SLOWEST_MS).then(async (found) => {
        if (found) await keepContacts(database, rules, [found]);
        return found ? 'known' : null;
      });
      const answer = await Promise.race([asked.catch(unanswered), pause(PATIENCE_MS, null, { ref: false })]);
      if (answer) return answer;
      const mirrored = await database
        .selectFrom('contact')
        .select('id')
        .where('id', '=', contactId)
        .executeTakeFirst();
      return mirrored ? 'known' : 'unknown';
    },
  };
}

/** HubSpot cannot say now: then the mirror does. */
function unanswered(error: unknown): null {
  if (error instanceof CrmUnavailable || error instanceof CrmRefused) return null;
  throw error;
}

/** Tries again within the joiner's patience when HubSpot is limited: a search is answered four times a second. */
async function patiently<T>(call: (timeoutMs: number) => Promise<T>): Promise<T> {
  const end = performance.now() + PATIENCE_MS;
  for (;;) {
    try {
      return await call(Math.max(1, Math.ceil(end - performance.now())));
    } catch (error) {
      if (!(error instanceof CrmUnavailable)) throw error;
      const wait = Math.max(error.retryAfterMs, 100) * (1 + Math.random() / 4);
      if (performance.now() + wait >= end) throw error;
      await pause(wait);
    }
  }
}

/**
 * Writes what HubSpot says of contacts into the mirror, with the invite codes that lead to them. That somebody is a member
 * is not believed while HubSpot has yet to be told that their membership, bought here, has ended.
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
  await sql`
    with found as (
      select * from json_to_recordset(${JSON.stringify(rows)}::json) as found (id text, profile jsonb, email text, is_member boolean, code text)
    ), kept as (
      insert into contact (id, profile, email, is_member, fetched_at)
      select id, profile, email, is_member and not exists (
        select from join_session join membership on membership.session_uuid = join_session.uuid
        where join_session.contact_id = found.id and profile_revision <> crm_revision and type = 'membership' and not is_held
      ), now() from found
      on conflict (id) do update set profile = excluded.profile, email = excluded.email, is_member = excluded.is_member, fetched_at = now()
      returning id
    )
    insert into invitation (code, contact_id)
    select distinct on (code) code, kept.id from kept join found using (id) where code is not null
    on conflict (code) do nothing`.execute(database);
}
