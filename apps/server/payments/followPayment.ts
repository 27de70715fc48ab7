import { type Kysely, type Selectable, sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import { type Dispute, type MembershipStanding, type PaidOrder, standingAfter } from '#core/refunds.ts';
import { tellHubspot } from '../contacts/tellHubspot.ts';
import { isUuid } from '../database/isUuid.ts';
import type { JoinSessionTable, RefundTable, Tables } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import { mirrorBought } from '../session/mirrorBought.ts';
import type { MoneyBack } from '../stripe/provider.ts';

/** More often than this an answer is not overtaken by another one. */
const ROUNDS = 10;

/**
 * Takes in what Stripe says has gone back of a payment, by refund or dispute, wherever it was made, and brings the
 * membership's standing to it. Level-triggered: what is asked is how it stands, so events may come in any order, twice
 * or not at all. Does nothing for an intent that is not ours or has not succeeded.
 */
export async function followPayment(deps: Deps, intentId: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await deps.database
      .selectFrom('payment')
      .select('followed')
      .where('intent_id', '=', intentId)
      .where('status', 'in', ['succeeded', 'duplicate'])
      .executeTakeFirst();
    if (!before) return;
    const money = await deps.payments.moneyBack(intentId);
    if (await write(deps, intentId, before.followed, money)) return;
  }
  throw new Error(`what went back of payment ${intentId} changes faster than it can be written`);
}

/** False when somebody wrote a later answer meanwhile: then this one is old. */
async function write(
  deps: Deps,
  intentId: string,
  followed: number,
  { refunds, dispute }: MoneyBack,
): Promise<boolean> {
  return deps.database.transaction().execute(async (trx) => {
    const session = await lockSession(trx, intentId);
    const payment = await trx
      .updateTable('payment')
      .set({ followed: followed + 1, dispute })
      .where('intent_id', '=', intentId)
      .where('followed', '=', followed)
      .returning('intent_id')
      .executeTakeFirst();
    if (!payment) return false;
    for (const refund of refunds) await takeIn(trx, session.uuid, intentId, refund);
    await recount(deps, trx, session, intentId);
    return true;
  });
}

export type LockedSession = Pick<Selectable<JoinSessionTable>, 'uuid' | 'programme' | 'contact_id'>;

/** The join session of a payment, locked: everything about its money is written one after the other. */
export async function lockSession(trx: Kysely<Tables>, intentId: string): Promise<LockedSession> {
  return await trx
    .selectFrom('join_session')
    .select(['uuid', 'programme', 'contact_id'])
    .where('uuid', '=', (row) =>
      row.selectFrom('payment').select('session_uuid').where('intent_id', '=', intentId),
    )
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/** Brings what hangs on a payment's refunds and dispute to how they are written now. */
export async function recount(
  deps: Deps,
  trx: Kysely<Tables>,
  session: LockedSession,
  intentId: string,
): Promise<void> {
  const [order] = await paidOrders(trx, [intentId]);
  if (!order) return;
  const refunded = order.refunds.filter(({ status }) => status === 'pending' || status === 'succeeded');
  await trx
    .updateTable('payment')
    .set({ refunded_cents: refunded.reduce((sum, { amountCents }) => sum + amountCents, 0) })
    .where('intent_id', '=', intentId)
    .execute();
  const standing = standingAfter(order, deps.society.programme(session.programme).processingFee);
  await bringStanding(trx, session, intentId, standing);
  await tellHubspot(trx, session.uuid);
}

/** Payments that succeeded, as the rules of refunds want to see them. */
export async function paidOrders(
  database: Kysely<Tables>,
  intentIds: readonly string[],
): Promise<(PaidOrder & { dispute: Dispute | null; status: 'succeeded' | 'duplicate' })[]> {
  const { rows } = await sql<PaidOrder & { dispute: Dispute | null; status: 'succeeded' | 'duplicate' }>`
    select payment.intent_id as "intentId", payment.kind, payment.status, items as lines,
      payment.amount_cents as "amountCents", dispute, coalesce((
        select json_agg(json_build_object('amountCents', refund.amount_cents, 'status', refund.status, 'lines', refund.lines) order by created_at)
        from refund where refund.intent_id = payment.intent_id), '[]') as refunds
    from payment join order_snapshot snapshot using (session_uuid, kind, revision)
    where payment.intent_id = any(${intentIds}) and status in ('succeeded', 'duplicate')
    order by payment.kind`.execute(database);
  return rows;
}

/** Stripe's refund into our row for it, or a new row when it was made elsewhere; then staff are told. */
async function takeIn(
  trx: Kysely<Tables>,
  sessionUuid: string,
  intentId: string,
  { id, amountCents, status, uuid }: MoneyBack['refunds'][number],
): Promise<void> {
  const known = await trx
    .selectFrom('refund')
    .select(['uuid', 'status'])
    .where('intent_id', '=', intentId)
    .where((row) =>
      row.or([row('stripe_id', '=', id), ...(uuid && isUuid(uuid) ? [row('uuid', '=', uuid)] : [])]),
    )
    .executeTakeFirst();
  if (known) {
    await trx
      .updateTable('refund')
      .set({ stripe_id: id, status, amount_cents: amountCents, updated_at: sql`now()` })
      .where('uuid', '=', known.uuid)
      .execute();
    if (status === 'failed' && known.status !== 'failed')
      await tell(
        trx,
        sessionUuid,
        'refund_failed',
        `The refund of ${displayPrice(amountCents)} of payment ${intentId} failed: the money is with us again.`,
      );
    return;
  }
  await trx
    .insertInto('refund')
    .values({
      intent_id: intentId,
      stripe_id: id,
      amount_cents: amountCents,
      reason: 'dashboard' satisfies RefundTable['reason'],
      status,
    })
    .execute();
  await tell(
    trx,
    sessionUuid,
    'refund_elsewhere',
    `${displayPrice(amountCents)} of payment ${intentId} was refunded outside Induct.`,
  );
}

const because: Record<MembershipStanding, string> = {
  active: 'is active again.',
  disputed: "is disputed: its payer's bank has taken the money back for now.",
  refunded: 'has ended: its money was refunded.',
  charged_back: 'has ended: a dispute over its money was lost.',
  void: 'has ended: nothing was paid for it.',
};

/** Writes how the membership of a payment stands now, when that has changed. HubSpot and staff are told. */
export async function bringStanding(
  trx: Kysely<Tables>,
  session: Pick<LockedSession, 'uuid' | 'contact_id'>,
  intentId: string,
  standing: MembershipStanding,
): Promise<void> {
  const membership = await trx
    .selectFrom('membership')
    .select(['id', 'type', 'is_held', 'standing'])
    .where('payment_intent', '=', intentId)
    .executeTakeFirst();
  if (!membership || membership.standing === standing) return;
  const comesBack = (standing === 'active' || standing === 'disputed') && !membership.is_held;
  if (comesBack && session.contact_id !== null) {
    await trx.selectFrom('contact').select('id').where('id', '=', session.contact_id).forUpdate().execute();
    const other = await trx
      .selectFrom('membership')
      .select('id')
      .where('contact_id', '=', session.contact_id)
      .where('type', '=', membership.type)
      .where('is_held', '=', true)
      .executeTakeFirst();
    if (other)
      return tell(
        trx,
        session.uuid,
        'held_twice',
        `The money of payment ${intentId} is with us again, but its contact ${session.contact_id} has joined anew meanwhile.`,
      );
  }
  await trx.updateTable('membership').set({ standing }).where('id', '=', membership.id).execute();
  if (membership.type === 'membership' && session.contact_id) await mirrorBought(trx, session.contact_id);
  await trx
    .updateTable('join_session')
    .set({ profile_revision: sql`profile_revision + 1`, crm_next_try_at: sql`now()`, updated_at: sql`now()` })
    .where('uuid', '=', session.uuid)
    .execute();
  const what = membership.type === 'membership' ? 'membership' : 'upgrade';
  await tell(trx, session.uuid, 'standing', `The ${what} paid for by ${intentId} ${because[standing]}`);
}

async function tell(trx: Kysely<Tables>, sessionUuid: string, kind: string, message: string): Promise<void> {
  // The same trouble, found again by another event, is told once.
  await sql`
    insert into staff_notice (kind, session_uuid, message)
    select ${kind}, ${sessionUuid}, ${message}
    where not exists (
      select from staff_notice where session_uuid = ${sessionUuid} and kind = ${kind} and message = ${message}
        and created_at > now() - interval '1 day')`.execute(trx);
}
