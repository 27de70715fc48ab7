import { shortPrice } from '#core/money.ts';
import type { Society } from './society.ts';

/**
 * Replaces {product}, {society}, {email}, {phone}, {fee} and {discount} in a text of the society file, and the placeholders in
 * `more`.
 */
export function fillIn(
  text: string,
  society: Society,
  key: string,
  more: Record<string, string> = {},
): string {
  const programme = society.programme(key);
  const values: Record<string, string> = {
    product: programme.name,
    society: society.society.name,
    email: society.society.supportEmail,
    phone: society.society.supportPhone,
    fee: shortPrice(programme.processingFeeCents),
    discount: `${society.store.discountPercent}%`,
    ...more,
  };
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/** Returns a date in words, in the society's time zone: "November 23, 2026". */
export function dateOf({ society: { timeZone } }: Society, at: Date): string {
  return at.toLocaleDateString('en-US', { dateStyle: 'long', timeZone });
}

/** Returns the day of a time in the society's time zone, as YYYY-MM-DD. */
export function dayOf({ society: { timeZone } }: Society, at: Date): string {
  // Swedish dates have this form.
  return at.toLocaleDateString('sv-SE', { timeZone });
}

/** Returns the society's texts about who is eligible for a programme. */
export function eligibilityOf(society: Society, key: string) {
  const { intro, rules, note } = society.programme(key).eligibility;
  const fill = (text: string) => fillIn(text, society, key);
  return { intro: fill(intro), rules: rules.map(fill), note: fill(note) };
}
