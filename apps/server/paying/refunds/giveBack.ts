import { type Kysely, sql } from 'kysely';
import type { Decided } from '#core/intentText.ts';
import { displayPrice } from '#core/money.ts';
import type { RefundedLine } from '#core/refunds.ts';
import { dueSecondPayment } from '../../letters/dueLetters.ts';
import { endNotices, notifyStaff } from '../../letters/notifyStaff.ts';
import { transaction } from '../../platform/database/transaction.ts';
import type { Tables } from '../../platform/database/types.ts';
import { ProviderFailed, RefundRefused } from '../../providers/stripe/failures.ts';
import type { Deps } from '../deps.ts';
import { followPayment, toDecideAgain, waitsSentence } from './followPayment.ts';

/** The outcome of decided refunds after the calls to Stripe. */
export interface Given {
  /** The sum, in cents, of the refunds that Stripe has accepted. */
  cents: number;
  /**
   * The sums, in cents, by outcome: refunds that Stripe is paying out or has paid out; refunds that wait here or at Stripe;
   * refunds that failed.
   */
  madeCents: number;
  waitingCents: number;
  refusedCents: number;
  /**
   * Sentences for staff. `notes`: about refunds that are still due, wait at Stripe or were dropped. `refused`: about refunds that
   * failed or that Stripe refused for good.
   */
  notes: string[];
  refused: string[];
}

/**
 * Records a refund as due, in the transaction of its cause. Returns its uuid. After the commit, {@link giveBack} asks Stripe to
 * make it.
 */
export async function promiseRefund(
  trx: Kysely<Tables>,
  refund: {
    intentId: string;
    amountCents: number;
    reason: Decided['reason'];
    lines?: RefundedLine[];
  },
): Promise<string> {
  const { uuid } = await trx
    .insertInto('refund')
    .values({
      intent_id: refund.intentId,
      amount_cents: refund.amountCents,
      reason: refund.reason,
      lines: refund.lines ? JSON.stringify(refund.lines) : null,
      status: 'due',
    })
    .returning('uuid')
    .executeTakeFirstOrThrow();
  const { intentId, amountCents } = refund;
  await endNotices(trx, ['refund_refused', 'refund_failed', 'refund_dropped'], {
    about: { intentId, amountCents },
  });
  await endNotices(trx, ['duplicate_payment'], { about: { intentId, isMadeAgain: true } });
  return uuid;
}

/** Records a due refund of `amountCents`, all that is left of a payment that bought nothing. Makes the letter about it due. */
export async function promiseReturn(
  trx: Kysely<Tables>,
  deps: Pick<Deps, 'config'>,
  sessionUuid: string,
  intentId: string,
  amountCents: number,
): Promise<void> {
  if (amountCents > 0) await promiseRefund(trx, { intentId, amountCents, reason: 'duplicate' });
  await dueSecondPayment(trx, deps, sessionUuid, intentId);
}

/**
 * Makes the due refunds of a payment at Stripe. {@link givenOf} and {@link watchRefunds} return the outcome.
 * - Safe to repeat after a crash at any point: refunds that Stripe already has are recognised by our uuid in their metadata, and
 *   the idempotency key consists of the row's uuid and its count of attempts.
 * - A refund that Stripe refuses for good is recorded as failed, with a notice. A refund that Stripe refuses only for now stays
 *   due and is retried in the background (books/sweep.ts).
 */
export async function giveBack(deps: Deps, intentId: string): Promise<void> {
  const due = await dueRefunds(deps, intentId);
  if (due.length === 0) return;
  // A process may have died after Stripe made the refund, so long ago that the idempotency key has expired. To prevent a second
  // refund, Stripe's refunds are read first.
  if (due.some(({ isOld, attempts }) => isOld || attempts > 0)) await followPayment(deps, intentId);
  for (const refund of await dueRefunds(deps, intentId)) {
    try {
      await deps.payments.refund({
        intentId,
        amountCents: refund.amount_cents,
        environment: deps.environment,
        uuid: refund.uuid,
        decided: { reason: refund.reason, lines: refund.lines },
        idempotencyKey: `${deps.environment}-refund-${refund.uuid}-${refund.attempts}`,
      });
    } catch (error) {
      if (error instanceof RefundRefused && error.isFinal) await refuse(deps, intentId, refund, error);
      else if (error instanceof RefundRefused) await countAttempt(deps, refund, error.message);
      else {
        if (error instanceof ProviderFailed) await countAttempt(deps, refund, null);
        throw error;
      }
    }
  }
  await followPayment(deps, intentId);
}

export function nothingGiven(): Given {
  return { cents: 0, madeCents: 0, waitingCents: 0, refusedCents: 0, notes: [], refused: [] };
}

/** Returns the outcome of the refunds with these uuids, which are ours. */
export async function givenOf(deps: Pick<Deps, 'database'>, uuids: readonly string[]): Promise<Given> {
  const given = nothingGiven();
  if (uuids.length === 0) return given;
  const rows = await deps.database
    .selectFrom('refund')
    .select(['intent_id', 'amount_cents', 'status', 'refusal', 'stripe_id'])
    .where('uuid', 'in', uuids)
    .orderBy('created_at')
    .execute();
  for (const { intent_id, amount_cents, status, refusal, stripe_id } of rows) {
    const amount = displayPrice(amount_cents);
    if (status === 'due') {
      given.waitingCents += amount_cents;
      given.notes.push(`${amount} stays due, and is tried again${refusal === null ? '.' : `: ${refusal}`}`);
    } else if (status === 'canceled' && stripe_id === null)
      given.notes.push(
        `The refund of ${amount} of payment ${intent_id} is dropped: money of that payment has gone back outside Induct.`,
      );
    else if (status === 'failed' || status === 'canceled') {
      given.refusedCents += amount_cents;
      given.refused.push(
        refusal === null
          ? `The refund of ${amount} of payment ${intent_id} failed: the money is with us again.`
          : refusedSentence(intent_id, amount_cents, refusal),
      );
    } else {
      given.cents += amount_cents;
      if (refusal === null) given.madeCents += amount_cents;
      else {
        given.waitingCents += amount_cents;
        given.notes.push(waitsSentence(intent_id, amount_cents, refusal));
      }
    }
  }
  return given;
}

/**
 * Remembers which of our refunds of a payment are not due any more. The returned function returns the outcome of all others: the
 * refunds that are due now, and those that are decided before the function is called.
 */
export async function watchRefunds(deps: Deps, intentId: string): Promise<() => Promise<Given>> {
  const ours = (now: 'over' | 'all') =>
    deps.database
      .selectFrom('refund')
      .select('uuid')
      .where('intent_id', '=', intentId)
      .where('reason', '<>', 'dashboard')
      .$if(now === 'over', (query) => query.where('status', '<>', 'due'))
      .execute();
  const over = new Set((await ours('over')).map(({ uuid }) => uuid));
  return async () =>
    givenOf(
      deps,
      (await ours('all')).map(({ uuid }) => uuid).filter((uuid) => !over.has(uuid)),
    );
}

function refusedSentence(intentId: string, amountCents: number, refusal: string): string {
  return `Stripe refuses to refund payment ${intentId} by ${displayPrice(amountCents)}: ${refusal}`;
}

type DueRefund = Awaited<ReturnType<typeof dueRefunds>>[number];

async function dueRefunds(deps: Deps, intentId: string) {
  return await deps.database
    .selectFrom('refund')
    .select([
      'uuid',
      'amount_cents',
      sql<Decided['reason']>`reason`.as('reason'),
      'lines',
      'attempts',
      sql<boolean>`created_at < now() - interval '1 minute'`.as('isOld'),
    ])
    .where('intent_id', '=', intentId)
    .where('status', '=', 'due')
    .orderBy('created_at')
    .execute();
}

async function refuse(deps: Deps, intentId: string, refund: DueRefund, error: Error): Promise<void> {
  await transaction(deps, async (trx) => {
    const failed = await trx
      .updateTable('refund')
      .set({ status: 'failed', refusal: error.message, updated_at: sql`now()` })
      .where('uuid', '=', refund.uuid)
      .where('status', '=', 'due')
      .returning('uuid')
      .executeTakeFirst();
    if (!failed) return;
    const payment = await trx
      .selectFrom('payment')
      .select('session_uuid')
      .where('intent_id', '=', intentId)
      .executeTakeFirstOrThrow();
    await notifyStaff(trx, {
      kind: 'refund_refused',
      subject: payment.session_uuid,
      params: { intentId, amountCents: refund.amount_cents, refusal: error.message },
      remedy: await toDecideAgain(trx, refund.uuid),
    });
  });
}

/**
 * Counts the attempt, so that the next attempt has another idempotency key: under the same key Stripe replays its answer, even an
 * error.
 */
async function countAttempt(
  deps: Deps,
  { uuid, attempts }: DueRefund,
  refusal: string | null,
): Promise<void> {
  await deps.database
    .updateTable('refund')
    .set({ attempts: attempts + 1, ...(refusal !== null && { refusal }) })
    .where('uuid', '=', uuid)
    .where('status', '=', 'due')
    .where('attempts', '=', attempts)
    .execute();
}
