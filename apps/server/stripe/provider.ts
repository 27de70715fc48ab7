import type Stripe from 'stripe';
import type { Dispute } from '#core/refunds.ts';
import type { Providers } from '../config.ts';
import { Refusal } from '../http/refusal.ts';
import { type BalanceMovement, movementSources, readMovement, tellsItsMovements } from './movements.ts';

/** What the join needs to know of a Stripe PaymentIntent. Amounts are cents. */
export interface Intent {
  id: string;
  status: Stripe.PaymentIntent.Status;
  amountCents: number;
  amountReceivedCents: number;
  currency: string;
  clientSecret: string;
  customerId: string | null;
  /** Where Stripe's receipt goes. */
  receiptEmail: string | null;
  paymentMethodId: string | null;
  card: { brand: string; last4: string } | null;
  /** It keeps its card for a later charge. */
  savesCard: boolean;
  metadata: Record<string, string>;
  createdAt: Date;
  /** The last try to charge it: a declined one, or the one that succeeded. */
  charge: {
    id: string;
    createdAt: Date;
    isDeclined: boolean;
    refundedCents: number;
    isDisputed: boolean;
  } | null;
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
  /** Keeps the card for an upgrade with the member present. */
  saveCard: boolean;
  /** Printed on Stripe's receipt: at most 1,000 characters. */
  description: string;
  metadata: IntentMetadata;
  idempotencyKey: string;
}

/** An event about a PaymentIntent, or about a charge, refund or dispute of one; `intentId` is null for all others. */
export interface ProviderEvent {
  id: string;
  type: string;
  createdAt: Date;
  intentId: string | null;
  /** Of the object that the event is about. */
  metadata: Record<string, string>;
  /** The charge that a `payment_intent.payment_failed` is about; its intent may have been charged again since. */
  failedChargeId: string | null;
}

/** What of a payment's money is no longer with us. */
export interface MoneyBack {
  refunds: {
    id: string;
    amountCents: number;
    status: 'pending' | 'succeeded' | 'failed' | 'canceled';
    /** Our own refund row's uuid; null when it was made elsewhere, as in Stripe's dashboard. */
    uuid: string | null;
  }[];
  dispute: Dispute | null;
}

/** The bank said no. The message is Stripe's, made for the cardholder; the intent stays behind in Stripe. */
export class Declined extends Error {
  readonly intentId: string | null;
  constructor(message: string, intentId: string | null) {
    super(message);
    this.intentId = intentId;
  }
}

/**
 * Stripe has answered with a failure of its own (5xx), perhaps after doing the work. It keeps that answer under the call's
 * idempotency key for a day (docs.stripe.com/api/idempotent_requests): another try needs another key.
 */
export class ProviderFailed extends Refusal {}

/** The intent has moved on and does not take this change any more (Stripe: payment_intent_unexpected_state). */
export class UnexpectedState extends Error {}

/** Stripe knows no such object on this account. */
export class NotAtStripe extends Error {}

/**
 * Stripe refuses this refund. For good when it was refunded meanwhile, is disputed, or is more than is left; otherwise for
 * now, as while the account's balance does not suffice. Stripe keeps the answer under the idempotency key.
 */
export class RefundRefused extends Error {
  readonly isFinal: boolean;
  constructor(message: string, { isFinal, ...options }: { isFinal: boolean; cause: unknown }) {
    super(message, options);
    this.isFinal = isFinal;
  }
}

/** Codes with which a refund will never be made (https://docs.stripe.com/error-codes). */
const REFUSED_FOR_GOOD = [
  'charge_already_refunded',
  'charge_disputed',
  'charge_not_refundable',
  'refund_disputed_payment',
  'amount_too_large',
  'amount_too_small',
];

export interface PaymentProvider {
  createCustomer(customer: {
    email: string | null;
    name: string | null;
    sessionUuid: string;
    idempotencyKey: string;
  }): Promise<string>;
  /** An intent for the card form. */
  createIntent(intent: NewIntent): Promise<Intent>;
  /** All that follows from the order in one call, so that what is charged always names its revision. Throws {@link UnexpectedState}. */
  updateIntent(id: string, change: Omit<NewIntent, 'customerId' | 'idempotencyKey'>): Promise<Intent>;
  /** Throws {@link NotAtStripe}. */
  retrieveIntent(id: string): Promise<Intent>;
  /** Every intent of the account since then, newest first, other apps' too. */
  listIntents(since: Date | null): AsyncIterable<Intent>;
  /** Charges a saved card with the member present; the bank may ask for authentication. Throws {@link Declined}, {@link UnexpectedState}. */
  confirmWithSavedCard(
    id: string,
    confirmation: { paymentMethodId: string; idempotencyKey: string },
  ): Promise<Intent>;
  /** Throws {@link UnexpectedState} when it can no longer be cancelled. */
  cancelIntent(id: string): Promise<Intent>;
  /** Throws {@link RefundRefused}, {@link ProviderFailed}. */
  refund(refund: {
    intentId: string;
    amountCents: number;
    /** `refund`: our row's uuid. */
    metadata: { app: 'induct'; environment: string; reason: string; refund?: string };
    idempotencyKey: string;
  }): Promise<void>;
  moneyBack(intentId: string): Promise<MoneyBack>;
  /** Every transaction of the account's balance from `from` to before `until`, newest first, other apps' too. */
  listMovements(from: Date, until: Date): AsyncIterable<BalanceMovement>;
  /** Which transactions left with the automatic payouts that were made from `from` to before `until`. */
  listPaidOut(from: Date, until: Date): AsyncIterable<{ movementId: string; payoutId: string }>;
  /** The account's events of these types since then, newest first, other apps' too. Stripe keeps them for 30 days. */
  listEvents(types: readonly string[], since: Date): AsyncIterable<ProviderEvent>;
  /** Verifies the signature over the raw body and reads the event; null when the signature does not hold. */
  readEvent(rawBody: Buffer, signature: string): Promise<ProviderEvent | null>;
}

const UNAVAILABLE =
  'The payment service did not answer. Nothing was charged by this step; please try again in a moment.';
const PERHAPS_CHARGED =
  'The payment service did not answer. Please try again in a moment: what was charged is found, and nothing is charged twice.';

/** Stripe's library is a fifth of all code that the server loads, and the first pages need nothing of it. */
const library = () => import('stripe').then((module) => module.default);

/** The real client; with `url` it talks to a stand-in at that address, by the same code. Waits `timeoutMs` for an answer. */
export function stripeProvider({
  secretKey,
  webhookSecret,
  url,
  timeoutMs = 20_000,
}: Providers['stripe'] & { timeoutMs?: number }): PaymentProvider {
  const address = url === null ? null : new URL(url);
  let made: Promise<Stripe> | undefined;
  const client = () => {
    made ??= library().then(
      (Library) =>
        new Library(secretKey, {
          maxNetworkRetries: 2,
          timeout: timeoutMs,
          appInfo: { name: 'induct' },
          telemetry: false,
          ...(address ? { protocol: 'http', host: address.hostname, port: address.port } : {}),
        }),
    );
    return made;
  };
  const withCard = { expand: ['payment_method', 'latest_charge'] };

  return {
    async createCustomer({ email, name, sessionUuid, idempotencyKey }) {
      const customer = await attempt(async () =>
        (await client()).customers.create(
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
    async createIntent({
      amountCents,
      customerId,
      receiptEmail,
      saveCard,
      description,
      metadata,
      idempotencyKey,
    }) {
      return read(
        await attempt(async () =>
          (await client()).paymentIntents.create(
            {
              amount: amountCents,
              currency: 'usd',
              customer: customerId,
              allowed_payment_method_types: ['card'],
              description,
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
    async updateIntent(id, { amountCents, receiptEmail, saveCard, description, metadata }) {
      return read(
        await attempt(async () =>
          (await client()).paymentIntents.update(id, {
            amount: amountCents,
            description,
            metadata,
            setup_future_usage: saveCard ? 'on_session' : '',
            ...(receiptEmail ? { receipt_email: receiptEmail } : {}),
            ...withCard,
          }),
        ),
      );
    },
    async retrieveIntent(id) {
      return read(await attempt(async () => (await client()).paymentIntents.retrieve(id, withCard)));
    },
    async confirmWithSavedCard(id, { paymentMethodId, idempotencyKey }) {
      return read(
        await attempt(
          async () =>
            (await client()).paymentIntents.confirm(
              id,
              { payment_method: paymentMethodId, use_stripe_sdk: true, ...withCard },
              { idempotencyKey },
            ),
          PERHAPS_CHARGED,
        ),
      );
    },
    async cancelIntent(id) {
      return read(await attempt(async () => (await client()).paymentIntents.cancel(id, withCard)));
    },
    async *listIntents(since) {
      const list = (await client()).paymentIntents.list({
        limit: 100,
        expand: ['data.payment_method', 'data.latest_charge'],
        ...(since ? { created: { gte: seconds(since) } } : {}),
      });
      for await (const intent of attemptEach(list)) yield read(intent);
    },
    async refund({ intentId, amountCents, metadata, idempotencyKey }) {
      try {
        await (await client()).refunds.create(
          { payment_intent: intentId, amount: amountCents, metadata },
          { idempotencyKey },
        );
      } catch (error) {
        throw await understoodOfRefund(error);
      }
    },
    async moneyBack(intentId) {
      const stripe = await client();
      const refunds: MoneyBack['refunds'] = [];
      const disputes: Stripe.Dispute[] = [];
      const of = { payment_intent: intentId, limit: 100 };
      for await (const { id, amount, status, metadata } of attemptEach(stripe.refunds.list(of)))
        refunds.push({
          id,
          amountCents: amount,
          status: status === 'succeeded' || status === 'failed' || status === 'canceled' ? status : 'pending',
          uuid: metadata?.refund ?? null,
        });
      for await (const dispute of attemptEach(stripe.disputes.list(of))) disputes.push(dispute);
      return { refunds, dispute: worst(disputes) };
    },
    async *listMovements(from, until) {
      const list = (await client()).balanceTransactions.list({
        created: { gte: seconds(from), lt: seconds(until) },
        limit: 100,
        expand: movementSources,
      });
      for await (const transaction of attemptEach(list)) yield readMovement(transaction);
    },
    async *listPaidOut(from, until) {
      const stripe = await client();
      const payouts = stripe.payouts.list({
        created: { gte: seconds(from), lt: seconds(until) },
        limit: 100,
      });
      for await (const payout of attemptEach(payouts)) {
        if (!tellsItsMovements(payout)) continue;
        const taken = stripe.balanceTransactions.list({ payout: payout.id, limit: 100 });
        for await (const { id } of attemptEach(taken)) yield { movementId: id, payoutId: payout.id };
      }
    },
    async *listEvents(types, since) {
      const list = (await client()).events.list({
        types: [...types],
        created: { gte: seconds(since) },
        limit: 100,
      });
      for await (const event of attemptEach(list)) yield readEvent(event);
    },
    async readEvent(rawBody, signature) {
      const { webhooks } = await client();
      try {
        return readEvent(webhooks.constructEvent(rawBody, signature, webhookSecret));
      } catch (error) {
        if (error instanceof (await library()).errors.StripeSignatureVerificationError) return null;
        throw error;
      }
    },
  };
}

function readEvent({ id, type, created, data }: Stripe.Event): ProviderEvent {
  const object = data.object as {
    object?: string;
    id?: string;
    payment_intent?: string | { id: string } | null;
    metadata?: Record<string, string>;
    latest_charge?: string | null;
    last_payment_error?: { charge?: string } | null;
  };
  const of = object.payment_intent;
  const intentId =
    object.object === 'payment_intent' ? (object.id ?? null) : typeof of === 'string' ? of : (of?.id ?? null);
  const isFailure = type === 'payment_intent.payment_failed';
  return {
    id,
    type,
    createdAt: new Date(created * 1000),
    intentId,
    metadata: object.metadata ?? {},
    failedChargeId: isFailure ? (object.last_payment_error?.charge ?? object.latest_charge ?? null) : null,
  };
}

/** The money is with the bank while a dispute is open; early warnings and won disputes leave it with us. */
function worst(disputes: readonly Stripe.Dispute[]): Dispute | null {
  if (disputes.some(({ status }) => status === 'lost')) return 'lost';
  const isOpen = disputes.some(({ status }) => /^(needs_response|under_review|appeal_.*)$/.test(status));
  return isOpen ? 'open' : null;
}

function seconds(date: Date): number {
  return Math.floor(date.getTime() / 1000);
}

function read(intent: Stripe.PaymentIntent): Intent {
  const method = typeof intent.payment_method === 'object' ? intent.payment_method : null;
  const charge = typeof intent.latest_charge === 'object' ? intent.latest_charge : null;
  return {
    id: intent.id,
    status: intent.status,
    amountCents: intent.amount,
    amountReceivedCents: intent.amount_received,
    currency: intent.currency,
    clientSecret: intent.client_secret ?? '',
    customerId: typeof intent.customer === 'string' ? intent.customer : (intent.customer?.id ?? null),
    receiptEmail: intent.receipt_email,
    paymentMethodId: method?.id ?? (typeof intent.payment_method === 'string' ? intent.payment_method : null),
    card: method?.card ? { brand: brandName(method.card.brand), last4: method.card.last4 } : null,
    savesCard: intent.setup_future_usage !== null,
    metadata: intent.metadata,
    createdAt: new Date(intent.created * 1000),
    charge: charge && {
      id: charge.id,
      createdAt: new Date(charge.created * 1000),
      isDeclined: charge.status === 'failed',
      refundedCents: charge.amount_refunded,
      isDisputed: charge.disputed,
    },
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
async function attempt<T>(call: () => Promise<T>, unanswered = UNAVAILABLE): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw await understood(error, unanswered);
  }
}

/** The same for a list, whose pages are fetched as it is read. */
async function* attemptEach<T>(list: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* list;
  } catch (error) {
    throw await understood(error);
  }
}

async function understood(error: unknown, unanswered = UNAVAILABLE): Promise<unknown> {
  const { errors } = await library();
  if (!(error instanceof errors.StripeError)) return error;
  if (error instanceof errors.StripeCardError)
    return new Declined(error.message, error.payment_intent?.id ?? null);
  if (error.code === 'resource_missing' && error.statusCode === 404)
    return new NotAtStripe(error.message, { cause: error });
  if (error.code === 'payment_intent_unexpected_state')
    return new UnexpectedState(error.message, { cause: error });
  if (
    error instanceof errors.StripeConnectionError ||
    error instanceof errors.StripeRateLimitError ||
    // The same call is still under way at Stripe.
    error.statusCode === 409
  )
    return new Refusal(503, unanswered, { retryAfter: 5 });
  if ((error.statusCode ?? 0) >= 500) return new ProviderFailed(503, unanswered, { retryAfter: 5 });
  return error;
}

async function understoodOfRefund(error: unknown): Promise<unknown> {
  const { errors } = await library();
  const status = error instanceof errors.StripeError ? (error.statusCode ?? 0) : 0;
  const isRefusal = status >= 400 && status < 500 && status !== 409 && status !== 429;
  if (!(error instanceof errors.StripeError) || !isRefusal) return understood(error);
  // An amount that is more than is left has no code of its own.
  const isFinal = error.param === 'amount' || REFUSED_FOR_GOOD.includes(error.code ?? '');
  return new RefundRefused(error.message, { isFinal, cause: error });
}
