import { type RawBuilder, sql } from 'kysely';
import type { Limit } from '../config.ts';
import type { Database } from '../database/client.ts';

export const TOO_MANY = 'Too many attempts. Please wait a few minutes and try again.';

/** The count of the last window as a part of a larger statement; 0 when limits are off. */
export function limitedCount(name: string, key: string, limit: Limit | undefined): RawBuilder<number> {
  if (!limit) return sql<number>`0`;
  return sql<number>`(
    select coalesce(sum(count), 0)::int from limit_count
    where name = ${name} and key = ${key} and window_start > now() - make_interval(mins => ${limit.minutes}))`;
}

/** Counts one more, in steps of a tenth of the window, and forgets what is older than two windows. */
export async function countLimit(database: Database, name: string, key: string, limit: Limit): Promise<void> {
  await count(database, name, key, limit, sql<boolean>`true`);
}

/** Counts one more unless the limit is full; false then. */
export async function countWithin(
  database: Database,
  name: string,
  key: string,
  limit: Limit,
): Promise<boolean> {
  return count(database, name, key, limit, sql<boolean>`${limitedCount(name, key, limit)} < ${limit.count}`);
}

async function count(
  database: Database,
  name: string,
  key: string,
  limit: Limit,
  condition: RawBuilder<boolean>,
): Promise<boolean> {
  const stepSeconds = limit.minutes * 6;
  const { rows } = await sql`
    with forgotten as (
      delete from limit_count where name = ${name} and key = ${key} and window_start < now() - make_interval(mins => ${limit.minutes * 2})
    )
    insert into limit_count (name, key, window_start, count)
    select ${name}, ${key}, date_bin(make_interval(secs => ${stepSeconds}), now(), 'epoch'), 1 where ${condition}
    on conflict (name, key, window_start) do update set count = limit_count.count + 1
    returning count`.execute(database);
  return rows.length > 0;
}
