import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { testDatabase } from '../../tests/harness/database.ts';
import type { Scope } from '../../tests/harness/scope.ts';
import { type RunningPostgres, startPostgres } from '../local/postgres.ts';
import type { Options } from './options.ts';

/** What a benchmark works with. */
export interface Bench {
  options: Options;
  scope: Scope;
  /** A folder of the benchmark's own, on the disk of the checkout: in memory an fsync would cost nothing. */
  folder: string;
  /** Prints progress. */
  say(line: string): void;
}

/** With one PostgreSQL for all sides of a comparison. */
export interface World extends Bench {
  postgres: RunningPostgres;
}

/** The PostgreSQL that comes with the project, as `npm start` runs it: fsync on. */
export async function startWorld(bench: Bench, settings: Record<string, string> = {}): Promise<World> {
  const dataDir = join(bench.folder, 'database');
  mkdirSync(dataDir, { recursive: true });
  const postgres = await startPostgres({ dataDir, settings });
  bench.scope.onEnd(() => postgres.stop());
  return { ...bench, postgres };
}

/** Does a part of a benchmark, and ends whatever that started. */
export async function within<B extends Bench, Result>(
  bench: B,
  work: (inner: B) => Promise<Result>,
): Promise<Result> {
  const scope = bench.scope.inner();
  const result = await work({ ...bench, scope });
  await scope.end();
  return result;
}

/** A new, migrated database with a connection of ours, until the end. */
export async function createDatabase(world: World): Promise<{ url: string; client: pg.Client }> {
  const { url, drop } = await testDatabase(world.postgres.url);
  world.scope.onEnd(drop);
  const client = new pg.Client({ connectionString: url });
  // After Ctrl-C the database may be gone before its clients.
  client.on('error', () => {});
  await client.connect();
  world.scope.onEnd(() => client.end());
  return { url, client };
}
