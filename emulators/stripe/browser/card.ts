/** A fault that the card form finds before it sends anything. The messages are those of the provider's form. */
export interface Fault {
  code: string;
  message: string;
}

export type CardBrand = 'visa' | 'mastercard' | 'amex' | 'discover' | 'unknown';

export function digitsOf(text: string): string {
  return text.replace(/\D/g, '');
}

export function cardBrandOf(digits: string): CardBrand {
  if (/^4/.test(digits)) return 'visa';
  if (/^(5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/.test(digits)) return 'mastercard';
  if (/^3[47]/.test(digits)) return 'amex';
  if (/^(6011|65|64[4-9])/.test(digits)) return 'discover';
  return 'unknown';
}

export function lengthOf(brand: CardBrand): number {
  return brand === 'amex' ? 15 : 16;
}

export function cvcLengthOf(brand: CardBrand): number {
  return brand === 'amex' ? 4 : 3;
}

/** Formats a number in groups of four, or 4-6-5 for American Express. */
export function formatNumber(digits: string): string {
  const brand = cardBrandOf(digits);
  const cut = digits.slice(0, lengthOf(brand));
  const groups =
    brand === 'amex' ? [cut.slice(0, 4), cut.slice(4, 10), cut.slice(10)] : (cut.match(/.{1,4}/g) ?? []);
  return groups.filter(Boolean).join(' ');
}

/**
 * Formats digits as `12 / 34`. A first digit above 1 becomes a month with a leading zero; a year of four digits is cut to its
 * last two.
 */
export function formatExpiry(digits: string): string {
  let plain = /^[2-9]/.test(digits) ? `0${digits}` : digits;
  if (plain.length >= 6 && plain.slice(2, 4) === '20') plain = plain.slice(0, 2) + plain.slice(4);
  plain = plain.slice(0, 4);
  return plain.length < 2 ? plain : `${plain.slice(0, 2)} / ${plain.slice(2)}`;
}

export function numberFault(digits: string): Fault | undefined {
  if (digits.length < lengthOf(cardBrandOf(digits))) {
    return { code: 'incomplete_number', message: 'Your card number is incomplete.' };
  }
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0 ? undefined : { code: 'invalid_number', message: 'Your card number is invalid.' };
}

/** Returns the fault of an expiry date, if any. A card is valid through the last day of its month. */
export function expiryFault(digits: string, today: Date): Fault | undefined {
  if (digits.length < 4)
    return { code: 'incomplete_expiry', message: "Your card's expiration date is incomplete." };
  const { month, year } = expiryOf(digits);
  if (month < 1 || month > 12)
    return { code: 'invalid_expiry_month', message: "Your card's expiration date is invalid." };
  const thisYear = today.getFullYear();
  if (year < thisYear)
    return { code: 'invalid_expiry_year_past', message: "Your card's expiration year is in the past." };
  if (year === thisYear && month < today.getMonth() + 1) {
    return { code: 'invalid_expiry_month_past', message: "Your card's expiration date is in the past." };
  }
  return year > thisYear + 50
    ? { code: 'invalid_expiry_year', message: "Your card's expiration year is invalid." }
    : undefined;
}

export function expiryOf(digits: string): { month: number; year: number } {
  return { month: Number(digits.slice(0, 2)), year: 2000 + Number(digits.slice(2, 4)) };
}

export function cvcFault(digits: string, brand: CardBrand): Fault | undefined {
  return digits.length < cvcLengthOf(brand)
    ? { code: 'incomplete_cvc', message: "Your card's security code is incomplete." }
    : undefined;
}
