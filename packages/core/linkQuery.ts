import { cleanText } from './cleanText.ts';

/** An ampersand as HTML writes it, perhaps escaped several times on the way: `&amp;`, `&amp;amp;`, `&#38;`, `&#x26;`. */
const ESCAPED = /&(?:(?:amp|#0*38|#x0*26);)+/gi;

/**
 * Parses the query of a link that came through mails and other programs: `href` is the whole address. Escaped ampersands are read
 * as ampersands, though one of them looks like the beginning of a fragment; names and values are cleaned, and names in lower case.
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
/** The parameters of a link to Checkout that it has. Those in {@link numbers} have digits only. */
export type CheckoutQuery = Partial<Record<(typeof known)[number], string>>;

/** What mailings and advertisements add to a link. */
const TRACKING = /^(?:utm_|_?hs|_ga|_gl|mc_|mkt_|ref$|source$)|(?:clid|braid)$/;

/**
 * Parses the query of a link to Checkout; null if it names no contact. If a parameter cannot be read, returns it as `unread`: one
 * that is not a whole number, is empty, or is given twice with different values. Such a link must sell nothing, since it may name
 * another product or price. An unknown name is unread, too, unless a signature says what the link sells.
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

/** Returns the sentence about a link to Checkout with a parameter that cannot be read. */
export function unreadInLink(unread: string): string {
  return `We could not read “${unread}” in this link, so nothing was started. Please use the link from your email exactly as it was sent, or ask us for a new one.`;
}
