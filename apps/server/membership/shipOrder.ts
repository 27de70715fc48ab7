import { type Kysely, sql } from 'kysely';
import type { Goods } from '#core/fulfilment.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import type { ByStaff } from '../platform/deps.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { type Parcel, parcelOf } from './orders.ts';

/** Thrown if nothing can be recorded. The message is a sentence for staff with the reason. */
export class NotShippable extends Failed {}

export interface ShipRequest {
  /** The product ids of the goods; null for all goods that are open. */
  items: readonly number[] | null;
}

export interface Shipped {
  /** The goods that this call recorded as sent. For {@link unshipOrder}: as no longer sent. */
  goods: Goods[];
  /**
   * The goods that the call was asked to change but did not change. If the caller listed no goods, it asked for all goods of the
   * join.
   */
  others: Goods[];
}

/**
 * Records that goods of a join were sent: the listed goods or, if none are listed, all open ones. Held goods are recorded only if
 * they are listed. Takes the same lock on the join as a refund. Therefore no goods are recorded as sent during a refund, and two
 * concurrent calls record the goods only once.
 */
export async function shipOrder(
  deps: Pick<ByStaff<Deps>, 'database' | 'actor' | 'society'>,
  uuid: string,
  { items, note }: ShipRequest & { note: string | null },
): Promise<Shipped> {
  return transaction(deps, async (trx) => {
    const goods = chosen(await lockedParcel(deps, trx, uuid), items);
    const toSend = goods.filter(
      ({ state }) => state.is === 'open' || (state.is === 'held' && items !== null),
    );
    if (toSend.length > 0)
      await trx
        .insertInto('shipment')
        .values(
          toSend.map(({ intentId, line, productId, name }) => ({
            session_uuid: uuid,
            intent_id: intentId,
            line,
            product_id: productId,
            goods: name,
            shipped_by: deps.actor,
            note,
          })),
        )
        .execute();
    return { goods: toSend, others: goods.filter((each) => !toSend.includes(each)) };
  });
}

/**
 * Undoes the record that goods of a join were sent: the listed goods or, if none are listed, all. The shipment rows stay, with
 * the name of the staff member who undid them.
 */
export async function unshipOrder(
  deps: Pick<ByStaff<Deps>, 'database' | 'actor' | 'society'>,
  uuid: string,
  { items }: ShipRequest,
): Promise<Shipped> {
  return transaction(deps, async (trx) => {
    const goods = chosen(await lockedParcel(deps, trx, uuid), items);
    const sent = goods.filter(({ state }) => state.is === 'sent');
    for (const { intentId, line } of sent)
      await trx
        .updateTable('shipment')
        .set({ unshipped_at: sql`now()`, unshipped_by: deps.actor })
        .where('intent_id', '=', intentId)
        .where('line', '=', line)
        .where('unshipped_at', 'is', null)
        .execute();
    return { goods: sent, others: goods.filter((each) => !sent.includes(each)) };
  });
}

async function lockedParcel(
  { society }: Pick<Deps, 'society'>,
  trx: Kysely<Tables>,
  uuid: string,
): Promise<Parcel> {
  const session = await trx
    .selectFrom('join_session')
    .select('uuid')
    .where('uuid', '=', uuid)
    .forUpdate()
    .executeTakeFirst();
  if (!session) throw new NotShippable(`There is no join ${uuid}.`);
  const parcel = await parcelOf(trx, society, uuid);
  if (!parcel) throw new NotShippable(`Join ${uuid} has paid for nothing that is sent.`);
  return parcel;
}

function chosen({ uuid, goods }: Parcel, items: readonly number[] | null): Parcel['goods'] {
  if (items === null) return goods;
  const unknown = items.filter((id) => !goods.some(({ productId }) => productId === id));
  if (unknown.length > 0)
    throw new NotShippable(`Join ${uuid} has nothing to send of product ${unknown.join(', ')}.`);
  return goods.filter(({ productId }) => items.includes(productId));
}
