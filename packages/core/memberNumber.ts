/**
 * A member's number: 40 bits that say nothing, as eight characters of Crockford's Base32 (https://www.crockford.com/base32.html),
 * which has none of I, L, O and U. Migration 0019 makes it.
 */
const NUMBER = /^[0-9A-HJKMNP-TV-Z]{8}$/;

/** A typed number in its one spelling; null when it cannot be one. Case, spaces, dashes and look-alike letters are forgiven. */
export function parseMemberNumber(typed: string): string | null {
  const number = typed
    .replace(/[\s\p{Dash}_.]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return NUMBER.test(number) ? number : null;
}

/** As people read it: "7K3M-9QXR". */
export function displayMemberNumber(number: string): string {
  return `${number.slice(0, 4)}-${number.slice(4)}`;
}

/** The page that says whether a number is genuine, in the form that is printed. */
export function verifyPath(number: string): string {
  return `/verify/${displayMemberNumber(number)}`;
}
