import { cleanText } from './cleanText.ts';

/** The sentences that the specification, section 5, prescribes. */
const INVITE_CODE_REQUIRED = 'Invite code is required.';
const INVITE_CODE_CHARACTERS = 'Invite code must contain only letters and numbers.';
/**
 * The maximum number of characters of an invite code, more than any printed code has. Longer texts are refused without a look-up
 * in the database.
 */
export const INVITE_CODE_MAX_LENGTH = 64;
const INVITE_CODE_TOO_LONG = `Invite code must be ${INVITE_CODE_MAX_LENGTH} characters or fewer.`;

/**
 * Returns the sentence for the rule that a typed invite code breaks; null if it breaks none. Invisible characters and spaces
 * around the code are ignored.
 */
export function inviteCodeError(typed: string): string | null {
  const code = cleanText(typed);
  if (code === '') return INVITE_CODE_REQUIRED;
  if (!/^[A-Za-z0-9]+$/.test(code)) return INVITE_CODE_CHARACTERS;
  if (code.length > INVITE_CODE_MAX_LENGTH) return INVITE_CODE_TOO_LONG;
  return null;
}

/** Returns a code in the form in which codes are stored and compared: cleaned and in capitals. */
export function normaliseInviteCode(typed: string): string {
  return cleanText(typed).toUpperCase();
}
