import { sql } from 'kysely';
import type { Notice, NoticeKind } from '#core/notice.ts';
import type { Deps } from '../../apps/server/deps.ts';
import { noticeSentence } from '../../apps/staff/sentences/notices.ts';
import type { TestServer } from './testServer.ts';

/** Returns the row of a join. */
export const joinRow = ({ deps }: TestServer, uuid: string) =>
  deps.database.selectFrom('join_session').selectAll().where('uuid', '=', uuid).executeTakeFirstOrThrow();

/** Returns a list with the time at which a join was erased; an empty list if its row is gone. */
export const erasedRows = ({ deps }: TestServer, uuid: string) =>
  deps.database.selectFrom('join_session').select('erased_at').where('uuid', '=', uuid).execute();

/** Returns the row of a payment. */
export const paymentRow = ({ deps }: TestServer, intentId: string) =>
  deps.database.selectFrom('payment').selectAll().where('intent_id', '=', intentId).executeTakeFirstOrThrow();

export const stateOf = async (server: TestServer, uuid: string) => (await joinRow(server, uuid)).state;

/** Returns the memberships that a join has bought, including its upgrade. */
export function membershipsOf({ deps }: TestServer, uuid: string) {
  return deps.database
    .selectFrom('membership')
    .leftJoin('person', 'person.id', 'person_id')
    .selectAll('membership')
    .select('contact_id')
    .where('session_uuid', '=', uuid)
    .orderBy('membership.id')
    .execute();
}

type WithDatabase = { deps: Pick<Deps, 'database'> };

/**
 * Returns the sentences that staff read of the notices, open or ended, the oldest first: of all notices, of those about a join,
 * or of those of a kind.
 */
export async function staffNotices(
  { deps }: WithDatabase,
  { uuid, kind }: { uuid?: string; kind?: NoticeKind } = {},
): Promise<string[]> {
  const { rows } = await sql<Notice>`
    select kind, session_uuid as subject, params, remedy from staff_notice
    where (${uuid ?? null}::uuid is null or session_uuid = ${uuid ?? null}::uuid) and (${kind ?? null}::text is null or kind = ${kind ?? null})
    order by id`.execute(deps.database);
  return rows.map(noticeSentence);
}

/** Returns the sentences that staff read of the notices about a join, the oldest first. */
export function noticesOf(server: WithDatabase, uuid: string): Promise<string[]> {
  return staffNotices(server, { uuid });
}

/** Writes a notice with this text, dated now or earlier. */
export async function writeNotice({ deps }: WithDatabase, text: string, ago = '0 days'): Promise<void> {
  const at = sql`now() - ${ago}::interval`;
  await sql`
    insert into staff_notice (kind, params, created_at, last_seen_at)
    values ('provider_trouble', jsonb_build_object('text', ${text}::text), ${at}, ${at})`.execute(
    deps.database,
  );
}
