import { type Kysely, sql } from 'kysely';
import type { Notice } from '#core/notice.ts';
import type { Held, HeldTwice } from '#core/people.ts';
import { giveBack } from '#core/remedy.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';
import type { Tables } from '../platform/database/types.ts';
import { alikeTo } from '../session/alike.ts';

/** Returns the joins by which a person holds a membership or upgrade. */
export async function heldBy(database: Kysely<Tables>, personId: number): Promise<Held[]> {
  const { rows } = await sql<Held>`
    select session_uuid::text as uuid, type from membership
    where person_id = ${personId} and is_held order by type, id`.execute(database);
  return rows;
}

/**
 * Writes a notice to staff that several joins of one person hold the same types of membership. The same joins get only one
 * notice, whatever has brought them together (`by`).
 */
export async function notifyOfHeldTwice(
  trx: Kysely<Tables>,
  { uuid, types, others }: HeldTwice,
  by: Notice<'held_twice'>['params']['by'],
): Promise<void> {
  const { rows } = await sql`
    select from staff_notice where kind = 'held_twice' and session_uuid = ${uuid}
      and params @> ${JSON.stringify({ types, others })}::jsonb`.execute(trx);
  if (rows.length > 0) return;
  const params = { types, others, by };
  await notifyStaff(trx, { kind: 'held_twice', subject: uuid, params, remedy: giveBack(uuid, types) });
}

/**
 * Writes a notice to staff if a person holds a membership, and so do others who are likely the same. To be called when the person
 * has got a membership, another likeness or other joins. No money is refunded automatically.
 */
export async function notifyOfLikelySame(trx: Kysely<Tables>, personId: number): Promise<void> {
  const { rows } = await sql<{ uuid: string; others: string[] }>`
    with held as (select id, session_uuid, person_id from membership where type = 'membership' and is_held
        and person_id in ${alikeTo(sql`${personId}::bigint`)})
    select own.session_uuid::text as uuid, array(
      select session_uuid::text from held where person_id <> ${personId} order by id) as others
    from held own where own.person_id = ${personId} order by own.id desc limit 1`.execute(trx);
  for (const { uuid, others } of rows)
    if (others[0])
      await notifyStaff(trx, {
        kind: 'perhaps_twice',
        subject: uuid,
        params: { others },
        remedy: { do: 'merge or keep apart', uuid, other: others[0] },
      });
}
