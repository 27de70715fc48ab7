import { AddressElement, type AddressOptions } from './address-element.ts';
import { callApi, intentIdOf, type PublicIntent, type StripeJsError } from './api.ts';
import { IntegrationError } from './dom.ts';
import type { BaseElement, Group, ValidationError } from './element.ts';
import { PaymentElement } from './payment-element.ts';
import type { Appearance } from './style.ts';

export interface ElementsOptions {
  clientSecret?: string;
  mode?: string;
  amount?: number;
  currency?: string;
  appearance?: Appearance;
}

/** A group of elements that pay one thing together. */
export class Elements implements Group {
  readonly key: string;
  readonly loaded: Promise<void>;
  readonly rules = new CSSStyleSheet();
  readonly #elements = new Map<string, BaseElement>();
  #options: ElementsOptions;

  constructor(key: string, options: ElementsOptions) {
    if (!options.clientSecret && !options.mode) {
      throw new IntegrationError(
        'elements(): a clientSecret, or a mode with amount and currency, is needed.',
      );
    }
    if (options.clientSecret && !/^pi_\w+_secret_\w+$/.test(options.clientSecret)) {
      throw new IntegrationError(
        'Invalid value for elements(): clientSecret should be a client secret of the form ID_secret_SECRET.',
      );
    }
    this.key = key;
    this.#options = options;
    document.adoptedStyleSheets.push(this.rules);
    this.loaded = this.fetchUpdates().then(({ error }) => {
      if (error) throw error;
    });
    // Elements that are mounted tell of a failure; without any there is nobody to tell.
    this.loaded.catch(() => {});
  }

  get appearance(): Appearance | undefined {
    return this.#options.appearance;
  }

  get clientSecret(): string | undefined {
    return this.#options.clientSecret;
  }

  get payment(): PaymentElement | undefined {
    return this.#elements.get('payment') as PaymentElement | undefined;
  }

  get address(): AddressElement | undefined {
    return this.#elements.get('address') as AddressElement | undefined;
  }

  create(type: string, options?: object): BaseElement {
    if (this.#elements.has(type)) {
      throw new IntegrationError(
        `Can only create one Element of type ${type} through the same Elements group.`,
      );
    }
    const element = this.#make(type, options);
    this.#elements.set(type, element);
    this.payment?.arrange();
    return element;
  }

  #make(type: string, options: object | undefined): BaseElement {
    if (type === 'payment') return new PaymentElement(this);
    if (type === 'address') {
      const { mode } = (options ?? {}) as AddressOptions;
      if (mode !== 'billing' && mode !== 'shipping') {
        throw new IntegrationError("You must supply options.mode. mode must be 'billing' or 'shipping'.");
      }
      return new AddressElement(this, options as AddressOptions);
    }
    throw new IntegrationError(`The emulator does not stand in for Elements of type ${type}.`);
  }

  getElement(type: string): BaseElement | null {
    return this.#elements.get(type) ?? null;
  }

  has(type: string): boolean {
    return this.#elements.has(type);
  }

  forget(element: BaseElement): void {
    if (this.#elements.get(element.type) === element) this.#elements.delete(element.type);
    this.payment?.arrange();
  }

  update(options: Partial<ElementsOptions>): void {
    this.#options = { ...this.#options, ...options };
    for (const element of this.#elements.values()) element.restyle();
  }

  /** Asks again what is to be paid. What was typed stays. */
  async fetchUpdates(): Promise<{ error?: StripeJsError }> {
    const { clientSecret } = this.#options;
    if (!clientSecret) return {};
    const path = `payment_intents/${intentIdOf(clientSecret)}`;
    const { error } = await callApi<PublicIntent>(this.key, 'GET', path, { client_secret: clientSecret });
    return error ? { error } : {};
  }

  /** Validates every element; the focus goes to the first fault. */
  async submit(): Promise<{ error?: ValidationError; selectedPaymentMethod?: string }> {
    const [first] = [...this.#elements.values()].flatMap((element) => element.validate() ?? []);
    if (!first) return { selectedPaymentMethod: 'card' };
    first.control.focus();
    return { error: first.error };
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }
}
