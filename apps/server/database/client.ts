import {
  type CompiledQuery,
  DefaultQueryExecutor,
  Kysely,
  PostgresDialect,
  type QueryExecutor,
  type QueryResult,
} from 'kysely';
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
  return new PooledKysely(pool);
}

/**
 * Kysely takes a connection, asks, and gives it back, in a dozen promises; the pool asks a single statement by itself in two.
 * Statements that are written as SQL outside a transaction go that way, and those are what a join is made of.
 */
class PooledKysely extends Kysely<Tables> {
  readonly #executor: QueryExecutor;

  constructor(pool: pg.Pool) {
    const dialect = new PostgresDialect({ pool });
    super({ dialect });
    this.#executor = new PoolExecutor(pool, dialect, super.getExecutor());
  }

  override getExecutor(): QueryExecutor {
    return this.#executor;
  }
}

class PoolExecutor extends DefaultQueryExecutor {
  readonly #pool: pg.Pool;

  constructor(pool: pg.Pool, dialect: PostgresDialect, connections: QueryExecutor) {
    super(dialect.createQueryCompiler(), dialect.createAdapter(), connections);
    this.#pool = pool;
  }

  override async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<QueryResult<Row>> {
    const { rows } = await this.#pool.query(sql, parameters as unknown[]);
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
