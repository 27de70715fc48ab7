import { type Kysely, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/**
 * Writes a notice to staff about a problem that lasts and may be found many times: the same text is written at most once a day.
 */
export async function tellStaff(
  trx: Kysely<Tables>,
  sessionUuid: string | null,
  kind: string,
  message: string,
): Promise<void> {
  await sql`
    insert into staff_notice (kind, session_uuid, message)
    select ${kind}, ${sessionUuid}, ${message}
    where not exists (
      select from staff_notice where session_uuid is not distinct from ${sessionUuid}::uuid and kind = ${kind}
        and message = ${message} and created_at > now() - interval '1 day')`.execute(trx);
}

/** Writes a notice about a single event, even if the same text was written before on the same day. */
export async function tellStaffOfEvent(
  trx: Kysely<Tables>,
  sessionUuid: string,
  kind: string,
  message: string,
): Promise<void> {
  await trx.insertInto('staff_notice').values({ kind, session_uuid: sessionUuid, message }).execute();
}
