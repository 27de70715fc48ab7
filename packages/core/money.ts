import { LEAST_DONATION_CENTS } from './specified.ts';

/** Money is integer US cents everywhere. Only the wire has dollars (specification, section 9: currency usd). */

/** Stripe's smallest charge in US dollars, in cents. No product and no donation may cost less. */
export const MINIMUM_CHARGE_CENTS = 50;

/** Returns cents as the wire writes a price: 6500 → "65.00". */
export function toPrice(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 0) throw new RangeError(`not an amount in cents: ${cents}`);
  const whole = Math.floor(cents / 100);
  return `${whole}.${String(cents % 100).padStart(2, '0')}`;
}

/** Returns a price from the wire in cents: "65.00" → 6500. Throws on anything that is not dollars with at most two decimals. */
export function fromPrice(price: string): number {
  const match = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(price);
  if (!match) throw new RangeError(`not a price: ${price}`);
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

/** Returns cents as the wire's number of dollars: 2500 → 25, 1250 → 12.5. */
export function toDollars(cents: number): number {
  return Number(toPrice(cents));
}

/** Returns dollars as cents, rounded to the nearest: 12.5 → 1250. */
export function fromDollars(dollars: number): number {
  return Math.round(dollars * 100);
}

/** Returns a price for people, always with cents: 102450 → "$1,024.50". */
export function displayPrice(cents: number): string {
  const [whole, fraction] = toPrice(cents).split('.') as [string, string];
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

/** Returns a price for people without a trailing .00, as on the membership cards (specification, section 2): 6500 → "$65". */
export function shortPrice(cents: number): string {
  return displayPrice(cents).replace('.00', '');
}

/**
 * Returns a custom donation as typed or sent, in cents; null when the amount is not valid (specification, section 5: a number
 * above 0, otherwise nothing is sent). Valid amounts have at most two decimals, and lie between the least donation and
 * `maximumCents`.
 */
export function parseDonation(amount: string | number, maximumCents: number): number | null {
  const text =
    typeof amount === 'number'
      ? String(amount)
      : amount
          .trim()
          .replace(/^\$/, '')
          .replace(/,(?=\d{3}(\D|$))/g, '');
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(text)) return null;
  const cents = fromPrice(text);
  return cents >= LEAST_DONATION_CENTS && cents <= maximumCents ? cents : null;
}
