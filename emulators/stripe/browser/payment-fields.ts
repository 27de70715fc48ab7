import {
  type CardBrand,
  cardBrandOf,
  cvcFault,
  cvcLengthOf,
  digitsOf,
  expiryFault,
  expiryOf,
  type Fault,
  formatExpiry,
  formatNumber,
  numberFault,
} from './card.ts';
import { make } from './dom.ts';
import { ElementFields, type Notify } from './element.ts';
import { Field } from './field.ts';
import { countriesOf, postalFault } from './regions.ts';
import type { Appearance } from './style.ts';
import { openWallet } from './wallet.ts';

/** Card details in the API's form. */
export interface CardInput {
  number: string;
  exp_month: number;
  exp_year: number;
  /** Absent for a wallet's card. */
  cvc?: string;
  wallet?: 'google_pay';
}

/** The options of the Payment Element that have an effect here. */
export interface PaymentOptions {
  wallets?: { googlePay?: 'auto' | 'never' };
}

const TEST_CARDS = [
  ['4242 4242 4242 4242', 'pays'],
  ['4000 0000 0000 0002', 'is declined'],
  ['4000 0025 0000 3155', 'asks for authentication'],
] as const;

const BRAND_NAMES: Record<CardBrand, string> = {
  visa: 'VISA',
  mastercard: 'Mastercard',
  amex: 'AMEX',
  discover: 'Discover',
  unknown: '',
};

type FieldName = 'number' | 'expiry' | 'cvc' | 'country' | 'postal';

/** The card form. It asks for country and ZIP code only when there is no address element. */
export class PaymentFields extends ElementFields {
  readonly type = 'payment';
  readonly #fields: Record<FieldName, Field>;
  readonly #brand: HTMLSpanElement;
  readonly #place: HTMLDivElement;

  constructor(
    notify: Notify,
    appearance: Appearance | undefined,
    hasAddress: boolean,
    options: PaymentOptions,
  ) {
    super(notify, appearance);
    const field = (name: FieldName, label: string, autocomplete: string, more = {}): Field =>
      new Field(
        { label, autocomplete, ...more },
        () => this.#changed(name),
        () => this.#left(name),
      );
    this.#fields = {
      number: field('number', 'Card number', 'cc-number', {
        inputmode: 'numeric',
        placeholder: '1234 1234 1234 1234',
        format: formatNumber,
      }),
      expiry: field('expiry', 'Expiration date', 'cc-exp', {
        inputmode: 'numeric',
        placeholder: 'MM / YY',
        format: formatExpiry,
      }),
      cvc: field('cvc', 'Security code', 'cc-csc', {
        inputmode: 'numeric',
        placeholder: 'CVC',
        format: (digits: string) => digits.slice(0, cvcLengthOf(this.#brandNow())),
      }),
      country: field('country', 'Country or region', 'billing country', { options: countriesOf(null) }),
      postal: field('postal', 'ZIP code', 'billing postal-code'),
    };
    this.#brand = make('span', { class: 'Brand', 'aria-hidden': 'true' });
    this.#fields.number.wrap.append(this.#brand);
    this.#place = make('div', { class: 'Row' }, this.#fields.country.root, this.#fields.postal.root);
    this.root.append(
      this.#testNote(),
      this.#fields.number.root,
      make('div', { class: 'Row' }, this.#fields.expiry.root, this.#fields.cvc.root),
    );
    if (document.documentElement.hasAttribute('data-wallet') && options.wallets?.googlePay !== 'never')
      this.root.prepend(this.#walletButton());
    this.arrange(hasAddress);
  }

  /** Shows the fields for country and ZIP code, unless the page has an address element. */
  arrange(hasAddress: boolean): void {
    if (hasAddress) this.#place.remove();
    else this.root.append(this.#place);
  }

  get card(): CardInput {
    const { month, year } = expiryOf(digitsOf(this.#fields.expiry.value));
    return {
      number: digitsOf(this.#fields.number.value),
      exp_month: month,
      exp_year: year,
      cvc: this.#fields.cvc.value,
    };
  }

  /** Returns country and ZIP code if this form asks for them, otherwise undefined. */
  get place(): { country: string; postal_code: string } | undefined {
    return !this.#asksForPlace
      ? undefined
      : { country: this.#fields.country.value, postal_code: this.#fields.postal.value };
  }

  clear(): void {
    for (const name of ['number', 'expiry', 'cvc', 'postal'] as const) {
      this.#fields[name].value = '';
      this.#fields[name].showError(undefined);
    }
    this.#notify();
  }

  validate(): ReturnType<ElementFields['validate']> {
    let first: ReturnType<ElementFields['validate']>;
    for (const name of this.#shown()) {
      const fault = this.#faultOf(name);
      this.#fields[name].showError(fault?.message);
      if (!fault) continue;
      first ??= { error: { type: 'validation_error', ...fault }, control: this.#fields[name].control };
    }
    return first;
  }

  #testNote(): HTMLDivElement {
    const title = make('p', { class: 'TestNoteTitle' }, 'Test mode: no card is charged');
    const cards = TEST_CARDS.map(([number, does]) => {
      const button = make('button', { type: 'button', class: 'TestCard' }, `Use ${number} (${does})`);
      button.addEventListener('click', () => this.#use(number));
      return make('li', {}, button);
    });
    return make('div', { class: 'TestNote' }, title, make('ul', { class: 'TestCards' }, ...cards));
  }

  /** Returns the wallet button. It opens the wallet's window, which sends back the card that is chosen there. */
  #walletButton(): HTMLDivElement {
    const said = make('p', { class: 'Error', role: 'alert' });
    said.hidden = true;
    const button = make('button', { type: 'button', class: 'Wallet' }, 'Pay with a wallet');
    button.addEventListener('click', () => {
      const wallet = openWallet(null, (choice) => {
        wallet?.close();
        if (choice) this.#use(choice.number);
      });
      said.textContent = wallet === null ? "The wallet's window could not be opened." : '';
      said.hidden = wallet !== null;
    });
    return make('div', {}, button, said);
  }

  #use(number: string): void {
    const values = { number, expiry: '12 / 34', cvc: '123' } as const;
    for (const [name, value] of Object.entries(values)) {
      this.#fields[name as FieldName].value = value;
      this.#fields[name as FieldName].showError(undefined);
    }
    this.#changed('number');
  }

  #brandNow(): CardBrand {
    return cardBrandOf(digitsOf(this.#fields.number.value));
  }

  get #asksForPlace(): boolean {
    return this.root.contains(this.#place);
  }

  #shown(): FieldName[] {
    return !this.#asksForPlace
      ? ['number', 'expiry', 'cvc']
      : ['number', 'expiry', 'cvc', 'country', 'postal'];
  }

  #faultOf(name: FieldName): Fault | undefined {
    const { value } = this.#fields[name];
    switch (name) {
      case 'number':
        return numberFault(digitsOf(value));
      case 'expiry':
        return expiryFault(digitsOf(value), new Date());
      case 'cvc':
        return cvcFault(value, this.#brandNow());
      case 'postal': {
        const country = this.#fields.country.value;
        if (country !== 'US' && country !== 'CA') return undefined;
        const message = value === '' ? 'Your ZIP is incomplete.' : postalFault(country, value);
        return message === undefined ? undefined : { code: 'incomplete_zip', message };
      }
      default:
        return undefined;
    }
  }

  #changed(name: FieldName): void {
    const field = this.#fields[name];
    const fault = this.#faultOf(name);
    if (name === 'number') this.#brand.textContent = BRAND_NAMES[this.#brandNow()];
    if (name === 'country') {
      this.#fields.postal.setLabel(this.#fields.country.value === 'US' ? 'ZIP code' : 'Postal code');
    }
    // A complete value that is wrong shows its error at once; an incomplete value only when the field loses the focus.
    if (!fault?.code.startsWith('incomplete')) field.showError(fault?.message);
    this.#notify();
  }

  #left(name: FieldName): void {
    const field = this.#fields[name];
    if (field.value !== '') field.showError(this.#faultOf(name)?.message);
  }

  #notify(): void {
    const shown = this.#shown();
    this.emit('change', {
      collapsed: false,
      complete: shown.every((name) => this.#faultOf(name) === undefined),
      empty: (['number', 'expiry', 'cvc'] as const).every((name) => this.#fields[name].value === ''),
      value: { type: 'card' },
    });
  }
}
