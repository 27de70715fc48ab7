import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import { type Assignment, assignRefund, possibleAssignments } from '#core/dashboardRefunds.ts';
import { displayPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { RefundedLine } from '#core/refunds.ts';
import { endNotices } from '../../letters/notifyStaff.ts';
import { isUuid } from '../../platform/database/isUuid.ts';
import { transaction } from '../../platform/database/transaction.ts';
import type { Tables } from '../../platform/database/types.ts';
import type { Deps } from '../deps.ts';
import { lockSession, recount } from './followPayment.ts';
import { paidOrders, type SettledOrder } from './paidOrders.ts';
import { NotRefundable } from './refundJoin.ts';

/** A refund made outside Induct, or a lost dispute, with the lines that it is assigned to. */
interface Assigned {
  amountCents: number;
  intentId: string;
  lines: RefundedLine[];
  /** The lines that staff had assigned it to before; null if they had not. */
  before: RefundedLine[] | null;
}

/**
 * Records which lines a refund made outside Induct, or a lost dispute, was for, according to staff, even if its amount suggests
 * other lines. Updates the membership's standing. `refund` is our uuid or Stripe's id of the refund. With `isTrial`, changes
 * nothing. Throws {@link NotRefundable} if the assignment is impossible, or if its result now differs from `seen`, the result of
 * a trial.
 */
export async function assignRefundLines(
  deps: Deps,
  refund: string,
  assignment: Assignment,
  { isTrial = false, seen }: { isTrial?: boolean; seen?: Assigned } = {},
): Promise<Assigned> {
  return transaction(deps, async (trx) => {
    const { intentId } = await findElsewhere(trx, refund);
    const session = await lockSession(trx, intentId);
    const { uuid, amountCents, before } = await findElsewhere(trx, refund);
    const order = await orderOf(deps, trx, intentId, refund);
    const lines = assignRefund(order, { uuid, amountCents }, assignment);
    if (typeof lines === 'string') throw new NotRefundable(lines);
    const assigned = { amountCents, intentId, lines, before };
    if (isTrial) return assigned;
    if (seen && !isDeepStrictEqual(seen, assigned))
      throw new NotRefundable('What it can be for has changed since it was shown. Please look again.');
    await trx
      .updateTable('refund')
      .set({ lines: JSON.stringify(lines), assigned_at: sql`now()`, updated_at: sql`now()` })
      .where('uuid', '=', uuid)
      .execute();
    await endNotices(trx, ['refund_elsewhere'], { about: { refund: uuid } });
    await recount(deps, trx, session, intentId);
    return assigned;
  });
}

/**
 * Reads a refund made outside Induct, or a lost dispute, and the order of its payment, so that staff can assign it to lines.
 * Throws like {@link assignRefundLines}.
 */
export async function readAssignable(
  deps: Deps,
  refund: string,
): Promise<{
  uuid: string;
  amountCents: number;
  isDispute: boolean;
  before: RefundedLine[] | null;
  order: SettledOrder;
}> {
  const { intentId, ...found } = await findElsewhere(deps.database, refund);
  return { ...found, order: await orderOf(deps, deps.database, intentId, refund) };
}

/** The meaning of the choice "nothing", for staff. */
export const FOR_NOTHING = 'nothing that was bought: everybody keeps what they have';

/** Returns the sentence that says how much was refunded outside Induct or lost by a dispute. */
export function elsewhereSentence({
  amountCents,
  isDispute,
  order,
}: Pick<Awaited<ReturnType<typeof readAssignable>>, 'amountCents' | 'isDispute' | 'order'>): string {
  return `${displayPrice(amountCents)} of ${order.intentId} was ${isDispute ? 'lost by a dispute' : 'refunded outside Induct'}.`;
}

/**
 * Returns what a refund made outside Induct, or a lost dispute, may have been for: each choice with the lines of the order, and
 * their names and prices.
 */
export function choicesOf({
  uuid,
  amountCents,
  order,
}: Pick<Awaited<ReturnType<typeof readAssignable>>, 'uuid' | 'amountCents' | 'order'>): {
  names: string;
  lines: OrderLine[];
}[] {
  return possibleAssignments(order, { uuid, amountCents }).map((parts) => {
    const lines = parts.map(({ line }) => order.lines[line]!);
    const names = lines.map(({ name, priceCents }, at) => {
      const backCents = priceCents - parts[at]!.cents;
      return `${name}  ${displayPrice(priceCents)}${backCents > 0 ? `, ${displayPrice(backCents)} refunded` : ''}`;
    });
    return { names: names.join(' and '), lines };
  });
}

async function findElsewhere(database: Kysely<Tables>, refund: string) {
  const found = await database
    .selectFrom('refund')
    .select([
      'uuid',
      'intent_id as intentId',
      'reason',
      'amount_cents as amountCents',
      'is_dispute as isDispute',
      sql<RefundedLine[] | null>`case when assigned_at is not null then lines end`.as('before'),
    ])
    .where(isUuid(refund) ? 'uuid' : 'stripe_id', '=', refund)
    .executeTakeFirst();
  if (!found) throw new NotRefundable(`There is no refund ${refund}.`);
  const { reason, ...elsewhere } = found;
  if (reason !== 'dashboard')
    throw new NotRefundable(`Refund ${refund} was made here: what it was for is known.`);
  return elsewhere;
}

async function orderOf(
  deps: Deps,
  database: Kysely<Tables>,
  intentId: string,
  refund: string,
): Promise<SettledOrder> {
  const [order] = await paidOrders(deps, database, [intentId]);
  if (order?.status !== 'succeeded')
    throw new NotRefundable(`Payment ${intentId} bought nothing that refund ${refund} could be for.`);
  return order;
}
