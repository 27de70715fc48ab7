import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { MEMBERSHIP_FIRST, statesAllowing } from '#core/joinSession.ts';
import { displayPrice } from '#core/money.ts';
import { type OrderLine, summarise } from '#core/orderSummary.ts';
import type { ProductType } from '#core/product.ts';
import type { PaidLine } from '#core/refunds.ts';
import { isEmail } from '#core/studentDetails.ts';
import type { Deps } from '../deps.ts';
import { countWithin, TOO_MANY } from '../http/limits.ts';
import { Refusal } from '../http/refusal.ts';
import { standingOf, upgradeOffer, whyNot } from '../join/standing.ts';
import { ALREADY_MEMBER } from '../membership/alreadyMember.ts';
import { type Intent, UnexpectedState } from '../stripe/provider.ts';
import { cancelIntent } from './cancelIntent.ts';
import { pauseSeconds, tooManyDeclined } from './cardFailures.ts';
import { confirmPayment } from './confirmPayment.ts';

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
  open: { intentId: string; clientSecret: string; revision: number; amountCents: number } | null;
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
  // A second round only when the intent was found to have ended meanwhile.
  for (let round = 1; ; round++) {
    const order = await orderOf(deps, uuid);
    if (given.amount !== order.totalCents) throw totalChanged(order.totalCents);
    const { open } = order;
    if (
      open &&
      (order.state === 'paying' ||
        (open.revision === order.revision && open.amountCents === order.totalCents))
    )
      return { clientSecret: open.clientSecret, revision: open.revision, amount: open.amountCents };

    await keepSnapshot(deps, uuid, order);
    const email = order.email ?? (isEmail(given.billingEmail) ? given.billingEmail : null);
    if (!open) {
      const intent = await openIntent(deps, uuid, order, email);
      return { clientSecret: intent.clientSecret, revision: order.revision, amount: order.totalCents };
    }
    try {
      await updateOpenIntent(deps, uuid, order, open.intentId, email);
      return { clientSecret: open.clientSecret, revision: order.revision, amount: order.totalCents };
    } catch (error) {
      if (!(error instanceof UnexpectedState) || round > 1) throw error;
      const status = await confirmPayment(deps, open.intentId);
      if (status === 'succeeded' || status === 'processing') throw await whyNot(deps, 'changeOrder', uuid);
    }
  }
}

/** Amount, revision and snapshot together on the open intent, in Stripe and here. Throws UnexpectedState when it has moved on. */
export async function updateOpenIntent(
  deps: Deps,
  uuid: string,
  order: Order,
  intentId: string,
  email: string | null,
): Promise<void> {
  await deps.payments.updateIntent(intentId, {
    amountCents: order.totalCents,
    receiptEmail: email,
    metadata: metadataOf(deps, uuid, order.revision),
  });
  await deps.database
    .updateTable('payment')
    .set({ amount_cents: order.totalCents, revision: order.revision, updated_at: sql`now()` })
    .where('intent_id', '=', intentId)
    .where('revision', '<=', order.revision)
    .execute();
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

/** Keys come from the session and the attempt, so a call repeated after a crash or by a second tab finds the same intent. */
async function openIntent(deps: Deps, uuid: string, order: Order, email: string | null): Promise<Intent> {
  await refuseTooMany(deps, order);
  const attempt = order.attempts + 1;
  const key = `${deps.environment}-${uuid}-join-${attempt}-${order.revision}`;
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
    is_held: boolean;
    open: Order['open'];
    lines: { productId: number; productType: ProductType; name: string; priceCents: number }[] | null;
  }>`
    select state, revision, upsell_product_id,
      coalesce(details ->> 'personalEmail', contact.profile ->> 'personalEmail', contact.email) as email,
      nullif(concat_ws(' ', coalesce(details ->> 'firstName', contact.profile ->> 'firstName'), coalesce(details ->> 'lastName', contact.profile ->> 'lastName')), '') as name,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join') as attempts,
      (select count(*)::int from payment where session_uuid = session.uuid and kind = 'join'
        and payment.created_at > now() - make_interval(mins => ${limits?.intentsPerSession.minutes ?? 0})) as recent_attempts,
      address_hash, ${pauseSeconds(deps)} as pause_seconds,
      exists (
        select from membership held join session_product line on line.type = held.type
        where held.contact_id = session.contact_id and held.is_held and line.session_uuid = session.uuid and line.removed_at is null
      ) as is_held,
      (select json_build_object('intentId', intent_id, 'clientSecret', client_secret, 'revision', revision, 'amountCents', amount_cents)
        from payment where session_uuid = session.uuid and kind = 'join' and status = 'open') as open,
      (select json_agg(json_build_object('productId', product_id, 'productType', type, 'name', name, 'priceCents', price_cents) order by created_at)
        from session_product where session_uuid = session.uuid and removed_at is null) as lines
    from join_session session left join contact on contact.id = contact_id
    where session.uuid = ${uuid} and state = any(${statesAllowing('createPaymentIntent')})`.execute(
    deps.database,
  );
  const row = rows[0];
  if (!row) throw await whyNot(deps, 'createPaymentIntent', uuid);
  if (row.is_held) throw new Refusal(409, ALREADY_MEMBER);
  const lines = row.lines ?? [];
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
    open: row.open,
  };
}
