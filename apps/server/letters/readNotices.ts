import { sql } from 'kysely';
import type { Notice } from '#core/notice.ts';
import type { ByStaff } from '../platform/deps.ts';
import type { Deps } from './deps.ts';

/** A notice with how often its cause was met, first and last. */
export type ReadNotice = Notice & { id: number; count: number; createdAt: Date; lastSeenAt: Date };

/**
 * Returns open notices, the oldest first: those whose cause was met since a time, or those about joins. If there are more than `most`,
 * returns those whose cause was met last.
 */
export async function readNotices(
  { database }: Pick<Deps, 'database'>,
  which: { since: Date } | { joins: readonly string[] },
  most: number | null = null,
): Promise<ReadNotice[]> {
  const condition =
    'since' in which ? sql`last_seen_at >= ${which.since}` : sql`session_uuid = any(${which.joins}::uuid[])`;
  const { rows } = await sql<ReadNotice>`
    select * from (
      select id, kind, session_uuid as subject, params, remedy, count, created_at as "createdAt", last_seen_at as "lastSeenAt"
      from staff_notice where ended_at is null and ${condition} order by last_seen_at desc, id desc limit ${most}) as notice
    order by id`.execute(database);
  return rows;
}

/** Ends a notice, as staff say. Returns false if there is no such open notice. */
export async function endNotice({ database, actor }: ByStaff<Deps>, id: number): Promise<boolean> {
  const { rows } = await sql`
    update staff_notice set ended_at = now(), ended_by = ${actor} where id = ${id} and ended_at is null returning id`.execute(
    database,
  );
  return rows.length > 0;
}
