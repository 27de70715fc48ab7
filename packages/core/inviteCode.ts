/** The sentences that the specification, section 5, prescribes. */
const INVITE_CODE_REQUIRED = 'Invite code is required.';
const INVITE_CODE_CHARACTERS = 'Invite code must contain only letters and numbers.';
/** The most characters of a code: more than any printed code has, so that pasted texts are not looked up in the database. */
export const INVITE_CODE_MAX_LENGTH = 64;

/** Returns the sentence for the rule that a typed invite code breaks, or null. Ignores spaces around a pasted code. */
export function inviteCodeError(typed: string): string | null {
  const code = typed.trim();
  if (code === '') return INVITE_CODE_REQUIRED;
  if (!/^[A-Za-z0-9]+$/.test(code) || code.length > INVITE_CODE_MAX_LENGTH) return INVITE_CODE_CHARACTERS;
  return null;
}

/** Returns the form in which a code is stored and compared: people type codes in any case. */
export function normaliseInviteCode(typed: string): string {
  return typed.trim().toUpperCase();
}
