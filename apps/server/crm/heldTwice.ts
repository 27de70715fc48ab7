import { type Kysely, sql } from 'kysely';
import type { MembershipType } from '#core/product.ts';
import { giveBackCommand } from '#core/refunds.ts';
import type { Tables } from '../platform/database/types.ts';

/** A join (`uuid`) with the types of membership that other joins of the same contact (`others`) hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

/**
 * Writes a notice to staff that several joins of one contact hold the same type of membership. The notice lists the types
 * (between the texts `begin` and `bought`) and the joins, and has the command that refunds the join `uuid`. The same joins get
 * only one notice, whatever its `kind`, because a merge and the hourly search may both find them.
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
