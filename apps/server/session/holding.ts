import { type RawBuilder, sql } from 'kysely';
import { type HeldJoin, type Holding, isSure } from '#core/holding.ts';

/**
 * SQL for whether this browser may see the private data of the query's `join_session`: its user has paid for the join or has
 * proven to be the joiner. Until somebody has proven that, a browser that began the join may see the data as well
 * (docs/decisions/0010).
 */
export function isHeldBy(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isSure(holding)}::boolean or (${holding.began}::boolean and proven_at is null))`;
}

/**
 * SQL for whether this browser may continue the query's `join_session`, as `isOpenIn` in core. A statement that answers a call
 * with a join's uuid has this condition.
 */
export function isOpenTo(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isHeldBy(holding)} or (state <> 'paid' and proven_at is null))`;
}

/**
 * SQL for whether a browser that may continue the query's `join_session` is shown who its joiner is. Staff send a checkout link to
 * whoever pays. Until its holder has proven to be the joiner, they are shown the first name and an initial alone, even after paying
 * (docs/decisions/0010).
 */
export function seesJoiner({ proven }: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${proven}::boolean or origin <> 'checkout')`;
}

/** SQL for whether the query's `join_session` is among the `joins` in the browser's cookie and the browser holds it. */
export function isAmong(joins: readonly HeldJoin[]): RawBuilder<boolean> {
  const uuids = (some: readonly HeldJoin[]) => some.map(({ uuid }) => uuid);
  return sql<boolean>`(uuid = any(${uuids(joins)}::uuid[])
    and (proven_at is null or uuid = any(${uuids(joins.filter(isSure))}::uuid[])))`;
}
