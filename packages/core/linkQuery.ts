import { cleanText } from './cleanText.ts';

/** An ampersand as HTML writes it, possibly escaped several times on the way: `&amp;`, `&amp;amp;`, `&#38;`, `&#x26;`. */
const ESCAPED = /&(?:(?:amp|#0*38|#x0*26);)+/gi;

/**
 * Parses the query of a link (`href`, the whole URL) that mail programs may have altered. Escaped ampersands are read as
 * ampersands, even `&#38;`, which looks like the beginning of a fragment. Names and values are cleaned, and names are in lower
 * case.
 */
export function linkQuery(href: string): URLSearchParams {
  const address = href.replace(ESCAPED, '&');
  const [, search = ''] = /\?([^#]*)/.exec(address) ?? [];
  return new URLSearchParams(
    [...new URLSearchParams(search)].map(([name, value]) => [
      cleanText(name)
        .replace(/^(?:amp;|;)+/i, '')
        .toLowerCase(),
      cleanText(value),
    ]),
  );
}

const numbers = ['mp', 'usp', 'c'] as const;
const known = ['vid', ...numbers, 'exp', 'sig'] as const;
/** The parameters that a link to Checkout has. Those in {@link numbers} have digits only. */
export type CheckoutQuery = Partial<Record<(typeof known)[number], string>>;

/** Parameters that mailings and advertisements add to a link. */
const TRACKING = /^(?:utm_|_?hs|_ga|_gl|mc_|mkt_|ref$|source$)|(?:clid|braid)$/;

/**
 * Parses the query of a link to Checkout; null if it names no contact. Returns `unread` with a parameter that cannot be read: one
 * that should be a whole number and is not, or that is given twice with different values. A link with such a parameter must sell
 * nothing, since it may have been for another product or price. An unknown parameter other than those of {@link TRACKING} counts
 * as unreadable too, unless the link has a signature, which protects what it sells.
 */
export function readCheckoutQuery(href: string): CheckoutQuery | { unread: string } | null {
  const query = linkQuery(href);
  if (!query.get('vid')) return null;
  const read: CheckoutQuery = {};
  for (const [name, value] of query) {
    const field = known.find((one) => one === name);
    const isNumber = (numbers as readonly string[]).includes(name);
    const isRead = field
      ? (!isNumber || /^\d{1,15}$/.test(value)) && query.getAll(name).every((other) => other === value)
      : name === '' || TRACKING.test(name) || query.has('sig');
    if (!isRead) return { unread: `${name}=${value}` };
    if (field) read[field] = value;
  }
  return read;
}

/** Returns the sentence for a link to Checkout with a parameter that cannot be read. */
export function unreadInLink(unread: string): string {
  return `We could not read “${unread}” in this link, so nothing was started. Please use the link from your email exactly as it was sent, or ask us for a new one.`;
}
