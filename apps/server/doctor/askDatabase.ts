import type pg from 'pg';
import { migrationState } from '../platform/database/migrate.ts';
import { connectToPrimary } from '../platform/database/primary.ts';
import type { Answer } from '../providers/answer.ts';

export interface DatabaseState {
  /** Migrations that the next start of the server runs. */
  waiting: number;
  /** The last migration that a newer version ran there; null when there is none. */
  newer: string | null;
  /** Whether its user may make tables, which a migration does. */
  mayMigrate: boolean;
  /** Why this program must not run on it; null when it may. */
  foreign: string | null;
}

const TIMES = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };

/** Looks at the database and changes nothing, least of all its tables. */
export function askDatabase(databaseUrl: string): Promise<Answer<DatabaseState>> {
  return askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<{ may: boolean }>(
      "select has_schema_privilege(current_schema(), 'create') as may",
    );
    const { waiting, newer, foreign } = await migrationState(client);
    return { waiting: waiting.length, newer: newer.at(-1) ?? null, mayMigrate: rows[0]!.may, foreign };
  });
}

/** What is asked on a connection of its own, or why the database does not say. */
export async function askOnce<Said>(
  databaseUrl: string,
  ask: (client: pg.Client) => Promise<Said>,
  times = TIMES,
): Promise<Answer<Said>> {
  try {
    const { client } = await connectToPrimary(databaseUrl, times);
    try {
      return { said: await ask(client) };
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    return { down: sentenceOf(error) };
  }
}

/** The secret that signs links where none is set; null when there is none yet, or no database that answers. */
export async function askLinkSecret(databaseUrl: string): Promise<string | null> {
  const answer = await askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<{ value: string }>("select value from secret where name = 'link'");
    return rows[0]?.value ?? null;
  });
  return 'said' in answer ? answer.said : null;
}

/** Where a name leads to several addresses, Node reports one error for each, under one that says nothing. */
function sentenceOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
