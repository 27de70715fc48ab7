import { digitsOf } from './card.ts';
import { make } from './dom.ts';
import { ElementFields, type Notify } from './element.ts';
import type { ExpressOptions } from './express-options.ts';
import type { CardInput } from './payment-fields.ts';
import type { Appearance } from './style.ts';
import { type OpenWallet, openWallet, type Sheet, type WalletBilling, type WalletChoice } from './wallet.ts';

const GOOGLE_PAY = { expressPaymentType: 'google_pay' };

/** The button of the wallet that the device has, if it has one. The emulator's wallet is Google Pay. */
export class ExpressFields extends ElementFields {
  readonly type = 'expressCheckout';
  #options: ExpressOptions;
  #wallet: OpenWallet | null = null;
  #choice: WalletChoice | null = null;

  constructor(notify: Notify, appearance: Appearance | undefined, options: ExpressOptions) {
    super(notify, appearance);
    this.#options = options;
    if (!this.available) return;
    const button = make('button', { type: 'button', class: 'Wallet' }, 'Pay with Google Pay');
    button.style.height = `${options.buttonHeight ?? 44}px`;
    button.addEventListener('click', () => {
      if (this.#wallet) this.#wallet.focus();
      else this.emit('click', GOOGLE_PAY);
    });
    this.root.append(button);
  }

  /** The payment methods that the device offers; undefined if it offers none. */
  get available(): Record<string, boolean> | undefined {
    const isOffered = document.documentElement.hasAttribute('data-wallet');
    if (!isOffered || this.#options.paymentMethods?.googlePay === 'never') return undefined;
    return { amazonPay: false, applePay: false, googlePay: true, klarna: false, link: false, paypal: false };
  }

  /** The card that was chosen in the wallet. */
  get card(): CardInput {
    return { number: digitsOf(this.#choice!.number), exp_month: 12, exp_year: 2034, wallet: 'google_pay' };
  }

  /** The billing details of the payer, as far as the page asks for them. */
  get billing(): Partial<WalletBilling> | undefined {
    const { billingAddressRequired, emailRequired } = this.#options;
    if (!billingAddressRequired && !emailRequired) return undefined;
    const { email, ...rest } = this.#choice!.billing!;
    return { ...(billingAddressRequired && rest), ...(emailRequired && { email }) };
  }

  update(options: Partial<ExpressOptions>): void {
    this.#options = { ...this.#options, ...options };
  }

  validate(): undefined {
    return undefined;
  }

  clear(): void {}

  /** Opens the sheet, if the page has allowed it. */
  answer(sheet: Sheet | null): void {
    if (sheet === null) return;
    this.#wallet = openWallet(sheet, (choice) => {
      this.#choice = choice;
      if (choice) this.emit('confirm', { ...GOOGLE_PAY, billingDetails: this.billing });
      else this.#closed();
    });
    if (this.#wallet === null) this.#closed();
  }

  /** Ends the payment: closes the sheet, or shows there why the payment failed. */
  settle(failure: string | undefined): void {
    if (failure === undefined) {
      this.#wallet?.close();
      this.#wallet = null;
    } else this.#wallet?.fail(failure);
  }

  #closed(): void {
    this.#wallet = null;
    this.emit('cancel', {});
  }
}
