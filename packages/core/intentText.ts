import { displayPrice, toPrice } from './money.ts';
import type { PaidLine } from './refunds.ts';

/** Characters that Stripe takes of a description and of a value of metadata (docs.stripe.com/api/metadata). */
const DESCRIPTION_LIMIT = 1_000;
const VALUE_LIMIT = 500;
/** Of a product's name in metadata: 50 lines fit the values that are kept for them. */
const NAME_LIMIT = 50;
/** Values of metadata that name lines: `lines`, `lines_2`, … Stripe takes 50 in all. */
const MOST_VALUES = 12;

/** What an order is, in words: Stripe prints it on its receipt and shows it in its dashboard. At most 1,000 characters. */
export function orderDescription(
  society: string,
  lines: readonly Pick<PaidLine, 'name' | 'priceCents'>[],
): string {
  const items = lines.map(({ name, priceCents }) => `${name} ${displayPrice(priceCents)}`);
  return shorten(`${society}: ${items.join('; ')}`, DESCRIPTION_LIMIT);
}

/**
 * The lines of an order as metadata of its intent, so that what was sold can be told from Stripe alone: product id, type,
 * dollars and name, a line each. Values that are not needed are empty, which takes them from an intent that had them.
 */
export function lineMetadata(lines: readonly PaidLine[]): Record<string, string> {
  const values = [''];
  for (const { productId, type, priceCents, name } of lines) {
    const line = `${productId} ${type} ${toPrice(priceCents)} ${shorten(name, NAME_LIMIT)}`;
    const last = values.at(-1)!;
    if (last === '') values[values.length - 1] = line;
    else if (last.length + 1 + line.length <= VALUE_LIMIT) values[values.length - 1] = `${last}\n${line}`;
    else if (values.length < MOST_VALUES) values.push(line);
    else throw new RangeError(`an order of ${lines.length} lines does not fit into an intent's metadata`);
  }
  return Object.fromEntries(
    Array.from({ length: MOST_VALUES }, (_, index) => [
      index === 0 ? 'lines' : `lines_${index + 1}`,
      values[index] ?? '',
    ]),
  );
}

function shorten(text: string, limit: number): string {
  return text.length <= limit ? text : `${text.slice(0, limit - 1)}…`;
}
