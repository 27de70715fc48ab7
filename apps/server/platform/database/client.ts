import { Kysely, PostgresDialect, type PostgresPool } from 'kysely';
import pg from 'pg';
import { type Patience, patience, Silence } from './patience.ts';
import type { Tables } from './types.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

export type Database = Kysely<Tables>;

// Sums and sizes are far below 2^53: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** On the connections of a member of staff: triggers record that what is written was done by them. */
const NAME_ACTOR = "select set_config('induct.actor', $1, false)";

/**
 * At most `connections` to the database. Whatever it does not do in time, or cannot be asked, throws {@link DatabaseUnavailable}:
 * whether it was written is not known.
 */
export function connect(
  url: string,
  {
    connections = 10,
    actor = null,
    waits = patience.ofCalls,
  }: { connections?: number; actor?: string | null; waits?: Patience } = {},
): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    statement_timeout: waits.statementMs,
    application_name: 'induct',
    // Finds out about the other end of a connection that was cut without a word.
    keepAlive: true,
  });
  pool.on('connect', (client) => {
    // One that breaks (a database restart) while it is taken fails what is asked on it; unheard, it would end the process.
    client.on('error', () => {});
    // The first statement of its connection: whatever the connection is for stands behind it, and fails too if it fails.
    if (actor !== null) client.query(NAME_ACTOR, [actor]).catch(() => {});
  });
  // The same of one that breaks while it is idle: the pool drops it.
  pool.on('error', () => {});
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: patientPool(pool, new Silence(waits)) }),
  });
}

/** What pg and its pool say; they have no codes for it. */
const NO_ANSWER = 'Query read timeout';
const NO_CONNECTION_FREE = 'timeout exceeded when trying to connect';

/**
 * A pool as Kysely asks it, whose connections prepare their statements. One on which no answer came in time is dropped: whatever
 * stands behind the statement would wait as long.
 */
function patientPool(pool: pg.Pool, silence: Silence): PostgresPool {
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      pool.options.connectionTimeoutMillis = silence.connectMs;
      const client = await pool.connect().catch((error: Error) => {
        if (error.message === NO_CONNECTION_FREE) {
          const { max, connectionTimeoutMillis } = pool.options;
          throw new DatabaseUnavailable(
            `of ${max} connections none became free within ${connectionTimeoutMillis} ms`,
            { cause: error },
          );
        }
        if (!(error instanceof pg.DatabaseError)) silence.begin();
        throw asUnavailable(error);
      });
      let fault: unknown;
      const query = async (text: string, values: unknown[]) => {
        // Such as the rollback after a statement that was not answered.
        if (fault) throw fault;
        try {
          const answer = await client.query(statement(text, values, silence.answerMs));
          silence.end();
          return answer;
        } catch (error) {
          const thrown = asUnavailable(error);
          if (error instanceof pg.DatabaseError) silence.end();
          else fault = thrown;
          if ((error as Error).message === NO_ANSWER) silence.begin();
          throw thrown;
        }
      };
      return { query: query as never, release: (destroy) => client.release(destroy || fault !== undefined) };
    },
  };
}

/** Statements are written in the code, so there are few: whatever makes more of them than this is not worth preparing. */
const MOST_STATEMENTS = 500;
const names = new Map<string, string>();

/**
 * A statement with its values, by a name where it has some: each connection parses and plans it once instead of each time, which
 * is half of what a call costs the database. Rejects after `answerMs` without an answer.
 */
function statement(text: string, values: unknown[], answerMs: number): pg.QueryConfig {
  if (!names.has(text) && values.length > 0 && names.size < MOST_STATEMENTS)
    names.set(text, `s${names.size}`);
  const name = names.get(text);
  // pg has it of a statement since 8.13; its types do not: https://github.com/brianc/node-postgres/pull/3074
  const config: pg.QueryConfig & { query_timeout: number } = { text, values, query_timeout: answerMs };
  return name === undefined ? config : { ...config, name };
}
