import { sql } from 'kysely';
import type { Notice } from '#core/notice.ts';
import type { ByStaff } from '../platform/deps.ts';
import type { Deps } from './deps.ts';

/** A notice, with how often its cause has occurred, and when it occurred first and last. */
export type ReadNotice = Notice & { id: number; count: number; createdAt: Date; lastSeenAt: Date };

/**
 * Returns open notices, oldest first: those whose cause has occurred since a time, or those about joins. If there are more than
 * `most`, returns those whose cause occurred last.
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

/** SQL for whether the cause of an ended notice has occurred again since: another notice with the same cause is open. */
const isOpenAgain = sql<boolean>`
  exists (select from staff_notice open where open.ended_at is null and open.kind = staff_notice.kind
    and open.session_uuid is not distinct from staff_notice.session_uuid and open.params = staff_notice.params)`;

/** A notice that staff have ended. */
export type DoneNotice = ReadNotice & {
  doneAt: Date;
  doneBy: string;
  /** Whether the cause has occurred again since. */
  isOpenAgain: boolean;
};

/** Returns the notices that staff have ended in the last 90 days, the latest first. */
export async function doneNotices({ database }: Pick<Deps, 'database'>, most: number): Promise<DoneNotice[]> {
  const { rows } = await sql<DoneNotice>`
    select id, kind, session_uuid as subject, params, remedy, count, created_at as "createdAt", last_seen_at as "lastSeenAt",
      ended_at as "doneAt", ended_by as "doneBy",
      ${isOpenAgain} as "isOpenAgain"
    from staff_notice where ended_by is not null and ended_at > now() - interval '90 days'
    order by ended_at desc, id desc limit ${most}`.execute(database);
  return rows;
}

/** Reopens a notice that staff have ended. Returns false if there is no such notice, or its cause has occurred again since. */
export async function reopenNotice({ database }: Pick<Deps, 'database'>, id: number): Promise<boolean> {
  const { rows } = await sql`
    update staff_notice set ended_at = null, ended_by = null where id = ${id} and ended_by is not null
      and not ${isOpenAgain}
    returning id`.execute(database);
  return rows.length > 0;
}

/** `isOpen`: this notice, or another one with the same cause, is open. */
type NoticeState = Notice & { isOpen: boolean; doneBy: string | null };

/** Returns a notice that is open or that staff have ended; null if there is none. */
export async function readNotice(
  { database }: Pick<Deps, 'database'>,
  id: number,
): Promise<NoticeState | null> {
  const { rows } = await sql<NoticeState>`
    select kind, session_uuid as subject, params, remedy, ${isOpenAgain} as "isOpen", ended_by as "doneBy"
    from staff_notice where id = ${id} and (ended_at is null or ended_by is not null)`.execute(database);
  return rows[0] ?? null;
}

/** Ends a notice on behalf of staff. Returns false if there is no such open notice. */
export async function endNotice({ database, actor }: ByStaff<Deps>, id: number): Promise<boolean> {
  const { rows } = await sql`
    update staff_notice set ended_at = now(), ended_by = ${actor} where id = ${id} and ended_at is null returning id`.execute(
    database,
  );
  return rows.length > 0;
}
