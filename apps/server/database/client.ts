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
  });
  // An idle connection that breaks (a database restart) is dropped by the pool; without a listener it would end the process.
  pool.on('error', () => {});
  return new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
}
