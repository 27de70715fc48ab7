import pg from 'pg';
import { migrationState } from './migrate.ts';
import { connectToPrimary } from './primary.ts';
import { type Effect, effectsOf, wordsOf } from './readStatements.ts';

/** The number up to which a table's rows are counted. Above it, staff are only told that there are more. */
const COUNTED = 1_000_000;

/** The tables with people. */
const PEOPLE = ['join_session', 'invitation', 'person'];

export interface PlannedTable {
  table: string;
  /** The number of rows. COUNTED + 1 stands for any number above COUNTED. */
  rows: number;
  /** The migration's operations on this table whose duration grows with the number of rows, each once. */
  slow: string[];
  /** Whether the table is locked against reads and writes until the migration ends. */
  isExclusive: boolean;
}

export interface PlannedMigration {
  name: string;
  words: string;
  oldestVersion: string | null;
  /** The existing tables that the migration alters, locks or changes rows of, each once. */
  tables: PlannedTable[];
  /** The number of `do $$ … $$` blocks, whose effect only a person can judge. */
  unread: number;
}

/**
 * Returns the migrations that a database does not have yet, in order, with their effects. `foreign` says why this version must not
 * run on the database; null if it may. `isEmpty`: nobody has joined in the database, nor been invited. Runs in one read-only
 * transaction.
 */
export async function planMigrations(
  databaseUrl: string,
  options: { migrations?: string; version?: string } = {},
): Promise<{ planned: PlannedMigration[]; foreign: string | null; isEmpty: boolean }> {
  const { client } = await connectToPrimary(databaseUrl);
  try {
    await client.query('begin transaction read only');
    const { waiting, foreign } = await migrationState(client, options);
    const planned: PlannedMigration[] = [];
    for (const { name, sql, oldestVersion } of waiting) {
      const { effects, unread } = effectsOf(sql);
      const tables: PlannedTable[] = [];
      for (const [table, own] of Map.groupBy(effects, ({ table }) => table)) {
        const rows = await countRows(client, table);
        if (rows !== null) tables.push({ table, rows, ...together(own) });
      }
      planned.push({ name, words: wordsOf(sql), oldestVersion, tables, unread });
    }
    let people = 0;
    for (const table of PEOPLE) people += (await countRows(client, table)) ?? 0;
    return { planned, foreign, isEmpty: people === 0 };
  } finally {
    await client.end();
  }
}

function together(effects: readonly Effect[]): Pick<PlannedTable, 'slow' | 'isExclusive'> {
  return {
    slow: [...new Set(effects.flatMap(({ slow }) => slow ?? []))],
    isExclusive: effects.some(({ isExclusive }) => isExclusive),
  };
}

/**
 * Counts a table's rows up to COUNTED + 1. Returns null if the table does not exist, since an earlier planned migration creates it.
 */
async function countRows(client: pg.Client, table: string): Promise<number | null> {
  const quoted = table.split('.').map(pg.escapeIdentifier).join('.');
  const { rows: found } = await client.query('select to_regclass($1) is not null as is_there', [quoted]);
  if (!found[0].is_there) return null;
  const { rows } = await client.query<{ count: number }>(
    `select count(*)::int as count from (select from ${quoted} limit ${COUNTED + 1}) as counted`,
  );
  return rows[0]!.count;
}

/** Returns the description of a migration for staff, as lines. The first line is the migration's name. */
export function describeMigration({
  name,
  words,
  oldestVersion,
  tables,
  unread,
}: PlannedMigration): string[] {
  // A migration is one transaction, so the lock on an altered table is held until the migration's last statement ends.
  const isSlow = tables.some(({ rows, slow }) => rows > 0 && slow.length > 0) || unread > 0;
  return [
    name,
    words,
    ...tables.map(({ table, rows, slow, isExclusive }) => {
      const count = rows > COUNTED ? 'more than a million rows' : rows === 1 ? '1 row' : `${rows} rows`;
      const isLong = rows > 0 && (slow.length > 0 || (isExclusive && isSlow));
      const locked = isExclusive ? ['nobody reads or writes it until the migration ends'] : [];
      const why = isLong ? [...slow, ...locked].join('; ') : 'locked for a moment';
      return `${isLong ? 'LONG ' : ''}${table} (${count}): ${why}`;
    }),
    ...(tables.length === 0 ? ['It locks no table that is there.'] : []),
    ...(unread > 0
      ? ['It has code of its own (do), which is to be read: how long it takes is not known.']
      : []),
    ...(oldestVersion === null
      ? []
      : [`After it only version ${oldestVersion} and later run on the database.`]),
  ];
}
