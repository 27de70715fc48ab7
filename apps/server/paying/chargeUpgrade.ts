import { sql } from 'kysely';
import type { Data, ParsedBody } from '#contract/schemas.ts';
import { type Holding, mayBuyUpgrade } from '#core/holding.ts';
import { lineMetadata, orderDescription, promisedMetadata } from '#core/intentText.ts';
import { screens } from '#core/navigation.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { NO_PAYMENT_INTENT, UPGRADE_FAILED } from '#core/sentences.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { Declined, ProviderFailed, ProviderRefused, UnexpectedState } from '../providers/stripe/failures.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { priceIsNow } from '../session/orderLines.ts';
import { promised, promisedColumns } from '../session/promised.ts';
import { readStanding, refusalFor, standingFor } from '../session/standing.ts';
import type { CatalogueProduct } from '../society/society.ts';
import { cancelIntent, markCanceled } from './cancelIntent.ts';
import { ensureCustomer, readPayer, type SavedCard } from './cardCustomer.ts';
import { noteFailure, tooManyDeclined } from './cardFailures.ts';
import { confirmIntent } from './confirmPayment.ts';
import type { Deps } from './deps.ts';
import { nextAttempt } from './paymentRow.ts';
import { countingFailures } from './providerFailures.ts';

const NOT_OPEN = 'This upgrade is no longer available, so nothing was charged.';
const OTHER_BROWSER =
  'For your safety, an upgrade can only be bought in the browser that paid for the membership.';
const OTHER_PAYMENT = 'This payment does not belong to this registration.';
const BOUGHT_ELSEWHERE =
  'This upgrade is being bought with another card in another window. Finish it there, or try again.';
const RETURNED =
  'Your membership has changed, so this upgrade could not be added. Your payment is being refunded in full.';

type Answer = Data<'createUpgradeCharge'>;

/** The session's only upgrade intent that can still be paid. `attempt` is the number of the next try to charge the saved card. */
interface OpenUpgrade {
  intentId: string;
  clientSecret: string;
  amountCents: number;
  /** The id of the upgrade for which the intent was opened; null if its snapshot is missing. */
  productId: number | null;
  attempt: number;
  /**
   * The Stripe Customer whose saved card the intent can charge. Null if the bank declined to save the card, or if somebody else
   * paid for the join: the intent then takes only another card.
   */
  customerId: string | null;
}

interface Charges {
  isBought: boolean;
  /** Whether a payment for the upgrade bought nothing and is refunded. */
  isReturned: boolean;
  open: OpenUpgrade | null;
  attempts: number;
}

/**
 * Sells the upgrade while the member is present, at the shown price (`amount`, cents).
 * - Charges the card that paid for the membership. With `charge: false` another card is used: the page confirms the payment with
 *   the returned client secret. This is always so if somebody else paid for the join.
 * - Only one intent is open at a time, and it can be paid only once. The upgrade is therefore sold once, however many tabs press
 *   the button and wherever a process dies.
 * - A repeated call continues with the open intent. If the offer has changed, or the saved card is to be charged and the open
 *   intent cannot charge it, that intent is cancelled and a new one is opened.
 */
export async function chargeUpgrade(
  deps: Deps,
  uuid: string,
  {
    paymentIntent,
    charge: asksToCharge,
    amount,
    holding,
  }: ParsedBody<'createUpgradeCharge'> & { holding: Holding },
): Promise<Answer> {
  if (paymentIntent === '') throw new Refusal(400, NO_PAYMENT_INTENT);
  const standing = await standingFor(deps, 'upgrade', uuid, holding);
  if (standing.paymentIntent !== paymentIntent) throw new Refusal(404, OTHER_PAYMENT);
  if (!mayBuyUpgrade(holding, standing)) throw new Refusal(403, OTHER_BROWSER);
  const { byPayLink } = standing;
  const charge = asksToCharge && !byPayLink;
  const charges = await readCharges(deps, uuid);
  if (charges.isBought) return { status: 'succeeded' };

  let { open } = charges;
  const intent = open && (await deps.payments.retrieveIntent(open.intentId));
  const end = intent && (await endOf(deps, intent));
  if (end) return end;
  if (intent?.status === 'canceled') open = null;
  // If a card that was typed on the page was declined, its failure is recorded here.
  if (intent?.status === 'requires_payment_method') await noteFailure(deps, intent);

  const { card, failures, pause } = await readPayer(deps, uuid, paymentIntent);
  const offer = standing.upgrade;
  if (!offer || !(card.paymentMethodId || byPayLink)) throw notOpen(charges, standing.goOn);
  if (pause > 0) throw tooManyDeclined(pause);
  const amountCents = offer.priceCents!;
  const priceChanged = () => new Refusal(409, priceIsNow(offer, amountCents));
  if (amount !== null && amount !== amountCents) throw priceChanged();
  const isOfNobody = open !== null && open.customerId === null;
  let { customerId } = card;
  if (!byPayLink && (!open || (charge && isOfNobody))) {
    const payer = await ensureCustomer(deps, uuid, { ...card, paymentIntent, failures });
    if ('customerId' in payer) ({ customerId } = payer);
    else if (charge) return { status: 'failed', message: payer.declined };
  }
  const isOfOffer = open?.amountCents === amountCents && open.productId === offer.id;
  if (open && (!isOfOffer || (charge && isOfNobody))) {
    if (!(await cancelIntent(deps, open.intentId))) throw await refusalFor(deps, 'upgrade', uuid);
    open = null;
  }
  open ??= await openUpgrade(
    deps,
    standing.programme,
    uuid,
    offer,
    { ...card, customerId },
    { attempt: charges.attempts + 1, failures },
  );
  // There is no open intent, because the upgrade was skipped or bought in another tab.
  if (!open) return endedElsewhere(deps, uuid);
  if (open.amountCents !== amountCents) throw priceChanged();

  if (charge && open.customerId === null) throw new Refusal(409, BOUGHT_ELSEWHERE);

  const { clientSecret } = open;
  if (!charge) return { status: 'requires_payment_method', clientSecret };
  const isAsked = intent?.status === 'requires_action' && intent.paymentMethodId === card.paymentMethodId;
  if (isAsked && intent.id === open.intentId) return { status: 'requires_action', clientSecret };
  return chargeSavedCard(deps, uuid, open, card.paymentMethodId!);
}

/**
 * Charges the saved card. Returns Stripe's state of the intent after that, even if another call has confirmed or cancelled it.
 */
async function chargeSavedCard(
  deps: Deps,
  uuid: string,
  { intentId, clientSecret, attempt }: OpenUpgrade,
  paymentMethodId: string,
): Promise<Answer> {
  let message: string | null = null;
  try {
    // The idempotency key is the same within a try, so that two simultaneous presses, or a press that is repeated after a crash,
    // ask the bank only once.
    const idempotencyKey = `${deps.environment}-${uuid}-upgrade-${attempt}-confirm`;
    const returnUrl = deps.config.publicUrl + screens.postPayment;
    await deps.payments.confirmWithSavedCard(intentId, { paymentMethodId, returnUrl, idempotencyKey });
  } catch (error) {
    if (error instanceof Declined) message = error.message;
    // Stripe replays a failure or refusal under the same key for a day. Therefore this try ends, and the next press has a new
    // key. That press first checks whether this try was charged after all.
    else if (
      error instanceof ProviderFailed ||
      (error instanceof ProviderRefused && !(error instanceof UnexpectedState))
    )
      await endAttempt();
    if (!(error instanceof Declined || error instanceof UnexpectedState)) throw error;
  }
  await endAttempt();

  const intent = await deps.payments.retrieveIntent(intentId);
  const end = await endOf(deps, intent);
  if (end) return end;
  if (intent.status === 'requires_action') return { status: 'requires_action', clientSecret };
  if (intent.status === 'requires_payment_method') await noteFailure(deps, intent);
  if ((await readCharges(deps, uuid)).open?.intentId === intentId)
    return { status: 'failed', message: message ?? UPGRADE_FAILED, clientSecret };
  // The intent is no longer open: it was cancelled after too many declined cards, or by Skip in another tab.
  return message === null ? endedElsewhere(deps, uuid) : { status: 'failed', message };

  async function endAttempt(): Promise<void> {
    await deps.database
      .updateTable('payment')
      .set({ attempt: nextAttempt(uuid, 'upgrade'), updated_at: sql`now()` })
      .where('intent_id', '=', intentId)
      .where('attempt', '=', attempt)
      .where('status', '=', 'open')
      .execute();
  }
}

async function endedElsewhere(deps: Deps, uuid: string): Promise<Answer> {
  const charges = await readCharges(deps, uuid);
  if (charges.isBought) return { status: 'succeeded' };
  throw notOpen(charges, (await readStanding(deps, uuid))?.goOn);
}

function notOpen({ isReturned }: Charges, goOn: string | undefined): Refusal {
  return new Refusal(409, isReturned ? RETURNED : NOT_OPEN, { goOn });
}

/** Returns the answer for an intent that has succeeded or is processing; null if it can still be paid or was cancelled. */
async function endOf(deps: Deps, intent: Intent): Promise<Answer | null> {
  switch (intent.status) {
    case 'succeeded':
      return (await confirmIntent(deps, intent)) === 'refunded'
        ? { status: 'failed', message: RETURNED }
        : { status: 'succeeded' };
    case 'processing':
      return { status: 'processing' };
    case 'canceled':
      await markCanceled(deps.database, intent.id);
      return null;
    default:
      return null;
  }
}

/**
 * Opens a new intent. Returns its client secret only after our row and the snapshot are written, so that nobody can pay the
 * intent earlier. Returns null if the offer was skipped or taken meanwhile. If another tab has opened an intent first, returns
 * that intent.
 */
async function openUpgrade(
  deps: Deps,
  programme: string,
  uuid: string,
  offer: CatalogueProduct,
  { customerId, email }: SavedCard,
  { attempt, failures }: { attempt: number; failures: number },
): Promise<OpenUpgrade | null> {
  const amountCents = offer.priceCents!;
  const items: OrderLine[] = [
    { productId: offer.id, type: offer.type, name: offer.name, priceCents: amountCents },
  ];
  const beside = promised(deps.society, programme, items);
  const intent = await countingFailures(deps, uuid, failures, () =>
    deps.payments.createIntent({
      amountCents,
      customerId,
      receiptEmail: email,
      saveCard: false,
      description: orderDescription(deps.society.society.name, items),
      metadata: {
        app: 'induct',
        environment: deps.environment,
        session: uuid,
        kind: 'upgrade',
        revision: String(attempt),
        ...lineMetadata(items),
        ...promisedMetadata(items, beside),
      },
      idempotencyKey: `${deps.environment}-${uuid}-upgrade-${attempt}-${failures}-${amountCents}${customerId === null ? '-nobody' : ''}`,
    }),
  );
  const { goods, processing_fee_cents } = promisedColumns(beside);
  await sql`
    with session as (
      select uuid from join_session where uuid = ${uuid} and state = 'paid' and upgrade = 'open' and erased_at is null for update
    ), opened as (
      insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
      select ${intent.id}, uuid, 'upgrade', ${nextAttempt(uuid, 'upgrade')}, 'open', ${intent.clientSecret}, ${customerId ?? ''}, ${amountCents}::int, ${attempt}::int from session
      on conflict do nothing returning session_uuid
    )
    insert into order_snapshot (session_uuid, kind, revision, amount_cents, items, goods, processing_fee_cents)
    select session_uuid, 'upgrade', ${attempt}::int, ${amountCents}::int, ${JSON.stringify(items)}::jsonb,
      ${goods}::jsonb, ${processing_fee_cents}::int from opened
    on conflict (session_uuid, kind, revision) do update set amount_cents = excluded.amount_cents, items = excluded.items,
      goods = excluded.goods, processing_fee_cents = excluded.processing_fee_cents`.execute(deps.database);
  const { open } = await readCharges(deps, uuid);
  if (open?.intentId !== intent.id) await cancelIntent(deps, intent.id);
  return open;
}

/**
 * Reads the upgrade's payments in one statement. With one statement for open and one for paid intents, an intent that is paid
 * between the two might be in neither result.
 */
async function readCharges({ database }: Deps, uuid: string): Promise<Charges> {
  const rows = await database
    .selectFrom('payment')
    .leftJoin('order_snapshot as sold', (join) =>
      join
        .onRef('sold.session_uuid', '=', 'payment.session_uuid')
        .onRef('sold.kind', '=', 'payment.kind')
        .onRef('sold.revision', '=', 'payment.revision'),
    )
    .select(['intent_id', 'client_secret', 'payment.amount_cents', 'attempt', 'customer_id', 'status'])
    .select(sql<number | null>`(sold.items -> 0 ->> 'productId')::int`.as('product_id'))
    .where('payment.session_uuid', '=', uuid)
    .where('payment.kind', '=', 'upgrade')
    .execute();
  const open = rows.find(({ status }) => status === 'open');
  return {
    isBought: rows.some(({ status }) => status === 'succeeded'),
    isReturned: rows.some(({ status }) => status === 'duplicate'),
    open: open
      ? {
          intentId: open.intent_id,
          clientSecret: open.client_secret,
          amountCents: open.amount_cents,
          productId: open.product_id,
          attempt: open.attempt,
          customerId: open.customer_id || null,
        }
      : null,
    attempts: Math.max(0, ...rows.map(({ attempt }) => attempt)),
  };
}
