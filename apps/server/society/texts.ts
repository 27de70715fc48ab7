import { shortPrice } from '#core/money.ts';
import type { Society } from './society.ts';

/**
 * Fills {product}, {society}, {email}, {phone}, {fee} and {discount}, and the names in `more`, into a text of the society's file.
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

/** Returns the date in the society's time zone, in words: "November 23, 2026". */
export function dateOf({ society: { timeZone } }: Society, at: Date): string {
  return at.toLocaleDateString('en-US', { dateStyle: 'long', timeZone });
}

/** Returns who is eligible for a programme, in the society's words. */
export function eligibilityOf(society: Society, key: string) {
  const { intro, rules, note } = society.programme(key).eligibility;
  const fill = (text: string) => fillIn(text, society, key);
  return { intro: fill(intro), rules: rules.map(fill), note: fill(note) };
}
