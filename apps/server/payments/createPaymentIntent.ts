import { createHash } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { MEMBERSHIP_FIRST } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import type { OpenLine } from '#core/orderLine.ts';
import { type OrderLine, summarise } from '#core/orderSummary.ts';
import type { PaidLine } from '#core/refunds.ts';
import { isEmail } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { countWithin, TOO_MANY } from '../http/limits.ts';
import { Refusal } from '../http/refusal.ts';
import { standingOf, stateAllows, upgradeOffer, whyNot } from '../join/standing.ts';
import { orderRefusal, refusedSale, type SaleRefusal } from '../session/isMemberNow.ts';
import { type Intent, UnexpectedState } from '../stripe/provider.ts';
import { cancelIntent } from './cancelIntent.ts';
import { pauseSeconds, tooManyDeclined } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';

/** How long a change of the intent may take before it is given up (ms), and how often one looks. */
const CHANGE_PATIENCE_MS = 3_000;
const LOOK_MS = 50;
const MOST_ROUNDS = 20;

interface Line extends OrderLine {
  productId: number;
  name: string;
}

export interface Order {
  state: string;
  revision: number;
  lines: Line[];
  totalCents: number;
  membershipId: number;
  upsellProductId: number | null;
  email: string | null;
  name: string | null;
  /** How many intents this session has had: part of the next one's idempotency key. */
  attempts: number;
  /** Of them, those that count for the limit. */
  recentAttempts: number;
  addressHash: string | null;
  /** Too many cards were declined: seconds to wait. */
  pauseSeconds: number;
  /** Its intent is being changed in Stripe, for so many milliseconds; null when it is not. */
  changingMs: number | null;
  open: {
    intentId: string;
    clientSecret: string;
    revision: number;
    amountCents: number;
    email: string | null;
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
    const email = order.email ?? (isEmail(given.billingEmail) ? given.billingEmail : null);
    const { open } = order;
    const isReady =
      open?.revision === order.revision && open.amountCents === order.totalCents && open.email === email;
    if (open && (order.state === 'paying' || (isReady && order.changingMs === null)))
      return { clientSecret: open.clientSecret, revision: open.revision, amount: open.amountCents };

    await keepSnapshot(deps, uuid, order);
    if (!open) {
      // Left by a change of an intent that has ended since.
      if (order.changingMs !== null) await endChange(deps, uuid);
      const intent = await openIntent(deps, uuid, order, email);
      return { clientSecret: intent.clientSecret, revision: order.revision, amount: order.totalCents };
    }
    if (order.changingMs !== null) {
      // Another tab is at it, and mostly done in a moment.
      if (order.changingMs < CHANGE_PATIENCE_MS && performance.now() < waitsUntil) await pause(LOOK_MS);
      else await replace(deps, uuid, open.intentId);
    } else if (await beginChange(deps, uuid, order.revision)) {
      if (await changeIntent(deps, uuid, order, open.intentId, email))
        return { clientSecret: open.clientSecret, revision: order.revision, amount: order.totalCents };
    } else if (round > MOST_ROUNDS) throw await whyNot(deps, 'changeOrder', uuid);
  }
}

/** Written before Stripe is asked, and only while the order is open at this revision. False when it is not, or somebody is at it. */
async function beginChange(deps: Deps, uuid: string, revision: number): Promise<boolean> {
  const { rows } = await sql`
    update join_session set intent_changing_since = now()
    where uuid = ${uuid} and ${stateAllows('changeOrder')} and revision = ${revision} and intent_changing_since is null
    returning uuid`.execute(deps.database);
  return rows.length > 0;
}

/**
 * Amount, revision and snapshot together on the open intent, in Stripe and here. False when it has ended meanwhile. When
 * Stripe does not answer, nobody knows whether and when the change arrives: the mark stays, and the intent is replaced.
 */
async function changeIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  intentId: string,
  email: string | null,
): Promise<boolean> {
  try {
    await deps.payments.updateIntent(intentId, {
      amountCents: order.totalCents,
      receiptEmail: email,
      metadata: metadataOf(deps, uuid, order.revision),
    });
  } catch (error) {
    if (error instanceof Refusal) {
      await sql`update join_session set intent_changing_since = '-infinity' where uuid = ${uuid} and intent_changing_since is not null`.execute(
        deps.database,
      );
      throw error;
    }
    await endChange(deps, uuid);
    if (!(error instanceof UnexpectedState)) throw error;
    const status = await confirmPayment(deps, intentId);
    if (status === 'succeeded' || status === 'processing') throw await whyNot(deps, 'changeOrder', uuid);
    return false;
  }
  await sql`
    with changed as (
      update payment set amount_cents = ${order.totalCents}, revision = ${order.revision}, receipt_email = ${email}, updated_at = now()
      where intent_id = ${intentId}
    )
    update join_session set intent_changing_since = null where uuid = ${uuid}`.execute(deps.database);
  return true;
}

/** A change that is still on its way finds the intent cancelled: the next one is for the order as it is. */
async function replace(deps: Deps, uuid: string, intentId: string): Promise<void> {
  if (!(await cancelIntent(deps, intentId))) {
    await confirmPayment(deps, intentId);
    throw await whyNot(deps, 'changeOrder', uuid);
  }
  await endChange(deps, uuid);
}

async function endChange(deps: Deps, uuid: string): Promise<void> {
  await sql`update join_session set intent_changing_since = null where uuid = ${uuid}`.execute(deps.database);
}

function metadataOf(deps: Deps, uuid: string, revision: number) {
  return {
    app: 'induct',
    environment: deps.environment,
    session: uuid,
    kind: 'join',
    revision: String(revision),
  } as const;
}

/**
 * Keys come from the session, the attempt and what is asked for, so a call repeated after a crash or by a second tab
 * finds the same intent, and one that asks for something else (a corrected email) is not refused for its key.
 */
async function openIntent(deps: Deps, uuid: string, order: Order, email: string | null): Promise<Intent> {
  await refuseTooMany(deps, order);
  const attempt = order.attempts + 1;
  const asked = createHash('sha256').update(JSON.stringify([email, order.name, order.totalCents]));
  const key = `${deps.environment}-${uuid}-join-${attempt}-${order.revision}-${asked.digest('base64url').slice(0, 12)}`;
  const customerId = await deps.payments.createCustomer({
    email,
    name: order.name,
    sessionUuid: uuid,
    idempotencyKey: `${key}-customer`,
  });
  const intent = await deps.payments.createIntent({
    amountCents: order.totalCents,
    customerId,
    receiptEmail: email,
    saveCard: upgradeOffer(deps, order.membershipId, order.upsellProductId) !== null,
    metadata: metadataOf(deps, uuid, order.revision),
    idempotencyKey: `${key}-intent`,
  });
  const inserted = await deps.database
    .insertInto('payment')
    .values({
      intent_id: intent.id,
      session_uuid: uuid,
      kind: 'join',
      attempt,
      status: 'open',
      client_secret: intent.clientSecret,
      customer_id: customerId,
      amount_cents: order.totalCents,
      revision: order.revision,
      receipt_email: email,
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
  const items: PaidLine[] = order.lines.map(({ productId, productType, name, priceCents }) => ({
    productId,
    type: productType,
    name,
    priceCents,
  }));
  await deps.database
    .insertInto('order_snapshot')
    .values({
      session_uuid: uuid,
      kind: 'join',
      revision: order.revision,
      amount_cents: order.totalCents,
      items: JSON.stringify(items),
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
    email: string | null;
    name: string | null;
    attempts: number;
    recent_attempts: number;
    address_hash: string | null;
    pause_seconds: number;
    refusal: SaleRefusal | null;
    changing_ms: number | null;
    open: Order['open'];
    lines: OpenLine[];
  }>`
    select state, revision, upsell_product_id,
      coalesce(details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email) as email,
      nullif(concat_ws(' ', coalesce(details ->> 'firstName', contact.profile ->> 'firstName'), coalesce(details ->> 'lastName', contact.profile ->> 'lastName')), '') as name,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join') as attempts,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join'
        and payment.created_at > now() - make_interval(mins => ${limits?.intentsPerSession.minutes ?? 0})) as recent_attempts,
      address_hash, ${pauseSeconds(deps)} as pause_seconds,
      case when not isfinite(intent_changing_since) then 1e9 else extract(epoch from now() - intent_changing_since) * 1000 end::float as changing_ms,
      ${orderRefusal('session.contact_id')} as refusal,
      (select json_build_object('intentId', intent_id, 'clientSecret', client_secret, 'revision', revision, 'amountCents', amount_cents, 'email', receipt_email)
        from payment where session_uuid = session.uuid and kind = 'join' and status = 'open') as open, lines
    from join_session session left join contact on contact.id = contact_id
    where session.uuid = ${uuid} and ${stateAllows('createPaymentIntent')}`.execute(deps.database);
  const row = rows[0];
  if (!row) throw await whyNot(deps, 'createPaymentIntent', uuid);
  if (row.refusal) throw refusedSale(row.refusal);
  const lines = row.lines.map(({ type: productType, ...line }) => ({ productType, ...line }));
  const { membership, totalDueTodayCents } = summarise(lines);
  if (!membership) throw new Refusal(409, MEMBERSHIP_FIRST, { goOn: (await standingOf(deps, uuid))?.goOn });
  return {
    state: row.state,
    revision: row.revision,
    lines,
    totalCents: totalDueTodayCents,
    membershipId: membership.productId,
    upsellProductId: row.upsell_product_id,
    email: row.email,
    name: row.name,
    attempts: row.attempts,
    recentAttempts: row.recent_attempts,
    addressHash: row.address_hash,
    pauseSeconds: row.pause_seconds,
    changingMs: row.changing_ms,
    open: row.open,
  };
}
