import type { AddressValue } from './address-fields.ts';
import { callApi, intentIdOf, type PublicIntent, type Result, type StripeJsError } from './api.ts';
import { IntegrationError } from './dom.ts';
import type { ValidationError } from './element.ts';
import { ExpressElement } from './express-element.ts';
import { FramedElement, type Group } from './framed-element.ts';
import type { Appearance } from './style.ts';

export interface ElementsOptions {
  clientSecret?: string;
  mode?: string;
  amount?: number;
  currency?: string;
  appearance?: Appearance;
}

/** All Elements (as Stripe calls the parts of its payment form) of one payment, on the page's side. */
export class Elements implements Group {
  readonly key: string;
  readonly loaded: Promise<void>;
  readonly #elements = new Map<string, FramedElement>();
  #options: ElementsOptions;
  #intent: PublicIntent | undefined;

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
    this.loaded = this.#load();
    // A mounted element handles the error if `loaded` rejects. If no element is mounted, this handler keeps the error from being
    // reported as unhandled.
    this.loaded.catch(() => {});
  }

  get appearance(): Appearance | undefined {
    return this.#options.appearance;
  }

  get clientSecret(): string | undefined {
    return this.#options.clientSecret;
  }

  get due(): { amount: number; currency: string } {
    const { amount = 0, currency = 'usd' } = this.#intent ?? this.#options;
    return { amount, currency };
  }

  get payment(): FramedElement | undefined {
    return this.#elements.get('payment');
  }

  /** The element that has the card: the card form, or a wallet's button. */
  get payer(): FramedElement | undefined {
    return this.payment ?? this.#express;
  }

  get #express(): ExpressElement | undefined {
    const element = this.#elements.get('expressCheckout');
    return element instanceof ExpressElement ? element : undefined;
  }

  create(type: string, options?: object): FramedElement {
    if (this.#elements.has(type)) {
      throw new IntegrationError(
        `Can only create one Element of type ${type} through the same Elements group.`,
      );
    }
    if (type !== 'payment' && type !== 'address' && type !== 'expressCheckout')
      throw new IntegrationError(`The emulator does not stand in for Elements of type ${type}.`);
    if (this.#elements.size > 0 && (type === 'expressCheckout' || this.#express))
      throw new IntegrationError(
        'The emulator stands in for an Express Checkout Element only in a group of its own.',
      );
    const { mode } = (options ?? {}) as { mode?: string };
    if (type === 'address' && mode !== 'billing' && mode !== 'shipping')
      throw new IntegrationError("You must supply options.mode. mode must be 'billing' or 'shipping'.");
    const element =
      type === 'expressCheckout' ? new ExpressElement(this, options) : new FramedElement(this, type, options);
    this.#elements.set(type, element);
    this.#arrange();
    return element;
  }

  getElement(type: string): FramedElement | null {
    return this.#elements.get(type) ?? null;
  }

  has(type: string): boolean {
    return this.#elements.has(type);
  }

  forget(element: FramedElement): void {
    if (this.#elements.get(element.type) === element) this.#elements.delete(element.type);
    this.#arrange();
  }

  update(options: Partial<ElementsOptions>): void {
    this.#options = { ...this.#options, ...options };
    for (const element of this.#elements.values()) element.send('restyle', this.appearance);
  }

  /** Fetches the intent again. Typed values stay. */
  async fetchUpdates(): Promise<{ error?: StripeJsError }> {
    const { error } = await this.#fetchIntent();
    return error ? { error } : {};
  }

  /** Validates every element. The first invalid field gets the focus. */
  async submit(): Promise<{ error?: ValidationError; selectedPaymentMethod?: string }> {
    if (this.#express && !this.#express.isAuthorised)
      throw new IntegrationError(
        "A wallet can be submitted only after the 'confirm' event of the Express Checkout Element.",
      );
    const elements = [...this.#elements.values()];
    const errors = await Promise.all(elements.map((element) => element.ask<ValidationError>('validate')));
    const index = errors.findIndex(Boolean);
    if (index < 0) return { selectedPaymentMethod: this.#express ? 'google_pay' : 'card' };
    elements[index]!.send('focusFault');
    return { error: errors[index]! };
  }

  /**
   * Calls the API from the frame that has the card, with the card and the billing details there. Billing details that the page
   * passes (`given`) replace typed ones.
   */
  async send<Value>(path: string, params: object, given: object = {}): Promise<Result<'value', Value>> {
    const typed = await this.#elements.get('address')?.ask<{ value: AddressValue }>('getValue');
    const sent = await this.payer!.ask<Result<'value', Value>>('send', path, params, {
      ...typed?.value,
      ...given,
    });
    this.#express?.settle();
    return sent!;
  }

  on(): this {
    return this;
  }

  off(): this {
    return this;
  }

  /** Loads the intent. Since 2025-09-30 Elements do not load for an intent that has ended (https://docs.stripe.com/changelog). */
  async #load(): Promise<void> {
    const { error, value } = await this.#fetchIntent();
    if (error) throw error;
    this.#intent = value;
    if (!value || !['succeeded', 'canceled'].includes(value.status)) return;
    throw {
      type: 'invalid_request_error',
      code: 'payment_intent_unexpected_state',
      message: `The client secret is of a PaymentIntent in a terminal state: ${value.status}. Make a new one.`,
    } satisfies StripeJsError;
  }

  async #fetchIntent(): Promise<{ error?: StripeJsError | undefined; value?: PublicIntent | undefined }> {
    const { clientSecret } = this.#options;
    if (!clientSecret) return {};
    const path = `payment_intents/${intentIdOf(clientSecret)}`;
    return callApi<PublicIntent>(this.key, 'GET', path, { client_secret: clientSecret });
  }

  #arrange(): void {
    this.payment?.send('arrange', this.has('address'));
  }
}
