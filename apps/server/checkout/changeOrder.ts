import { sql } from 'kysely';
import type { Product } from '#contract/schemas.ts';
import { statesAllowing } from '#core/joinSession.ts';
import { displayPrice, MINIMUM_CHARGE_CENTS, parseDonation } from '#core/money.ts';
import type { Deps } from '../deps.ts';
import { LINE_NOT_FOUND, Refusal } from '../http/refusal.ts';
import { whyNot } from '../join/standing.ts';
import { whileFrozen } from '../payments/settlePaying.ts';
import { type CatalogueProduct, toWireProduct } from '../society.ts';

const UNKNOWN_PRODUCT = 'This item is not on offer.';
const MEMBERSHIP_STAYS = 'The membership can be changed but not removed.';
/** Enough for anybody, and an end to a script. */
const MOST_LINES = 50;
const ORDER_FULL = `An order has at most ${MOST_LINES} items.`;

/** Adds a donation preset or a store item at today's price. The same item twice is the one already there. */
export async function setSessionProduct(deps: Deps, uuid: string, productUuid: string): Promise<Product> {
  const product = deps.society.productByUuid(productUuid.toLowerCase());
  if (product?.type !== 'donation' && product?.type !== 'store') throw new Refusal(404, UNKNOWN_PRODUCT);
  return addLine(deps, uuid, product, product.price!);
}

/** Adds a donation of an amount in dollars that the joiner typed. */
export async function setCustomDonation(deps: Deps, uuid: string, amount: number | string): Promise<Product> {
  const maximum = deps.society.donations.maximum;
  const cents = parseDonation(amount, maximum);
  if (cents === null) {
    const message = `Please enter an amount from ${displayPrice(MINIMUM_CHARGE_CENTS)} to ${displayPrice(maximum)}, with at most two decimals.`;
    throw new Refusal(400, message, { errors: { amount: message } });
  }
  return addLine(deps, uuid, deps.society.catalogue.find(({ type }) => type === 'donation_other')!, cents);
}

async function addLine(
  deps: Deps,
  uuid: string,
  product: CatalogueProduct,
  priceCents: number,
): Promise<Product> {
  const add = async () => {
    const { rows } = await sql<{ uuid: string | null; price_cents: number; lines: number }>`
      with session as (
        select uuid, (select count(*) from session_product where session_uuid = join_session.uuid and removed_at is null) as lines
        from join_session where uuid = ${uuid} and state = any(${statesAllowing('changeOrder')}) for update
      ), added as (
        insert into session_product (session_uuid, product_id, type, name, price_cents)
        select uuid, ${product.id}, ${product.type}, ${product.name}, ${priceCents}::int from session where lines < ${MOST_LINES}
        on conflict do nothing
        returning uuid, session_uuid, price_cents
      ), moved as (
        update join_session set revision = revision + 1, updated_at = now() where uuid in (select session_uuid from added)
      )
      select line.uuid, line.price_cents, session.lines::int from session left join (
        select uuid, session_uuid, price_cents from added
        union all
        select uuid, session_uuid, price_cents from session_product
        where session_uuid = ${uuid} and product_id = ${product.id} and removed_at is null
          and (type <> 'donation_other' or price_cents = ${priceCents}::int)
      ) line on line.session_uuid = session.uuid`.execute(deps.database);
    return rows[0];
  };
  let line = await whileFrozen(deps, uuid, add);
  // Added by another tab while this statement waited for the session: a new statement sees it.
  if (line?.uuid === null && line.lines < MOST_LINES) line = await add();
  if (!line) throw await whyNot(deps, 'changeOrder', uuid);
  if (line.uuid === null) throw new Refusal(409, ORDER_FULL);
  return toWireProduct(product, { uuid: line.uuid, priceCents: line.price_cents });
}

/** Removes a donation or store item. Removing it twice is safe: a line that is gone is gone. */
export async function deleteSessionProduct(deps: Deps, lineUuid: string): Promise<void> {
  const line = await deps.database
    .selectFrom('session_product')
    .select(['session_uuid', 'type'])
    .where('uuid', '=', lineUuid)
    .executeTakeFirst();
  if (!line) throw new Refusal(404, LINE_NOT_FOUND);
  if (line.type === 'membership' || line.type === 'membership_upgrade')
    throw new Refusal(409, MEMBERSHIP_STAYS);
  const remove = async () => {
    const { rows } = await sql<{ uuid: string }>`
      with session as (
        select uuid from join_session where uuid = ${line.session_uuid} and state = any(${statesAllowing('changeOrder')}) for update
      ), removed as (
        update session_product set removed_at = now()
        where uuid = ${lineUuid} and removed_at is null and session_uuid in (select uuid from session)
        returning session_uuid
      ), moved as (
        update join_session set revision = revision + 1, updated_at = now() where uuid in (select session_uuid from removed)
      )
      select uuid from session`.execute(deps.database);
    return rows[0];
  };
  if (!(await whileFrozen(deps, line.session_uuid, remove)))
    throw await whyNot(deps, 'changeOrder', line.session_uuid);
}
