import { type Kysely, sql, type Transaction } from 'kysely';
import { isMembershipType } from '#core/product.ts';
import type { SnapshotItem, Tables } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import type { Intent } from '../stripe/provider.ts';

/** What became of the intent: Stripe's status, or that it is not ours, or that its money went back. */
export type PaymentOutcome = Intent['status'] | 'foreign' | 'refunded';

/**
 * The only way to paid. The return page, the webhook and the sweep all call it, in any order and any number of times.
 * Asks Stripe, checks that the intent is ours and that what was received is what its snapshot says, then writes
 * payment, membership and what must follow in one transaction under a row lock. What is confirmed is the snapshot
 * that was paid, whatever happened to the session since.
 */
export async function confirmPayment(deps: Deps, intentId: string): Promise<PaymentOutcome> {
  const intent = await deps.payments.retrieveIntent(intentId);
  const { app, environment, session: uuid, kind, revision } = intent.metadata;
  if (
    app !== 'induct' ||
    environment !== deps.environment ||
    !uuid ||
    (kind !== 'join' && kind !== 'upgrade')
  )
    return 'foreign';
  if (intent.status === 'canceled') await markCanceled(deps.database, intentId);
  if (intent.status !== 'succeeded') return intent.status;

  const outcome = await deps.database.transaction().execute(async (trx) => {
    const session = await trx
      .selectFrom('join_session')
      .select(['uuid', 'state', 'contact_id', 'upgrade'])
      .where('uuid', '=', uuid)
      .forUpdate()
      .executeTakeFirst();
    const snapshot = await trx
      .selectFrom('order_snapshot')
      .select(['amount_cents', 'items'])
      .where('session_uuid', '=', uuid)
      .where('kind', '=', kind)
      .where('revision', '=', Number(revision))
      .executeTakeFirst();
    if (!session || !snapshot)
      throw new Error(`intent ${intentId} names a session or snapshot that does not exist`);
    if (intent.currency !== 'usd' || intent.amountReceivedCents !== snapshot.amount_cents)
      throw new Error(
        `intent ${intentId} received ${intent.amountReceivedCents} ${intent.currency}, its snapshot says ${snapshot.amount_cents} usd`,
      );

    const payment = await trx
      .selectFrom('payment')
      .select('status')
      .where('intent_id', '=', intentId)
      .executeTakeFirst();
    if (payment?.status === 'refunded') return 'refunded';
    if (payment?.status === 'refund_due') return 'duplicate';
    if (payment?.status === 'succeeded') return 'succeeded';
    await recordSuccess(trx, intent, { uuid, kind, revision: Number(revision) });

    const bought = snapshot.items.find(({ type }) => isMembershipType(type));
    if (!bought) throw new Error(`the snapshot of intent ${intentId} has no membership`);
    const isSecond = kind === 'join' ? session.state === 'paid' : session.upgrade === 'taken';
    if (isSecond || (await holds(trx, session.contact_id, bought))) {
      // Written before the refund is asked for: a crash in between leaves the debt on record.
      await trx
        .updateTable('payment')
        .set({ status: 'refund_due' })
        .where('intent_id', '=', intentId)
        .execute();
      return 'duplicate';
    }

    await trx
      .insertInto('membership')
      .values({
        session_uuid: uuid,
        contact_id: session.contact_id,
        product_id: bought.productId,
        type: bought.type as 'membership' | 'membership_upgrade',
        payment_intent: intentId,
      })
      .execute();
    await trx
      .updateTable('join_session')
      .set({
        ...(kind === 'join'
          ? { state: 'paid', paid_at: sql`now()`, paying_since: null }
          : { upgrade: 'taken' }),
        profile_revision: sql`profile_revision + 1`,
        crm_next_try_at: sql`now()`,
        updated_at: sql`now()`,
      })
      .where('uuid', '=', uuid)
      .execute();
    return 'succeeded';
  });
  if (outcome === 'duplicate') return refundDuplicate(deps, intent, uuid, kind);
  return outcome;
}

/** The session row is locked first, so of two payments of one contact the second sees the first's membership. */
async function holds(
  trx: Transaction<Tables>,
  contactId: string | null,
  bought: SnapshotItem,
): Promise<boolean> {
  if (contactId === null) return false;
  // Two sessions of one contact are two rows: their common lock is the contact.
  await trx.selectFrom('contact').select('id').where('id', '=', contactId).forUpdate().execute();
  const held = await trx
    .selectFrom('membership')
    .select('id')
    .where('contact_id', '=', contactId)
    .where('type', '=', bought.type as 'membership' | 'membership_upgrade')
    .where('standing', '=', 'active')
    .executeTakeFirst();
  return held !== undefined;
}

async function recordSuccess(
  trx: Transaction<Tables>,
  intent: Intent,
  { uuid, kind, revision }: { uuid: string; kind: 'join' | 'upgrade'; revision: number },
): Promise<void> {
  const settled = {
    status: 'succeeded' as const,
    amount_cents: intent.amountReceivedCents,
    revision,
    payment_method_id: intent.paymentMethodId,
    card_brand: intent.card?.brand ?? null,
    card_last4: intent.card?.last4 ?? null,
    succeeded_at: sql<Date>`now()`,
    updated_at: sql<Date>`now()`,
  };
  await trx
    .insertInto('payment')
    .values({
      intent_id: intent.id,
      session_uuid: uuid,
      kind,
      // An intent whose row a crash kept us from writing: it counts after the others.
      attempt: sql<number>`(select count(*)::int + 1 from payment where session_uuid = ${uuid} and kind = ${kind})`,
      client_secret: intent.clientSecret,
      customer_id: intent.customerId ?? '',
      ...settled,
    })
    .onConflict((conflict) => conflict.column('intent_id').doUpdateSet(settled))
    .execute();
}

/** An intent counts as cancelled only when Stripe says so. */
export async function markCanceled(database: Kysely<Tables>, intentId: string): Promise<void> {
  await database
    .updateTable('payment')
    .set({ status: 'canceled', updated_at: sql`now()` })
    .where('intent_id', '=', intentId)
    .where('status', '=', 'open')
    .execute();
}

/** Money for something the payer already has goes back by itself, in full, and staff are told. */
async function refundDuplicate(
  deps: Deps,
  intent: Intent,
  uuid: string,
  kind: 'join' | 'upgrade',
): Promise<PaymentOutcome> {
  await deps.payments.refund({
    intentId: intent.id,
    amountCents: intent.amountReceivedCents,
    reason: 'duplicate',
    idempotencyKey: `${deps.environment}-${intent.id}-refund-duplicate`,
  });
  await deps.database.transaction().execute(async (trx) => {
    await trx
      .updateTable('payment')
      .set({ status: 'refunded', refunded_cents: intent.amountReceivedCents, updated_at: sql`now()` })
      .where('intent_id', '=', intent.id)
      .execute();
    await trx
      .insertInto('staff_notice')
      .values({
        kind: 'duplicate_payment',
        session_uuid: uuid,
        message: `Payment ${intent.id} was for a ${kind === 'join' ? 'membership' : 'membership upgrade'} that the payer already holds. It was refunded in full.`,
      })
      .execute();
    if (kind === 'join')
      await trx
        .updateTable('join_session')
        .set({ state: 'ordering', paying_since: null, updated_at: sql`now()` })
        .where('uuid', '=', uuid)
        .where('state', '=', 'paying')
        .execute();
  });
  return 'refunded';
}
