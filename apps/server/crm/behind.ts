import { sql } from 'kysely';
import type { Database } from '../platform/database/client.ts';
import { deliveriesOf, tellersOf } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { tokensNow } from './hubspot/budget.ts';

/** How much waits to be sent to HubSpot, and how many calls HubSpot still allows. */
export interface Behind {
  /** Persons whose data wait to be sent, and for how many minutes the oldest of them has waited. */
  joins: number;
  waitingMinutes: number | null;
  refused: number;
  /** Contacts in the mirror, and the time up to which it has all changes in HubSpot; null before it has read all contacts. */
  mirrored: number;
  syncedAt: Date | null;
  /** Documents to be attached, and those that HubSpot refuses. */
  documents: number;
  documentsRefused: number;
  /** For each kind of call: the tokens left, the seconds for which calls are paused, and the consecutive failures. */
  budget: { name: string; tokens: number; blockedSeconds: number; failures: number }[];
}

export async function howFarBehind({ database }: Pick<Deps, 'database'>): Promise<Behind> {
  const { rows } = await sql<Omit<Behind, 'budget'>>`
    select count(*) filter (where due_at is not null and refusal is null)::int as joins,
      ceil(extract(epoch from now() - min(due_since) filter (where refusal is null)) / 60)::int as "waitingMinutes",
      count(*) filter (where refusal is not null)::int as refused,
      (select count(*)::int from document where crm_next_try_at is not null and crm_refusal is null and review <> 'rejected'
        and (removed_at is null or crm_file_id is not null)) as documents,
      (select count(*)::int from document where crm_refusal is not null) as "documentsRefused",
      (select count(*)::int from person where contact_id is not null) as mirrored,
      (select reached_at from schedule where name = 'contacts sync' and cursor is null) as "syncedAt"
    from crm_delivery`.execute(database);
  const budget = await sql<Behind['budget'][number]>`
    select name, floor(case name when 'call' then ${tokensNow('call')} else ${tokensNow('search')} end)::int as tokens,
      case when blocked_until > now() then ceil(extract(epoch from blocked_until - now()))::int else 0 end as "blockedSeconds", failures
    from crm_budget order by name`.execute(database);
  return { ...rows[0]!, budget: budget.rows };
}

/** A refusal by HubSpot: the join or contact (`who`), the refused record (`what`), and HubSpot's reason. */
export interface RefusedTelling {
  who: string;
  what: string;
  reason: string;
}

/** Returns HubSpot's refusals of persons and documents, at most `most`, the newest first. */
export async function refusedByHubspot(database: Database, most: number): Promise<RefusedTelling[]> {
  const { rows } = await sql<RefusedTelling>`
    select coalesce((select uuid::text from join_session where join_session.person_id = person.id order by paid_at desc nulls last, created_at desc limit 1),
        'contact ' || contact_id) as who, coalesce('contact ' || contact_id, 'new contact') as what, refusal as reason, due_since as at
    from crm_delivery join person on person.id = person_id where refusal is not null
    union all
    select coalesce(session_uuid::text, 'resume of contact ' || (select contact_id from person where person.id = person_id)), 'document ' || id, crm_refusal, created_at
    from document where crm_refusal is not null
    order by at desc limit ${most}`.execute(database);
  return rows.map(({ who, what, reason }) => ({ who, what, reason }));
}

/** What is sent to HubSpot again: everything that it refused, or the data of a join or of persons. */
export type Again = 'all' | { join: string } | { persons: readonly number[] };

/**
 * Makes what HubSpot refused due to be sent again. The data of a join or of persons are sent again even if they were not refused.
 * Returns the number of persons and documents.
 */
export async function sendAgainToHubspot(database: Database, which: Again): Promise<number> {
  const isAll = which === 'all';
  const joins = isAll
    ? sql`(select null::uuid where false)`
    : 'join' in which
      ? sql`(select uuid from join_session where uuid::text = ${which.join})`
      : sql`(select uuid from join_session where person_id = any(${which.persons}::bigint[]))`;
  const tellers =
    !isAll && 'persons' in which
      ? tellersOf(sql`(select unnest(${which.persons}::bigint[]))`)
      : deliveriesOf(joins);
  const resumes = !isAll && 'persons' in which ? which.persons : [];
  const { rows } = await sql`
    with documents as (
      update document set crm_refusal = null, crm_next_try_at = now()
      where crm_refusal is not null and (${isAll} or session_uuid in ${joins} or person_id = any(${resumes}::bigint[])) returning id
    ), told as (
      update crm_delivery set refusal = null, tries = 0, due_at = now(), due_since = coalesce(due_since, now())
      where case when ${isAll} then refusal is not null else person_id in ${tellers} end
      returning person_id
    )
    select from told union all select from documents`.execute(database);
  return rows.length;
}
