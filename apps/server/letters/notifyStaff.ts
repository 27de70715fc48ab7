import { type Kysely, sql } from 'kysely';
import type { Notice, NoticeKind } from '#core/notice.ts';
import type { Tables } from '../platform/database/types.ts';

/**
 * Writes a notice for staff. If a notice of the same cause (kind, subject and params) is open, increases its count and replaces
 * its remedy instead. With `once`, writes nothing if there was ever a notice of the same cause.
 */
export async function notifyStaff(
  trx: Kysely<Tables>,
  { kind, subject, params, remedy }: Notice,
  { once = false } = {},
): Promise<void> {
  const told = JSON.stringify(params);
  await sql`
    insert into staff_notice (kind, session_uuid, params, remedy)
    select ${kind}, ${subject}::uuid, ${told}::jsonb, ${remedy && JSON.stringify(remedy)}::jsonb
    where not ${once} or not exists (select from staff_notice where kind = ${kind}
      and session_uuid is not distinct from ${subject}::uuid and params = ${told}::jsonb)
    on conflict (kind, session_uuid, md5(params::text)) where ended_at is null
    do update set count = staff_notice.count + 1, last_seen_at = now(), remedy = excluded.remedy`.execute(
    trx,
  );
}

/**
 * Ends the open notices of these kinds, because their cause is repaired. With `subjects`, only notices about these joins. With
 * `about`, only notices whose params contain it. With `unlike`, only notices whose params differ from it.
 */
export async function endNotices(
  trx: Kysely<Tables>,
  kinds: readonly NoticeKind[],
  {
    subjects = null,
    about = {},
    unlike = null,
  }: { subjects?: readonly string[] | null; about?: object; unlike?: object | null } = {},
): Promise<void> {
  await sql`
    update staff_notice set ended_at = now()
    where ended_at is null and kind = any(${kinds}::text[]) and (${subjects}::uuid[] is null or session_uuid = any(${subjects}::uuid[]))
      and params @> ${JSON.stringify(about)}::jsonb and params is distinct from ${unlike && JSON.stringify(unlike)}::jsonb`.execute(
    trx,
  );
}
