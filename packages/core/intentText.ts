import { cleanText } from './cleanText.ts';
import { goodsOf } from './fulfilment.ts';
import { displayPrice, fromPrice, toPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import { isMembershipType, type ProductType, productTypes } from './product.ts';
import { type RefundedLine, type RefundReason, staffReasons } from './refunds.ts';

/** Stripe's limits for a description and a metadata value, in characters (docs.stripe.com/api/metadata). */
const DESCRIPTION_LIMIT = 1_000;
const VALUE_LIMIT = 500;
/**
 * The maximum number of characters of a product's name in metadata. With names of this length, 50 lines fit into MOST_VALUES
 * values.
 */
const NAME_LIMIT = 50;
/** The number of metadata values reserved for lines: `lines`, `lines_2`, … Stripe allows 50 values in all. */
const MOST_VALUES = 12;

/** Returns an order as a sentence for Stripe's receipt and dashboard, of at most 1,000 characters. */
export function orderDescription(
  society: string,
  lines: readonly Pick<OrderLine, 'name' | 'priceCents'>[],
): string {
  const items = lines.map(({ name, priceCents }) => `${name} ${displayPrice(priceCents)}`);
  return shorten(`${society}: ${items.join('; ')}`, DESCRIPTION_LIMIT);
}

/**
 * Returns the lines of an order as metadata for its intent, so that the order can be rebuilt from Stripe alone. Each line is
 * written as product id, type, price in dollars, and name. Keys that these lines do not need get an empty value, with which
 * Stripe deletes the values of an earlier order.
 */
export function lineMetadata(lines: readonly OrderLine[]): Record<string, string> {
  const values = inValues(
    lines.map(
      ({ productId, type, priceCents, name }) =>
        `${productId} ${type} ${toPrice(priceCents)} ${nameText(name)}`,
    ),
  );
  return Object.fromEntries(lineKeys.map((key, index) => [key, values[index] ?? '']));
}

/** The goods and the processing fee that an order promised. */
export interface Promised {
  /** The goods of each line; null for a line without goods. */
  goods: readonly (string | null)[];
  processingFeeCents: number;
}

/**
 * Returns an order's promises as metadata for its intent: the fee in dollars, and the goods of its membership or upgrade (an
 * order has at most one). Store items are left out, because the goods of a store item have the same name as its line.
 */
export function promisedMetadata(
  lines: readonly OrderLine[],
  { goods, processingFeeCents }: Promised,
): { fee: string; goods: string } {
  const shipped = goods[lines.findIndex(({ type }) => isMembershipType(type))] ?? '';
  return { fee: toPrice(processingFeeCents), goods: shorten(shipped, VALUE_LIMIT) };
}

/**
 * Parses the metadata that {@link promisedMetadata} wrote for these lines. Returns null if the intent lacks it.
 */
export function promisedOfMetadata(
  { fee, goods }: Readonly<Record<string, string>>,
  lines: readonly OrderLine[],
): Promised | null {
  if (!fee || !/^\d{1,9}\.\d{2}$/.test(fee)) return null;
  return {
    goods: lines.map((line) => goodsOf(line, () => goods || undefined)),
    processingFeeCents: fromPrice(fee),
  };
}

/** Our decision on a refund: its reason and its lines. `lines` is null for a payment that bought nothing. */
export interface Decided {
  reason: Exclude<RefundReason, 'dashboard'>;
  lines: RefundedLine[] | null;
}

/**
 * Returns our decision on a refund as metadata for the refund, so that it can be read back from Stripe alone. Each refunded line
 * is written as its index in the paid order, product id, dollars and name.
 */
export function refundMetadata({ reason, lines }: Decided): Record<string, string> {
  const values = inValues(
    (lines ?? []).map(
      ({ line, productId, cents, name }) => `${line} ${productId} ${toPrice(cents)} ${nameText(name)}`,
    ),
  );
  return { reason, ...Object.fromEntries(values.map((value, index) => [lineKeys[index]!, value])) };
}

/** Returns a name on one line, cut to the limit. */
function nameText(name: string): string {
  return shorten(name.replace(/\s+/g, ' '), NAME_LIMIT);
}

/**
 * Packs lines of text into as few metadata values as possible. Throws a RangeError if they need more than {@link MOST_VALUES}.
 */
function inValues(texts: readonly string[]): string[] {
  const values: string[] = [];
  for (const text of texts) {
    const last = values.at(-1);
    if (last !== undefined && last.length + 1 + text.length <= VALUE_LIMIT)
      values[values.length - 1] = `${last}\n${text}`;
    else values.push(text);
  }
  if (values.length > MOST_VALUES)
    throw new RangeError(`${texts.length} lines do not fit into the metadata of one object`);
  return values;
}

/** Returns the lines of text that {@link inValues} packed into metadata. */
function textsIn(metadata: Readonly<Record<string, string>>): string[] {
  return lineKeys.flatMap((key) => (metadata[key] ? metadata[key].split('\n') : []));
}

const lineKeys = Array.from({ length: MOST_VALUES }, (_, index) =>
  index === 0 ? 'lines' : `lines_${index + 1}`,
);

/**
 * Parses what {@link lineMetadata} wrote. Shortened names stay shortened. Returns null if there are no lines, or a line cannot be
 * parsed.
 */
export function linesOfMetadata(metadata: Readonly<Record<string, string>>): OrderLine[] | null {
  const lines = textsIn(metadata).map((text) => {
    const [, id, type, price, name] = /^(\d+) (\w+) (\d{1,9}\.\d{2}) (.*)/.exec(text) ?? [];
    if (!productTypes.includes(type as ProductType)) return null;
    return { productId: Number(id), type: type as ProductType, name: name!, priceCents: fromPrice(price!) };
  });
  return lines.length > 0 && lines.every((line) => line !== null) ? lines : null;
}

/**
 * Parses what {@link refundMetadata} wrote. Shortened names stay shortened. Returns null for a refund made elsewhere, and for a
 * refund whose lines are missing, cannot be parsed or do not sum to the refunded amount.
 */
export function decidedOfMetadata(
  metadata: Readonly<Record<string, string>>,
  amountCents: number,
): Decided | null {
  if (metadata.reason === 'duplicate' || metadata.reason === 'unconfirmed')
    return { reason: metadata.reason, lines: null };
  const reason = staffReasons.find((each) => each === metadata.reason);
  if (!reason) return null;
  const lines = textsIn(metadata).map((text) => {
    const [, line, id, price, name] = /^(\d{1,4}) (\d{1,10}) (\d{1,9}\.\d{2}) (.*)/.exec(text) ?? [];
    return price === undefined
      ? null
      : { line: Number(line), productId: Number(id), name: name!, cents: fromPrice(price) };
  });
  if (!lines.every((line) => line !== null)) return null;
  const sum = lines.reduce((total, { cents }) => total + cents, 0);
  return sum === amountCents ? { reason, lines } : null;
}

/** Whose join it is and how it began: enough to rebuild the join's row if the database has lost it. Unknown fields are null. */
export interface JoinIdentity {
  origin: string;
  programme: string;
  contactId: string | null;
  school: string | null;
  firstName: string | null;
  lastName: string | null;
}
const identityKeys = {
  origin: 'origin',
  programme: 'programme',
  contactId: 'contact',
  school: 'school',
  firstName: 'first_name',
  lastName: 'last_name',
} as const satisfies Record<keyof JoinIdentity, string>;
/** The key of the payer's name, if somebody else pays by a pay link. */
const PAYER = 'payer';
/**
 * Metadata that removes a pay link's payer from an intent, and keeps the joiner. The key itself stays, to record that somebody
 * else paid: otherwise a rebuilt join would take the payer's email for the joiner's.
 */
export const forgottenPayer = (): Record<string, string> => ({ [PAYER]: '(erased)' });
/** Metadata that removes the joiner and the payer from an intent. */
export const forgottenNotes = (): Record<string, string> =>
  Object.fromEntries(personKeys.map((key) => [key, '']));
/**
 * The key of the joiner's email if it is not the intent's receipt email: staff or the joiner corrected it after the payment, or
 * somebody else pays by a pay link.
 */
const EMAIL = 'email';
/** The metadata keys of an intent whose values identify the joiner or the payer. */
export const personKeys: readonly string[] = [
  EMAIL,
  PAYER,
  identityKeys.contactId,
  identityKeys.school,
  identityKeys.firstName,
  identityKeys.lastName,
];

/**
 * Returns a join's identity as metadata for its intent. The joiner's email is not in it, because the intent has it as the
 * receipt's email. The key of a corrected email is emptied, since an earlier correction no longer applies.
 */
export function identityMetadata(identity: JoinIdentity): Record<string, string> {
  const notes = Object.entries(identityKeys).map(([field, key]) => [
    key,
    shorten(cleanText(identity[field as keyof JoinIdentity] ?? ''), VALUE_LIMIT),
  ]);
  return { ...Object.fromEntries(notes), [EMAIL]: '' };
}

/**
 * Returns the metadata of an intent that was made by a pay link: the payer, and the joiner's email, since the receipt's email is
 * the payer's. The caller merges it into {@link identityMetadata}.
 */
export function payerMetadata(name: string, joinerEmail: string | null): Record<string, string> {
  return { [PAYER]: shorten(name, VALUE_LIMIT), [EMAIL]: joinerEmail ?? '' };
}

/** Returns the name of the person who pays by a pay link, according to an intent's metadata; null if the joiner pays. */
export function payerOfMetadata(metadata: Readonly<Record<string, string>>): string | null {
  return metadata[PAYER] || null;
}

/** Returns the metadata to change after a person's details were corrected. */
export function identityNotes({
  firstName,
  lastName,
  personalEmail,
}: {
  firstName: string;
  lastName: string;
  personalEmail: string;
}): Record<string, string> {
  const told = {
    [identityKeys.firstName]: firstName,
    [identityKeys.lastName]: lastName,
    [EMAIL]: personalEmail,
  };
  return Object.fromEntries(
    Object.entries(told).map(([key, value]) => [key, shorten(cleanText(value), VALUE_LIMIT)]),
  );
}

/** Returns the email of an intent's joiner if it was corrected or somebody else pays; null if it is the receipt email. */
export function correctedEmail(metadata: Readonly<Record<string, string>>): string | null {
  return metadata[EMAIL] || null;
}

/** Parses the metadata that {@link identityMetadata} wrote. Returns null if the intent lacks it. */
export function identityOfMetadata(metadata: Readonly<Record<string, string>>): JoinIdentity | null {
  const { origin, programme } = metadata;
  if (!origin || !programme) return null;
  const { contactId, school, firstName, lastName } = identityKeys;
  const told = (key: string) => metadata[key] || null;
  return {
    origin,
    programme,
    contactId: told(contactId),
    school: told(school),
    firstName: told(firstName),
    lastName: told(lastName),
  };
}

/** Returns a text, cut to at most `limit` characters if it is longer. The last character of a cut text is an ellipsis. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Stripe rejects an unpaired surrogate, so a surrogate pair that is cut in half is removed completely.
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
