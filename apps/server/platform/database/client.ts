import { Kysely, PostgresDialect, type PostgresPool, type PostgresPoolClient } from 'kysely';
import pg from 'pg';
import { maybeStandby } from '../config/databaseUrl.ts';
import { watchPool } from '../metrics.ts';
import { type Patience, patience, Silence } from './patience.ts';
import { Primary, refuseReadOnly } from './primary.ts';
import type { Tables } from './types.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

export type Database = Kysely<Tables>;

// Parses bigint values as numbers; pg would return strings. Our sums and sizes are far below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

// PostgreSQL decides by a statement's estimated cost whether to compile it (JIT). With some hundred thousand joins, compiling one of
// our short statements takes many times as long as running it.
const noJit = 'set jit = off';
// Makes PostgreSQL use a generic plan from the start. By default it plans a statement five times on each connection first.
// plans.test.ts checks the generic plans.
const ofShortStatements = `${noJit}; set plan_cache_mode = force_generic_plan`;

/**
 * Opens a pool of at most `connections` connections, which the metrics show under `name`. If `url` names several hosts, the pool
 * connects to the one that accepts writes. If a statement times out or cannot be sent, it rejects with {@link DatabaseUnavailable};
 * the database may have executed it all the same.
 */
export function connect(
  url: string,
  {
    name = 'calls',
    connections = 10,
    waits = patience.ofCalls,
  }: { name?: string; connections?: number; waits?: Patience } = {},
): Database {
  const primary = maybeStandby(url) ? new Primary(url) : null;
  const pool = new pg.Pool({
    connectionString: url,
    max: connections,
    statement_timeout: waits.statementMs,
    application_name: 'induct',
    // TCP keep-alive detects a connection whose other end has vanished.
    keepAlive: true,
    async onConnect(client) {
      // Refuses a connection to a host that became a standby after `Primary` found it.
      if (primary) await refuseReadOnly(client, waits.connectMs);
      await client.query(asked(waits === patience.ofCalls ? ofShortStatements : noJit, [], waits.connectMs));
    },
  });
  watchPool(name, pool);
  pool.on('connect', (client) => {
    // Without a listener the `error` event of a broken client would end the process. The listener need not report the error,
    // because the running statement rejects with it.
    client.on('error', () => primary?.doubt());
  });
  // Without this listener a broken idle client would end the process. The pool itself removes such a client.
  pool.on('error', () => primary?.doubt());
  return new Kysely<Tables>({
    dialect: new PostgresDialect({ pool: patientPool(pool, new Silence(waits), primary) }),
  });
}

/** Error messages of pg and its pool, for errors that have no code. */
const NO_ANSWER = 'Query read timeout';
const NO_CONNECTION_FREE = 'timeout exceeded when trying to connect';
/** SQLSTATE `read_only_sql_transaction`: the host has become a standby. */
const READ_ONLY = '25006';

/**
 * Returns a pool for Kysely that prepares its statements and has timeouts. The pool closes three kinds of connections: broken
 * ones, those whose statement timed out, since later statements would wait behind that statement, and those whose host does not
 * accept writes.
 */
function patientPool(pool: pg.Pool, silence: Silence, primary: Primary | null): PostgresPool {
  const checkOut = async () => {
    if (primary) pool.options.connectionString = await primary.address(silence.connectMs);
    pool.options.connectionTimeoutMillis = silence.connectMs;
    return pool.connect();
  };
  // Kysely makes objects for each connection that it has not seen before.
  const connections = new WeakMap<pg.PoolClient, PostgresPoolClient>();
  return {
    options: pool.options,
    end: () => pool.end(),
    async connect() {
      const client = await checkOut().catch((error: Error) => {
        if (error.message === NO_CONNECTION_FREE) {
          const { max, connectionTimeoutMillis } = pool.options;
          throw new DatabaseUnavailable(
            `of ${max} connections none became free within ${connectionTimeoutMillis} ms`,
            { cause: error },
          );
        }
        primary?.doubt();
        if (!(error instanceof pg.DatabaseError)) silence.begin();
        throw asUnavailable(error);
      });
      return connections.get(client) ?? patientConnection(client);
    },
  };

  function patientConnection(client: pg.PoolClient): PostgresPoolClient {
    let fault: unknown;
    const query = async (text: string, values: unknown[]) => {
      // The connection is broken: any further statement, such as the rollback after a timeout, rejects at once.
      if (fault) throw fault;
      try {
        const answer = await client.query(statement(text, values, silence.answerMs));
        silence.end();
        return answer;
      } catch (error) {
        const thrown = asUnavailable(error);
        if (error instanceof pg.DatabaseError) silence.end();
        if (!(error instanceof pg.DatabaseError) || error.code === READ_ONLY) {
          fault = thrown;
          primary?.doubt();
        }
        if ((error as Error).message === NO_ANSWER) silence.begin();
        throw thrown;
      }
    };
    const release = (destroy?: boolean | Error) => client.release(destroy || fault !== undefined);
    const connection = { query: query as never, release };
    connections.set(client, connection);
    return connection;
  }
}

/**
 * The maximum number of statements that are prepared. The code contains fewer. If there are more texts than this, they vary at
 * run time and are seldom repeated, so the rest is not prepared.
 */
const MOST_STATEMENTS = 500;
const names = new Map<string, string>();

/**
 * Returns the query for pg, with a timeout of `answerMs`. A statement with parameters is prepared under a name: each connection
 * then parses and plans it only once, which halves the database's work for a call.
 */
function statement(text: string, values: unknown[], answerMs: number): pg.QueryConfig {
  if (!names.has(text) && values.length > 0 && names.size < MOST_STATEMENTS)
    names.set(text, `s${names.size}`);
  const name = names.get(text);
  const config = asked(text, values, answerMs);
  return name === undefined ? config : { ...config, name };
}

/** Returns the query for pg, with a timeout of `answerMs`. */
function asked(text: string, values: unknown[], answerMs: number): pg.QueryConfig {
  // pg supports `query_timeout` for a single statement since 8.13. pg's types lack it:
  // https://github.com/brianc/node-postgres/pull/3074
  const config: pg.QueryConfig & { query_timeout: number } = { text, values, query_timeout: answerMs };
  return config;
}
