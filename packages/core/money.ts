import { LEAST_DONATION_CENTS } from './specified.ts';

/** Money is integer US cents everywhere. Only the wire has dollars (specification, section 9: currency usd). */

/** The smallest charge that Stripe makes in US dollars, in cents. No product or donation may cost less. */
export const MINIMUM_CHARGE_CENTS = 50;

/** Converts cents to a price in the wire format: 6500 → "65.00". */
export function toPrice(cents: number): string {
  if (!Number.isSafeInteger(cents) || cents < 0) throw new RangeError(`not an amount in cents: ${cents}`);
  const whole = Math.floor(cents / 100);
  return `${whole}.${String(cents % 100).padStart(2, '0')}`;
}

/** Converts a price in the wire format to cents: "65.00" → 6500. Throws if the text is not dollars with at most two decimals. */
export function fromPrice(price: string): number {
  const match = /^(\d{1,9})(?:\.(\d{1,2}))?$/.exec(price);
  if (!match) throw new RangeError(`not a price: ${price}`);
  return Number(match[1]) * 100 + Number((match[2] ?? '').padEnd(2, '0'));
}

/** Converts cents to a number of dollars for the wire: 2500 → 25, 1250 → 12.5. */
export function toDollars(cents: number): number {
  return Number(toPrice(cents));
}

/** Converts dollars to cents, rounded to the nearest cent: 12.5 → 1250. */
export function fromDollars(dollars: number): number {
  return Math.round(dollars * 100);
}

/** Formats cents for display, always with two decimals: 102450 → "$1,024.50". */
export function displayPrice(cents: number): string {
  const [whole, fraction] = toPrice(cents).split('.') as [string, string];
  return `$${whole.replace(/\B(?=(\d{3})+$)/g, ',')}.${fraction}`;
}

/** Formats cents for display, without a trailing .00, as on the membership cards (specification, section 2): 6500 → "$65". */
export function shortPrice(cents: number): string {
  return displayPrice(cents).replace('.00', '');
}

/**
 * Parses the amount of a custom donation, as the joiner typed it or as a call sent it. Returns cents; null if the amount is invalid
 * (specification, section 5: only a number above 0 is sent). A valid amount has at most two decimals and lies between the minimum
 * donation and `maximumCents`.
 */
export function parseDonation(amount: string | number, maximumCents: number): number | null {
  const cents = parseDollars(String(amount));
  return cents !== null && cents >= LEAST_DONATION_CENTS && cents <= maximumCents ? cents : null;
}

/** Returns the sentence for an amount that {@link parseDonation} refuses: about its form or, if that is right, about its range. */
export function donationError(amount: string | number, maximumCents: number): string {
  // For an amount below zero or of more than nine digits, the sentence is about its size, although its form cannot be parsed
  // either.
  const size = String(amount)
    .trim()
    .replace(/^-\s*/, '')
    .replace(/\d{10,}/, '999999999');
  return parseDollars(size) === null
    ? 'Please enter an amount in dollars, such as 25 or 25.50.'
    : `Please enter an amount from ${displayPrice(LEAST_DONATION_CENTS)} to ${displayPrice(maximumCents)}.`;
}

/**
 * Parses an amount in dollars as a person types it: "45", "45.00", "$45", "1,024.50". Returns cents; null if the text is not an
 * amount or has more than two decimals.
 */
export function parseDollars(amount: string): number | null {
  const text = amount
    .trim()
    .replace(/^\$\s*/, '')
    .replace(/,(?=\d{3}(\D|$))/g, '');
  return /^\d{1,9}(\.\d{1,2})?$/.test(text) ? fromPrice(text) : null;
}
