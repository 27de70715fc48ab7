import { LEDGER_SCHEMA } from '../shared/ledger.ts';
import { type Database, openState, transaction } from '../shared/state.ts';
import type { HubspotFile, Note } from './files.ts';
import { FIRST_PROPERTIES, type Property } from './properties.ts';
import type { SeedContact } from './seed.ts';

/** The state of a contact at one moment. Times are in ms since 1970; `properties` has only set values. */
export interface Row {
  id: string;
  properties: Record<string, string>;
  createdAt: number;
  updatedAt: number;
  archived: boolean;
  /** The contact into which this one was merged. Calls with this id read and write that contact. */
  mergedInto?: string;
}

/** The first id for created contacts. The seed's contacts have smaller ids. */
const FIRST_ID = 100_001;
const FIRST_OTHER_ID = 700_000;

const SCHEMA = `
  create table if not exists contact (
    id integer primary key, email text, body text not null
  );
  create index if not exists contact_email on contact (email);
  create table if not exists additional_email (email text primary key, id integer not null);
  create table if not exists version (
    seq integer primary key autoincrement, id integer not null, time integer not null, body text not null
  );
  create index if not exists version_id on version (id, seq);
  create table if not exists other (id integer primary key autoincrement);
  create table if not exists file (id text primary key, path text not null unique, body text not null, bytes blob not null);
  create table if not exists note (id text primary key, body text not null);
  create table if not exists property (name text primary key, body text not null);
  ${LEDGER_SCHEMA}
`;

/**
 * Stores the emulated account. Keeps all versions of a contact: HubSpot's search lags behind writes, so the emulated search
 * answers with contacts as they were some time ago.
 */
export class Store {
  readonly database: Database;
  readonly #properties = new Map<string, Property>();

  constructor(dataDir: string | null, seed: readonly SeedContact[], now: number) {
    this.database = openState(dataDir, 'hubspot', SCHEMA);
    const isNew = this.database.prepare('select count(*) as count from property').get()!.count === 0;
    if (isNew) {
      transaction(this.database, () => {
        for (const property of FIRST_PROPERTIES) this.addProperty(property);
        // The versions are dated a day back, so that search finds them at once.
        for (const { id, properties } of seed)
          this.#put({ id, properties, createdAt: now, updatedAt: now, archived: false }, now - 86_400_000);
      });
    }
    for (const row of this.database.prepare('select body from property').all()) {
      const property = JSON.parse(row.body as string) as Property;
      this.#properties.set(property.name, property);
    }
  }

  property(name: string): Property | undefined {
    return this.#properties.get(name);
  }

  properties(): Property[] {
    return [...this.#properties.values()];
  }

  addProperty(property: Property): void {
    this.database
      .prepare('insert into property (name, body) values (?, ?)')
      .run(property.name, JSON.stringify(property));
    this.#properties.set(property.name, property);
  }

  removeProperty(name: string): void {
    this.database.prepare('delete from property where name = ?').run(name);
    this.#properties.delete(name);
  }

  byId(id: string): Row | undefined {
    return /^\d{1,15}$/.test(id) ? this.#one('select body from contact where id = ?', Number(id)) : undefined;
  }

  byUnique(property: string, value: string): Row | undefined {
    return property === 'email'
      ? (this.#one(
          "select body from contact where email = ? and json_extract(body, '$.archived') = 0",
          value,
        ) ??
          this.#one(
            'select body from additional_email join contact using (id) where additional_email.email = ?',
            value,
          ))
      : this.#one(
          "select body from contact where json_extract(body, '$.properties.' || ?) = ?",
          property,
          value,
        );
  }

  #one(sql: string, ...values: (string | number)[]): Row | undefined {
    const row = this.database.prepare(sql).get(...values);
    return row && (JSON.parse(row.body as string) as Row);
  }

  insert(properties: Record<string, string>, now: number): Row {
    const id = this.database
      .prepare('select max(coalesce(max(id), 0) + 1, ?) as id from contact')
      .get(FIRST_ID)!.id;
    return this.#put({ id: String(id), properties, createdAt: now, updatedAt: now, archived: false }, now);
  }

  save(row: Row, now: number): Row {
    return this.#put(row, now);
  }

  #put(row: Row, now: number): Row {
    const createdAt = row.createdAt === row.updatedAt && !this.byId(row.id) ? now : row.createdAt;
    const properties = Object.fromEntries(Object.entries(row.properties).filter(([, value]) => value !== ''));
    const kept: Row = {
      ...row,
      createdAt,
      updatedAt: now,
      properties: {
        ...properties,
        createdate: new Date(createdAt).toISOString(),
        hs_object_id: row.id,
        lastmodifieddate: new Date(now).toISOString(),
      },
    };
    const body = JSON.stringify(kept);
    this.database
      .prepare('insert or replace into contact (id, email, body) values (?, ?, ?)')
      .run(Number(row.id), kept.properties.email ?? null, body);
    for (const email of kept.properties.hs_additional_emails?.split(';') ?? [])
      this.database
        .prepare('insert or replace into additional_email (email, id) values (?, ?)')
        .run(email, Number(row.id));
    this.database
      .prepare('insert into version (id, time, body) values (?, ?, ?)')
      .run(Number(row.id), now, body);
    return kept;
  }

  /** Returns contacts with ids above `id`, ordered by id. */
  after(id: number, archived: boolean, limit: number): Row[] {
    return this.database
      .prepare(
        "select body from contact where id > ? and json_extract(body, '$.archived') = ? order by id limit ?",
      )
      .all(id, archived ? 1 : 0, limit)
      .map((row) => JSON.parse(row.body as string));
  }

  /**
   * Returns the contacts as they were at `time`, without those that were archived by then. Search finds contacts in this older
   * state, since HubSpot's search index lags behind writes.
   */
  asOf(time: number): Row[] {
    const newest = 'select max(seq) from version where time <= ? group by id';
    return this.database
      .prepare(`select body from version where seq in (${newest}) order by id`)
      .all(time)
      .map((row) => JSON.parse(row.body as string) as Row)
      .filter((row) => !row.archived);
  }

  /** Returns the next id for anything that is not a contact. */
  nextId(): string {
    const { lastInsertRowid } = this.database.prepare('insert into other default values').run();
    return String(FIRST_OTHER_ID + Number(lastInsertRowid));
  }

  saveFile(file: HubspotFile, bytes: Buffer): HubspotFile {
    this.database
      .prepare('insert or replace into file (id, path, body, bytes) values (?, ?, ?, ?)')
      .run(file.id, file.path, JSON.stringify(file), bytes);
    return file;
  }

  file(id: string): HubspotFile | undefined {
    const row = this.database.prepare('select body from file where id = ?').get(id);
    return row && (JSON.parse(row.body as string) as HubspotFile);
  }

  fileByPath(path: string): HubspotFile | undefined {
    const row = this.database.prepare('select body from file where path = ?').get(path);
    return row && (JSON.parse(row.body as string) as HubspotFile);
  }

  /** Returns every file with its bytes, in the order of upload. */
  files(): (HubspotFile & { bytes: Buffer })[] {
    return this.database
      .prepare('select body, bytes from file order by rowid')
      .all()
      .map(({ body, bytes }) => ({ ...JSON.parse(body as string), bytes: Buffer.from(bytes as Uint8Array) }));
  }

  addNote(note: Note): Note {
    this.database.prepare('insert into note (id, body) values (?, ?)').run(note.id, JSON.stringify(note));
    return note;
  }

  /**
   * Erases contacts and all their versions, so that search cannot find them either. Also erases the notes that belong to no other
   * contact.
   */
  erase(ids: readonly string[]): void {
    for (const id of ids)
      for (const table of ['contact', 'version', 'additional_email'])
        this.database.prepare(`delete from ${table} where id = ?`).run(Number(id));
    for (const { id, contactIds } of this.notes())
      if (contactIds.every((contact) => ids.includes(contact))) this.removeNote(id);
  }

  removeNote(id: string): void {
    this.database.prepare('delete from note where id = ?').run(id);
  }

  /** Erases a file. Returns false when there is no such file. */
  eraseFile(id: string): boolean {
    return this.database.prepare('delete from file where id = ?').run(id).changes > 0;
  }

  notes(): Note[] {
    return this.database
      .prepare('select body from note order by rowid')
      .all()
      .map(({ body }) => JSON.parse(body as string) as Note);
  }
}
