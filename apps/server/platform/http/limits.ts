import { type RawBuilder, sql } from 'kysely';
import type { Limit, Limits } from '../config/limits.ts';
import type { Database } from '../database/client.ts';

export const TOO_MANY = 'Too many attempts. Please wait a few minutes and try again.';

/** Returns an SQL expression for the number of events in the window that ends now; 0 without a limit. */
export function limitedCount(name: string, key: string, limit: Limit | undefined): RawBuilder<number> {
  if (!limit) return sql<number>`0`;
  return sql<number>`(
    select coalesce(sum(count), 0)::int from limit_count
    where name = ${name} and key = ${key} and window_start > now() - make_interval(mins => ${limit.minutes}))`;
}

/**
 * Counts one more event. Returns false, and counts nothing, if the limit is reached. The window moves in steps of a tenth of its
 * length. The upsert locks the key's row, so concurrent calls cannot exceed the limit.
 */
export async function countWithin(
  database: Database,
  name: string,
  key: string,
  limit: Limit,
): Promise<boolean> {
  const { rows } = await sql<{ is_within: boolean }>`
    with ${countingWithin(name, key, limit)} select is_within from within`.execute(database);
  return rows[0]!.is_within;
}

/**
 * Returns the common table expressions of {@link countWithin}, for use in a larger statement: `counts` has one row with `is_free`
 * and `earlier` (the events before this one), `counted` the `window_start` of an event that was counted, and `within` one row
 * with `is_within`. Without a limit there is only `within`. An event for which the SQL expression `isFree` is true is not
 * counted. If the limit is reached, such an event is refused as well, so that a caller cannot distinguish free events from
 * others.
 */
export function countingWithin(
  name: string,
  key: string,
  limit: Limit | undefined,
  isFree: RawBuilder<boolean> = sql<boolean>`false`,
): RawBuilder<unknown> {
  if (!limit) return sql`within as (select true as is_within)`;
  const step = sql`date_bin(make_interval(secs => ${limit.minutes * 6}), now(), 'epoch')`;
  return sql`
    counts as (
      select ${isFree} as is_free, coalesce(sum(count), 0)::int as earlier,
        coalesce(sum(count) filter (where window_start < ${step}), 0)::int as of_other_steps
      from limit_count
      where name = ${name} and key = ${key} and window_start > now() - make_interval(mins => ${limit.minutes})
    ), counted as (
      insert into limit_count (name, key, window_start, count)
      select ${name}, ${key}, ${step}, 1 from counts where not is_free and earlier < ${limit.count}
      on conflict (name, key, window_start) do update set count = limit_count.count + 1
        where limit_count.count + (select of_other_steps from counts) < ${limit.count}
      returning window_start
    ), within as (
      select exists (select from counted) or is_free and earlier < ${limit.count} as is_within from counts
    )`;
}

/** Deletes the counts that are older than both a day and the longest window of a limit. */
export async function forgetCounts(database: Database, limits: Limits | null): Promise<void> {
  const minutes = Math.max(24 * 60, ...Object.values(limits ?? {}).map((limit: Limit) => limit.minutes));
  await sql`delete from limit_count where window_start < now() - make_interval(mins => ${minutes})`.execute(
    database,
  );
}
