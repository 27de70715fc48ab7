import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, type TestContext } from 'node:test';
import pg from 'pg';
import type { Config } from '../../apps/server/platform/config/config.ts';
import type { Manifest } from '../../apps/server/running/backup/manifest.ts';
import { type InstalledPostgres, lacksPostgres, startInstalledPostgres } from './installedPostgres.ts';
import { runLone } from './runCommand.ts';
import { temporaryFolder } from './temporaryFolder.ts';
import { startTestServer, type TestServer } from './testServer.ts';

/** A test server on an installed PostgreSQL. `postgres` and `server` are set by the time the file's tests run. */
export interface Installed {
  postgres: InstalledPostgres;
  server: TestServer;
  /** Runs a command with the test server's settings, changed by `change`. Returns its output and its exit status. */
  run(
    t: TestContext,
    command: string,
    args: string[],
    change?: Partial<Config>,
  ): Promise<{ out: string; code: number }>;
}

/**
 * Starts an installed PostgreSQL, and a test server on it with the settings `env`. Until the last test of the file has run, PATH
 * begins with PostgreSQL's client tools. Does nothing if no PostgreSQL is installed, since the tests are then skipped.
 */
export function serverOnInstalledPostgres(env: Record<string, string> = {}): Installed {
  const installed = {
    run: (t, command, args, change = {}) =>
      runLone(t, { ...installed.server.deps.config, ...change }, command, args),
  } as Installed;
  const path = process.env.PATH;
  before(async () => {
    if (lacksPostgres) return;
    installed.postgres = await startInstalledPostgres();
    process.env.PATH = installed.postgres.path;
    installed.server = await startTestServer(env, { postgresUrl: installed.postgres.url });
  });
  after(async () => {
    process.env.PATH = path;
    await installed.server?.close();
    await installed.postgres?.stop();
  });
  return installed;
}

/** Creates an empty database for a restore, and chooses a folder for its documents, which does not exist yet. */
export async function elsewhere(
  t: TestContext,
  { postgres }: Installed,
): Promise<Partial<Config> & { databaseUrl: string; documents: string }> {
  const documents = join(temporaryFolder(t), 'documents');
  return {
    databaseUrl: await postgres.emptyDatabase(),
    storage: { kind: 'folder', folder: documents },
    documents,
  };
}

export const manifestOf = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));

/** Runs an SQL statement. Returns its rows. */
export async function rowsOf(databaseUrl: string, statement: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  return (await client.query(statement).finally(() => client.end())).rows;
}

/** Makes a restore to this database fail late, after it has created tables and inserted rows. */
export async function failLate(databaseUrl: string): Promise<void> {
  await rowsOf(
    databaseUrl,
    `create function refuse() returns event_trigger language plpgsql as $$ begin raise 'no index here'; end $$;
     create event trigger refusing on ddl_command_start when tag in ('CREATE INDEX') execute function refuse()`,
  );
}
