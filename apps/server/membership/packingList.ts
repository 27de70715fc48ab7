import type { Parcel } from './orders.ts';

const DAY_MS = 86_400_000;
/** The text in place of an unknown address. */
export const NO_ADDRESS = 'no address';

/**
 * The first columns of a packing list. The desk and the command `orders` each add columns that identify a parcel, and the day of
 * its payment.
 */
export const packingColumns = ['name', 'address1', 'address2', 'city', 'state', 'zip', 'country', 'items'];

/** Returns a parcel's cells for {@link packingColumns}, with those goods that `goods` lists. */
export function packed({ name, address, goods }: Parcel): string[] {
  const {
    address1 = NO_ADDRESS,
    address2 = '',
    city = '',
    state = '',
    zip = '',
    country = '',
  } = address ?? {};
  const items = goods.map((each) => each.name).join('; ');
  return [name ?? '', address1, address2, city, state, zip, country, items];
}

/** Returns how many whole days ago a parcel was paid. */
export function daysWaiting({ paidAt }: Pick<Parcel, 'paidAt'>, now: Date): number {
  return Math.max(0, Math.floor((now.getTime() - paidAt.getTime()) / DAY_MS));
}
