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

/** The goods that a join paid for, sent together: all of them, or those that a list is about. */
export interface Parcel {
  uuid: string;
  /** The id of the person whose join it is. */
  personId: number;
  name: string | null;
  /** The postal address; null if unknown. */
  address: Address | null;
  paidAt: Date;
  goods: (Goods & { intentId: string })[];
}

/** The cursor of a list of parcels or of sent goods: the time of the last row, in microseconds since 1970, and its id. */
export interface ParcelCursor {
  micros: string;
  id: string;
}

export interface ParcelPage {
  parcels: Parcel[];
  /** The cursor of the next page; null if there are no more parcels. */
  next: ParcelCursor | null;
}

/**
 * MOST_READ: after this many joins, no more are read for a page. BATCH: how many joins a statement reads at most; the first
 * statement reads no more than a page needs.
 */
const MOST_READ = 5_000;
const BATCH = 500;

/**
 * Returns the parcels with goods that are to be sent (`open`), held, or either, the oldest first, at most `most`, each with only
 * these goods. If few of many joins have such goods, a page may have fewer parcels or none, although there is a next page.
 * `isBare` leaves out names and addresses, for counting.
 */
export async function waitingParcels(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  state: 'open' | 'held' | 'either',
  { most, after, isBare = false }: { most: number; after: ParcelCursor | null; isBare?: boolean },
): Promise<ParcelPage> {
  const fits = (goods: Goods) => isWaiting(goods) && (state === 'either' || goods.state.is === state);
  const parcels: Parcel[] = [];
  let [last, end] = [after, after];
  let batch = Math.min(most + 1, BATCH);
  for (let read = 0; read < MOST_READ; read += batch, batch = BATCH) {
    // A parcel's place in the list is that of its first payment with unsent goods.
    const { rows } = await sql<{ uuid: string; id: string; micros: string }>`
      select session_uuid as uuid, intent_id as id, ${microsOf(sql`succeeded_at`)} as micros
      from payment where has_unsent_goods and status = 'succeeded' and ${isAfter(last, '>', sql`succeeded_at`, sql`intent_id`)}
        and not exists (select from payment earlier where earlier.session_uuid = payment.session_uuid
          and earlier.has_unsent_goods and earlier.status = 'succeeded'
          and (earlier.succeeded_at, earlier.intent_id) < (payment.succeeded_at, payment.intent_id))
      order by succeeded_at, intent_id limit ${batch}`.execute(database);
    const found = await parcelsOfJoins(
      { database, society },
      rows.map(({ uuid }) => uuid),
      { isBare },
    );
    const byJoin = new Map(found.map((parcel) => [parcel.uuid, parcel]));
    for (const { uuid, ...cursor } of rows) {
      const parcel = byJoin.get(uuid);
      const goods = parcel?.goods.filter(fits) ?? [];
      if (parcel && goods.length > 0) {
        if (parcels.length === most) return { parcels, next: end };
        parcels.push({ ...parcel, goods });
      }
      end = cursor;
    }
    if (rows.length < batch) return { parcels, next: null };
    last = end;
  }
  return { parcels, next: end };
}

/** Goods that were sent. */
export type SentGoods = Omit<Parcel, 'goods'> & { goods: Parcel['goods'][number] };

/** Returns goods that were sent, the latest first, at most `most`. Those of erased joins are left out. */
export async function sentGoods(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  { most, after }: { most: number; after: ParcelCursor | null },
): Promise<{ sent: SentGoods[]; next: ParcelCursor | null }> {
  const { rows } = await sql<{ uuid: string; intentId: string; line: number; id: string; micros: string }>`
    select session_uuid as uuid, intent_id as "intentId", line, id::text, ${microsOf(sql`shipped_at`)} as micros
    from shipment where unshipped_at is null and ${isAfter(after, '<', sql`shipped_at`, sql`id`)}
    order by shipped_at desc, id desc limit ${most + 1}`.execute(database);
  const page = rows.slice(0, most);
  const found = await parcelsOfJoins({ database, society }, [...new Set(page.map(({ uuid }) => uuid))]);
  const sent = page.flatMap(({ uuid, intentId, line }) => {
    const parcel = found.find((each) => each.uuid === uuid);
    const goods = parcel?.goods.find((each) => each.intentId === intentId && each.line === line);
    return parcel && goods ? [{ ...parcel, goods }] : [];
  });
  const { id, micros } = page.at(-1) ?? { id: '', micros: '' };
  return { sent, next: rows.length > most ? { id, micros } : null };
}

const microsOf = (time: RawBuilder<unknown>) =>
  sql<string>`(extract(epoch from ${time}) * 1000000)::bigint::text`;

/** SQL for whether a row follows a cursor, by its time and its id. */
function isAfter(
  after: ParcelCursor | null,
  how: '<' | '>',
  time: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): RawBuilder<boolean> {
  if (!after) return sql<boolean>`true`;
  return sql<boolean>`(${time}, ${id}) ${sql.raw(how)} ('epoch'::timestamptz + ${after.micros}::bigint * interval '1 microsecond', ${after.id})`;
}

/**
 * Returns the parcels with goods that are to be sent or held, the oldest first. With `all`, also returns parcels of which nothing
 * is left to be sent.
 */
export async function listParcels(
  deps: Pick<Deps, 'database' | 'society'>,
  { all }: { all: boolean },
): Promise<Parcel[]> {
  if (all) return parcelsOf(deps.society, await readOrders(deps.database, withGoods(deps.society)));
  const parcels: Parcel[] = [];
  let after: ParcelCursor | null = null;
  do {
    const page: ParcelPage = await waitingParcels(deps, 'either', { most: MOST_READ, after });
    parcels.push(...page.parcels);
    after = page.next;
  } while (after);
  return parcels;
}

/** Returns a join's parcel with all its goods; null if the join paid for no goods or is erased. */
export async function parcelOf(
  database: Kysely<Tables>,
  society: Society,
  uuid: string,
): Promise<Parcel | null> {
  return (await parcelsOfJoins({ database, society }, [uuid]))[0] ?? null;
}

/**
 * Returns the parcels of joins, each with all its goods; `isBare`: without names and addresses. Joins that paid for no goods, and
 * erased joins, have no parcel.
 */
export async function parcelsOfJoins(
  { database, society }: Pick<Deps, 'database' | 'society'>,
  joins: readonly string[],
  { isBare = false }: { isBare?: boolean } = {},
): Promise<Parcel[]> {
  const which = sql`payment.session_uuid = any(${joins}::uuid[])`;
  return parcelsOf(society, await readOrders(database, which, isBare ? nobodysData : personsData));
}

/** Returns the parcels of the joins of these payments. */
export async function parcelsOfPayments(
  deps: Pick<Deps, 'database' | 'society'>,
  intents: readonly string[],
): Promise<Parcel[]> {
  const { rows } = await sql<{ uuid: string }>`
    select distinct session_uuid as uuid from payment where intent_id = any(${[...new Set(intents)]})`.execute(
    deps.database,
  );
  return parcelsOfJoins(
    deps,
    rows.map(({ uuid }) => uuid),
  );
}

/** Whether these goods still have to be sent, or are held until staff decide. */
export function isWaiting({ state }: Goods): boolean {
  return state.is === 'open' || state.is === 'held';
}

interface OrderRow extends Omit<ShippedOrder, 'goods' | 'hasLostBase'> {
  /** The goods that the snapshot promised; null if Stripe did not know them after a restore. Then the society file decides. */
  goods: ShippedOrder['goods'] | null;
  /** Null if no upgrade was bought. */
  base: BaseFacts | null;
  uuid: string;
  personId: number;
  intentId: string;
  paidAt: Date;
  name: string | null;
  details: StudentDetails | null;
  profile: ContactProfile | null;
}

/** Returns the shipments of a join whose record was undone, the oldest first. */
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
 * SQL for whether a payment has goods, sent or not. Orders with goods are looked for first, by an index, and then the payment of
 * each, by another index. PostgreSQL expects so many orders with goods that it would otherwise read all payments.
 */
function withGoods(society: Society): RawBuilder<boolean> {
  const shipping = society.catalogue.filter(({ ships }) => ships !== undefined).map(({ id }) => id);
  // The first condition is that of a partial index, so that PostgreSQL can use the index.
  return sql<boolean>`payment.intent_id = any(array(
    select paid.intent_id from order_snapshot ordered, lateral (
      select intent_id from payment
      where session_uuid = ordered.session_uuid and kind = ordered.kind and revision = ordered.revision and status = 'succeeded' offset 0) paid
    where (goods is null or jsonb_path_exists(goods, '$[*] ? (@ != null)')) and exists (
      select from jsonb_array_elements(items) with ordinality as item (value, position)
      where case when goods is null then value ->> 'type' = 'store' or (value ->> 'productId')::int = any(${shipping}::int[])
        else goods ->> (position - 1)::int is not null end)))`;
}

/** SQL for the columns of {@link readOrders} about the person. Reading them takes as long as all other columns. */
const personsData = sql`
  coalesce(person.merged_into, session.person_id) as "personId", ${fullName} as name,
  coalesce(person.details, session.details) as details, profile`;
const nobodysData = sql`session.person_id as "personId", null as name, null as details, null as profile`;

/**
 * Memberships are looked for payment by payment (`offset 0`): otherwise PostgreSQL would read all memberships for a few hundred
 * payments.
 */
async function readOrders(
  database: Kysely<Tables>,
  which: RawBuilder<unknown>,
  person = personsData,
): Promise<OrderRow[]> {
  const { rows } = await sql<OrderRow>`
    select session.uuid, ${person}, payment.intent_id as "intentId", payment.succeeded_at as "paidAt", items as lines, goods, dispute,
      bought.standing, case when bought.type = 'membership_upgrade' then ${baseFacts('bought')} end as base,
      coalesce((select json_agg(json_build_object('amountCents', amount_cents, 'status', status, 'lines', lines, 'isDispute', is_dispute))
        from refund where refund.intent_id = payment.intent_id), '[]') as refunds,
      coalesce((select json_agg(json_build_object('line', line, 'shippedAt', shipped_at, 'shippedBy', shipped_by, 'note', note))
        from shipment where shipment.intent_id = payment.intent_id and unshipped_at is null), '[]') as shipments
    from payment join order_snapshot snapshot using (session_uuid, kind, revision)
    join join_session session on session.uuid = payment.session_uuid
    left join person on person.id = session.person_id
    left join lateral (select * from membership where payment_intent = payment.intent_id offset 0) bought on true
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
      personId: row.personId,
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
