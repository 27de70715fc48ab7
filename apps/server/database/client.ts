import {
  type CompiledQuery,
  DefaultQueryExecutor,
  Kysely,
  PostgresDialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely';
import pg from 'pg';
import { type Patience, patience, Silence } from './patience.ts';
import { Pipelines } from './pipelines.ts';
import type { Tables } from './types.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

export type Database = Kysely<Tables>;

// Sums and sizes are far below 2^53: numbers, not strings.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** On the connections of a member of staff: triggers record that what is written was done by them. */
const NAME_ACTOR = "select set_config('induct.actor', $1, false)";

/**
 * Transactions on at most `connections`, single statements on as many of their own at most, usually three. Whatever the
 * database does not do in time, or cannot be asked, throws {@link DatabaseUnavailable}: whether it was written is not known.
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
  const settings = (): ClientSettings => ({
    connectionString: url,
    statement_timeout: waits.statementMs,
    connectionTimeoutMillis: silence.connectMs,
    application_name: 'induct',
    // Finds out about the other end of a connection that was cut without a word.
    keepAlive: true,
    silence,
  });
  // The first statement of its connection: whatever the connection is for stands behind it, and fails too if it fails.
  const nameActor = <Client extends pg.Client | pg.PoolClient>(client: Client): Client => {
    if (actor !== null) client.query(NAME_ACTOR, [actor]).catch(() => {});
    return client;
  };
  const pool = new PatientPool({
    ...settings(),
    max: connections,
    Client: PreparingClient as unknown as new () => pg.Client,
  });
  pool.on('connect', (client) => {
    // One that breaks (a database restart) while it is taken fails what is asked on it; unheard, it would end the process.
    nameActor(client).on('error', () => {});
  });
  // The same of one that breaks while it is idle: the pool drops it.
  pool.on('error', () => {});
  const pipelines = new Pipelines(() => nameActor(new PreparingClient({ ...settings(), pipeline: true })), {
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

interface ClientSettings extends pg.ClientConfig {
  silence: Silence;
}

/** Says {@link DatabaseUnavailable} when no connection is to be had in time. */
class PatientPool extends pg.Pool {
  // Of what pg declares, the form with a callback is not used.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override connect(): any {
    return super.connect().catch((error: unknown) => {
      throw asUnavailable(error);
    });
  }
}

/**
 * PostgreSQL parses and plans a statement once for each connection instead of each time: half of what a call costs it. A
 * connection on which no answer comes in time is cut: whatever stands behind the statement would wait as long.
 */
class PreparingClient extends pg.Client {
  readonly #silence: Silence;

  constructor(settings: ClientSettings) {
    super(settings);
    this.#silence = settings.silence;
  }

  // biome-ignore lint/suspicious/noExplicitAny: as declared by pg
  override connect(...given: any[]): any {
    const [callback] = given;
    const noted = (error?: Error) => {
      if (error === undefined || error === null) this.#silence.end();
      else if (!(error instanceof pg.DatabaseError)) this.#silence.begin();
    };
    if (typeof callback === 'function')
      return super.connect((error: Error) => {
        noted(error);
        callback(error);
      });
    return super.connect().then(
      () => noted(),
      (error: Error) => {
        noted(error);
        throw asUnavailable(error);
      },
    );
  }

  // What pg declares is a dozen overloads; all but a text with values is passed on as it comes.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  override query(...given: any[]): any {
    const [text, values, ...rest] = given;
    const isStatement = typeof text === 'string' && Array.isArray(values) && values.length > 0;
    const query = super.query as (...given: unknown[]) => unknown;
    const answer = isStatement
      ? query.call(this, { name: nameOf(text), text, values }, ...rest)
      : query.apply(this, given);
    return answer instanceof Promise ? this.#inTime(answer) : answer;
  }

  async #inTime<Answer>(answer: Promise<Answer>): Promise<Answer> {
    const timer = setTimeout(() => {
      this.#silence.begin();
      this.connection.stream.destroy(new DatabaseUnavailable('the database did not answer in time'));
    }, this.#silence.answerMs);
    try {
      const answered = await answer;
      this.#silence.end();
      return answered;
    } catch (error) {
      if (error instanceof pg.DatabaseError) this.#silence.end();
      throw asUnavailable(error);
    } finally {
      clearTimeout(timer);
    }
  }
}
