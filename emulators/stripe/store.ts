import { LEDGER_SCHEMA } from '../shared/ledger.ts';
import { type Database, openState } from '../shared/state.ts';

/** Any object of the API, in the form in which it is returned without expansion. */
export interface ApiObject {
  id: string;
  object: string;
  created?: number;
  [field: string]: unknown;
}

const SCHEMA = `
  create table if not exists object (
    seq integer primary key autoincrement, id text unique not null, kind text not null,
    body text not null, hidden text not null default '{}'
  );
  create index if not exists object_kind on object (kind, seq);
  create index if not exists object_customer on object (json_extract(body, '$.customer'));
  create index if not exists object_payment_intent on object (json_extract(body, '$.payment_intent'));
  create index if not exists object_charge on object (json_extract(body, '$.charge'));
  create table if not exists idempotency (
    key text primary key, fingerprint text not null, status integer not null, body text not null, time integer not null
  );
  create index if not exists idempotency_time on idempotency (time);
  create table if not exists delivery (
    seq integer primary key autoincrement, event text not null, url text not null, secret text not null,
    attempts integer not null default 0, due integer not null, state text not null
  );
  create index if not exists delivery_state on delivery (state, due);
  create index if not exists delivery_event on delivery (event);
  create table if not exists setting (name text primary key, value text not null);
  ${LEDGER_SCHEMA}
`;

/** Stores the emulated account: a row for each object, in the order of creation. */
export class Store {
  readonly database: Database;

  constructor(dataDir: string | null) {
    this.database = openState(dataDir, 'stripe', SCHEMA);
  }

  find<T extends ApiObject>(id: string, kind?: T['object']): T | undefined {
    const row = this.database.prepare('select body, kind from object where id = ?').get(id);
    return row && (!kind || row.kind === kind) ? (JSON.parse(row.body as string) as T) : undefined;
  }

  /** Returns an object's data that the API never shows, such as a card's number or how an intent was confirmed. */
  hidden<T extends object>(id: string): Partial<T> {
    const row = this.database.prepare('select hidden from object where id = ?').get(id);
    return row ? JSON.parse(row.hidden as string) : {};
  }

  setHidden(id: string, hidden: object): void {
    const merged = JSON.stringify({ ...this.hidden(id), ...hidden });
    this.database.prepare('update object set hidden = ? where id = ?').run(merged, id);
  }

  insert(object: ApiObject): void {
    this.database
      .prepare('insert into object (id, kind, body) values (?, ?, ?)')
      .run(object.id, object.object, JSON.stringify(object));
  }

  save(object: ApiObject): void {
    this.database.prepare('update object set body = ? where id = ?').run(JSON.stringify(object), object.id);
  }

  remove(id: string): void {
    this.database.prepare('delete from object where id = ?').run(id);
  }

  sequenceOf(id: string): number | undefined {
    return this.database.prepare('select seq from object where id = ?').get(id)?.seq as number | undefined;
  }

  /**
   * Returns at most `limit` objects of a kind (-1: all) that fulfil every condition of `where` (SQL over the columns `seq`,
   * `body` and `hidden`, with its values). Newest first, unless `oldestFirst`.
   */
  select(kind: string, where: readonly Condition[], limit: number, oldestFirst = false): ApiObject[] {
    const conditions = ['kind = ?', ...where.map((condition) => condition.sql)].join(' and ');
    const values = where.flatMap((condition) => condition.values);
    return this.database
      .prepare(
        `select body from object where ${conditions} order by seq ${oldestFirst ? 'asc' : 'desc'} limit ?`,
      )
      .all(kind, ...values, limit)
      .map((row) => JSON.parse(row.body as string));
  }

  setting(name: string): string | undefined {
    return this.database.prepare('select value from setting where name = ?').get(name)?.value as
      | string
      | undefined;
  }

  setSetting(name: string, value: string): void {
    this.database.prepare('insert or replace into setting (name, value) values (?, ?)').run(name, value);
  }
}

export interface Condition {
  sql: string;
  values: (string | number)[];
}

/** Returns the condition that the field at a JSON path equals the value. */
export function fieldIs(field: string, value: string | number): Condition {
  return { sql: `json_extract(body, '$.${field}') = ?`, values: [value] };
}
