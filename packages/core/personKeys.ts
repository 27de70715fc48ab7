import { cleanEmail } from './cleanText.ts';

/** Letters that Unicode does not decompose, and how people type them on keyboards that lack them. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ŋ: 'n', ĸ: 'k' },
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ς: 'σ' },
};
/**
 * Marks after a letter of a script in which people often leave marks out: "Núñez" equals "Nunez". In other scripts marks matter:
 * किरण is not करण.
 */
const MARKS = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
/** Characters that people write differently or leave out: spaces, any punctuation, and letters that look like apostrophes. */
const BESIDE = /[\p{Z}\p{P}\p{S}\p{Cc}\p{Cf}\u02b0-\u02ff\ua78b\ua78c]/gu;

/**
 * Returns the key of a first or a last name. O'Brien and O’BRIEN have the same key, and so have Núñez and Nunez, and Łuczak and
 * Luczak.
 */
export function nameKey(name: string): string {
  return (
    name
      // A spacing accent would decompose into a space and a mark, which would then belong to the letter before it.
      .replace(BESIDE, '')
      .normalize('NFKD')
      .toLowerCase()
      .replace(MARKS, '')
      .replace(BESIDE, '')
      .replace(/[łøđðħŧıŋĸßæœþς]/g, (letter) => LETTERS[letter]!)
      .normalize('NFC')
  );
}

/** Returns the key of an email: cleaned by {@link cleanEmail}, in lower case. */
export function emailKey(email: string): string {
  return cleanEmail(email).toLowerCase();
}

/**
 * Returns the likeness of a person: the keys of email, first and last name. Persons with equal likenesses are likely the same.
 * Null if one key is empty, since such a person matches nobody. Equal likenesses never merge two persons: a father and his son
 * may share a name and an email.
 */
export function likenessOf(person: {
  personalEmail?: string | null | undefined;
  email?: string | null | undefined;
  firstName?: string | null | undefined;
  lastName?: string | null | undefined;
}): string | null {
  const keys = [
    emailKey(person.personalEmail || person.email || ''),
    nameKey(person.firstName ?? ''),
    nameKey(person.lastName ?? ''),
  ];
  return keys.includes('') ? null : keys.join(' ');
}

/** The names and emails of a person, as a contact or student details have them. */
type Known = Parameters<typeof likenessOf>[0] & {
  middleName?: string | null | undefined;
  schoolEmail?: string | null | undefined;
};

/**
 * Returns the search words of a person: the keys of names and emails, each once, separated by spaces. Names that are a part of an
 * email are left out. A search for any part of a word finds the person ({@link searchKeys}).
 */
export function searchWords(...known: Known[]): string {
  const keys = known.flatMap(({ firstName, middleName, lastName, personalEmail, schoolEmail, email }) => [
    ...[firstName, middleName, lastName].map((name) => name && nameKey(name)),
    ...[personalEmail, schoolEmail, email].map((address) => address?.includes('@') && emailKey(address)),
  ]);
  const words = [...new Set(keys)].filter((key): key is string => !!key);
  const emails = words.filter((word) => word.includes('@'));
  return words
    .filter((word) => emails.includes(word) || !emails.some((email) => email.includes(word)))
    .join(' ');
}

/**
 * Returns the keys of a text that somebody types to find a person. Each word has a key as a name and a key as an email. A person
 * matches if, for every word, one of its keys is a part of the person's {@link searchWords}.
 */
export function searchKeys(text: string): string[][] {
  return text
    .split(/\s+/)
    .map((word) => [...new Set([nameKey(word), emailKey(word)])].filter((key) => key !== ''))
    .filter((keys) => keys.length > 0);
}
