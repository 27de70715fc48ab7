/**
 * A member number has eight characters of Crockford's Base32 (https://www.crockford.com/base32.html), which lacks I, L, O and U:
 * 40 random bits. A database function (free_member_number) generates it.
 */
const NUMBER = /^[0-9A-HJKMNP-TV-Z]{8}$/;

/** The printed form within a longer text. */
const PRINTED = /\b[\dA-Z]{4}\p{Dash}[\dA-Z]{4}\b/iu;

/**
 * Returns a typed member number in its stored form; null if it cannot be a member number. Ignores case, spaces, dashes,
 * underscores and dots, and reads O as 0, and I and L as 1. In a longer text, such as a line copied from a letter, it finds the
 * first number in its printed form.
 */
export function parseMemberNumber(typed: string): string | null {
  return storedForm(typed) ?? storedForm(PRINTED.exec(typed)?.[0] ?? '');
}

function storedForm(typed: string): string | null {
  const number = typed
    .replace(/[\s\p{Dash}_.]/gu, '')
    .toUpperCase()
    .replaceAll('O', '0')
    .replace(/[IL]/g, '1');
  return NUMBER.test(number) ? number : null;
}

/** Returns a member number in its printed form: "7K3M-9QXR". */
export function displayMemberNumber(number: string): string {
  return `${number.slice(0, 4)}-${number.slice(4)}`;
}

/** Returns the path of the page that verifies a member number. The path has the number in its printed form. */
export function verifyPath(number: string): string {
  return `/verify/${displayMemberNumber(number)}`;
}
