import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { type Address, addressFrom, type Goods, goodsOfOrder, type ShippedOrder } from '#core/fulfilment.ts';
import { type BaseFacts, baseOf } from '#core/people.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Database } from '../platform/database/client.ts';
import type { ContactProfile, ShipmentTable, Tables } from '../platform/database/types.ts';
import { baseFacts } from '../session/members.ts';
import { fullName } from '../session/person.ts';
import { goodsPromised } from '../session/promised.ts';
import type { Society } from '../society/society.ts';
import type { Deps } from './deps.ts';

/** All goods that a join paid for, sent together. */
export interface Parcel {
  uuid: string;
  name: string | null;
  /** The postal address; null if the joiner gave none. */
  address: Address | null;
  paidAt: Date;
  goods: (Goods & { intentId: string })[];
}

/**
 * Returns the parcels with goods that are to be sent or held, the oldest first. With `all`, also returns parcels of which nothing
 * is left to be sent.
 */
export async function listParcels(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  { all }: { all: boolean },
): Promise<Parcel[]> {
  const rows = await readOrders(database, withGoods(society, all));
  const parcels = parcelsOf(society, rows);
  if (all) return parcels;
  return parcels
    .map((parcel) => ({ ...parcel, goods: parcel.goods.filter(isWaiting) }))
    .filter(({ goods }) => goods.length > 0);
}

/** Returns a join's parcel with all its goods; null if the join paid for no goods. */
export async function parcelOf(
  database: Kysely<Tables>,
  society: Society,
  uuid: string,
): Promise<Parcel | null> {
  return (await parcelsOfJoins({ database, society }, [uuid]))[0] ?? null;
}

/** Returns the parcels of joins, each with all its goods. Joins that paid for no goods have none. */
export async function parcelsOfJoins(
  { database, society }: { database: Kysely<Tables>; society: Society },
  joins: readonly string[],
): Promise<Parcel[]> {
  return parcelsOf(society, await readOrders(database, sql`payment.session_uuid = any(${joins}::uuid[])`));
}

/** Whether these goods still have to be sent, or are held until staff decide. */
export function isWaiting({ state }: Goods): boolean {
  return state.is === 'open' || state.is === 'held';
}

interface OrderRow extends Omit<ShippedOrder, 'goods' | 'hasLostBase'> {
  /** The goods that the snapshot promised; null if Stripe did not know them after a restore. Then the society file decides. */
  goods: ShippedOrder['goods'] | null;
  /** Null if an upgrade was not bought. */
  base: BaseFacts | null;
  uuid: string;
  intentId: string;
  paidAt: Date;
  name: string | null;
  details: StudentDetails | null;
  profile: ContactProfile | null;
}

/** Returns the shipments of a join that were taken back, the oldest first. */
export function takenBackOf(database: Database, uuid: string): Promise<Selectable<ShipmentTable>[]> {
  return database
    .selectFrom('shipment')
    .selectAll()
    .where('session_uuid', '=', uuid)
    .where('unshipped_at', 'is not', null)
    .orderBy('id')
    .execute();
}

/**
 * SQL for whether a payment has goods. If `all` is false, only goods that were not sent yet count. The goods are looked for first, by
 * their index, and each payment by its own: PostgreSQL expects so many goods that it would otherwise read all payments.
 */
function withGoods(society: Society, all: boolean): RawBuilder<boolean> {
  const shipping = society.catalogue.filter(({ ships }) => ships !== undefined).map(({ id }) => id);
  const isUnsent = sql`not exists (select from shipment
    where shipment.intent_id = paid.intent_id and line = position - 1 and unshipped_at is null)`;
  // The first condition is that of the index.
  return sql<boolean>`payment.intent_id = any(array(
    select paid.intent_id from order_snapshot ordered, lateral (
      select intent_id from payment
      where session_uuid = ordered.session_uuid and kind = ordered.kind and revision = ordered.revision and status = 'succeeded' offset 0) paid
    where (goods is null or jsonb_path_exists(goods, '$[*] ? (@ != null)')) and exists (
      select from jsonb_array_elements(items) with ordinality as item (value, position)
      where case when goods is null then value ->> 'type' = 'store' or (value ->> 'productId')::int = any(${shipping}::int[])
        else goods ->> (position - 1)::int is not null end and ${all ? sql`true` : isUnsent})))`;
}

async function readOrders(database: Kysely<Tables>, which: RawBuilder<unknown>): Promise<OrderRow[]> {
  const { rows } = await sql<OrderRow>`
    select session.uuid, payment.intent_id as "intentId", payment.succeeded_at as "paidAt", items as lines, goods, dispute,
      bought.standing, case when bought.type = 'membership_upgrade' then ${baseFacts('bought')} end as base,
      coalesce((select json_agg(json_build_object('amountCents', amount_cents, 'status', status, 'lines', lines, 'isDispute', is_dispute))
        from refund where refund.intent_id = payment.intent_id), '[]') as refunds,
      coalesce((select json_agg(json_build_object('line', line, 'shippedAt', shipped_at, 'shippedBy', shipped_by, 'note', note))
        from shipment where shipment.intent_id = payment.intent_id and unshipped_at is null), '[]') as shipments,
      ${fullName} as name,
      coalesce(person.details, session.details) as details, profile
    from payment join order_snapshot snapshot using (session_uuid, kind, revision)
    join join_session session on session.uuid = payment.session_uuid
    left join person on person.id = session.person_id
    left join membership bought on bought.payment_intent = payment.intent_id
    where ${which} and payment.status = 'succeeded' and session.erased_at is null
    order by payment.succeeded_at, payment.intent_id`.execute(database);
  return rows;
}

function parcelsOf(society: Society, rows: readonly OrderRow[]): Parcel[] {
  const parcels = new Map<string, Parcel>();
  for (const row of rows) {
    const shipments = row.shipments.map((sent) => ({ ...sent, shippedAt: new Date(sent.shippedAt) }));
    const goods = goodsOfOrder({
      ...row,
      goods: row.goods ?? goodsPromised(society, row.lines),
      hasLostBase: row.base !== null && baseOf(row.base) === 'lost',
      shipments,
    });
    if (goods.length === 0) continue;
    const parcel = parcels.get(row.uuid) ?? {
      uuid: row.uuid,
      name: row.name,
      address: addressFrom(row.details, row.profile),
      paidAt: row.paidAt,
      goods: [],
    };
    parcel.goods.push(...goods.map((each) => ({ ...each, intentId: row.intentId })));
    parcels.set(row.uuid, parcel);
  }
  return [...parcels.values()];
}
