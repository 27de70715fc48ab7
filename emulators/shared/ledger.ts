import type { Database } from './state.ts';

/** One request that reached an emulator, as it was answered. `time` is in ms since 1970. */
export interface LedgerEntry {
  method: string;
  path: string;
  params: unknown;
  idempotencyKey: string | null;
  /** Null when the request got no answer: its connection was cut or left hanging. */
  status: number | null;
  /** Headers that tests check, such as the API version that the client asked for. */
  headers: Record<string, string>;
  time: number;
}

export const LEDGER_SCHEMA =
  'create table if not exists ledger (seq integer primary key autoincrement, entry text not null)';

/** All requests to an emulator, oldest first, for tests that count calls. Survives a restart. */
export class Ledger {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  record(entry: LedgerEntry): void {
    this.#database.prepare('insert into ledger (entry) values (?)').run(JSON.stringify(entry));
  }

  entries(): LedgerEntry[] {
    const rows = this.#database.prepare('select entry from ledger order by seq').all();
    return rows.map((row) => JSON.parse(row.entry as string));
  }

  clear(): void {
    this.#database.exec('delete from ledger');
  }
}
