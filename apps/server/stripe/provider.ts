import Stripe from 'stripe';
import type { Providers } from '../config.ts';
import { Refusal } from '../http/refusal.ts';

/** What the join needs to know of a Stripe PaymentIntent. Amounts are cents. */
export interface Intent {
  id: string;
  status: Stripe.PaymentIntent.Status;
  amountCents: number;
  amountReceivedCents: number;
  currency: string;
  clientSecret: string;
  customerId: string | null;
  paymentMethodId: string | null;
  card: { brand: string; last4: string } | null;
  metadata: Record<string, string>;
  /** The sentence of the last decline, as Stripe words it for the cardholder. */
  lastError: string | null;
}

/** Ours on a Stripe account that others may share; together with the order's revision on every intent. */
export interface IntentMetadata {
  app: 'induct';
  environment: string;
  session: string;
  kind: 'join' | 'upgrade';
  revision: string;
  [key: string]: string;
}

export interface NewIntent {
  amountCents: number;
  customerId: string;
  receiptEmail: string | null;
  metadata: IntentMetadata;
  idempotencyKey: string;
}

/** A PaymentIntent event of a webhook, verified; `intentId` is null for events about anything else. */
export interface ProviderEvent {
  id: string;
  type: string;
  intentId: string | null;
  metadata: Record<string, string>;
}

/** The bank said no. The message is Stripe's, made for the cardholder; the intent stays behind in Stripe. */
export class Declined extends Error {
  readonly intentId: string | null;
  constructor(message: string, intentId: string | null) {
    super(message);
    this.intentId = intentId;
  }
}

/** The intent has moved on and does not take this change any more (Stripe: payment_intent_unexpected_state). */
export class UnexpectedState extends Error {}

export interface PaymentProvider {
  createCustomer(customer: {
    email: string | null;
    name: string | null;
    sessionUuid: string;
    idempotencyKey: string;
  }): Promise<string>;
  /** An intent for the card form; `saveCard` keeps the card for an upgrade with the member present. */
  createIntent(intent: NewIntent & { saveCard: boolean }): Promise<Intent>;
  /** Amount and metadata in one call, so that what is charged always names its revision. Throws {@link UnexpectedState}. */
  updateIntent(
    id: string,
    change: Pick<NewIntent, 'amountCents' | 'receiptEmail' | 'metadata'>,
  ): Promise<Intent>;
  retrieveIntent(id: string): Promise<Intent>;
  /** Charges a saved card with the member present. Throws {@link Declined}; may answer `requires_action`. */
  chargeSavedCard(intent: NewIntent & { paymentMethodId: string }): Promise<Intent>;
  /** Throws {@link UnexpectedState} when it can no longer be cancelled. */
  cancelIntent(id: string): Promise<Intent>;
  refund(refund: {
    intentId: string;
    amountCents: number;
    reason: string;
    idempotencyKey: string;
  }): Promise<void>;
  /** Verifies the signature over the raw body and reads the event; null when the signature does not hold. */
  readEvent(rawBody: Buffer, signature: string): ProviderEvent | null;
}

const UNAVAILABLE =
  'The payment service did not answer. Nothing was charged by this step; please try again in a moment.';

/** The real client; with `url` it talks to a stand-in at that address, by the same code. */
export function stripeProvider({ secretKey, webhookSecret, url }: Providers['stripe']): PaymentProvider {
  const address = url === null ? null : new URL(url);
  const stripe = new Stripe(secretKey, {
    maxNetworkRetries: 2,
    timeout: 20_000,
    appInfo: { name: 'induct' },
    telemetry: false,
    ...(address ? { protocol: 'http', host: address.hostname, port: address.port } : {}),
  });
  const withCard = { expand: ['payment_method'] };

  return {
    async createCustomer({ email, name, sessionUuid, idempotencyKey }) {
      const customer = await attempt(() =>
        stripe.customers.create(
          {
            ...(email ? { email } : {}),
            ...(name ? { name } : {}),
            metadata: { app: 'induct', session: sessionUuid },
          },
          { idempotencyKey },
        ),
      );
      return customer.id;
    },
    async createIntent({ amountCents, customerId, receiptEmail, saveCard, metadata, idempotencyKey }) {
      return read(
        await attempt(() =>
          stripe.paymentIntents.create(
            {
              amount: amountCents,
              currency: 'usd',
              customer: customerId,
              allowed_payment_method_types: ['card'],
              metadata,
              ...(receiptEmail ? { receipt_email: receiptEmail } : {}),
              ...(saveCard ? { setup_future_usage: 'on_session' } : {}),
              ...withCard,
            },
            { idempotencyKey },
          ),
        ),
      );
    },
    async updateIntent(id, { amountCents, receiptEmail, metadata }) {
      return read(
        await attempt(() =>
          stripe.paymentIntents.update(id, {
            amount: amountCents,
            metadata,
            ...(receiptEmail ? { receipt_email: receiptEmail } : {}),
            ...withCard,
          }),
        ),
      );
    },
    async retrieveIntent(id) {
      return read(await attempt(() => stripe.paymentIntents.retrieve(id, withCard)));
    },
    async chargeSavedCard({
      amountCents,
      customerId,
      receiptEmail,
      metadata,
      idempotencyKey,
      paymentMethodId,
    }) {
      return read(
        await attempt(() =>
          stripe.paymentIntents.create(
            {
              amount: amountCents,
              currency: 'usd',
              customer: customerId,
              payment_method: paymentMethodId,
              allowed_payment_method_types: ['card'],
              metadata,
              confirm: true,
              use_stripe_sdk: true,
              ...(receiptEmail ? { receipt_email: receiptEmail } : {}),
              ...withCard,
            },
            { idempotencyKey },
          ),
        ),
      );
    },
    async cancelIntent(id) {
      return read(await attempt(() => stripe.paymentIntents.cancel(id, withCard)));
    },
    async refund({ intentId, amountCents, reason, idempotencyKey }) {
      await attempt(() =>
        stripe.refunds.create(
          { payment_intent: intentId, amount: amountCents, metadata: { app: 'induct', reason } },
          { idempotencyKey },
        ),
      );
    },
    readEvent(rawBody, signature) {
      let event: Stripe.Event;
      try {
        event = stripe.webhooks.constructEvent(rawBody, signature, webhookSecret);
      } catch (error) {
        if (error instanceof Stripe.errors.StripeSignatureVerificationError) return null;
        throw error;
      }
      const object = event.data.object as { object?: string; id?: string; metadata?: Record<string, string> };
      const isIntent = object.object === 'payment_intent' && typeof object.id === 'string';
      return {
        id: event.id,
        type: event.type,
        intentId: isIntent ? object.id! : null,
        metadata: object.metadata ?? {},
      };
    },
  };
}

function read(intent: Stripe.PaymentIntent): Intent {
  const method = typeof intent.payment_method === 'object' ? intent.payment_method : null;
  return {
    id: intent.id,
    status: intent.status,
    amountCents: intent.amount,
    amountReceivedCents: intent.amount_received,
    currency: intent.currency,
    clientSecret: intent.client_secret ?? '',
    customerId: typeof intent.customer === 'string' ? intent.customer : (intent.customer?.id ?? null),
    paymentMethodId: method?.id ?? (typeof intent.payment_method === 'string' ? intent.payment_method : null),
    card: method?.card ? { brand: brandName(method.card.brand), last4: method.card.last4 } : null,
    metadata: intent.metadata,
    lastError: intent.last_payment_error?.message ?? null,
  };
}

/** Stripe's brand codes as cardholders know them. */
function brandName(brand: string): string {
  const names: Record<string, string> = {
    amex: 'American Express',
    diners: 'Diners Club',
    jcb: 'JCB',
    unionpay: 'UnionPay',
  };
  return names[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1);
}

/** Stripe's errors as the join understands them: a decline, an intent that moved on, unknown, or a provider that is down. */
async function attempt<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Stripe.errors.StripeError)) throw error;
    if (error instanceof Stripe.errors.StripeCardError)
      throw new Declined(error.message, error.payment_intent?.id ?? null);
    if (error.code === 'payment_intent_unexpected_state')
      throw new UnexpectedState(error.message, { cause: error });
    if (
      error instanceof Stripe.errors.StripeConnectionError ||
      error instanceof Stripe.errors.StripeRateLimitError ||
      (error.statusCode ?? 0) >= 500
    )
      throw new Refusal(503, UNAVAILABLE, { retryAfter: 5 });
    throw error;
  }
}
