import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../database/types.ts';

/**
 * How many days the files of a build are kept after the last start of a server with that build, so that servers with another
 * build can serve them. A tab may stay open for that long.
 */
const KEPT_DAYS = 30;

/**
 * Stores the files of this server's build in the database, so that servers with another build can answer with them, and deletes old
 * files. The names of the files contain a hash of their content, so a stored file is never changed. To be called before the server
 * is ready: from then on, a browser with this server's page may ask any server for these files (docs/decisions/0020).
 */
export async function keepPageFiles(database: Kysely<Tables>, buildDir: string): Promise<void> {
  const folder = join(buildDir, 'static');
  const paths = globSync('**/*.{js,css,json}', { cwd: folder }).map((path) => path.replaceAll('\\', '/'));
  // Servers that start at the same time lock the rows in the same order, to avoid deadlocks.
  const { rows: known } = await sql<{ path: string }>`
    update page_file set started_at = now()
    where path in (select path from page_file where path = any(${paths}::text[]) order by path for update)
    returning path`.execute(database);
  const kept = new Set(known.map(({ path }) => path));
  const missing = paths.filter((path) => !kept.has(path)).sort();
  const contents = missing.map((path) => readFileSync(join(folder, path)));
  await sql`
    insert into page_file (path, content) select * from unnest(${missing}::text[], ${contents}::bytea[])
    on conflict (path) do update set started_at = now()`.execute(database);
  await sql`
    delete from page_file where path in
      (select path from page_file where started_at < now() - ${`${KEPT_DAYS} days`}::interval for update skip locked)`.execute(
    database,
  );
}

/** Returns a file of another server's build by its path below /static; null if there is none. */
export async function otherPageFile(database: Kysely<Tables>, path: string): Promise<Buffer | null> {
  const file = await database
    .selectFrom('page_file')
    .select('content')
    .where('path', '=', path)
    .executeTakeFirst();
  return file?.content ?? null;
}
