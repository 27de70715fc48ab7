import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { wordsWith } from '../session/words.ts';

/**
 * Locks persons and their joins, the joins first and each in the order of their ids, as all transactions do, to avoid deadlocks.
 * `which` is an SQL condition on `person`. With `strength` `update`, nothing new can refer to them until the transaction ends.
 */
export async function lockPersons(
  trx: Kysely<Tables>,
  which: RawBuilder<unknown>,
  strength: 'update' | 'no key update' = 'no key update',
): Promise<void> {
  const mode = sql.raw(strength);
  await sql`
    select from join_session where person_id in (select id from person where ${which}) order by uuid for ${mode}`.execute(
    trx,
  );
  await sql`select from person where ${which} order by id for ${mode}`.execute(trx);
}

/** The ids of the rows that a merge moves from one person to another. */
export interface Moved {
  joins: string[];
  invitations: string[];
  documents: string[];
  /** Missing in merges by an older version. */
  notes?: string[];
}

/** Moves joins, memberships, invitations, documents and notes of a person to another one: all of them, or those of `only`. */
export async function moveRows(
  trx: Kysely<Tables>,
  { from, into }: { from: number; into: number },
  only: Partial<Moved> = {},
): Promise<void> {
  for (const [table, id, ids] of [
    ['join_session', 'uuid', only.joins],
    ['invitation', 'code', only.invitations],
    ['document', 'id', only.documents],
    ['person_note', 'id', only.notes],
  ] as const)
    await sql`
      update ${sql.table(table)} set person_id = ${into}
      where person_id = ${from} and (${ids === undefined} or ${sql.ref(id)}::text = any(${ids ?? []}))`.execute(
      trx,
    );
  await sql`
    update membership set person_id = ${into} from join_session
    where membership.person_id = ${from} and uuid = session_uuid and join_session.person_id = ${into}`.execute(
    trx,
  );
}

/**
 * Merges two persons: everything moves from `from` to `into`, and `from`, with everybody merged into it before, then leads to
 * `into`. Persons whom staff keep apart from `from` are then kept apart from `into`. `into` gets the details of `from` if it has
 * none, or if only `from` has paid. A join that is being paid stays if `from` has a contact, because the merge is followed again
 * later.
 */
export async function joinPersons(
  trx: Kysely<Tables>,
  { from, into }: { from: number; into: number },
): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid::text from join_session join person on person.id = person_id
    where person.id = ${from} and (paying_since is null or contact_id is null)`.execute(trx);
  const hasPaid = (id: number) =>
    sql`exists (select from join_session where person_id = ${id} and state = 'paid')`;
  const isTaken = sql`own.details is not null and (person.details is null or ${hasPaid(from)} and not ${hasPaid(into)})`;
  await sql`
    update person set details = case when ${isTaken} then own.details else person.details end,
      likeness = case when ${isTaken} then own.likeness else person.likeness end, words = ${wordsWith(sql`own.words`)}
    from person own where own.id = ${from} and person.id = ${into}`.execute(trx);
  await moveRows(trx, { from, into }, { joins: rows.map(({ uuid }) => uuid) });
  await sql`
    update person set merged_into = ${into}, found_contact_id = null, likeness = null, words = ''
    where id = ${from} or merged_into = ${from}`.execute(trx);
  await sql`
    insert into kept_apart (one_id, other_id)
    select least(other, ${into}::bigint), greatest(other, ${into}::bigint)
    from kept_apart, lateral (select case ${from}::bigint when one_id then other_id when other_id then one_id end as other) as pair
    where other <> ${into} on conflict do nothing`.execute(trx);
}
