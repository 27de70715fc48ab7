import { type RawBuilder, sql } from 'kysely';
import { type HeldJoin, type Holding, isSure } from '#core/holding.ts';

/**
 * Whether this browser may see the private data of the query's `join_session`. A browser that merely began the join may, until
 * somebody has proven to be its joiner (docs/decisions/0035).
 */
export function isHeldBy(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isSure(holding)}::boolean or (${holding.began}::boolean and proven_at is null))`;
}

/**
 * Whether this browser may continue the query's `join_session`: its uuid alone is enough until somebody has proven to be its
 * joiner.
 */
export function isOpenTo(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isSure(holding)}::boolean or proven_at is null)`;
}

/** Whether the query's `join_session` is one of the joins that a browser holds. */
export function isAmong(joins: readonly HeldJoin[]): RawBuilder<boolean> {
  const uuids = (some: readonly HeldJoin[]) => some.map(({ uuid }) => uuid);
  return sql<boolean>`(uuid = any(${uuids(joins)}::uuid[])
    and (proven_at is null or uuid = any(${uuids(joins.filter(isSure))}::uuid[])))`;
}
