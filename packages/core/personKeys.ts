import { cleanEmail } from './cleanText.ts';

/** Letters that Unicode does not decompose, and how people write them on other keyboards. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ ł: 'l', ø: 'o', đ: 'd', ð: 'd', ħ: 'h', ŧ: 't', ı: 'i', ŋ: 'n', ĸ: 'k' },
  ...{ ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th', ς: 'σ' },
};
/** Marks behind a letter of a script in which people leave them out: "Núñez" is like "Nunez", and किरण is not like करण. */
const MARKS = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;
/** All that people write differently or leave out: spaces, punctuation of any kind, and letters that look like apostrophes. */
const BESIDE = /[\p{Z}\p{P}\p{S}\p{Cc}\p{Cf}\u02b0-\u02ff\ua78b\ua78c]/gu;

/** Returns the key of a first or a last name: O'Brien and O’BRIEN have one, Núñez and Nunez, Łuczak and Luczak. */
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

/** Returns the key of an email: without what nobody sees and what surrounds it, in lower case. */
export function emailKey(email: string): string {
  return cleanEmail(email).toLowerCase();
}

/**
 * Returns the form in which likely the same people are alike: the keys of email, first and last name. Null if one is empty, which is
 * like nobody's. Equal forms never make two persons one: a father and his son may have one name and one email.
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

/** What a person is known by, as a contact's record or student details have it. */
type Known = Parameters<typeof likenessOf>[0] & {
  middleName?: string | null | undefined;
  schoolEmail?: string | null | undefined;
};

/**
 * Returns the words by which a person is found: the keys of names and emails, each once, between spaces, without names that are a
 * part of an email. A person is found by any part of them ({@link searchKeys}).
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
 * Returns the keys of what somebody types to find a person: for each word its key as a part of a name and as a part of an email. One
 * of each must be a part of the person's {@link searchWords}.
 */
export function searchKeys(text: string): string[][] {
  return text
    .split(/\s+/)
    .map((word) => [...new Set([nameKey(word), emailKey(word)])].filter((key) => key !== ''))
    .filter((keys) => keys.length > 0);
}
