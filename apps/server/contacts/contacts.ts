import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Database } from '../database/client.ts';
import { type CrmContact, CrmRefused, CrmUnavailable, type HubspotClient } from '../hubspot/client.ts';
import { isMember, toProfile } from '../hubspot/properties.ts';

/** Our mirror of HubSpot's contacts. A join never waits for HubSpot longer than two seconds and never fails because of it. */
export interface Contacts {
  /** Looks a code up in HubSpot on its first use and keeps what it finds; `unavailable` when HubSpot cannot say now. */
  learnCode(code: string): Promise<'known' | 'unknown' | 'unavailable'>;
  /** Brings one contact up to date; `unknown` when neither HubSpot nor the mirror has it. */
  refresh(contactId: string): Promise<'known' | 'unknown'>;
}

const PATIENCE_MS = 2_000;
/** A code that HubSpot did not know is not asked for again for a while. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;

export function mirroredContacts(database: Database, hubspot: HubspotClient, now: () => Date): Contacts {
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
    await keepContact(database, found);
    await database
      .insertInto('invitation')
      .values({ code, contact_id: found.id, school: null, programme: null })
      .onConflict((conflict) => conflict.column('code').doNothing())
      .execute();
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
      try {
        const found = await hubspot.getContact(contactId, PATIENCE_MS);
        if (found) {
          await keepContact(database, found);
          return 'known';
        }
      } catch (error) {
        if (!(error instanceof CrmUnavailable || error instanceof CrmRefused)) throw error;
      }
      const mirrored = await database
        .selectFrom('contact')
        .select('id')
        .where('id', '=', contactId)
        .executeTakeFirst();
      return mirrored ? 'known' : 'unknown';
    },
  };
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

async function keepContact(database: Database, { id, properties }: CrmContact): Promise<void> {
  const row = {
    profile: JSON.stringify(toProfile(properties)),
    email: properties.email ?? null,
    is_member: isMember(properties),
    fetched_at: sql<Date>`now()`,
  };
  await database
    .insertInto('contact')
    .values({ id, ...row })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
    .execute();
}
