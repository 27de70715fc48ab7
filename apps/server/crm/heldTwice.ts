import { type Kysely, sql } from 'kysely';
import type { Notice } from '#core/notice.ts';
import type { Held, HeldTwice } from '#core/people.ts';
import { giveBack } from '#core/remedy.ts';
import { tellStaff } from '../letters/tellStaff.ts';
import type { Tables } from '../platform/database/types.ts';

/** Returns by which joins a person holds something. */
export async function heldBy(database: Kysely<Tables>, personId: number): Promise<Held[]> {
  const { rows } = await sql<Held>`
    select session_uuid::text as uuid, type from membership
    where person_id = ${personId} and is_held order by type, id`.execute(database);
  return rows;
}

/**
 * Writes a notice to staff that several joins of one contact hold the same types of membership. The same joins get only one notice,
 * whatever they became one by.
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
