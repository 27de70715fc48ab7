import type { DeskBody, DeskData } from '#contract/deskSchemas.ts';
import { csvLine } from '#core/csv.ts';
import { addressLine, type GoodsState, goodsWords } from '#core/fulfilment.ts';
import {
  type Parcel,
  type ParcelCursor,
  parcelsOfPayments,
  sentGoods,
  waitingParcels,
} from '../membership/orders.ts';
import { daysWaiting, NO_ADDRESS, packed, packingColumns } from '../membership/packingList.ts';
import { isLine, type Shipped } from '../membership/shipOrder.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { dateOf, dayOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';

export const NO_GOODS = 'There are no such goods, or whoever bought them was erased.';

type Tab = 'to-send' | 'held' | 'sent';
type Goods = Parcel['goods'][number];
export type Line = Omit<DeskBody<'shipGoods'>['lines'][number], 'note'>;

/** Returns a page of the parcels of a tab. On the tab `sent` each entry has a single item of goods. */
export async function parcelsAt(
  deps: Deps,
  tab: Tab,
  { most, after }: { most: number; after: ParcelCursor | null },
): Promise<{ parcels: Parcel[]; next: ParcelCursor | null }> {
  if (tab !== 'sent') return waitingParcels(deps, tab === 'held' ? 'held' : 'open', { most, after });
  const { sent, next } = await sentGoods(deps, { most, after });
  return { parcels: sent.map((each) => ({ ...each, goods: [each.goods] })), next };
}

/** Returns the row that a tab shows for a parcel. */
export function parcelRow(
  deps: Pick<Deps, 'society' | 'now'>,
  parcel: Parcel,
): DeskData<'getParcels'>['rows'][number] {
  const { personId, name, address, goods } = parcel;
  return {
    person: personId,
    name,
    address: address && addressLine(address),
    days: daysWaiting(parcel, deps.now()),
    goods: goods.map((each) => ({
      intent: each.intentId,
      line: each.line,
      name: each.name,
      state: wordsOf(deps, each.state),
    })),
  };
}

export function wordsOf({ society }: Pick<Deps, 'society'>, state: GoodsState): string {
  return goodsWords(state, (time) => dateOf(society, time));
}

/** How many parcels are read at a time for a file. */
const BATCH = 500;

/** Yields the packing list of a tab, as lines of a CSV file. */
export async function* packingList(deps: Deps, tab: Tab): AsyncGenerator<string> {
  yield csvLine([...packingColumns, 'person', 'paid']);
  let after: ParcelCursor | null = null;
  do {
    const page: { parcels: Parcel[]; next: ParcelCursor | null } = await parcelsAt(deps, tab, {
      most: BATCH,
      after,
    });
    for (const parcel of page.parcels)
      yield csvLine([...packed(parcel), String(parcel.personId), dayOf(deps.society, parcel.paidAt)]);
    after = page.next;
  } while (after);
}

/** A parcel with those of its goods that a call names. */
export interface Named {
  parcel: Parcel;
  goods: Goods[];
}

/** Finds goods by their lines, in the order of the lines. Throws a {@link Refusal} (404) if any of them does not exist. */
export async function findGoods(deps: Deps, lines: readonly Line[]): Promise<Named[]> {
  const parcels = await parcelsOfPayments(
    deps,
    lines.map(({ intent }) => intent),
  );
  const named = new Map<string, Named>();
  for (const { person, intent, line } of lines) {
    const isIt = (goods: Goods) => isLine(goods, { intentId: intent, line });
    const parcel = parcels.find(({ personId, goods }) => personId === person && goods.some(isIt));
    if (!parcel) throw new Refusal(404, NO_GOODS);
    const found = named.get(parcel.uuid) ?? { parcel, goods: [] };
    const goods = parcel.goods.find(isIt)!;
    if (!found.goods.includes(goods)) found.goods.push(goods);
    named.set(parcel.uuid, found);
  }
  return [...named.values()];
}

/** Returns a sentence about why goods cannot be marked as sent; null if they can. */
export function hindrance(
  deps: Pick<Deps, 'society'>,
  { address }: Parcel,
  { state }: Goods,
  evenHeld: boolean,
): string | null {
  if (state.is !== 'open' && !(state.is === 'held' && evenHeld)) return wordsOf(deps, state);
  return address === null ? NO_ADDRESS : null;
}

/** Returns the outcome for each of the goods that were to be marked as sent. */
export function outcomesOf(
  deps: Pick<Deps, 'society'>,
  { parcel }: Named,
  { goods, others }: Shipped,
): { person: string; goods: string; outcome: string }[] {
  const outcome = ({ state }: Goods) => {
    if (state.is === 'sent') return 'already sent';
    return state.is === 'ended' && state.because === 'refunded' ? 'refunded meanwhile' : wordsOf(deps, state);
  };
  const person = nameOf(parcel);
  return [
    ...goods.map((each) => ({ person, goods: each.name, outcome: 'sent' })),
    ...others.map((each) => ({ person, goods: each.name, outcome: outcome(each) })),
  ];
}

export function nameOf({ name, personId }: Parcel): string {
  return name ?? `person ${personId}`;
}
