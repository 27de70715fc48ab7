import { type Kysely, sql } from 'kysely';
import type { Held, HeldTwice } from '#core/people.ts';
import { giveBackCommand } from '#core/refunds.ts';
import type { Tables } from '../platform/database/types.ts';

/** Returns by which joins a person holds something. */
export async function heldBy(database: Kysely<Tables>, personId: number): Promise<Held[]> {
  const { rows } = await sql<Held>`
    select session_uuid::text as uuid, type from membership
    where person_id = ${personId} and is_held order by type, id`.execute(database);
  return rows;
}

/**
 * Writes a notice to staff that several joins of one contact hold the same types of membership, which are named between the texts `begin`
 * and `bought`, with the command that refunds the join `uuid`. The same joins get only one notice, whatever its `kind`.
 */
export async function tellOfHeldTwice(
  trx: Kysely<Tables>,
  kind: string,
  { uuid, types, others }: HeldTwice,
  begin: string,
  bought = '',
): Promise<void> {
  const what = types.map((type) => `a ${type.replace('_', ' ')}`).join(' and ');
  const joins = `by the joins ${[...others, uuid].join(' and ')}. Give one of them back: ${giveBackCommand(uuid, types)}`;
  await sql`
    insert into staff_notice (kind, session_uuid, message)
    select ${kind}, ${uuid}, ${`${begin} ${what}${bought} ${joins}`}
    where not exists (select from staff_notice where session_uuid = ${uuid} and right(message, ${joins.length}) = ${joins})`.execute(
    trx,
  );
}
