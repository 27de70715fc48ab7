import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { sentTogetherWith } from '../session/alike.ts';

/**
 * SQL for whether a person has no contact. Their purchases then go into the contact that was found for them, if any. `person` is
 * the query's name for the table.
 */
export function isAttached(person: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${person}.${column}`);
  return sql<boolean>`(${of('contact_id')} is null or ${of('deleted_at')} is not null)`;
}

/**
 * SQL for whether `teller` has the contact that was found for `person`, who has no contact themselves. Both are the query's names
 * for the table `person`.
 */
export function isTeller(teller: string, person: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${teller}.${column}`);
  return sql<boolean>`(${of('contact_id')} = ${sql.ref(`${person}.found_contact_id`)} and ${of('deleted_at')} is null and ${isAttached(person)})`;
}

/**
 * SQL for a statement that makes persons (SQL for a subquery of ids) due to be sent to HubSpot after some seconds. For a person
 * who is being sent or retried, the time stays: if two servers sent one contact, older values could arrive last. Without
 * `isAnew`, an earlier time stays, too. With `isAnew`, a refusal and earlier tries are forgotten. If `isShown` (SQL) is true, a
 * further form was filled in, which showed the mirror's data: these then count as HubSpot's values.
 */
export function makeDue(
  persons: RawBuilder<unknown>,
  { afterSeconds = 0, isAnew = false, isShown = sql<boolean>`false` } = {},
): RawBuilder<unknown> {
  const isBeingSent = sql`crm_delivery.tries > 0 and crm_delivery.due_at > now()`;
  const isSooner = isAnew ? sql`false` : sql`crm_delivery.due_at < excluded.due_at`;
  const anew = sql`, refusal = null, tries = case when ${isBeingSent} then crm_delivery.tries else 0 end`;
  return sql`
    insert into crm_delivery (person_id, due_since, due_at, sent)
    select id, now(), now() + make_interval(secs => ${afterSeconds}), case when made_contact then '{}' else profile end
    from ${persons} as due (due_id) join person on id = due_id order by id
    on conflict (person_id) do update set revision = crm_delivery.revision + 1,
      sent = case when ${isShown} then crm_delivery.sent || excluded.sent else crm_delivery.sent end, due_since = coalesce(crm_delivery.due_since, now()),
      due_at = case when ${isBeingSent} or ${isSooner} then crm_delivery.due_at else excluded.due_at end
      ${isAnew ? anew : sql``}`;
}

/**
 * Makes persons (SQL for a subquery of ids), and all who are sent together with them, due to be sent to HubSpot. For those who
 * are attached to a contact, makes the person of that contact due.
 */
export async function queuePersonsForHubspot(
  trx: Kysely<Tables>,
  persons: RawBuilder<unknown>,
  how: Parameters<typeof makeDue>[1] = {},
): Promise<void> {
  const tellers = sql`(
    select distinct coalesce(teller.id, told.id) as id
    from ${persons} as changed (id) join lateral ${sentTogetherWith(sql`changed.id`)} as beside (id) on true
    join person told on told.id = beside.id and told.erased_at is null and (told.merged_into is null or told.contact_id is not null)
    left join person teller on ${isTeller('teller', 'told')})`;
  await makeDue(tellers, how).execute(trx);
}

/**
 * Returns SQL for the ids of persons and of all who are sent to HubSpot together with them now. To be called before a change that
 * may separate them, so that all of them are sent after it.
 */
export async function queuedTogether(
  trx: Kysely<Tables>,
  persons: readonly number[],
): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ id: number }>`
    select distinct told.id from unnest(${persons}::bigint[]) as person (id), lateral ${sentTogetherWith(sql`person.id`)} as told (id)`.execute(
    trx,
  );
  return sql`(select unnest(${rows.map(({ id }) => id)}::bigint[]))`;
}

/** Makes the person of a join due to be sent to HubSpot. To be called in the transaction that changes the join. */
export async function queueForHubspot(
  trx: Kysely<Tables>,
  sessionUuid: string,
  how: Parameters<typeof makeDue>[1] = {},
): Promise<void> {
  await queuePersonsForHubspot(
    trx,
    sql`(select person_id from join_session where uuid = ${sessionUuid} and person_id is not null)`,
    how,
  );
}

/**
 * Makes documents (`which` is an SQL condition) due to be attached to another contact. The note at the former contact is then
 * deleted. A server that is just writing a note there sees by the number of tries that the document has moved, and deletes the
 * note.
 */
export async function attachAnew(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    update document set crm_next_try_at = now(), crm_attempts = crm_attempts + 1
    where ${which} and (crm_file_id is not null or crm_attempts > 0)`.execute(trx);
}

/** SQL for whether a query's `document` belongs to a join of these persons (SQL for one id, or `any(…)`). */
export function isOfJoinsOf(persons: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`session_uuid in (select uuid from join_session where join_session.person_id = ${persons})`;
}

/**
 * Separates persons from the contacts that were found for them, so that a contact is looked for again. `which` is an SQL
 * condition on `person`. Returns their ids.
 */
export async function leaveContact(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    update person set found_contact_id = null where found_contact_id is not null and ${which} returning id`.execute(
    trx,
  );
  const ids = rows.map(({ id }) => id);
  await attachAnew(trx, isOfJoinsOf(sql`any(${ids}::bigint[])`));
  return ids;
}
