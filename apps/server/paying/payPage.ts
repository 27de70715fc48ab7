import { sql } from 'kysely';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import { firstNameAndInitial } from '#core/firstNameAndInitial.ts';
import { ALREADY_PAID } from '#core/joinSession.ts';
import { displayPrice, shortPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { NOT_PAYABLE, PAID_ELSEWHERE, payerFaults } from '#core/payLink.ts';
import { isMembershipType } from '#core/product.ts';
import type { PaymentTable } from '../platform/database/types.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { payerConsentOf } from '../session/guardianConsent.ts';
import { fillIn, receiptNotes } from '../society/texts.ts';
import { freeze } from './beginPayment.ts';
import { tooManyDeclined } from './cardFailures.ts';
import { endChange, replaceOther } from './changeIntent.ts';
import { keepSnapshot } from './createPaymentIntent.ts';
import type { Deps } from './deps.ts';
import { isSameSecret, UNKNOWN_PAYMENT } from './handlePaymentReturn.ts';
import { lookAtPayment, recordedEnd } from './lookAtPayment.ts';
import { openIntent } from './openIntent.ts';
import { joinOfPayLink } from './payLinks.ts';
import { type Order, readOrder } from './readOrder.ts';
import { settlePaying } from './settlePaying.ts';

/** How often the order is read at most, if it changes while an intent is opened for it. */
const MOST_ROUNDS = 5;

/**
 * Returns the page that a pay link opens: what is to be paid, and for whom. It shows nothing else about the joiner (no email,
 * address, school or document) and gives no access to the join.
 */
export async function readPayPage(deps: Deps, token: string): Promise<Data<'getPayPage'>> {
  const { uuid, isPaid, programme: key, firstName, lastName, expiresAt } = await joinOfPayLink(deps, token);
  const programme = deps.society.programme(key);
  const order = isPaid ? null : await payable(deps, uuid).catch(closed);
  const sold = order?.lines.find(({ type }) => isMembershipType(type));
  const features = (sold && deps.society.product(sold.productId)?.features) ?? [];
  return {
    status: isPaid ? 'paid' : order ? 'open' : 'closed',
    firstName,
    name: firstNameAndInitial(firstName, lastName),
    programme: programme.name,
    expiresAt: expiresAt.toISOString(),
    order: order && {
      revision: order.revision,
      lines: linesOf(order.lines),
      total: order.totalCents,
      features: features.map((description, index) => ({ id: index + 1, description })),
    },
    refundNote: fillIn(programme.refund, deps.society, key, {
      fee: shortPrice(programme.processingFeeCents),
    }),
    guardianConsent: payerConsentOf(deps.society, key),
  };
}

function closed(error: unknown): null {
  if (error instanceof Refusal && error.status < 500) return null;
  throw error;
}

const linesOf = (lines: readonly OrderLine[]) =>
  lines.map(({ name, priceCents }) => ({ name, amount: priceCents }));

/** Reads an order that somebody else may pay. Its refusals reveal nothing about the joiner. */
async function payable(deps: Deps, uuid: string): Promise<Order> {
  try {
    return await readOrder(deps, uuid, null);
  } catch (error) {
    if (!(error instanceof Refusal) || error.status >= 500) throw error;
    throw new Refusal(409, error.message === ALREADY_PAID ? ALREADY_PAID : NOT_PAYABLE);
  }
}

/**
 * Freezes the order at the revision on the payer's screen, and returns the client secret of their own intent. The open intent of
 * the joiner or of another payer is cancelled first: a join has only one open intent, and anybody who has its client secret can
 * read the receipt's email, so it is not reused. Throws 409 if the order has changed, or somebody else is paying it.
 *
 * A payer who tries again sends their previous client secret (`clientSecret`) and keeps their intent. Their name and email do not
 * suffice as proof, because the joiner knows them, too.
 */
export async function beginPayPage(
  deps: Deps,
  token: string,
  payer: ParsedBody<'beginPayPage'>,
): Promise<Data<'beginPayPage'>> {
  const { uuid, programme } = await joinOfPayLink(deps, token);
  const consent = payerConsentOf(deps.society, programme);
  const errors = payerFaults(payer, { asksConsent: consent !== null });
  const [fault] = Object.values(errors);
  if (fault) throw new Refusal(400, fault, { errors });
  const { name, email, revision } = payer;
  let { clientSecret } = payer;
  for (let round = 1; round <= MOST_ROUNDS; round++) {
    const order = await payable(deps, uuid);
    const { open, change, totalCents: amount } = order;
    if (order.pauseSeconds > 0) throw tooManyDeclined(order.pauseSeconds);
    if (order.revision !== revision) throw orderChanged(amount);
    const isTheirs =
      open?.byPayLink &&
      isSameSecret(open.clientSecret, clientSecret) &&
      open.payerName === name &&
      open.email === email &&
      open.revision === revision &&
      open.amountCents === amount;
    if (order.state === 'paying' && !isTheirs) {
      if ((await settlePaying(deps, uuid, 'takeOver')) === 'paying') throw new Refusal(409, PAID_ELSEWHERE);
      continue;
    }
    // If `change` is set, another call is changing the intent.
    if (open && (!isTheirs || change)) {
      await unlessMoved(replaceOther(deps, uuid, order, open.intentId));
      continue;
    }
    // The running change was of an intent that has ended, so the mark of the change is removed.
    if (change) await endChange(deps, uuid, change.mark);
    // The intent promises what the society's file said when it was opened.
    if ((await keepSnapshot(deps, uuid, order)) && open) {
      await unlessMoved(replaceOther(deps, uuid, order, open.intentId));
      continue;
    }
    const intent = open
      ? { id: open.intentId, clientSecret: open.clientSecret }
      : await unlessMoved(openIntent(deps, uuid, order, email, { name, consent }));
    if (!intent) continue;
    ({ clientSecret } = intent);
    if (await isFrozen(deps, uuid, revision, intent.id)) return { clientSecret, revision, amount };
  }
  throw new Refusal(409, PAID_ELSEWHERE);
}

/**
 * Returns null if the order has changed meanwhile, for example because the joiner has paid. The caller then reads the order
 * again, which throws a refusal that is worded for the payer. The refusal caught here is worded for the joiner, and links to a
 * page of their join.
 */
async function unlessMoved<T>(acting: Promise<T>): Promise<T | null> {
  try {
    return await acting;
  } catch (error) {
    if (error instanceof Refusal && (error.status === 404 || error.status === 409)) return null;
    throw error;
  }
}

async function isFrozen(deps: Deps, uuid: string, revision: number, intentId: string): Promise<boolean> {
  try {
    const frozen = await freeze(deps, uuid, {
      revision,
      intentId,
      // The joiner agreed when they made the pay link. The payer's own consent is stored with the intent (openIntent).
      agreeToPolicies: false,
      hasGuardianConsent: true,
      guardianConsent: null,
      isHeldBack: false,
    });
    return frozen?.frozen ?? false;
  } catch (error) {
    // The joiner is paying in another of their joins.
    if (error instanceof Refusal && error.status === 409) throw new Refusal(409, PAID_ELSEWHERE);
    throw error;
  }
}

function orderChanged(totalCents: number): Refusal {
  return new Refusal(
    409,
    `The order has changed: the total is now ${displayPrice(totalCents)}. Please check it and press the button again.`,
  );
}

/**
 * Returns the outcome of a payment by a pay link. The client secret proves that the caller is the payer; the link may have ended
 * meanwhile. If the card was declined, the order is open again. The receipt is returned only after a success.
 */
export async function reportPayPage(
  deps: Deps,
  { paymentIntent, paymentIntentClientSecret }: ParsedBody<'reportPayPage'>,
): Promise<Data<'reportPayPage'>> {
  let payment = await read();
  if (!payment?.client_secret || !isSameSecret(payment.client_secret, paymentIntentClientSecret))
    throw new Refusal(404, UNKNOWN_PAYMENT);
  if (payment.status === 'open') {
    await settlePaying(deps, payment.session_uuid, 'failed');
    payment = (await read()) ?? payment;
  }
  const status =
    recordedEnd(payment.status) ??
    (await lookAtPayment(deps, paymentIntent, 'recorded')).outcome ??
    'processing';
  const { items, amount_cents, receipt_email } = payment;
  const receipt = {
    reference: paymentIntent,
    lines: linesOf(items),
    total: amount_cents,
    email: receipt_email,
    notes: receiptNotes(deps.society, items),
  };
  return { status, receipt: status === 'succeeded' ? receipt : null };

  async function read() {
    const { rows } = await sql<
      Pick<PaymentTable, 'session_uuid' | 'client_secret' | 'status' | 'amount_cents' | 'receipt_email'> & {
        items: OrderLine[];
      }
    >`
      select session_uuid, client_secret, status, payment.amount_cents, receipt_email, items
      from payment join order_snapshot using (session_uuid, kind, revision)
      where intent_id = ${paymentIntent} and by_pay_link`.execute(deps.database);
    return rows[0];
  }
}
