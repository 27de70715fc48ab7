import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Tables } from './types.ts';

export type Database = Kysely<Tables>;

// Sums and sizes are far below 2^53: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** A pool of at most `connections`; a statement that runs longer than 15 s is cancelled by the database. */
export function connect(url: string, connections = 10): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    statement_timeout: 15_000,
    application_name: 'induct',
    Client: PreparingClient,
  });
  // An idle connection that breaks (a database restart) is dropped by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}

/** Statements are written in the code, so there are few: whatever makes more of them than this is not worth preparing. */
const MOST_STATEMENTS = 500;
const names = new Map<string, string>();

/** The name under which each connection prepares this statement; none when there are too many. */
function nameOf(text: string): string | undefined {
  let name = names.get(text);
  if (name === undefined && names.size < MOST_STATEMENTS) {
    name = `s${names.size}`;
    names.set(text, name);
  }
  return name;
}

/** PostgreSQL parses and plans a statement once for each connection instead of each time: half of what a call costs it. */
class PreparingClient extends pg.Client {
  // What pg declares is a dozen overloads; all but a text with values is passed on as it comes.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...given: any[]): any {
    const [text, values, ...rest] = given;
    const isStatement = typeof text === 'string' && Array.isArray(values) && values.length > 0;
    const query = super.query as (...given: unknown[]) => unknown;
    return isStatement
      ? query.call(this, { name: nameOf(text), text, values }, ...rest)
      : query.apply(this, given);
  }
}
