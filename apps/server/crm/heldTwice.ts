import { type Kysely, sql } from 'kysely';
import type { Notice } from '#core/notice.ts';
import type { MembershipType } from '#core/product.ts';
import { giveBack } from '#core/remedy.ts';
import { tellStaff } from '../notices/tellStaff.ts';
import type { Tables } from '../platform/database/types.ts';

/** A join (`uuid`) with the types of membership that other joins of the same contact (`others`) hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

/**
 * Writes a notice to staff that several joins of one contact hold the same type of membership. The same joins get only one notice,
 * whatever they became one by, because a merge and the hourly search may both find them.
 */
export async function tellOfHeldTwice(
  trx: Kysely<Tables>,
  { uuid, types, others }: HeldTwice,
  by: Notice<'held_twice'>['params']['by'],
): Promise<void> {
  const { rows } = await sql`
    select from staff_notice where kind = 'held_twice' and session_uuid = ${uuid}
      and params @> ${JSON.stringify({ types, others })}::jsonb`.execute(trx);
  if (rows.length > 0) return;
  const params = { types, others, by };
  await tellStaff(trx, { kind: 'held_twice', subject: uuid, params, remedy: giveBack(uuid, types) });
}
