import type { CompiledQuery } from 'kysely';
import type { TestServer } from './testServer.ts';

/**
 * Does something, and lets something else happen right before the statement in the given place, the first one being 1.
 * Only statements outside transactions count. False when there were fewer, so that nothing happened.
 */
export async function beforeStatement(
  { deps }: TestServer,
  place: number,
  happens: () => Promise<unknown>,
  does: () => Promise<unknown>,
): Promise<boolean> {
  const executor = deps.database.getExecutor();
  const execute = executor.executeQuery.bind(executor);
  let statements = 0;
  executor.executeQuery = async <Row>(query: CompiledQuery<unknown>) => {
    if (++statements === place) await happens();
    return execute<Row>(query);
  };
  try {
    await does();
  } finally {
    executor.executeQuery = execute;
  }
  return statements >= place;
}
