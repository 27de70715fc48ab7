/**
 * A member number: 40 random bits as eight characters of Crockford's Base32 (https://www.crockford.com/base32.html), which lacks
 * I, L, O and U. The database function of migration 0019 makes it.
 */
const NUMBER = /^[0-9A-HJKMNP-TV-Z]{8}$/;

/**
 * Returns a typed number in its stored form; null when it cannot be a member number. Ignores case, spaces and dashes, and reads
 * look-alike letters as digits.
 */
export function parseMemberNumber(typed: string): string | null {
  const number = typed
    .replace(/[\s\p{Dash}_.]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return NUMBER.test(number) ? number : null;
}

/** Returns a member number as people read it: "7K3M-9QXR". */
export function displayMemberNumber(number: string): string {
  return `${number.slice(0, 4)}-${number.slice(4)}`;
}

/** Returns the path of the page that verifies a number, with the number in its printed form. */
export function verifyPath(number: string): string {
  return `/verify/${displayMemberNumber(number)}`;
}
