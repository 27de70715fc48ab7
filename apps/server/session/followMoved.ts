import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../platform/database/types.ts';

/** Moves the memberships of persons (`from` is SQL for their ids) to the persons of the joins that bought them. */
export async function followMoved(trx: Kysely<Tables>, from: RawBuilder<unknown>): Promise<void> {
  await sql`
    update membership set person_id = join_session.person_id from join_session
    where membership.person_id in ${from} and uuid = session_uuid and join_session.person_id is distinct from membership.person_id`.execute(
    trx,
  );
}
