import { type RawBuilder, sql } from 'kysely';
import { type HeldJoin, type Holding, isSure } from '#core/holding.ts';

/**
 * Whether what only its joiner may see of the `join_session` of a query is for this browser. Who merely began a join sees it until
 * somebody has proven to be its joiner (0035).
 */
export function isHeldBy(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isSure(holding)}::boolean or (${holding.began}::boolean and proven_at is null))`;
}

/** Whether the `join_session` of a query goes on in this browser: until a proof its uuid is enough. */
export function isOpenTo(holding: Holding): RawBuilder<boolean> {
  return sql<boolean>`(${isSure(holding)}::boolean or proven_at is null)`;
}

/** Whether the `join_session` of a query is one of those that a browser holds. */
export function isAmong(joins: readonly HeldJoin[]): RawBuilder<boolean> {
  const uuids = (some: readonly HeldJoin[]) => some.map(({ uuid }) => uuid);
  return sql<boolean>`(uuid = any(${uuids(joins)}::uuid[])
    and (proven_at is null or uuid = any(${uuids(joins.filter(isSure))}::uuid[])))`;
}
