import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import { toldWith } from '../session/alike.ts';

/** SQL for whether somebody has no contact of their own, so that the one that they found tells of them. `person` is the query's name. */
export function isAttached(person: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${person}.${column}`);
  return sql<boolean>`(${of('contact_id')} is null or ${of('deleted_at')} is not null)`;
}

/** SQL for whether `teller` is the person of the contact that tells of `person`, who has none. Both are the query's names. */
export function isTeller(teller: string, person: string): RawBuilder<boolean> {
  const of = (column: string) => sql.ref(`${teller}.${column}`);
  return sql<boolean>`(${of('contact_id')} = ${sql.ref(`${person}.found_contact_id`)} and ${of('deleted_at')} is null and ${isAttached(person)})`;
}

/**
 * SQL for a statement that makes persons (SQL for a subquery of ids) due to be told, after some seconds. Who is just being sent, or tried
 * again, stays due when they were: of two servers that send one contact, the one with older values could come last. With `isAnew` a
 * refusal and former tries are forgotten. Where `isShown` (SQL) is true, another form was filled in, which showed what the mirror has:
 * that counts as what HubSpot has.
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

/** Makes due whoever is told of together with persons (SQL for a subquery of ids): those of the contacts into which they are written. */
export async function hubspotIsToHear(
  trx: Kysely<Tables>,
  persons: RawBuilder<unknown>,
  how: Parameters<typeof makeDue>[1] = {},
): Promise<void> {
  const tellers = sql`(
    select distinct coalesce(teller.id, told.id) as id
    from ${persons} as changed (id) join lateral ${toldWith(sql`changed.id`)} as beside (id) on true
    join person told on told.id = beside.id and told.erased_at is null and (told.merged_into is null or told.contact_id is not null)
    left join person teller on ${isTeller('teller', 'told')})`;
  await makeDue(tellers, how).execute(trx);
}

/** Returns SQL for persons and all of whom HubSpot is told together with them now, so that it is told of these after a change, too. */
export async function toldTogether(
  trx: Kysely<Tables>,
  persons: readonly number[],
): Promise<RawBuilder<unknown>> {
  const { rows } = await sql<{ id: number }>`
    select distinct told.id from unnest(${persons}::bigint[]) as person (id), lateral ${toldWith(sql`person.id`)} as told (id)`.execute(
    trx,
  );
  return sql`(select unnest(${rows.map(({ id }) => id)}::bigint[]))`;
}

/** Makes the person of a join due to be told to HubSpot. To be called in the transaction that changes the join. */
export async function tellHubspot(
  trx: Kysely<Tables>,
  sessionUuid: string,
  how: Parameters<typeof makeDue>[1] = {},
): Promise<void> {
  await hubspotIsToHear(
    trx,
    sql`(select person_id from join_session where uuid = ${sessionUuid} and person_id is not null)`,
    how,
  );
}

/**
 * Makes documents (`which` is an SQL condition) due to be attached to another contact. The note at the former one is deleted then, also
 * by a server that is just writing it, since the document counts as tried once more.
 */
export async function attachAnew(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    update document set crm_next_try_at = now(), crm_attempts = crm_attempts + 1
    where ${which} and (crm_file_id is not null or crm_attempts > 0)`.execute(trx);
}

/** SQL for whether a query's `document` is of a join of these persons (SQL for one id, or `any(…)`). */
export function isOfJoinsOf(persons: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`session_uuid in (select uuid from join_session where join_session.person_id = ${persons})`;
}

/** Parts persons from the contacts that they found, so that they look for another. `which` is an SQL condition on `person`. Returns their ids. */
export async function leaveContact(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    update person set found_contact_id = null where found_contact_id is not null and ${which} returning id`.execute(
    trx,
  );
  const ids = rows.map(({ id }) => id);
  await attachAnew(trx, isOfJoinsOf(sql`any(${ids}::bigint[])`));
  return ids;
}
