import type { CompiledQuery } from 'kysely';
import type { TestServer } from './testServer.ts';

/**
 * Runs `does`. Runs `happens` right before the statement of `does` with the number `place`, counted from 1. Statements inside
 * transactions are not counted. Returns false when `does` ran fewer statements, so that `happens` did not run.
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
