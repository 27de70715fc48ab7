import { isProviderEmail } from './providerEmail.ts';
import { INVALID_EMAIL } from './studentDetails.ts';

/** For how many days a pay link works. */
export const PAY_LINK_DAYS = 7;

/** Shown for a pay link that is unknown, expired or ended. */
export const PAY_LINK_OVER = 'This payment link has ended. Please ask the person who sent it for a new one.';
/** Shown to a payer whose order cannot be paid: it is being changed, or its joiner has become a member by another join. */
export const NOT_PAYABLE =
  'This membership cannot be paid for at the moment, and nothing was charged. Please ask the person who sent you this link.';
/** Shown to a payer while somebody else is paying for the same order. */
export const PAID_ELSEWHERE =
  'Someone is paying for this membership right now. Please wait a moment and try again: it is never charged twice.';
/** Shown to a joiner while somebody is paying by their pay link. */
export const BEING_PAID =
  'Someone is paying for your membership right now. This page will continue when they are done.';

/** Shown to a payer whose order was paid by somebody else first. */
export const PAID_MEANWHILE = 'Someone has just paid for this membership. Your card was not charged.';
/** Shown to a payer while it is not known whether their payment has succeeded. */
export const PAYER_OUTCOME_UNKNOWN =
  'We do not know yet whether your payment went through. You will not be charged twice: try again in a minute to see the result.';

/** The person who pays by a pay link, as they typed it. */
export interface Payer {
  name: string;
  email: string;
  hasGuardianConsent: boolean;
}
export type PayerFaults = Partial<Record<keyof Payer, string>>;

/**
 * Returns a sentence for each missing or invalid value that a payer typed. `asksConsent`: whether the programme asks for guardian
 * consent.
 */
export function payerFaults(
  { name, email, hasGuardianConsent }: Payer,
  { asksConsent }: { asksConsent: boolean },
): PayerFaults {
  return {
    ...(name === '' && { name: 'Your name is required.' }),
    ...(email === '' && { email: 'Your email is required.' }),
    ...(email !== '' && !isProviderEmail(email) && { email: INVALID_EMAIL }),
    ...(asksConsent && !hasGuardianConsent && { hasGuardianConsent: 'Please confirm that you agree.' }),
  };
}
