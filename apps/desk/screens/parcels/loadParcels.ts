import type { LoaderFunctionArgs } from 'react-router';
import type { ParcelTab } from '#contract/deskParcels.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { call } from '../../lib/call.ts';

export type Parcel = DeskData<'getParcels'>['rows'][number];
export type Goods = Parcel['goods'][number];
export type ParcelData = DeskData<'getParcels'> & { tab: ParcelTab };

/** One of the goods, and its parcel. */
export interface Chosen {
  parcel: Parcel;
  goods: Goods;
}

export const keyOf = ({ intent, line }: Pick<Goods, 'intent' | 'line'>) => `${intent}-${line}`;
export const nameOf = ({ name, person }: Parcel) => name ?? `Person ${person}`;
export const lineOf = ({ parcel: { person }, goods: { intent, line } }: Chosen) => ({ person, intent, line });

export const tabs = [
  { tab: 'to-send', to: '/parcels', name: 'To send' },
  { tab: 'held', to: '/parcels/held', name: 'Held' },
  { tab: 'sent', to: '/parcels/sent', name: 'Sent' },
] as const satisfies { tab: ParcelTab; to: string; name: string }[];

/** Loads the parcels of the tab in the URL; null if there is no such tab. */
export async function loadParcels({ params, request }: LoaderFunctionArgs): Promise<ParcelData | null> {
  const tab = tabs.find(({ to }) => to === `/parcels${params.tab ? `/${params.tab}` : ''}`)?.tab;
  if (!tab) return null;
  return { ...(await call('getParcels', { query: { tab }, signal: request.signal })), tab };
}
