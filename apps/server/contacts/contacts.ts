import { sql } from 'kysely';
import type { Database } from '../database/client.ts';
import { type CrmContact, CrmRefused, CrmUnavailable, type HubspotClient } from '../hubspot/client.ts';
import { isMember, toProfile } from '../hubspot/properties.ts';

/** Our mirror of HubSpot's contacts. A join never waits for HubSpot longer than two seconds and never fails because of it. */
export interface Contacts {
  /** Looks a code up in HubSpot on its first use and keeps what it finds. True when the code is known now. */
  learnCode(code: string): Promise<boolean>;
  /** Brings one contact up to date; `unknown` when neither HubSpot nor the mirror has it. */
  refresh(contactId: string): Promise<'known' | 'unknown'>;
}

const PATIENCE_MS = 2_000;
/** A code that HubSpot did not know is not asked for again for a while. */
const MISS_MS = 60_000;
const MISSES_KEPT = 10_000;

export function mirroredContacts(database: Database, hubspot: HubspotClient, now: () => Date): Contacts {
  const misses = new Map<string, number>();
  const lookUps = new Map<string, Promise<boolean>>();

  async function lookUp(code: string): Promise<boolean> {
    let found: CrmContact | null;
    try {
      found = await hubspot.findByCode(code, PATIENCE_MS);
    } catch (error) {
      if (error instanceof CrmUnavailable || error instanceof CrmRefused) return false;
      throw error;
    }
    if (!found) {
      if (misses.size >= MISSES_KEPT) misses.delete(misses.keys().next().value!);
      misses.set(code, now().getTime() + MISS_MS);
      return false;
    }
    await keepContact(database, found);
    await database
      .insertInto('invitation')
      .values({ code, contact_id: found.id, school: null, programme: null })
      .onConflict((conflict) => conflict.column('code').doNothing())
      .execute();
    return true;
  }

  return {
    async learnCode(code) {
      if ((misses.get(code) ?? 0) > now().getTime()) return false;
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
