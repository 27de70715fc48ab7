import { sql } from 'kysely';
import type { ParsedBody, Product } from '#contract/schemas.ts';
import { type Holding, isOpenIn } from '#core/holding.ts';
import { donationError, parseDonation } from '#core/money.ts';
import { lineUuid, MOST_REVISIONS, type OpenLine, readLineUuid } from '#core/orderLine.ts';
import { isMembershipType, type ProductType } from '#core/product.ts';
import type { Deps } from '../deps.ts';
import { whileFrozen } from '../payments/settlePaying.ts';
import { LINE_NOT_FOUND, Refusal } from '../platform/http/refusal.ts';
import { isOpenTo } from '../session/holding.ts';
import { hasLine, lineOf, nextLine, priceIsNow } from '../session/orderLines.ts';
import { refusalFor } from '../session/standing.ts';
import { stateAllows } from '../session/states.ts';
import type { CatalogueProduct } from '../society/society.ts';
import { toWireProduct } from '../society/wire.ts';

const UNKNOWN_PRODUCT = 'This item is not on offer.';
const MEMBERSHIP_STAYS = 'The membership can be changed but not removed.';
/** The most lines of an order. Nobody needs as many; the limit stops scripts. */
const MOST_LINES = 50;
const ORDER_FULL = `An order has at most ${MOST_LINES} items.`;

/**
 * Adds a donation preset or a store item at its present price. The page may send the price on its screen (`amount`, cents); if
 * the line has another price, that is refused. Adding the same product a second time has no effect.
 */
export async function setSessionProduct(
  deps: Deps,
  uuid: string,
  holding: Holding,
  { productUuid, amount }: ParsedBody<'setSessionProduct'>,
): Promise<Product> {
  const product = deps.society.offer({ uuid: productUuid.toLowerCase() });
  if (product?.type !== 'donation' && product?.type !== 'store') throw new Refusal(404, UNKNOWN_PRODUCT);
  return addLine(deps, { uuid, holding }, product, product.priceCents!, amount);
}

/** Adds a donation of the amount (dollars) that the joiner typed. */
export async function setCustomDonation(
  deps: Deps,
  uuid: string,
  holding: Holding,
  amount: number | string,
): Promise<Product> {
  const maximum = deps.society.donations.maximumCents;
  const cents = parseDonation(amount, maximum);
  if (cents === null) {
    const message = donationError(amount, maximum);
    throw new Refusal(400, message, { errors: { amount: message } });
  }
  return addLine(
    deps,
    { uuid, holding },
    deps.society.catalogue.find(({ type }) => type === 'donation_other')!,
    cents,
  );
}

async function addLine(
  deps: Deps,
  { uuid, holding }: { uuid: string; holding: Holding },
  product: CatalogueProduct,
  priceCents: number,
  shownCents: number | null = null,
): Promise<Product> {
  const same = { productId: product.id, ...(product.type === 'donation_other' ? { priceCents } : {}) };
  const isThere = hasLine(same);
  const isAsShown = shownCents === null || shownCents === priceCents;
  const add = async () => {
    const { rows } = await sql<{ lines: OpenLine[] }>`
      update join_session set
        lines = case when ${isThere} then lines else lines || ${nextLine(lineOf(product, priceCents))} end,
        revision = case when ${isThere} then revision else revision + 1 end,
        updated_at = now()
      where uuid = ${uuid} and ${stateAllows('changeOrder')} and ${isOpenTo(holding)}
        and (jsonb_array_length(lines) < ${MOST_LINES} and revision < ${MOST_REVISIONS} or ${isThere})
        and (${isAsShown} or ${isThere})
      returning lines`.execute(deps.database);
    return rows[0];
  };
  const order = await whileFrozen(deps, uuid, holding, add);
  const otherwise = isAsShown ? ORDER_FULL : priceIsNow(product, priceCents);
  if (!order) throw await refusalFor(deps, 'changeOrder', uuid, { otherwise, holding });
  const line = order.lines.find(
    (one) => one.productId === product.id && (same.priceCents ?? one.priceCents) === one.priceCents,
  )!;
  // The order already had the product, at a price other than the one on the screen.
  if (shownCents !== null && shownCents !== line.priceCents)
    throw new Refusal(409, priceIsNow(product, line.priceCents));
  return toWireProduct(product, { uuid: lineUuid(uuid, line.number), priceCents: line.priceCents });
}

/**
 * Removes a donation or a store item. Removing the same line a second time has no effect. `holdingOf` returns how the browser
 * holds the line's join.
 */
export async function deleteSessionProduct(
  deps: Deps,
  uuid: string,
  holdingOf: (sessionUuid: string) => Holding,
): Promise<void> {
  const line = readLineUuid(uuid);
  if (!line) throw new Refusal(404, LINE_NOT_FOUND);
  const ofItsSession = sql`uuid between ${line.session.from} and ${line.session.to}`;
  const { rows } = await sql<{
    uuid: string;
    isPaid: boolean;
    isProven: boolean;
    revision: number;
    type: ProductType | null;
  }>`
    select uuid, state = 'paid' as "isPaid", proven_at is not null as "isProven", revision, jsonb_path_query_first(lines, '$[*] ? (@.number == $number)', jsonb_build_object('number', ${line.number}::int)) ->> 'type' as type
    from join_session where ${ofItsSession}`.execute(deps.database);
  const session = rows[0];
  if (!session) throw new Refusal(404, LINE_NOT_FOUND);
  const holding = holdingOf(session.uuid);
  if (!isOpenIn(holding, session)) throw await refusalFor(deps, 'changeOrder', session.uuid, { holding });
  if (line.number === 0 || line.number > session.revision) throw new Refusal(404, LINE_NOT_FOUND);
  if (session.type !== null && isMembershipType(session.type)) throw new Refusal(409, MEMBERSHIP_STAYS);
  const remove = async () => {
    const isThere = hasLine({ number: line.number });
    const { rows } = await sql<{ uuid: string }>`
      update join_session set
        lines = jsonb_path_query_array(lines, '$[*] ? (@.number != $number)', jsonb_build_object('number', ${line.number}::int)),
        revision = case when ${isThere} then revision + 1 else revision end,
        updated_at = now()
      where uuid = ${session.uuid} and ${stateAllows('changeOrder')} and ${isOpenTo(holding)}
      returning uuid`.execute(deps.database);
    return rows[0];
  };
  if (!(await whileFrozen(deps, session.uuid, holding, remove)))
    throw await refusalFor(deps, 'changeOrder', session.uuid, { holding });
}
