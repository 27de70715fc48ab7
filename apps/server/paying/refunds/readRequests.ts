import { type Kysely, sql } from 'kysely';
import type { Asked } from '#core/refundRequest.ts';
import type { Tables } from '../../platform/database/types.ts';
import { fullName } from '../../session/person.ts';

/** A member's request for a refund, as staff see it. `isOpen`: whether it waits for their answer. */
export interface RefundRequest {
  uuid: string;
  askedAt: Date;
  amountCents: number;
  asked: Asked;
  isOpen: boolean;
  /** The name of the member of staff who declined it; null if nobody did. */
  declinedBy: string | null;
}

/** SQL for the sum (cents) of the join's refunds since the query's `refund_request` was made. */
const returnedSince = sql`(
  select coalesce(sum(refund.amount_cents), 0) from payment join refund using (intent_id)
  where payment.session_uuid = refund_request.session_uuid and refund.created_at >= refund_request.created_at
    and refund.status not in ('failed', 'canceled'))`;

/**
 * SQL for whether the query's `refund_request` waits for an answer: it was not declined, the join still has a held membership or
 * upgrade, and less than the requested amount was refunded since.
 */
export const isOpenRequest = sql<boolean>`(declined_at is null and exists (
  select from membership held where held.session_uuid = refund_request.session_uuid and held.is_held)
  and refund_request.amount_cents > ${returnedSince})`;

const request = sql`
  session_uuid as uuid, asked, refund_request.created_at as "askedAt", refund_request.amount_cents as "amountCents", ${isOpenRequest} as "isOpen", declined_by as "declinedBy"`;

/** Returns a join's request; null if there is none. */
export async function readRequest(database: Kysely<Tables>, uuid: string): Promise<RefundRequest | null> {
  return (await readRequests(database, [uuid]))[0] ?? null;
}

/** Returns the requests for these joins. */
export async function readRequests(
  database: Kysely<Tables>,
  joins: readonly string[],
): Promise<RefundRequest[]> {
  const { rows } = await sql<RefundRequest>`
    select ${request} from refund_request where session_uuid = any(${joins}::uuid[]) order by created_at`.execute(
    database,
  );
  return rows;
}

/** Returns the requests that wait for an answer, the oldest first, each with the joiner's name if it is known. */
export async function listRequests(
  database: Kysely<Tables>,
): Promise<(RefundRequest & { name: string | null })[]> {
  const { rows } = await sql<RefundRequest & { name: string | null }>`
    select ${request}, ${fullName} as name
    from refund_request join join_session session on uuid = session_uuid left join person on person.id = session.person_id
    where ${isOpenRequest} order by refund_request.created_at`.execute(database);
  return rows;
}

/** Returns the times of the requests that wait for an answer, the oldest first, at most `most`. */
export async function openRequests(database: Kysely<Tables>, most: number): Promise<Date[]> {
  const { rows } = await sql<{ created_at: Date }>`
    select created_at from refund_request where ${isOpenRequest} order by created_at limit ${most}`.execute(
    database,
  );
  return rows.map(({ created_at }) => created_at);
}
