import { migrationState } from './migrate.ts';
import { connectToPrimary } from './primary.ts';

/**
 * Returns the migrations that a database does not have yet, in order, each with the text of its first comment (`words`).
 * `foreign` is the reason why this version must not run on the database; null if it may. `isEmpty`: the database contains no
 * person.
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

/** Returns the comment at the beginning of a migration, as one line. */
function wordsOf(sql: string): string {
  const [comment = ''] = /^(?:--[^\n]*(?:\n|$))*/.exec(sql.trimStart()) ?? [];
  const lines = comment.split('\n').filter((line) => !line.startsWith('-- oldest version:'));
  return lines
    .map((line) => line.replace(/^--\s*/, ''))
    .join(' ')
    .trim();
}

/**
 * Returns how many migrations a database lacks, and why this version must not run on it at all (`foreign`; null if it may). Changes
 * nothing.
 */
export async function standingOfDatabase(
  databaseUrl: string,
): Promise<{ waiting: number; foreign: string | null }> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    const { waiting, foreign } = await migrationState(client);
    return { waiting: waiting.length, foreign };
  } finally {
    await client.end();
  }
}
