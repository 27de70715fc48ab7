import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { identityMetadata, type JoinIdentity, lineMetadata, orderDescription } from '#core/intentText.ts';
import { MEMBERSHIP_FIRST } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import type { OpenLine } from '#core/orderLine.ts';
import { summarise } from '#core/orderSummary.ts';
import type { PaidLine } from '#core/refunds.ts';
import type { Deps } from '../deps.ts';
import { countWithin, TOO_MANY } from '../http/limits.ts';
import { Refusal } from '../http/refusal.ts';
import { orderRefusal, refusedSale, type SaleRefusal } from '../session/members.ts';
import { payerEmails, receiptEmail } from '../session/payer.ts';
import { standingOf, stateAllows, upgradeOffer, whyNot } from '../session/standing.ts';
import { NotAtStripe, ProviderRefused, UnexpectedState } from '../stripe/failures.ts';
import type { Intent } from '../stripe/provider.ts';
import { cancelIntent, markCanceled } from './cancelIntent.ts';
import { pauseSeconds, tooManyDeclined } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';
import { countingFailures } from './providerFailures.ts';

/** How long a change of the intent may take before it is given up (ms), and how often one looks. */
const CHANGE_PATIENCE_MS = 3_000;
const LOOK_MS = 50;
const MOST_ROUNDS = 20;

export interface Order {
  state: string;
  revision: number;
  lines: PaidLine[];
  totalCents: number;
  /** An upgrade will be offered after it: its intent is to save the card. */
  saveCard: boolean;
  /** {@link payerEmails} */
  emails: (string | null)[];
  identity: JoinIdentity;
  /** How many intents this session has had, and how often Stripe failed to make one: parts of the next one's idempotency key. */
  attempts: number;
  providerFailures: number;
  /** Of them, those that count for the limit. */
  recentAttempts: number;
  addressHash: string | null;
  /** Too many cards were declined: seconds to wait. */
  pauseSeconds: number;
  /**
   * Its intent is being changed in Stripe, for so many milliseconds; null when it is not. The mark is that change's own: nobody
   * else's ends with it. Null where a server wrote it that gave none.
   */
  change: { mark: string | null; ms: number } | null;
  open: {
    intentId: string;
    clientSecret: string;
    revision: number;
    amountCents: number;
    email: string | null;
    savesCard: boolean | null;
  } | null;
}

/** What a refused amount says; the page shows the order again with the new total. */
export function totalChanged(totalCents: number): Refusal {
  return new Refusal(
    409,
    `Your order has changed: the total is now ${displayPrice(totalCents)}. Please check it and try again.`,
  );
}

/**
 * The session's one live payment intent, for the order as it is now: created late, reused, updated when the total
 * changes (same client secret). The amount that the caller names is only compared: another one is 409.
 */
export async function createPaymentIntent(
  deps: Deps,
  uuid: string,
  given: { amount: number; billingEmail: string },
): Promise<Data<'createPaymentIntent'>> {
  const waitsUntil = performance.now() + CHANGE_PATIENCE_MS;
  for (let round = 1; ; round++) {
    const order = await orderOf(deps, uuid);
    if (given.amount !== order.totalCents) throw totalChanged(order.totalCents);
    const email = receiptEmail(order.emails, given.billingEmail);
    const { open, change } = order;
    const isReady =
      open?.revision === order.revision &&
      open.amountCents === order.totalCents &&
      open.email === email &&
      open.savesCard === order.saveCard;
    if (open && (order.state === 'paying' || (isReady && !change)))
      return { clientSecret: open.clientSecret, revision: open.revision, amount: open.amountCents };

    await keepSnapshot(deps, uuid, order);
    if (!open) {
      // Left by a change of an intent that has ended since.
      if (change) await endChange(deps, uuid, change.mark);
      const intent = await openIntent(deps, uuid, order, email);
      return { clientSecret: intent.clientSecret, revision: order.revision, amount: order.totalCents };
    }
    if (change) {
      // Another tab is at it, and mostly done in a moment.
      if (change.ms < CHANGE_PATIENCE_MS && performance.now() < waitsUntil) await pause(LOOK_MS);
      else await replace(deps, uuid, open.intentId, change.mark);
      continue;
    }
    const mark = await beginChange(deps, uuid, order.revision);
    if (mark !== null) {
      if (await changeIntent(deps, uuid, order, { intentId: open.intentId, mark, email }))
        return { clientSecret: open.clientSecret, revision: order.revision, amount: order.totalCents };
    } else if (round > MOST_ROUNDS) throw await whyNot(deps, 'changeOrder', uuid);
  }
}

/**
 * Marks the order's intent as being changed, before Stripe is asked, and only while the order is open at this revision.
 * Answers the mark; null when the order is another one, or somebody is at it.
 */
async function beginChange(deps: Deps, uuid: string, revision: number): Promise<string | null> {
  const mark = randomUUID();
  const { rows } = await sql`
    update join_session set intent_change = ${mark}, intent_changing_since = now()
    where uuid = ${uuid} and ${stateAllows('changeOrder')} and revision = ${revision} and intent_changing_since is null
    returning uuid`.execute(deps.database);
  return rows.length > 0 ? mark : null;
}

/**
 * All that follows from the order, on the open intent in Stripe and then here. False when the intent has ended meanwhile.
 * When Stripe does not answer, nobody knows whether and when the change arrives: the mark stays, and the intent is replaced.
 */
async function changeIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  { intentId, mark, email }: { intentId: string; mark: string; email: string | null },
): Promise<boolean> {
  try {
    await deps.payments.updateIntent(intentId, askedOf(deps, uuid, order, email));
  } catch (error) {
    // Out of reach: an answer that was refused has changed nothing.
    if (error instanceof Refusal && !(error instanceof ProviderRefused)) {
      await sql`update join_session set intent_changing_since = '-infinity' where uuid = ${uuid} and intent_change = ${mark}`.execute(
        deps.database,
      );
      throw error;
    }
    await endChange(deps, uuid, mark);
    // Another account's, as after a change of keys: nothing can ever be paid by it here.
    if (error instanceof NotAtStripe) {
      await markCanceled(deps.database, intentId);
      return false;
    }
    if (!(error instanceof UnexpectedState)) throw error;
    const status = await confirmPayment(deps, intentId);
    if (status === 'succeeded' || status === 'processing') throw await whyNot(deps, 'changeOrder', uuid);
    return false;
  }
  // Only together with the mark: one that was given up meanwhile has been replaced, with its intent.
  const { rows } = await sql`
    with ended as (
      update join_session set intent_change = null, intent_changing_since = null
      where uuid = ${uuid} and intent_change = ${mark} returning uuid
    )
    update payment set amount_cents = ${order.totalCents}, revision = ${order.revision}, receipt_email = ${email},
      saves_card = ${order.saveCard}, updated_at = now()
    from ended where intent_id = ${intentId}
    returning intent_id`.execute(deps.database);
  return rows.length > 0;
}

/** A change that is still on its way finds the intent cancelled: the next one is for the order as it is. */
async function replace(deps: Deps, uuid: string, intentId: string, mark: string | null): Promise<void> {
  if (!(await cancelIntent(deps, intentId))) {
    await confirmPayment(deps, intentId);
    throw await whyNot(deps, 'changeOrder', uuid);
  }
  await endChange(deps, uuid, mark);
}

/** Removes the mark of a change that has ended or was given up, and no other one. */
async function endChange(deps: Deps, uuid: string, mark: string | null): Promise<void> {
  await sql`
    update join_session set intent_change = null, intent_changing_since = null
    where uuid = ${uuid} and intent_change is not distinct from ${mark}`.execute(deps.database);
}

/** What Stripe is asked for an order: amount, what names it, and whether the card is kept. */
function askedOf(deps: Deps, uuid: string, order: Order, email: string | null) {
  return {
    amountCents: order.totalCents,
    receiptEmail: email,
    saveCard: order.saveCard,
    description: orderDescription(deps.society.society.name, order.lines),
    metadata: {
      app: 'induct',
      environment: deps.environment,
      session: uuid,
      kind: 'join',
      revision: String(order.revision),
      ...identityMetadata(order.identity),
      ...lineMetadata(order.lines),
    },
  } as const;
}

/**
 * Keys come from the session, the attempt and what is asked for, so a call repeated after a crash or by a second tab
 * finds the same intent, and one that asks for something else (a corrected email) is not refused for its key. A failure of
 * Stripe's own, which it would repeat for a day, makes the next call another attempt; what it may have made all the same is
 * cancelled when its event is caught up with. One call, which the joiner waits for: a customer is made where an upgrade is bought.
 */
async function openIntent(deps: Deps, uuid: string, order: Order, email: string | null): Promise<Intent> {
  await refuseTooMany(deps, order);
  const attempt = order.attempts + 1;
  const asked = askedOf(deps, uuid, order, email);
  const digest = createHash('sha256').update(JSON.stringify(asked)).digest('base64url');
  const key = `${deps.environment}-${uuid}-join-${attempt}-${order.providerFailures}-${digest.slice(0, 16)}`;
  const intent = await countingFailures(deps, uuid, order.providerFailures, () =>
    deps.payments.createIntent({ ...asked, customerId: null, idempotencyKey: key }),
  );
  const inserted = await deps.database
    .insertInto('payment')
    .values({
      intent_id: intent.id,
      session_uuid: uuid,
      kind: 'join',
      attempt,
      status: 'open',
      client_secret: intent.clientSecret,
      customer_id: '',
      amount_cents: order.totalCents,
      revision: order.revision,
      receipt_email: email,
      saves_card: order.saveCard,
    })
    .onConflict((conflict) => conflict.doNothing())
    .returning('intent_id')
    .executeTakeFirst();
  if (inserted) return intent;
  // Somebody else opened one meanwhile (another tab, at another revision): theirs is the one that counts.
  const theirs = await deps.database
    .selectFrom('payment')
    .select(['intent_id'])
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'join')
    .where('status', '=', 'open')
    .executeTakeFirst();
  if (theirs?.intent_id === intent.id) return intent;
  await cancelIntent(deps, intent.id);
  throw totalChanged(order.totalCents);
}

/** Limits on new intents: whoever tests stolen cards needs many. */
async function refuseTooMany(deps: Deps, order: Order): Promise<void> {
  if (order.pauseSeconds > 0) throw tooManyDeclined(order.pauseSeconds);
  const { limits } = deps.config;
  if (!limits) return;
  if (order.recentAttempts >= limits.intentsPerSession.count)
    throw new Refusal(429, TOO_MANY, { retryAfter: limits.intentsPerSession.minutes * 60 });
  const { addressHash } = order;
  const perAddress = limits.intentsPerAddress;
  if (addressHash !== null && !(await countWithin(deps.database, 'intents', addressHash, perAddress)))
    throw new Refusal(429, TOO_MANY, { retryAfter: perAddress.minutes * 60 });
}

async function keepSnapshot(deps: Deps, uuid: string, order: Order): Promise<void> {
  await deps.database
    .insertInto('order_snapshot')
    .values({
      session_uuid: uuid,
      kind: 'join',
      revision: order.revision,
      amount_cents: order.totalCents,
      items: JSON.stringify(order.lines),
    })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}

/** The order of a session that may be paid for, with the intent that is open for it. Throws when there is nothing to pay. */
export async function orderOf(deps: Deps, uuid: string): Promise<Order> {
  const { limits } = deps.config;
  const { rows } = await sql<{
    state: string;
    revision: number;
    upsell_product_id: number | null;
    emails: (string | null)[];
    identity: JoinIdentity;
    attempts: number;
    recent_attempts: number;
    address_hash: string | null;
    pause_seconds: number;
    refusal: SaleRefusal | null;
    change: Order['change'];
    provider_failures: number;
    open: Order['open'];
    lines: OpenLine[];
  }>`
    select state, revision, upsell_product_id,
      ${payerEmails} as emails,
      json_build_object('origin', origin, 'programme', programme, 'contactId', contact_id, 'school', school,
        'firstName', coalesce(details ->> 'firstName', contact.profile ->> 'firstName'),
        'lastName', coalesce(details ->> 'lastName', contact.profile ->> 'lastName')) as identity,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join') as attempts,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join'
        and payment.created_at > now() - make_interval(mins => ${limits?.intentsPerSession.minutes ?? 0})) as recent_attempts,
      address_hash, ${pauseSeconds(deps)} as pause_seconds,
      case when intent_changing_since is not null then json_build_object('mark', intent_change, 'ms',
        case when isfinite(intent_changing_since) then extract(epoch from now() - intent_changing_since) * 1000 else 1e9 end) end as change,
      provider_failures, ${orderRefusal('session.contact_id')} as refusal,
      (select json_build_object('intentId', intent_id, 'clientSecret', client_secret, 'revision', revision, 'amountCents', amount_cents, 'email', receipt_email, 'savesCard', saves_card)
        from payment where session_uuid = session.uuid and kind = 'join' and status = 'open') as open, lines
    from join_session session left join contact on contact.id = contact_id
    where session.uuid = ${uuid} and ${stateAllows('createPaymentIntent')}`.execute(deps.database);
  const row = rows[0];
  if (!row) throw await whyNot(deps, 'createPaymentIntent', uuid);
  if (row.refusal) throw refusedSale(row.refusal);
  const { membership, totalDueTodayCents } = summarise(
    row.lines.map(({ type: productType, ...line }) => ({ productType, ...line })),
  );
  if (!membership) throw new Refusal(409, MEMBERSHIP_FIRST, { goOn: (await standingOf(deps, uuid))?.goOn });
  return {
    state: row.state,
    revision: row.revision,
    lines: row.lines.map(({ productId, type, name, priceCents }) => ({ productId, type, name, priceCents })),
    totalCents: totalDueTodayCents,
    saveCard: upgradeOffer(deps, membership.productId, row.upsell_product_id) !== null,
    emails: row.emails,
    identity: row.identity,
    attempts: row.attempts,
    providerFailures: row.provider_failures,
    recentAttempts: row.recent_attempts,
    addressHash: row.address_hash,
    pauseSeconds: row.pause_seconds,
    change: row.change,
    open: row.open,
  };
}
