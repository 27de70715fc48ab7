import { invalid } from './errors.ts';

/** The smallest and the largest amount of a charge (cents), the same in every currency below. */
const SMALLEST = 50;
const LARGEST = 99_999_999;
const CURRENCIES = ['usd', 'cad'];

/** Returns the payment method types in a request; undefined if it has none, which leaves the choice to the account. */
export function cardTypes(value: unknown): string[] | undefined {
  if (value === undefined || value === '') return undefined;
  const types = value as string[];
  if (!types.includes('card')) {
    throw invalid('The emulated account takes cards only.', 'allowed_payment_method_types');
  }
  return types;
}

/** Throws unless the amount, in cents, can be charged in the currency. */
export function checkAmount(amount: number, currency: string): void {
  if (!CURRENCIES.includes(currency)) {
    throw invalid(
      `Invalid currency: ${currency}. The emulated account currently supports these currencies: ${CURRENCIES.join(', ')}`,
      'currency',
    );
  }
  if (amount < 1) {
    throw invalid('This value must be greater than or equal to 1.', 'amount', 'parameter_invalid_integer');
  }
  if (amount < SMALLEST)
    throw invalid(`Amount must be at least $0.50 ${currency}`, 'amount', 'amount_too_small');
  if (amount > LARGEST) {
    throw invalid(`Amount must be no more than $999,999.99 ${currency}`, 'amount', 'amount_too_large');
  }
}
