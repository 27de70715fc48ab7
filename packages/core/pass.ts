/** For how long the link in a letter opens its join. */
export const PASS_DAYS = 30;
/** For how long a mailed code is taken. */
export const CODE_MINUTES = 15;
/** Wrong proofs before a code has to be mailed anew; wrong last names and ZIP codes before only a code will do. */
export const MOST_TRIES = 5;

export const CODE_WRONG = 'That is not the code that we mailed last, or it is too old.';
export const CODE_FIRST = 'Please ask for a code in this browser first. It comes by email.';
export const NAME_WRONG = 'That is not the last name and ZIP code that were given for this join.';
export const NAME_CLOSED = 'Please ask for a code by email: last name and ZIP code do not help any more.';
export const TRIES_USED_UP = 'Too many tries. Please ask for a new code by email.';
export const TOO_MANY_CODES =
  'We have mailed as many codes for this join as we do in a day. Please look for the last one, or contact us.';
/** The same for every email. */
export const LINKS_SENT =
  'If we know a join with this email, its link is on the way. It can take a few minutes; please look in your spam folder, too.';

/** To a browser that began a join which its joiner has since opened by its link elsewhere. */
export const OPENED_ELSEWHERE =
  'This join was opened by the link in its letter in another browser, and goes on there. To go on here, please open that link here.';

/** Letters and digits alone, in small letters without their accents: how people write the same name differently. */
const plain = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();

/** ZIP+4 in its first five digits. */
const zip = (text: string) => plain(text).replace(/^(\d{5})\d{4}$/, '$1');

interface NameAndZip {
  lastName: string;
  zipcode: string;
}

/** Whether a last name and a ZIP code are those that were given. What has no letter or digit is nobody's. */
export function isSamePerson(given: NameAndZip, known: NameAndZip): boolean {
  const name = plain(given.lastName);
  return (
    name !== '' &&
    name === plain(known.lastName) &&
    zip(given.zipcode) !== '' &&
    zip(given.zipcode) === zip(known.zipcode)
  );
}
