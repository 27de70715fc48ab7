import { type Kysely, sql } from 'kysely';
import { dueLetters } from '../letters/dueLetters.ts';
import type { SentData } from '../letters/takeLetter.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Tables } from '../platform/database/types.ts';
import type { ByStaff } from '../platform/deps.ts';
import { Failed } from '../platform/failed.ts';
import type { Deps } from './deps.ts';
import { type Parcel, parcelOf } from './orders.ts';

/** Thrown if nothing can be recorded. The message is a sentence for staff with the reason. */
export class NotShippable extends Failed {}

export interface ShipRequest {
  /** The product ids of the goods; null for all goods that are open or, for {@link unshipOrder}, sent. */
  items: readonly number[] | null;
}

export interface Shipped {
  /** The goods that this call recorded as sent. For {@link unshipOrder}: as no longer sent. */
  goods: Parcel['goods'];
  /**
   * The goods that the call was asked to change but did not change. If the caller listed no goods, it asked for all goods of the
   * join.
   */
  others: Parcel['goods'];
}

/** Goods by their line in the order of a payment. */
export interface GoodsLine {
  intentId: string;
  line: number;
}

/**
 * Records that goods of a join were sent: the listed goods or, if none are listed, all open ones. Held goods are recorded only if
 * they are listed. Takes the same lock on the join as a refund. Therefore no goods are recorded as sent during a refund, and two
 * concurrent calls record the goods only once.
 */
export async function shipOrder(
  deps: Shipping,
  uuid: string,
  { items, note }: ShipRequest & { note: string | null },
): Promise<Shipped> {
  return ship(deps, uuid, {
    choose: (parcel) => byProduct(parcel, items),
    withHeld: items !== null,
    noteOf: () => note,
  });
}

/** Records, like {@link shipOrder}, that the goods of these lines were sent; held goods only if `withHeld` is true. */
export async function shipLines(
  deps: Shipping,
  uuid: string,
  { lines, withHeld }: { lines: readonly (GoodsLine & { note: string | null })[]; withHeld: boolean },
): Promise<Shipped> {
  return ship(deps, uuid, {
    choose: (parcel) => byLine(parcel, lines),
    withHeld,
    noteOf: (goods) => lines.find((each) => isLine(goods, each))!.note,
  });
}

type Shipping = Pick<ByStaff<Deps>, 'database' | 'actor' | 'society' | 'config'>;
/** The delay of the letter about sent goods. If staff undo the record in this time, the letter is not sent. */
const SENT_AFTER_HOURS = 1 / 6;
type GoodsOfParcel = Parcel['goods'][number];

async function ship(
  deps: Shipping,
  uuid: string,
  {
    choose,
    withHeld,
    noteOf,
  }: {
    choose: (parcel: Parcel) => GoodsOfParcel[];
    withHeld: boolean;
    noteOf: (goods: GoodsOfParcel) => string | null;
  },
): Promise<Shipped> {
  return transaction(deps, async (trx) => {
    const goods = choose(await lockedParcel(deps, trx, uuid));
    const toSend = goods.filter(({ state }) => state.is === 'open' || (state.is === 'held' && withHeld));
    const noted = toSend.map((each) => ({ each, note: noteOf(each) }));
    if (toSend.length > 0) {
      const rows = await trx
        .insertInto('shipment')
        .values(
          noted.map(({ each, note }) => ({
            session_uuid: uuid,
            intent_id: each.intentId,
            line: each.line,
            product_id: each.productId,
            goods: each.name,
            shipped_by: deps.actor,
            note,
          })),
        )
        .returning('id')
        .execute();
      const [first] = rows;
      const notes = new Set(noted.flatMap(({ note }) => note ?? []));
      await dueLetters(trx, deps, [
        {
          kind: 'goods-sent',
          sessionUuid: uuid,
          occasion: `shipment ${first!.id}`,
          afterHours: SENT_AFTER_HOURS,
          data: {
            shipment: Number(first!.id),
            goods: toSend.map(({ name }) => name),
            tracking: [...notes].join(', ') || null,
          } satisfies SentData,
        },
      ]);
    }
    return { goods: toSend, others: goods.filter((each) => !toSend.includes(each)) };
  });
}

/**
 * Undoes the record that goods of a join were sent: the listed goods or, if none are listed, all. The shipment rows stay, with
 * the name of the staff member who undid them.
 */
export async function unshipOrder(deps: Shipping, uuid: string, { items }: ShipRequest): Promise<Shipped> {
  return unship(deps, uuid, (parcel) => byProduct(parcel, items));
}

/** Undoes the record like {@link unshipOrder}, for these lines only. */
export async function unshipLines(
  deps: Shipping,
  uuid: string,
  lines: readonly GoodsLine[],
): Promise<Shipped> {
  return unship(deps, uuid, (parcel) => byLine(parcel, lines));
}

async function unship(
  deps: Shipping,
  uuid: string,
  choose: (parcel: Parcel) => GoodsOfParcel[],
): Promise<Shipped> {
  return transaction(deps, async (trx) => {
    const goods = choose(await lockedParcel(deps, trx, uuid));
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

function byProduct({ uuid, goods }: Parcel, items: readonly number[] | null): GoodsOfParcel[] {
  if (items === null) return goods;
  const unknown = items.filter((id) => !goods.some(({ productId }) => productId === id));
  if (unknown.length > 0)
    throw new NotShippable(`Join ${uuid} has nothing to send of product ${unknown.join(', ')}.`);
  return goods.filter(({ productId }) => items.includes(productId));
}

/** Whether goods belong to this line. */
export function isLine(goods: GoodsLine, line: GoodsLine): boolean {
  return goods.intentId === line.intentId && goods.line === line.line;
}

function byLine({ uuid, goods }: Parcel, lines: readonly GoodsLine[]): GoodsOfParcel[] {
  const found = goods.filter((each) => lines.some((line) => isLine(each, line)));
  if (found.length < lines.length) throw new NotShippable(`Join ${uuid} has nothing to send of such a line.`);
  return found;
}
