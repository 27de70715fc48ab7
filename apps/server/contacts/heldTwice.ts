import type { MembershipType } from '#core/product.ts';
import { giveBackCommand } from '#core/refunds.ts';

/** A join (`uuid`) with the types of membership that other joins of the same contact hold as well. */
export interface HeldTwice {
  uuid: string;
  types: MembershipType[];
  others: string[];
}

/**
 * Returns the end of a notice to staff: what is held twice, by which joins, and the command that refunds it for the join `uuid`.
 * `bought` is inserted after the types.
 */
export function heldTwice({ uuid, types, others }: HeldTwice, bought = ''): string {
  const what = types.map((type) => `a ${type.replace('_', ' ')}`).join(' and ');
  const joins = [...others, uuid].join(' and ');
  return `${what}${bought} by the joins ${joins}. Give one of them back: ${giveBackCommand(uuid, types)}`;
}
