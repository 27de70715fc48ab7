import { displayPrice, fromPrice, toPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import { type ProductType, productTypes } from './product.ts';

/** Stripe's limits for a description and a metadata value, in characters (docs.stripe.com/api/metadata). */
const DESCRIPTION_LIMIT = 1_000;
const VALUE_LIMIT = 500;
/** Limit for a product's name in metadata: 50 lines fit into the values reserved for them. */
const NAME_LIMIT = 50;
/** Metadata values reserved for lines: `lines`, `lines_2`, … Stripe allows 50 values in all. */
const MOST_VALUES = 12;

/** An order in words, for Stripe's receipt and dashboard. At most 1,000 characters. */
export function orderDescription(
  society: string,
  lines: readonly Pick<OrderLine, 'name' | 'priceCents'>[],
): string {
  const items = lines.map(({ name, priceCents }) => `${name} ${displayPrice(priceCents)}`);
  return shorten(`${society}: ${items.join('; ')}`, DESCRIPTION_LIMIT);
}

/**
 * The lines of an order as metadata of its intent, so that the order can be rebuilt from Stripe alone: product id, type, dollars
 * and name, a line each. Unused values are empty, which deletes them from an intent that had them.
 */
export function lineMetadata(lines: readonly OrderLine[]): Record<string, string> {
  const values = [''];
  for (const { productId, type, priceCents, name } of lines) {
    const line = `${productId} ${type} ${toPrice(priceCents)} ${shorten(name.replace(/\s+/g, ' '), NAME_LIMIT)}`;
    const last = values.at(-1)!;
    if (last === '') values[values.length - 1] = line;
    else if (last.length + 1 + line.length <= VALUE_LIMIT) values[values.length - 1] = `${last}\n${line}`;
    else if (values.length < MOST_VALUES) values.push(line);
    else throw new RangeError(`an order of ${lines.length} lines does not fit into an intent's metadata`);
  }
  return Object.fromEntries(lineKeys.map((key, index) => [key, values[index] ?? '']));
}

const lineKeys = Array.from({ length: MOST_VALUES }, (_, index) =>
  index === 0 ? 'lines' : `lines_${index + 1}`,
);

/** Reads the lines that {@link lineMetadata} wrote, names shortened as written; null when the lines are incomplete. */
export function linesOfMetadata(metadata: Readonly<Record<string, string>>): OrderLine[] | null {
  const texts = lineKeys.flatMap((key) => (metadata[key] ? metadata[key].split('\n') : []));
  const lines = texts.map((text) => {
    const [, id, type, price, name] = /^(\d+) (\w+) (\d{1,9}\.\d{2}) (.*)/.exec(text) ?? [];
    if (!productTypes.includes(type as ProductType)) return null;
    return { productId: Number(id), type: type as ProductType, name: name!, priceCents: fromPrice(price!) };
  });
  return lines.length > 0 && lines.every((line) => line !== null) ? lines : null;
}

/** Whose a join is and how it began, to rebuild its row when the database has lost it. Null: unknown. */
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
/** Those of an intent's metadata that say whose a join is. */
export const personKeys: readonly string[] = [
  identityKeys.contactId,
  identityKeys.school,
  identityKeys.firstName,
  identityKeys.lastName,
];

/** A join's identity as metadata of its intent. The email is the intent's own. */
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

/** A text cut to at most `limit` characters, with an ellipsis when it was cut. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  // Half of a surrogate pair could not be sent.
  return `${text.slice(0, limit - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
