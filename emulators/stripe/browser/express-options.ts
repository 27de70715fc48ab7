import { IntegrationError } from './dom.ts';
import type { LineItem } from './wallet.ts';

/** The options of the Express Checkout Element that have an effect here. */
export interface ExpressOptions {
  billingAddressRequired?: boolean;
  business?: { name: string };
  buttonHeight?: number;
  emailRequired?: boolean;
  lineItems?: LineItem[];
  paymentMethods?: Record<string, string>;
}

/** The options of Stripe's element (https://docs.stripe.com/js/elements_object/create_express_checkout_element). */
const OPTIONS = {
  emulated: [
    'billingAddressRequired',
    'business',
    'buttonHeight',
    'buttonTheme',
    'buttonType',
    'emailRequired',
    'layout',
    'lineItems',
    'paymentMethods',
  ],
  notEmulated: [
    'allowedShippingCountries',
    'applePay',
    'paymentMethodOrder',
    'phoneNumberRequired',
    'shippingAddressRequired',
    'shippingRates',
    'wallets',
  ],
};
const UPDATABLE = ['billingAddressRequired', 'buttonHeight', 'emailRequired', 'layout'];

/**
 * The payment methods that a page can switch on or off. The emulator's wallet is Google Pay, and no device here has Apple Pay.
 */
const METHODS: Record<string, readonly string[]> = {
  applePay: ['always', 'auto', 'never'],
  googlePay: ['always', 'auto', 'never'],
  amazonPay: ['auto', 'never'],
  klarna: ['auto', 'never'],
  link: ['auto', 'never'],
  paypal: ['auto', 'never'],
};
const OFFERED_HERE = ['applePay', 'googlePay'];

const refuse = (where: string, what: string): IntegrationError =>
  new IntegrationError(`Invalid value for ${where}: ${what}`);

/** Throws an IntegrationError for options that Stripe does not know, or that the emulator does not stand in for. */
export function checkExpressOptions(options: object): void {
  checkNames(options, "elements.create('expressCheckout')", OPTIONS.emulated, OPTIONS.notEmulated);
  const { business, buttonHeight, lineItems, paymentMethods = {} } = options as ExpressOptions;
  if (business !== undefined && typeof business.name !== 'string')
    throw refuse('business', 'name should be a string.');
  if (buttonHeight !== undefined && !(buttonHeight >= 40 && buttonHeight <= 55))
    throw refuse('buttonHeight', 'it should be between 40 and 55.');
  if (lineItems !== undefined) checkLines(lineItems);
  for (const [name, value] of Object.entries(paymentMethods)) {
    if (!METHODS[name]?.includes(value)) throw refuse('paymentMethods', `${name} cannot be ${value}.`);
  }
  for (const name of Object.keys(METHODS)) {
    if (!OFFERED_HERE.includes(name) && paymentMethods[name] !== 'never')
      throw new IntegrationError(`The emulator does not stand in for ${name}: it should be 'never'.`);
  }
}

export function checkExpressUpdate(options: object): void {
  checkNames(options, 'expressCheckoutElement.update()', UPDATABLE, []);
}

/** Returns the lines with which the page resolves a click. They may not exceed the amount (cents). */
export function linesOfClick(details: object, amount: number): LineItem[] | undefined {
  checkNames(details, "resolve() of 'click'", ['lineItems'], ['applePay', 'shippingRates']);
  const { lineItems } = details as { lineItems?: LineItem[] };
  if (lineItems === undefined) return undefined;
  checkLines(lineItems);
  const sum = lineItems.reduce((total, line) => total + line.amount, 0);
  if (sum > amount)
    throw new IntegrationError(
      `The amount ${amount} is less than the total amount of the line items provided: ${sum}.`,
    );
  return lineItems;
}

function checkLines(lines: readonly LineItem[]): void {
  for (const line of lines) {
    checkNames(line, 'lineItems', ['amount', 'name'], []);
    if (typeof line.name !== 'string') throw refuse('lineItems', 'name should be a string.');
    if (!Number.isInteger(line.amount)) throw refuse('lineItems', 'amount should be an integer.');
  }
}

function checkNames(given: object, where: string, known: readonly string[], others: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (others.includes(name))
      throw new IntegrationError(`The emulator does not stand in for ${name} in ${where}.`);
    if (!known.includes(name))
      throw new IntegrationError(`Unrecognized ${where} parameter: ${name} is not a recognized parameter.`);
  }
}
