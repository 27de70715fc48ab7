import { type Kysely, sql } from 'kysely';
import type { Tables } from '../database/types.ts';
import { holdsBought } from './members.ts';

/**
 * Brings the mirror to what the contact holds, in the transaction that began or ended a membership of theirs: HubSpot is
 * told later, and what it says until then is old.
 */
export async function mirrorBought(trx: Kysely<Tables>, contactId: string): Promise<void> {
  await sql`update contact set is_member = ${holdsBought('contact.id', 'membership')} where id = ${contactId}`.execute(
    trx,
  );
}
