import {
  type CompiledQuery,
  DefaultQueryExecutor,
  Kysely,
  PostgresDialect,
  type PostgresPool,
  type QueryExecutor,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { type Patience, patience, Silence } from './patience.ts';
import { Pipelines } from './pipelines.ts';
import type { Tables } from './types.ts';
import { asUnavailable } from './unavailable.ts';

export type Database = Kysely<Tables>;

// Sums and sizes are far below 2^53: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** On the connections of a member of staff: triggers record that what is written was done by them. */
const NAME_ACTOR = "select set_config('induct.actor', $1, false)";

/**
 * Transactions on at most `connections`, single statements on as many of their own at most, usually three. Whatever it does not do in time, or cannot be asked, throws {@link DatabaseUnavailable}:
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
  const silence = new Silence(waits);
  const settings = {
    connectionString: url,
    statement_timeout: waits.statementMs,
    application_name: 'induct',
    // Finds out about the other end of a connection that was cut without a word.
    keepAlive: true,
  };
  // The first statement of its connection: whatever the connection is for stands behind it, and fails too if it fails.
  const nameActor = (client: pg.ClientBase) => {
    if (actor !== null) client.query(NAME_ACTOR, [actor]).catch(() => {});
  };
  const pool = new pg.Pool({ ...settings, max: connections });
  pool.on('connect', (client) => {
    // One that breaks (a database restart) while it is taken fails what is asked on it; unheard, it would end the process.
    client.on('error', () => {});
    nameActor(client);
  });
  // The same of one that breaks while it is idle: the pool drops it.
  pool.on('error', () => {});
  const pipelines = new Pipelines(
    () => {
      const client = new pg.Client({
        ...settings,
        pipeline: true,
        connectionTimeoutMillis: silence.connectMs,
      });
      nameActor(client);
      return client;
    },
    { most: connections },
  );
  return new PipelinedKysely(patientPool(pool, silence), pipelines, silence);
}

/**
 * Kysely takes a connection, asks, and gives it back, and so one statement waits for another. Single statements, of which a
 * join is made, go into the pipelines; transactions have a connection of the pool for themselves.
 */
class PipelinedKysely extends Kysely<Tables> {
  readonly #executor: QueryExecutor;
  readonly #pipelines: Pipelines;

  constructor(pool: PostgresPool, pipelines: Pipelines, silence: Silence) {
    const dialect = new PostgresDialect({ pool });
    super({ dialect });
    this.#pipelines = pipelines;
    this.#executor = new PipelinedExecutor(pipelines, silence, dialect, super.getExecutor());
  }

  override getExecutor(): QueryExecutor {
    return this.#executor;
  }

  override async destroy(): Promise<void> {
    await this.#pipelines.end();
    await super.destroy();
  }
}

class PipelinedExecutor extends DefaultQueryExecutor {
  readonly #pipelines: Pipelines;
  readonly #silence: Silence;

  constructor(pipelines: Pipelines, silence: Silence, dialect: PostgresDialect, connections: QueryExecutor) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), connections);
    this.#pipelines = pipelines;
    this.#silence = silence;
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const asked = statement(sql, parameters as unknown[], this.#silence.answerMs);
    const { rows } = await noted(this.#silence, this.#pipelines.query(asked));
    return { rows: rows as Row[] };
  }
}

/** What pg and its pool say; they have no codes for it. */
const SILENT =
  /^(Query read timeout|timeout expired|Connection terminated due to connection timeout)$|ECONN|EHOST/;

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
      const client = await noted(silence, pool.connect());
      let fault: unknown;
      const query = async (text: string, values: unknown[]) => {
        // Such as the rollback after a statement that was not answered.
        if (fault) throw fault;
        return noted(silence, client.query(statement(text, values, silence.answerMs))).catch(
          (error: unknown) => {
            if (!(error instanceof pg.DatabaseError)) fault = error;
            throw error;
          },
        );
      };
      return { query: query as never, release: (destroy) => client.release(destroy || fault !== undefined) };
    },
  };
}

/** Notes whether the database answered; throws {@link DatabaseUnavailable} when it did not. */
async function noted<Answer>(silence: Silence, asked: Promise<Answer>): Promise<Answer> {
  try {
    const answer = await asked;
    silence.end();
    return answer;
  } catch (error) {
    if (error instanceof pg.DatabaseError) silence.end();
    else if (SILENT.test((error as Error).message)) silence.begin();
    throw asUnavailable(error);
  }
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
