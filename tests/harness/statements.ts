import type { CompiledQuery } from 'kysely';
import type { TestServer } from './testServer.ts';

/**
 * Runs `does`, and interrupts it once to run `happens`: right before its SQL statement number `place` (the first is 1).
 * Statements inside transactions are not counted. If `does` runs fewer statements than `place`, `happens` does not run, and the
 * result is false.
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
