import { type RawBuilder, sql } from 'kysely';
import type { Limit, Limits } from '../config.ts';
import type { Database } from '../database/client.ts';

export const TOO_MANY = 'Too many attempts. Please wait a few minutes and try again.';

/** The count within the window, as part of a larger statement; 0 when limits are off. */
export function limitedCount(name: string, key: string, limit: Limit | undefined): RawBuilder<number> {
  if (!limit) return sql<number>`0`;
  return sql<number>`(
    select coalesce(sum(count), 0)::int from limit_count
    where name = ${name} and key = ${key} and window_start > now() - make_interval(mins => ${limit.minutes}))`;
}

/**
 * Counts one more unless the limit is reached; false then. The window moves in steps of a tenth. One statement that locks its key:
 * however many arrive at once, no more get through.
 */
export async function countWithin(
  database: Database,
  name: string,
  key: string,
  limit: Limit,
): Promise<boolean> {
  const step = sql`date_bin(make_interval(secs => ${limit.minutes * 6}), now(), 'epoch')`;
  const { rows } = await sql`
    with counts as (
      select coalesce(sum(count), 0)::int as earlier, coalesce(sum(count) filter (where window_start < ${step}), 0)::int as of_other_steps
      from limit_count
      where name = ${name} and key = ${key} and window_start > now() - make_interval(mins => ${limit.minutes})
    )
    insert into limit_count (name, key, window_start, count)
    select ${name}, ${key}, ${step}, 1 from counts where earlier < ${limit.count}
    on conflict (name, key, window_start) do update set count = limit_count.count + 1
      where limit_count.count + (select of_other_steps from counts) < ${limit.count}
    returning count`.execute(database);
  return rows.length > 0;
}

/** Deletes counts that are older than a day and than every limit's window. */
export async function forgetCounts(database: Database, limits: Limits | null): Promise<void> {
  const minutes = Math.max(24 * 60, ...Object.values(limits ?? {}).map((limit: Limit) => limit.minutes));
  await sql`delete from limit_count where window_start < now() - make_interval(mins => ${minutes})`.execute(
    database,
  );
}
