import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { testDatabase } from '../../tests/harness/database.ts';
import type { Scope } from '../../tests/harness/scope.ts';
import { type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import type { Options } from './options.ts';

/** The parameters that `main.ts` passes to each benchmark. */
export interface Bench {
  options: Options;
  scope: Scope;
  /**
   * The benchmark's own folder. It is in the checkout, and not in the system's temporary folder: that may be in memory, where
   * fsync costs nothing.
   */
  folder: string;
  /** Prints progress. */
  say(line: string): void;
}

/** A benchmark with a PostgreSQL that all sides of a comparison share. */
export interface World extends Bench {
  postgres: RunningPostgres;
}

/** Starts PostgreSQL as `npm start` does, with fsync on. */
export async function startWorld(bench: Bench, settings: Record<string, string> = {}): Promise<World> {
  const dataDir = join(bench.folder, 'database');
  mkdirSync(dataDir, { recursive: true });
  const postgres = await startPostgres({ dataDir, settings });
  bench.scope.onEnd(() => postgres.stop());
  return { ...bench, postgres };
}

/** Runs a part of a benchmark, and stops everything that the part started. */
export async function within<B extends Bench, Result>(
  bench: B,
  work: (inner: B) => Promise<Result>,
): Promise<Result> {
  const scope = bench.scope.inner();
  const result = await work({ ...bench, scope });
  await scope.end();
  return result;
}

/** Creates a migrated database and connects to it. Both last until the scope ends. */
export async function createDatabase(world: World): Promise<{ url: string; client: pg.Client }> {
  const { url, drop } = await testDatabase(world.postgres.url);
  world.scope.onEnd(drop);
  const client = new pg.Client({ connectionString: url });
  // Ignores errors: after Ctrl-C the database may end before its clients.
  client.on('error', () => {});
  await client.connect();
  world.scope.onEnd(() => client.end());
  return { url, client };
}
