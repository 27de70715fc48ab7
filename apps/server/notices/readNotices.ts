import type { Database } from '../platform/database/client.ts';

/** Returns the notices to staff since a time, the oldest first. */
export function readNotices(database: Database, since: Date) {
  return database
    .selectFrom('staff_notice')
    .select(['created_at', 'session_uuid', 'message'])
    .where('created_at', '>=', since)
    .orderBy('id')
    .execute();
}
