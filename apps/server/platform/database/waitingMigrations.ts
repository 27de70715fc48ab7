import { migrationState } from './migrate.ts';
import { connectToPrimary } from './primary.ts';

/**
 * Returns the migrations that a database does not have yet, in order, with what their first comment says. `foreign` is why this
 * version must not run on the database; null if it may. `isEmpty`: the database knows nobody.
 */
export async function waitingMigrations(
  databaseUrl: string,
  options: { migrations?: string; version?: string } = {},
): Promise<{ waiting: { name: string; words: string }[]; foreign: string | null; isEmpty: boolean }> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    const { waiting, foreign } = await migrationState(client, options);
    const { rows } = await client.query<{ is_there: boolean }>(
      "select to_regclass('person') is not null as is_there",
    );
    const isEmpty = !rows[0]!.is_there || (await client.query('select from person limit 1')).rowCount === 0;
    return { waiting: waiting.map(({ name, sql }) => ({ name, words: wordsOf(sql) })), foreign, isEmpty };
  } finally {
    await client.end();
  }
}

/** Returns the comment with which a migration begins, as one line. */
function wordsOf(sql: string): string {
  const [comment = ''] = /^(?:--[^\n]*(?:\n|$))*/.exec(sql.trimStart()) ?? [];
  const lines = comment.split('\n').filter((line) => !line.startsWith('-- oldest version:'));
  return lines
    .map((line) => line.replace(/^--\s*/, ''))
    .join(' ')
    .trim();
}

/** Returns a sentence about why a command must not run on a database; null if it may. Changes nothing. */
export async function refusalOfDatabase(databaseUrl: string): Promise<string | null> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    const { waiting, foreign } = await migrationState(client);
    if (foreign || waiting.length === 0) return foreign;
    const files = waiting.length === 1 ? '1 migration waits' : `${waiting.length} migrations wait`;
    return `The database is not at this version yet: ${files}. The start of a server runs them, and so does \`npm run operator -- migrate\`.`;
  } finally {
    await client.end();
  }
}
