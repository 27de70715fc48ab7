import { isToPayer, type LetterKind } from './letterKinds.ts';
import { isReminder } from './reminders.ts';

/** The emails that are known of a join's joiner, exactly as they were typed or as HubSpot has them; null for each that is missing. */
export interface KnownEmails {
  isPaid: boolean;
  /** As last proven or corrected. */
  ofPerson: string | null;
  typed: string | null;
  /** The two properties of the contact. */
  personal: string | null;
  contact: string | null;
  /** The addresses of Stripe's receipts, the oldest first; not those of payments by a pay link, which are the payer's. */
  receipts: readonly string[];
}

/**
 * Returns the emails of a join's joiner, the preferred one first: of a paid join that of the person, who may have corrected it, of another
 * that which was typed in it, otherwise those of the contact.
 */
export function joinerEmails({ isPaid, ofPerson, typed, personal, contact }: KnownEmails): (string | null)[] {
  return [isPaid ? ofPerson : null, typed, personal, contact];
}

/** Returns the emails to which letters about a join may go, the preferred one first. */
export function letterEmails(known: KnownEmails): (string | null)[] {
  return [...joinerEmails(known), ...known.receipts];
}

/** A letter, and whose it may be. `known` is null if it is not about a join. */
export interface Addressed {
  kind: LetterKind;
  /** The address for which the letter was written; null if it is the joiner's, whichever that is when it is sent. */
  email: string | null;
  /** Whether a checkout link of staff began the join, so that somebody else may pay. */
  isByCheckoutLink: boolean;
  known: KnownEmails | null;
}

/** Returns the possible recipients of a letter, the preferred one first. */
export function recipientsOf({ kind, email, isByCheckoutLink, known }: Addressed): (string | null)[] {
  if (email !== null) return [email];
  // A payer whose email was erased gets no more letters, and their card is not the joiner's to see.
  if (known === null || isToPayer(kind)) return [];
  // Reminders go only to who began the join.
  if (isReminder(kind)) return [known.typed];
  // Whoever pays by a link proves nothing of the joiner.
  if (kind === 'code' && isByCheckoutLink) return joinerEmails(known);
  return letterEmails(known);
}
