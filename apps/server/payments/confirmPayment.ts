import { sql, type Transaction } from 'kysely';
import { displayPrice } from '#core/money.ts';
import { isMembershipType } from '#core/product.ts';
import type { PaidLine } from '#core/refunds.ts';
import type { Tables } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import type { Intent } from '../stripe/provider.ts';
import { markCanceled } from './cancelIntent.ts';
import { followPayment } from './followPayment.ts';
import { giveBack, promiseRefund } from './giveBack.ts';

/** What became of the intent: Stripe's status, or that it is not ours, or that its money goes back. */
export type PaymentOutcome = Intent['status'] | 'foreign' | 'refunded';

/** Which order an intent is for, as its metadata says. */
export interface IntentOf {
  uuid: string;
  kind: 'join' | 'upgrade';
  revision: number;
}

/** Null when the intent is another app's or another environment's on the same Stripe account. */
export function intentOf(
  deps: Pick<Deps, 'environment'>,
  { metadata }: Pick<Intent, 'metadata'>,
): IntentOf | null {
  const { app, environment, session: uuid, kind, revision } = metadata;
  if (app !== 'induct' || environment !== deps.environment || !uuid) return null;
  return kind === 'join' || kind === 'upgrade' ? { uuid, kind, revision: Number(revision) } : null;
}

/**
 * The only way to paid. The return page, the webhook and the sweep all call it, in any order and any number of times.
 * Asks Stripe, checks that the intent is ours and that what was received is what its snapshot says, then writes
 * payment, membership and what must follow in one transaction under a row lock. What is confirmed is the snapshot
 * that was paid, whatever happened to the session since.
 */
export async function confirmPayment(deps: Deps, intentId: string): Promise<PaymentOutcome> {
  const intent = await deps.payments.retrieveIntent(intentId);
  const of = intentOf(deps, intent);
  if (!of) return 'foreign';
  if (intent.status === 'canceled') await markCanceled(deps.database, intentId);
  if (intent.status !== 'succeeded') return intent.status;

  const outcome = await deps.database.transaction().execute(async (trx) => {
    const session = await trx
      .selectFrom('join_session')
      .select(['uuid', 'contact_id'])
      .where('uuid', '=', of.uuid)
      .forUpdate()
      .executeTakeFirst();
    const snapshot = await trx
      .selectFrom('order_snapshot')
      .select(['amount_cents', 'items'])
      .where('session_uuid', '=', of.uuid)
      .where('kind', '=', of.kind)
      .where('revision', '=', of.revision)
      .executeTakeFirst();
    if (!session || !snapshot)
      throw new Error(`intent ${intentId} names a session or snapshot that does not exist`);
    if (intent.currency !== 'usd' || intent.amountReceivedCents !== snapshot.amount_cents)
      throw new Error(
        `intent ${intentId} received ${intent.amountReceivedCents} ${intent.currency}, its snapshot says ${snapshot.amount_cents} usd`,
      );
    const bought = snapshot.items.find(({ type }) => isMembershipType(type));
    if (!bought) throw new Error(`the snapshot of intent ${intentId} has no membership`);

    const { rows } = await sql<{ status: string; has_membership: boolean }>`
      select status, exists (select from membership where payment_intent = intent_id) as has_membership
      from payment where intent_id = ${intentId}`.execute(trx);
    const payment = rows[0];
    if (payment?.status === 'duplicate') return 'refunded';
    if (payment?.status === 'succeeded' && payment.has_membership) return 'succeeded';

    const unwanted = await whyUnwanted(trx, session, intentId, of.kind, bought);
    await recordSuccess(trx, intent, of, unwanted ? 'duplicate' : 'succeeded');
    if (unwanted) {
      await promiseRefund(trx, { intentId, amountCents: intent.amountReceivedCents, reason: 'duplicate' });
      await trx
        .insertInto('staff_notice')
        .values({
          kind: 'duplicate_payment',
          session_uuid: of.uuid,
          message: `Payment ${intentId} of ${displayPrice(intent.amountReceivedCents)} ${unwanted} It goes back in full.`,
        })
        .execute();
      // The order is open again; whoever tries to pay it learns that the membership is held.
      await trx
        .updateTable('join_session')
        .set({ state: 'ordering', paying_since: null, updated_at: sql`now()` })
        .where('uuid', '=', of.uuid)
        .where('state', '=', 'paying')
        .execute();
      return 'refunded';
    }

    await trx
      .insertInto('membership')
      .values({
        session_uuid: of.uuid,
        contact_id: session.contact_id,
        product_id: bought.productId,
        type: bought.type as 'membership' | 'membership_upgrade',
        payment_intent: intentId,
      })
      .execute();
    await trx
      .updateTable('join_session')
      .set({
        ...(of.kind === 'join'
          ? { state: 'paid', paid_at: sql`now()`, paying_since: null }
          : { upgrade: 'taken' }),
        profile_revision: sql`profile_revision + 1`,
        crm_next_try_at: sql`now()`,
        updated_at: sql`now()`,
      })
      .where('uuid', '=', of.uuid)
      .execute();
    return 'succeeded';
  });

  // The payment stands as it is written; what goes back, or went back meanwhile, is done again by the sweep if it fails.
  const { charge } = intent;
  try {
    if (outcome === 'refunded') await giveBack(deps, intentId);
    else if (charge && (charge.refundedCents > 0 || charge.isDisputed)) await followPayment(deps, intentId);
  } catch (error) {
    deps.log.error({ err: error, intent: intentId }, 'money could not be given back yet');
  }
  return outcome;
}

/** Why a payment buys nothing, as a part of a sentence to staff; null when it buys what it is for. */
async function whyUnwanted(
  trx: Transaction<Tables>,
  session: { uuid: string; contact_id: string | null },
  intentId: string,
  kind: 'join' | 'upgrade',
  bought: PaidLine,
): Promise<string | null> {
  const what = kind === 'join' ? 'a membership' : 'a membership upgrade';
  const earlier = await trx
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', session.uuid)
    .where('kind', '=', kind)
    .where('status', '=', 'succeeded')
    .where('intent_id', '<>', intentId)
    .executeTakeFirst();
  if (earlier) return `was a second one for ${what} that this join has already paid for.`;
  if (session.contact_id !== null) {
    // Two sessions of one contact are two rows: their common lock is the contact, so the second sees the first's membership.
    await trx.selectFrom('contact').select('id').where('id', '=', session.contact_id).forUpdate().execute();
    const held = await trx
      .selectFrom('membership')
      .select('id')
      .where('contact_id', '=', session.contact_id)
      .where('type', '=', bought.type as 'membership' | 'membership_upgrade')
      .where('is_held', '=', true)
      .executeTakeFirst();
    if (held) return `was for ${what} that contact ${session.contact_id} already holds by another join.`;
  }
  if (kind === 'join') return null;
  const base = await trx
    .selectFrom('membership')
    .select('id')
    .where('session_uuid', '=', session.uuid)
    .where('is_held', '=', true)
    .executeTakeFirst();
  return base ? null : 'was for the upgrade of a membership that has ended meanwhile.';
}

/** Writes that an intent was paid, whether or not we had a row of it. */
export async function recordSuccess(
  trx: Transaction<Tables>,
  intent: Intent,
  { uuid, kind, revision }: IntentOf,
  status: 'succeeded' | 'duplicate',
): Promise<void> {
  const settled = {
    status,
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
    .values({ ...unwritten(intent, { uuid, kind, revision }), ...settled })
    .onConflict((conflict) => conflict.column('intent_id').doUpdateSet(settled))
    .execute();
}

/** The row of an intent that a crash kept us from writing: it counts after the others. */
export function unwritten(intent: Intent, { uuid, kind, revision }: IntentOf) {
  return {
    intent_id: intent.id,
    session_uuid: uuid,
    kind,
    attempt: sql<number>`(select coalesce(max(attempt), 0) + 1 from payment where session_uuid = ${uuid} and kind = ${kind})`,
    client_secret: intent.clientSecret,
    customer_id: intent.customerId ?? '',
    amount_cents: intent.amountCents,
    revision,
  };
}
