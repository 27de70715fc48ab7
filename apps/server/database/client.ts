import {
  type CompiledQuery,
  DefaultQueryExecutor,
  Kysely,
  PostgresDialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { Pipelines } from './pipelines.ts';
import type { Tables } from './types.ts';

export type Database = Kysely<Tables>;

// Sums and sizes are far below 2^53: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** On the connections of a member of staff: triggers record that what is written was done by them. */
const NAME_ACTOR = "select set_config('induct.actor', $1, false)";

/**
 * Transactions on at most `connections`, single statements on as many of their own at most, usually three. A statement that
 * runs longer than 15 s is cancelled by the database.
 */
export function connect(
  url: string,
  { connections = 10, actor = null }: { connections?: number; actor?: string | null } = {},
): Database {
  const settings: pg.ClientConfig = {
    connectionString: url,
    statement_timeout: 15_000,
    application_name: 'induct',
  };
  // The first statement of its connection: whatever the connection is for stands behind it, and fails too if it fails.
  const nameActor = <Client extends pg.Client | pg.PoolClient>(client: Client): Client => {
    if (actor !== null) client.query(NAME_ACTOR, [actor]).catch(() => {});
    return client;
  };
  const pool = new pg.Pool({ ...settings, max: connections, Client: PreparingClient });
  pool.on('connect', (client) => {
    // One that breaks (a database restart) while it is taken fails what is asked on it; unheard, it would end the process.
    nameActor(client).on('error', () => {});
  });
  // The same of one that breaks while it is idle: the pool drops it.
  pool.on('error', () => {});
  const pipelines = new Pipelines(() => nameActor(new PreparingClient({ ...settings, pipeline: true })), {
    most: connections,
  });
  return new PipelinedKysely(pool, pipelines);
}

/**
 * Kysely takes a connection, asks, and gives it back, and so one statement waits for another. Single statements, of which a
 * join is made, go into the pipelines; transactions have a connection of the pool for themselves.
 */
class PipelinedKysely extends Kysely<Tables> {
  readonly #executor: QueryExecutor;
  readonly #pipelines: Pipelines;

  constructor(pool: pg.Pool, pipelines: Pipelines) {
    const dialect = new PostgresDialect({ pool });
    super({ dialect });
    this.#pipelines = pipelines;
    this.#executor = new PipelinedExecutor(pipelines, dialect, super.getExecutor());
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

  constructor(pipelines: Pipelines, dialect: PostgresDialect, connections: QueryExecutor) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), connections);
    this.#pipelines = pipelines;
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.#pipelines.query(sql, parameters as unknown[]);
    return { rows: rows as Row[] };
  }
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
