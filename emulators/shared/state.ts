import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';

export type Database = DatabaseSync;

/** A database that prepares each statement only once. */
class State extends DatabaseSync {
  readonly #prepared = new Map<string, StatementSync>();

  override prepare(sql: string): StatementSync {
    const before = this.#prepared.get(sql);
    if (before) return before;
    const statement = super.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }
}

/**
 * Opens the database `dataDir/name.sqlite`, creates it if it is absent, and runs `schema` on it (`create … if not exists`).
 * Without a folder (null) the database is in memory, and ends with this process.
 *
 * The write-ahead log has `synchronous = NORMAL`: each commit is handed to the operating system before the request is answered,
 * so the commit survives `kill -9` of this process. A power cut could lose the last commits, which is acceptable for test data.
 * With FULL, every request would cost an fsync.
 */
export function openState(dataDir: string | null, name: string, schema: string): Database {
  if (dataDir !== null) mkdirSync(dataDir, { recursive: true });
  const database = new State(dataDir === null ? ':memory:' : join(dataDir, `${name}.sqlite`));
  database.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma busy_timeout = 5000');
  database.exec(schema);
  return database;
}

/** Runs `work` in one transaction, which is rolled back when `work` throws. */
export function transaction<T>(database: Database, work: () => T): T {
  database.exec('begin immediate');
  try {
    const result = work();
    database.exec('commit');
    return result;
  } catch (error) {
    database.exec('rollback');
    throw error;
  }
}

/**
 * Runs `work` in a savepoint of the current transaction. If `work` throws, its writes are rolled back, unless `keeps` returns
 * true for the error. The error is rethrown.
 */
export function attempt<T>(database: Database, work: () => T, keeps: (error: unknown) => boolean): T {
  database.exec('savepoint attempt');
  try {
    return work();
  } catch (error) {
    if (!keeps(error)) database.exec('rollback to attempt');
    throw error;
  } finally {
    database.exec('release attempt');
  }
}
