import { sql } from 'kysely';
import type { ParsedBody, Product } from '#contract/schemas.ts';
import type { Holding } from '#core/holding.ts';
import { donationError, parseDonation } from '#core/money.ts';
import { lineUuid, MOST_LINES, type OpenLine, readLineUuid, withLine } from '#core/orderLine.ts';
import { isMembershipType } from '#core/product.ts';
import { changeLines } from '../paying/changeLines.ts';
import { LINE_NOT_FOUND, Refusal } from '../platform/http/refusal.ts';
import { lineOf, priceIsNow } from '../session/orderLines.ts';
import type { CatalogueProduct } from '../society/society.ts';
import { toWireProduct } from '../society/wire.ts';
import type { Deps } from './deps.ts';

const UNKNOWN_PRODUCT = 'This item is not available.';
const MEMBERSHIP_STAYS = 'The membership can be changed but not removed.';
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
  const isThere = (line: OpenLine) =>
    line.productId === product.id && (product.type !== 'donation_other' || line.priceCents === priceCents);
  const lines = await changeLines(
    deps,
    'changeOrder',
    { uuid, holding },
    (order) => {
      // A product that the order already has keeps its price.
      const present = order.lines.find(isThere)?.priceCents ?? priceCents;
      if (shownCents !== null && shownCents !== present) throw new Refusal(409, priceIsNow(product, present));
      return order.lines.some(isThere) ? order.lines : withLine(order, lineOf(product, priceCents));
    },
    ORDER_FULL,
  );
  const line = lines.find(isThere)!;
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
  const { rows } = await sql<{ uuid: string }>`
    select uuid from join_session where uuid between ${line.session.from} and ${line.session.to}`.execute(
    deps.database,
  );
  const session = rows[0];
  if (!session) throw new Refusal(404, LINE_NOT_FOUND);
  const held = { uuid: session.uuid, holding: holdingOf(session.uuid) };
  await changeLines(deps, 'changeOrder', held, ({ lines, revision }) => {
    if (line.number === 0 || line.number > revision) throw new Refusal(404, LINE_NOT_FOUND);
    const there = lines.find(({ number }) => number === line.number);
    if (!there) return lines;
    if (isMembershipType(there.type)) throw new Refusal(409, MEMBERSHIP_STAYS);
    return lines.filter((one) => one !== there);
  });
}
