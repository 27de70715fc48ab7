/** The link in a letter opens its join for this many days. */
export const PASS_DAYS = 30;
/** A mailed code is valid for this many minutes. */
export const CODE_MINUTES = 15;
/**
 * The maximum number of wrong tries to prove to be the joiner. After this many tries, counting those by code and those by last
 * name and ZIP code together, a new code must be mailed. After this many by last name and ZIP code, only a code is accepted.
 */
export const MOST_TRIES = 5;

export const CODE_WRONG = 'That is not the latest code we emailed, or it has expired.';
export const CODE_FIRST = 'Please ask for a code in this browser first. It comes by email.';
export const NAME_WRONG = 'That is not the last name and ZIP code on file.';
export const NAME_CLOSED = 'Please ask for a code by email: last name and ZIP code no longer work.';
export const TRIES_USED_UP = 'Too many attempts. Please ask for a new code by email.';
export const TOO_MANY_CODES =
  'We have emailed as many codes as we send in a day. Please look for the latest one, or contact us.';
/**
 * The answer to everybody who asks for links. It is the same for every email, so that it does not reveal which emails have a
 * join.
 */
export const LINKS_SENT =
  'If we have a registration with this email, its link is on the way. It can take a few minutes; please check your spam folder, too.';

/**
 * Shown in a browser that knows a join but may not continue it, because the join was paid, or was opened by its link in another
 * browser.
 */
export const OPENED_ELSEWHERE =
  'Your registration continues in another browser. To continue here, please open the link from your email here, or contact us.';

/** Shown when a browser that opened a join by a checkout link asks for something that only the student may see or do. */
export const PROVE_FIRST = 'Please prove first that you are the student this checkout is for.';

/** Reduces a text to lower-case letters (without accents) and digits, because people spell the same name differently. */
const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** Reduces a ZIP code to its first five digits if it is a ZIP+4. */
const zip = (text: string) => plain(text).replace(/^(\d{5})\d{4}$/, '$1');

interface NameAndZip {
  lastName: string;
  zipcode: string;
}

/** Whether a given last name and ZIP code match the known ones. A value with neither letters nor digits never matches. */
export function isSamePerson(given: NameAndZip, known: NameAndZip): boolean {
  const name = plain(given.lastName);
  return (
    name !== '' &&
    name === plain(known.lastName) &&
    zip(given.zipcode) !== '' &&
    zip(given.zipcode) === zip(known.zipcode)
  );
}

/** The maximum number of joins for which one request gets links. There may be several, since a family may share an email. */
const MOST_JOINS = 4;

/** A join that was found by an email. */
export interface FoundJoin {
  firstName: string | null;
  lastName: string | null;
  isProven: boolean;
  isPaid: boolean;
  /** When it began (s). */
  createdAt: number;
}

/**
 * Returns the joins for which a request gets links, the proven ones first. Of several proven joins with the same first and last
 * name, only one is returned: the paid one or, if none is paid, the newest. The same holds for unproven joins.
 */
export function joinsToLink<Join extends FoundJoin>(found: readonly Join[]): Join[] {
  const byPreference = found.toSorted(
    (a, b) =>
      Number(b.isProven) - Number(a.isProven) ||
      Number(b.isPaid) - Number(a.isPaid) ||
      b.createdAt - a.createdAt,
  );
  const first = new Map<string, Join>();
  for (const join of byPreference) {
    const names = [join.firstName, join.lastName].map((name) => name?.toLowerCase());
    const key = JSON.stringify([...names, join.isProven]);
    if (!first.has(key)) first.set(key, join);
  }
  return [...first.values()].slice(0, MOST_JOINS);
}
