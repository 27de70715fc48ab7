import { type Kysely, sql } from 'kysely';
import type { MembershipType } from '#core/product.ts';
import { giveBackCommand } from '#core/refunds.ts';
import type { Tables } from '../platform/database/types.ts';

/** A join by which something is held. */
export interface Held {
  uuid: string;
  type: MembershipType;
}

/** A join (`uuid`) with the types of membership that other joins of the same contact (`others`) hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

export async function heldBy(database: Kysely<Tables>, personId: number): Promise<Held[]> {
  const { rows } = await sql<Held>`
    select session_uuid::text as uuid, type from membership
    where person_id = ${personId} and is_held order by type, id`.execute(database);
  return rows;
}

/** Returns the joins of one person by which a type is held that another person holds, too. */
export function twiceHeld(from: readonly Held[], into: readonly Held[]): HeldTwice[] {
  const isTwice = ({ type }: Held) => into.some((theirs) => theirs.type === type);
  return [...Map.groupBy(from.filter(isTwice), ({ uuid }) => uuid)].map(([uuid, held]) => {
    const types = held.map(({ type }) => type);
    const others = into.flatMap((theirs) => (types.includes(theirs.type) ? [theirs.uuid] : []));
    return { uuid, types, others: [...new Set(others)] };
  });
}

/**
 * Writes a notice to staff that several joins of one contact hold the same type of membership. The notice lists the types
 * (between the texts `begin` and `bought`) and the joins, and has the command that refunds the join `uuid`. The same joins get
 * only one notice, whatever its `kind`.
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
