import { displayPrice, fromPrice, toPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import { type ProductType, productTypes } from './product.ts';
import type { RefundedLine, RefundReason } from './refunds.ts';

/** Stripe's limits for a description and a metadata value, in characters (docs.stripe.com/api/metadata). */
const DESCRIPTION_LIMIT = 1_000;
const VALUE_LIMIT = 500;
/** Limit for a product's name in metadata: 50 lines fit into the values reserved for them. */
const NAME_LIMIT = 50;
/** Metadata values reserved for lines: `lines`, `lines_2`, … Stripe allows 50 values in all. */
const MOST_VALUES = 12;

/** Returns an order in words, for Stripe's receipt and dashboard. At most 1,000 characters. */
export function orderDescription(
  society: string,
  lines: readonly Pick<OrderLine, 'name' | 'priceCents'>[],
): string {
  const items = lines.map(({ name, priceCents }) => `${name} ${displayPrice(priceCents)}`);
  return shorten(`${society}: ${items.join('; ')}`, DESCRIPTION_LIMIT);
}

/**
 * Returns the lines of an order as metadata of its intent, so that the order can be rebuilt from Stripe alone. Each line has the
 * product id, type, dollars and name. Unused values are empty, which deletes them from an intent that had them.
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

/** Why we decided a refund, and for which lines; `lines` is null for a refund of a payment that bought nothing. */
export interface Decided {
  reason: Exclude<RefundReason, 'dashboard'>;
  lines: RefundedLine[] | null;
}

/**
 * Returns what we decided of a refund as its metadata, so that it can be read back from Stripe alone. A refunded line is written
 * as its index into the paid order's lines, product id, dollars and name.
 */
export function refundMetadata({ reason, lines }: Decided): Record<string, string> {
  const values = inValues(
    (lines ?? []).map(
      ({ line, productId, cents, name }) => `${line} ${productId} ${toPrice(cents)} ${nameText(name)}`,
    ),
  );
  return { reason, ...Object.fromEntries(values.map((value, index) => [lineKeys[index]!, value])) };
}

/** Returns a name on a single line, shortened. */
function nameText(name: string): string {
  return shorten(name.replace(/\s+/g, ' '), NAME_LIMIT);
}

/** Packs lines of text into as few metadata values as possible. */
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

/** The lines of text that {@link inValues} put into metadata. */
function textsIn(metadata: Readonly<Record<string, string>>): string[] {
  return lineKeys.flatMap((key) => (metadata[key] ? metadata[key].split('\n') : []));
}

const lineKeys = Array.from({ length: MOST_VALUES }, (_, index) =>
  index === 0 ? 'lines' : `lines_${index + 1}`,
);

/** Reads the lines that {@link lineMetadata} wrote. Names that it shortened stay shortened. Null when the lines are incomplete. */
export function linesOfMetadata(metadata: Readonly<Record<string, string>>): OrderLine[] | null {
  const lines = textsIn(metadata).map((text) => {
    const [, id, type, price, name] = /^(\d+) (\w+) (\d{1,9}\.\d{2}) (.*)/.exec(text) ?? [];
    if (!productTypes.includes(type as ProductType)) return null;
    return { productId: Number(id), type: type as ProductType, name: name!, priceCents: fromPrice(price!) };
  });
  return lines.length > 0 && lines.every((line) => line !== null) ? lines : null;
}

/**
 * Reads what {@link refundMetadata} wrote, names shortened as written. Null for a refund that was made elsewhere, that has no
 * lines (as from earlier versions), or whose lines do not sum to the refunded amount.
 */
export function decidedOfMetadata(
  metadata: Readonly<Record<string, string>>,
  amountCents: number,
): Decided | null {
  const { reason } = metadata;
  if (reason === 'duplicate' || reason === 'unconfirmed') return { reason, lines: null };
  if (reason !== 'requested' && reason !== 'ineligible') return null;
  const lines = textsIn(metadata).map((text) => {
    const [, line, id, price, name] = /^(\d{1,4}) (\d{1,10}) (\d{1,9}\.\d{2}) (.*)$/.exec(text) ?? [];
    return price === undefined
      ? null
      : { line: Number(line), productId: Number(id), name: name!, cents: fromPrice(price) };
  });
  if (!lines.every((line) => line !== null)) return null;
  const sum = lines.reduce((total, { cents }) => total + cents, 0);
  return lines.length > 0 && sum === amountCents ? { reason, lines } : null;
}

/** Whose join it is and how it began: enough to rebuild its row when the database has lost it. Null: unknown. */
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
/** The keys of an intent's metadata that say whose join it is. */
export const personKeys: readonly string[] = [
  identityKeys.contactId,
  identityKeys.school,
  identityKeys.firstName,
  identityKeys.lastName,
];

/** Returns a join's identity as metadata of its intent. The email is not part of it, since the intent has the email itself. */
export function identityMetadata(identity: JoinIdentity): Record<string, string> {
  return Object.fromEntries(
    Object.entries(identityKeys).map(([field, key]) => [
      key,
      shorten(identity[field as keyof JoinIdentity] ?? '', VALUE_LIMIT),
    ]),
  );
}

/** Reads what {@link identityMetadata} wrote; null when the intent has none, as from an earlier version. */
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

/** Returns a text cut to at most `limit` characters, with an ellipsis if it was cut. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Stripe accepts no half of a surrogate pair.
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
