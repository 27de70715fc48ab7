import { sql } from 'kysely';
import { type StoryEvent, type StoryLine, storyLines } from '#core/story.ts';
import type { Deps } from './deps.ts';

/**
 * Returns the steps of a join, the oldest first: its start, taken from the join's row, and the recorded steps. The record of an
 * erased join was removed, so its earlier steps are derived from the rows that stay. Returns null if there is no such join.
 */
export async function readStory(
  { database }: Pick<Deps, 'database'>,
  uuid: string,
): Promise<StoryLine[] | null> {
  const session = await database
    .selectFrom('join_session')
    .select(['created_at', 'origin', 'programme', 'erased_at'])
    .where('uuid', '=', uuid)
    .executeTakeFirst();
  if (!session) return null;
  const recorded: StoryEvent[] = await database
    .selectFrom('join_event')
    .select(['at', 'step', 'cause', 'actor', 'detail'])
    .where('session_uuid', '=', uuid)
    .orderBy('id')
    .execute();
  const { created_at, origin, programme, erased_at } = session;
  if (erased_at === null)
    return storyLines([
      { at: created_at, step: 'started', cause: 'joiner', actor: null, detail: { origin, programme } },
      ...recorded,
    ]);
  const first = recorded[0]?.at.getTime() ?? Number.POSITIVE_INFINITY;
  const before = (await eventsFromRows(database, uuid)).filter(({ at }) => at.getTime() < first);
  return storyLines([...before, ...recorded]);
}

/** Derives a join's steps and their times from its rows. */
async function eventsFromRows(database: Deps['database'], uuid: string): Promise<StoryEvent[]> {
  const { rows } = await sql<Pick<StoryEvent, 'at' | 'step' | 'detail'>>`
    select created_at as at, 'started' as step, jsonb_build_object('origin', origin, 'programme', programme) as detail
      from join_session where uuid = ${uuid}
    union all select paid_at, 'paid', null from join_session where uuid = ${uuid} and paid_at is not null
    union all select created_at, 'intent_opened', jsonb_build_object('intent', intent_id, 'kind', kind, 'cents', amount_cents)
      from payment where session_uuid = ${uuid}
    union all select succeeded_at, case status when 'duplicate' then 'intent_duplicate' else 'intent_succeeded' end,
      jsonb_build_object('intent', intent_id, 'kind', kind, 'cents', amount_cents)
      from payment where session_uuid = ${uuid} and succeeded_at is not null
    union all select created_at, 'membership_active', jsonb_build_object('type', type) from membership where session_uuid = ${uuid}
    union all select refund.created_at, 'refund_decided', jsonb_build_object('intent', intent_id, 'cents', refund.amount_cents, 'reason', reason)
      from refund join payment using (intent_id) where session_uuid = ${uuid} and not is_dispute
    union all select refund.updated_at, 'refund_' || refund.status, jsonb_build_object('intent', intent_id, 'cents', refund.amount_cents, 'reason', reason)
      from refund join payment using (intent_id) where session_uuid = ${uuid} and refund.status <> 'due' and not is_dispute
    union all select created_at, 'document_uploaded', jsonb_build_object('kind', kind) from document where session_uuid = ${uuid}
    union all select reviewed_at, 'document_' || review, jsonb_build_object('reason', reason, 'isFinal', is_final)
      from document where session_uuid = ${uuid} and reviewed_at is not null
    order by at`.execute(database);
  return rows.map((row) => ({ ...row, cause: 'record', actor: null }));
}
