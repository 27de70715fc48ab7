import { type Kysely, sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import type { RefundedLine } from '#core/refunds.ts';
import type { RefundTable, Tables } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import { RefundRefused } from '../stripe/provider.ts';
import { followPayment } from './followPayment.ts';

/** Decides a refund, in the transaction of what it follows from. Stripe is asked after the commit: {@link giveBack}. */
export async function promiseRefund(
  trx: Kysely<Tables>,
  refund: {
    intentId: string;
    amountCents: number;
    reason: Exclude<RefundTable['reason'], 'dashboard'>;
    lines?: RefundedLine[];
  },
): Promise<void> {
  await trx
    .insertInto('refund')
    .values({
      intent_id: refund.intentId,
      amount_cents: refund.amountCents,
      reason: refund.reason,
      lines: refund.lines ? JSON.stringify(refund.lines) : null,
      status: 'due',
    })
    .execute();
}

/**
 * Makes the due refunds of a payment at Stripe. Safe to repeat after a crash at any point: what Stripe already has is
 * taken in first, by our uuid in its metadata, and the idempotency key is the row's. One that Stripe refuses for good is
 * failed, and staff are told.
 */
export async function giveBack(deps: Deps, intentId: string): Promise<void> {
  const due = await dueRefunds(deps, intentId);
  if (due.length === 0) return;
  // Asked before: an earlier round may have been cut off after Stripe made it, longer ago than Stripe keeps its keys.
  if (due.some(({ isOld }) => isOld)) await followPayment(deps, intentId);
  for (const { uuid, amount_cents, reason } of await dueRefunds(deps, intentId)) {
    try {
      await deps.payments.refund({
        intentId,
        amountCents: amount_cents,
        metadata: { app: 'induct', environment: deps.environment, refund: uuid, reason },
        idempotencyKey: `${deps.environment}-refund-${uuid}`,
      });
    } catch (error) {
      if (!(error instanceof RefundRefused)) throw error;
      await refused(deps, intentId, uuid, `${displayPrice(amount_cents)}: ${error.message}`);
    }
  }
  await followPayment(deps, intentId);
}

async function dueRefunds(deps: Deps, intentId: string) {
  return await deps.database
    .selectFrom('refund')
    .select([
      'uuid',
      'amount_cents',
      'reason',
      sql<boolean>`created_at < now() - interval '1 minute'`.as('isOld'),
    ])
    .where('intent_id', '=', intentId)
    .where('status', '=', 'due')
    .orderBy('created_at')
    .execute();
}

async function refused(deps: Deps, intentId: string, uuid: string, why: string): Promise<void> {
  await deps.database.transaction().execute(async (trx) => {
    const failed = await trx
      .updateTable('refund')
      .set({ status: 'failed', updated_at: sql`now()` })
      .where('uuid', '=', uuid)
      .where('status', '=', 'due')
      .returning('uuid')
      .executeTakeFirst();
    if (!failed) return;
    await trx
      .insertInto('staff_notice')
      .values((row) => ({
        kind: 'refund_refused',
        session_uuid: row.selectFrom('payment').select('session_uuid').where('intent_id', '=', intentId),
        message: `Stripe refuses to refund payment ${intentId} by ${why}`,
      }))
      .execute();
  });
}
