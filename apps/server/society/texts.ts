import { lastDayOf } from '#core/codeVerdict.ts';
import { goodsOf } from '#core/fulfilment.ts';
import { shortPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { isDonationType } from '#core/product.ts';
import type { Society } from './society.ts';

/** The placeholders that {@link fillIn} knows in every text. */
export const placeholders = ['product', 'society', 'email', 'phone', 'fee', 'discount'] as const;

/** Replaces {@link placeholders}, written as {product}, in a text of the society file, and the placeholders in `more`. */
export function fillIn(
  text: string,
  society: Society,
  key: string,
  more: Record<string, string> = {},
): string {
  const programme = society.programme(key);
  const known: Record<(typeof placeholders)[number], string> = {
    product: programme.name,
    society: society.society.name,
    email: society.society.supportEmail,
    phone: society.society.supportPhone,
    fee: shortPrice(programme.processingFeeCents),
    discount: `${society.store.discountPercent}%`,
  };
  const values: Record<string, string> = { ...known, ...more };
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}

/**
 * Returns the notes on a receipt: the name on the card statement, when goods are sent and, if there is a donation, whether
 * donations are deductible. Leaves out each note for which the society's file has no text.
 */
export function receiptNotes(society: Society, lines: readonly OrderLine[]): string[] {
  const { statementName, deductibility } = society.society;
  const { delivery } = society.store;
  const hasGoods = lines.some((line) => goodsOf(line, (id) => society.product(id)?.ships) !== null);
  const hasDonation = lines.some(({ type }) => isDonationType(type));
  return [
    ...(statementName ? [`On the card statement: ${statementName}`] : []),
    ...(hasGoods && delivery ? [fillIn(delivery, society, society.defaultProgramme)] : []),
    ...(hasDonation && deductibility ? [fillIn(deductibility, society, society.defaultProgramme)] : []),
  ];
}

/** Returns a date in words, in the society's time zone: "November 23, 2026". */
export function dateOf({ society: { timeZone } }: Society, at: Date): string {
  return at.toLocaleDateString('en-US', { dateStyle: 'long', timeZone });
}

/** Returns the date of a time in the society's time zone, as YYYY-MM-DD. */
export function dayOf({ society: { timeZone } }: Society, at: Date): string {
  // Swedish dates have this form.
  return at.toLocaleDateString('sv-SE', { timeZone });
}

/** Returns the last day (YYYY-MM-DD in the society's time zone) on which something that expires at `expiresAt` is valid. */
export function lastDay(society: Society, expiresAt: Date): string {
  return lastDayOf(expiresAt, (time) => dayOf(society, time));
}

/** Returns the hour and minute of a time in the society's time zone: "10:42", "14:05". */
export function minuteOf({ society: { timeZone } }: Society, at: Date): string {
  return at.toLocaleTimeString('en-US', { hour: 'numeric', minute: '2-digit', hourCycle: 'h23', timeZone });
}

/** Returns the society's texts about who is eligible for a programme. */
export function eligibilityOf(society: Society, key: string) {
  const { intro, rules, note, inShort, lowGpa } = society.programme(key).eligibility;
  const fill = (text: string) => fillIn(text, society, key);
  return {
    intro: fill(intro),
    rules: rules.map(fill),
    note: fill(note),
    ...(inShort && { inShort: fill(inShort) }),
    ...(lowGpa && { lowGpa: { ...lowGpa, note: fill(lowGpa.note) } }),
  };
}
