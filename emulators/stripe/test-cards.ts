/**
 * The behaviour of a test card of the provider (https://docs.stripe.com/testing). A card number that is not in the list can be
 * charged if it passes the Luhn check.
 */
export interface CardBehaviour {
  /**
   * The decline code of a card whose charges are declined. Such a card also cannot be attached to a customer, unless it asks for
   * authentication or is `attachable`.
   */
  decline?: string;
  attachable?: boolean;
  /**
   * When the issuer asks for authentication.
   * - `always`: for every payment.
   * - `unless_set_up`: for every payment with the customer present. For an off-session payment, only if the card was not set up
   *   for such payments.
   */
  authentication?: 'always' | 'unless_set_up';
  /** The payment succeeds and is disputed immediately. */
  disputed?: boolean;
}

interface TestCard extends CardBehaviour {
  /** The suffix of the test payment method `pm_card_…`. */
  name: string;
}

const CARDS: Record<string, TestCard> = {
  '4242424242424242': { name: 'visa' },
  '4000056655665556': { name: 'visa_debit' },
  '5555555555554444': { name: 'mastercard' },
  '378282246310005': { name: 'amex' },
  '6011111111111117': { name: 'discover' },
  '4000000000000002': { name: 'visa_chargeDeclined', decline: 'generic_decline' },
  '4000000000009995': { name: 'visa_chargeDeclinedInsufficientFunds', decline: 'insufficient_funds' },
  '4000000000009987': { name: 'visa_chargeDeclinedLostCard', decline: 'lost_card' },
  '4000000000009979': { name: 'visa_chargeDeclinedStolenCard', decline: 'stolen_card' },
  '4000000000000069': { name: 'chargeDeclinedExpiredCard', decline: 'expired_card' },
  '4000000000000127': { name: 'chargeDeclinedIncorrectCvc', decline: 'incorrect_cvc' },
  '4000000000000119': { name: 'chargeDeclinedProcessingError', decline: 'processing_error' },
  '4000000000000341': { name: 'chargeCustomerFail', decline: 'generic_decline', attachable: true },
  '4000002500003155': { name: 'authenticationRequiredOnSetup', authentication: 'unless_set_up' },
  '4000002760003184': { name: 'authenticationRequired', authentication: 'always' },
  '4000000000003220': { name: 'threeDSecure2Required', authentication: 'always' },
  '4000008260003178': {
    name: 'authenticationRequiredChargeDeclinedInsufficientFunds',
    authentication: 'always',
    decline: 'insufficient_funds',
  },
  '4000000000000259': { name: 'createDispute', disputed: true },
};

/** Shorter names that Stripe accepts for some of these cards. */
const ALIASES: Record<string, string> = {
  chargeDeclined: '4000000000000002',
  chargeDeclinedInsufficientFunds: '4000000000009995',
  threeDSecureRequired: '4000000000003220',
};

export function behaviourOf(number: string): CardBehaviour {
  return CARDS[number] ?? {};
}

/**
 * Returns the card number of a test payment method such as `pm_card_visa` or a test token such as `tok_visa`; undefined for
 * anything else.
 */
export function numberOfTestCard(id: string): string | undefined {
  const name = /^(?:pm_card|tok)_(.+)$/.exec(id)?.[1];
  if (name === undefined) return undefined;
  return ALIASES[name] ?? Object.keys(CARDS).find((number) => CARDS[number]!.name === name);
}

export type Brand = 'visa' | 'mastercard' | 'amex' | 'discover' | 'diners' | 'jcb' | 'unionpay' | 'unknown';

/** Returns the brand by the leading digits (ISO/IEC 7812 ranges of the networks). */
export function brandOf(number: string): Brand {
  if (/^4/.test(number)) return 'visa';
  if (/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(number)) return 'mastercard';
  if (/^3[47]/.test(number)) return 'amex';
  if (/^(6011|65|64[4-9])/.test(number)) return 'discover';
  if (/^(30[0-5]|36|38)/.test(number)) return 'diners';
  if (/^35/.test(number)) return 'jcb';
  if (/^62/.test(number)) return 'unionpay';
  return 'unknown';
}

/** Whether a number has 12 to 19 digits and passes the Luhn check (ISO/IEC 7812-1). */
export function passesLuhn(number: string): boolean {
  if (!/^\d{12,19}$/.test(number)) return false;
  const sum = [...number].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}

/** Returns the message, error code and decline code that the API gives for a decline. */
export function declineOf(reason: string): { code: string; message: string; decline_code: string } {
  const own: Record<string, { code: string; message: string }> = {
    expired_card: { code: 'expired_card', message: 'Your card has expired.' },
    incorrect_cvc: { code: 'incorrect_cvc', message: "Your card's security code is incorrect." },
    processing_error: {
      code: 'processing_error',
      message: 'An error occurred while processing your card. Try again in a little bit.',
    },
    insufficient_funds: { code: 'card_declined', message: 'Your card has insufficient funds.' },
    authentication_required: {
      code: 'authentication_required',
      message: 'Your card was declined. This transaction requires authentication.',
    },
  };
  const known = own[reason] ?? { code: 'card_declined', message: 'Your card was declined.' };
  return { ...known, decline_code: reason };
}
