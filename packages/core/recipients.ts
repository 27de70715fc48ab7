import { isToPayer, type LetterKind } from './letterKinds.ts';
import { isReminder } from './reminders.ts';

/** The known emails of a join's joiner, exactly as they were typed or as HubSpot has them. Each is null if it is missing. */
export interface KnownEmails {
  isPaid: boolean;
  /** The person's email, as last proven or corrected. */
  ofPerson: string | null;
  typed: string | null;
  /** The contact's two email properties in HubSpot. */
  personal: string | null;
  contact: string | null;
  /**
   * The addresses of Stripe's receipts, the oldest first. Receipts of payments by a pay link are left out, because their address
   * is the payer's.
   */
  receipts: readonly string[];
}

/**
 * Returns the emails of a join's joiner, the preferred one first. For a paid join, this is the person's email, which may have
 * been corrected. Then follow the email typed in the join and those of the contact.
 */
export function joinerEmails({ isPaid, ofPerson, typed, personal, contact }: KnownEmails): (string | null)[] {
  return [isPaid ? ofPerson : null, typed, personal, contact];
}

/** Returns the emails to which letters about a join may go, the preferred one first. */
export function letterEmails(known: KnownEmails): (string | null)[] {
  return [...joinerEmails(known), ...known.receipts];
}

/** A letter, and the facts that decide its recipient. `known` is null if the letter is not about a join. */
export interface Addressed {
  kind: LetterKind;
  /** The address that the letter was written for; null for the joiner's email at the time of sending. */
  email: string | null;
  /** Whether a checkout link of staff began the join, so that somebody else may pay. */
  isByCheckoutLink: boolean;
  known: KnownEmails | null;
}

/** Returns the possible recipients of a letter, the preferred one first. */
export function recipientsOf({ kind, email, isByCheckoutLink, known }: Addressed): (string | null)[] {
  if (email !== null) return [email];
  // A payer's letter without an email is one of an erased payer. It goes to nobody, and not to the joiner, who may not see the
  // payer's card.
  if (known === null || isToPayer(kind)) return [];
  // Reminders go only to the email that was typed in the join.
  if (isReminder(kind)) return [known.typed];
  // The receipt's address is left out, since somebody else may have paid by the checkout link, and paying proves nothing about
  // the joiner.
  if (kind === 'code' && isByCheckoutLink) return joinerEmails(known);
  return letterEmails(known);
}
