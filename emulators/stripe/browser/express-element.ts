import { IntegrationError } from './dom.ts';
import {
  checkExpressOptions,
  checkExpressUpdate,
  type ExpressOptions,
  linesOfClick,
} from './express-options.ts';
import { FramedElement, type Group } from './framed-element.ts';
import type { Sheet, WalletBilling } from './wallet.ts';

/** How long (ms) the page may take to answer a click. */
const ANSWER_MS = 1000;

const REASONS = [
  'fail',
  'invalid_shipping_address',
  'invalid_billing_address',
  'invalid_payment_data',
  'address_unserviceable',
];

/** The wallet's button on the page's side (https://docs.stripe.com/elements/express-checkout-element). */
export class ExpressElement extends FramedElement {
  readonly #options: ExpressOptions;
  #isAuthorised = false;

  constructor(group: Group, options: ExpressOptions = {}) {
    checkExpressOptions(options);
    super(group, 'expressCheckout', options);
    this.#options = options;
  }

  /** Whether a card was chosen in the sheet, and the page has not yet paid or refused it. */
  get isAuthorised(): boolean {
    return this.#isAuthorised;
  }

  override update(options: object): this {
    checkExpressUpdate(options);
    return super.update(options);
  }

  /** Called when the API has answered the confirmation. */
  settle(): void {
    this.#isAuthorised = false;
  }

  protected override async readiness(): Promise<object> {
    return { availablePaymentMethods: await this.ask('available') };
  }

  protected override heard(name: string, event: object): void {
    if (name === 'click') this.#clicked(event);
    else if (name === 'confirm') this.#authorised(event as { billingDetails?: WalletBilling });
    else {
      if (name === 'cancel') this.#isAuthorised = false;
      super.heard(name, event);
    }
  }

  #clicked(event: object): void {
    let isAnswered = false;
    const answer = (sheet: Sheet | null): void => {
      isAnswered = true;
      clearTimeout(late);
      this.send('answer', sheet);
    };
    const late = setTimeout(() => {
      answer(null);
      throw new IntegrationError(
        "The 'click' event of the Express Checkout Element should be resolved or rejected within 1 second.",
      );
    }, ANSWER_MS);
    const resolve = (details: object = {}): void => {
      if (isAnswered) return;
      const { amount, currency } = this.group.due;
      const lines = linesOfClick(details, amount) ?? this.#options.lineItems ?? [];
      answer({ business: this.#options.business?.name ?? null, lines, amount, currency });
    };
    const reject = (): void => {
      if (!isAnswered) answer(null);
    };
    if (this.listensTo('click')) this.emit('click', { ...event, resolve, reject });
    else resolve();
  }

  #authorised(event: { billingDetails?: WalletBilling }): void {
    this.#isAuthorised = true;
    const paymentFailed = ({
      reason = 'fail',
      message,
    }: {
      reason?: string;
      message?: string;
    } = {}): void => {
      if (!REASONS.includes(reason))
        throw new IntegrationError(`Invalid value for paymentFailed(): reason cannot be ${reason}.`);
      this.#isAuthorised = false;
      this.send('fail', message ?? 'The payment was not completed.');
    };
    this.emit('confirm', { ...event, paymentFailed });
  }
}
