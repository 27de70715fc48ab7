import { type Kysely, sql } from 'kysely';
import type { Deps } from '../deps.ts';
import { repeat } from '../platform/background.ts';
import type { Database } from '../platform/database/client.ts';
import { takeTurn } from '../platform/database/schedule.ts';
import type { Tables } from '../platform/database/types.ts';
import { contactOfJoin, isContactOfJoin } from '../session/members.ts';
import { type HeldTwice, tellOfHeldTwice } from './heldTwice.ts';

const LOOK_MS = 60_000;
const EVERY_SECONDS = 3600;
const BATCH = 1_000;
/**
 * The kind of the notice about two joins of one contact that hold the same type of membership. refunds/membershipStanding.ts uses
 * the same kind.
 */
const HELD_TWICE = 'held_twice';

/** SQL: each membership with the contact of its join (`present`), which may differ from the membership's own contact_id. */
const astray = sql`membership join join_session session on session.uuid = membership.session_uuid
  cross join lateral (select ${contactOfJoin('session')} as present) as joined`;
const isAstray = sql`present is not null and membership.contact_id is distinct from present`;
/** SQL: whether the contact `present` already holds another membership of the same type. */
const isHeldAlready = sql`exists (select from membership other
  where other.contact_id = present and other.type = membership.type and other.is_held)`;

/**
 * Moves the memberships of these joins to the contacts of the joins ({@link contactOfJoin}). The transaction must have locked the
 * joins. A contact can hold only one membership of a type: a second membership of the type is not moved, and staff get a notice.
 */
export async function bringMemberships(trx: Kysely<Tables>, joins: readonly string[]): Promise<void> {
  if (joins.length === 0) return;
  const these = sql`${isAstray} and session.uuid = any(${joins}::uuid[])`;
  // Locks the contacts after the joins, as a payment does. A concurrent payment of the same contact has either been committed
  // already, or waits until this transaction ends.
  await sql`
    insert into contact (id) select distinct present from ${astray} where ${these} order by present on conflict do nothing`.execute(
    trx,
  );
  await sql`
    select from contact where id in (select present from ${astray} where ${these}) order by id for update`.execute(
    trx,
  );
  await sql`
    with moving as (
      select membership.id, present, not is_held or (not ${isHeldAlready}
        and row_number() over (partition by present, membership.type, is_held order by membership.id) = 1) as is_free
      from ${astray} where ${these}
    )
    update membership set contact_id = present from moving where membership.id = moving.id and is_free`.execute(
    trx,
  );
  const { rows: left } = await sql<HeldTwice & { contact: string }>`
    select session.uuid, present as contact, array_agg(distinct membership.type::text) as types,
      array_agg(distinct other.session_uuid::text) as others
    from ${astray} join membership other on other.contact_id = present and other.type = membership.type and other.is_held
    where ${these} and membership.is_held
    group by session.uuid, present`.execute(trx);
  for (const join of left) await tellOfHeldTwice(trx, HELD_TWICE, join, `Contact ${join.contact} holds`);
}

/**
 * Moves to this contact the memberships of its joins that are still with another contact. They were left there while this contact
 * held a membership of the same type. Must be called in the transaction that ended this contact's membership. A join that another
 * transaction has locked is skipped, since waiting could deadlock; {@link startBringingMemberships} moves its memberships later.
 */
export async function bringLeftBehind(trx: Kysely<Tables>, contactId: string): Promise<void> {
  const { rows } = await sql<{ uuid: string }>`
    select session.uuid from (select ${contactId}::text as id) as contact join join_session session on ${isContactOfJoin('contact.id', 'session')}
    where exists (select from membership left_behind where session_uuid = session.uuid and left_behind.contact_id is distinct from contact.id and is_held)
    order by session.uuid for no key update of session skip locked`.execute(trx);
  await bringMemberships(
    trx,
    rows.map(({ uuid }) => uuid),
  );
}

/**
 * Moves, once an hour, every membership that is not with the contact of its join. An older version of the server may have left
 * the membership elsewhere, or the contact already held a membership of the same type.
 */
export function startBringingMemberships(deps: Deps): () => Promise<void> {
  return repeat('bring memberships to their contacts', LOOK_MS, deps.log, async () => {
    if (await takeTurn(deps.database, 'memberships', EVERY_SECONDS)) await bringAllMemberships(deps.database);
  });
}

export async function bringAllMemberships(database: Database): Promise<void> {
  for (let after = '0'; ; ) {
    const { rows } = await sql<{ id: string; uuid: string }>`
      select membership.id, session.uuid from ${astray} where ${isAstray} and membership.id > ${after} order by membership.id limit ${BATCH}`.execute(
      database,
    );
    const joins = [...new Set(rows.map(({ uuid }) => uuid))];
    await database.transaction().execute(async (trx) => {
      // Locks join sessions before their memberships, and in the order of their uuids. Payments lock in the same order, so
      // deadlocks cannot occur.
      await sql`select from join_session where uuid = any(${joins}::uuid[]) order by uuid for update`.execute(
        trx,
      );
      await bringMemberships(trx, joins);
    });
    if (rows.length < BATCH) return;
    after = rows.at(-1)!.id;
  }
}
