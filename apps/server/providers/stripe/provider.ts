import Stripe from 'stripe';
import { z } from 'zod';
import { type Decided, refundMetadata, shorten } from '#core/intentText.ts';
import type { Providers } from '../../platform/config/providers.ts';
import type { WatchCall } from '../../platform/watchCall.ts';
import { stripeClient } from './client.ts';
import { type CallFailure, isInvalidEmail, NotAtStripe, understood, understoodOfRefund } from './failures.ts';
import { type MoneyBack, readMoneyBack } from './moneyBack.ts';
import { type BalanceMovement, movementSources, readMovement, tellsItsMovements } from './movements.ts';

/** The fields of a Stripe PaymentIntent that we read. Amounts are cents. */
export interface Intent {
  id: string;
  status: Stripe.PaymentIntent.Status;
  amountCents: number;
  amountReceivedCents: number;
  currency: string;
  clientSecret: string;
  customerId: string | null;
  /** The email to which Stripe sends the receipt; null if none is sent. */
  receiptEmail: string | null;
  paymentMethodId: string | null;
  card: { brand: string; last4: string } | null;
  /** Whether paying saves the card for a later charge. */
  savesCard: boolean;
  metadata: Record<string, string>;
  createdAt: Date;
  /** The last charge of the intent, declined or successful; null before the first. */
  charge: {
    id: string;
    createdAt: Date;
    isDeclined: boolean;
    refundedCents: number;
    isDisputed: boolean;
  } | null;
}

/**
 * Metadata that distinguishes our objects from those of other apps on the same Stripe account. Every intent has this metadata,
 * with the order's revision.
 */
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
  /**
   * The payer's Customer at Stripe; null if the join has none yet. The saved card can be attached to a Customer after the
   * payment.
   */
  customerId: string | null;
  /**
   * The email to which Stripe sends the receipt; null for no receipt. If Stripe refuses the email, the intent is created without
   * it.
   */
  receiptEmail: string | null;
  /** Whether to save the card, so that an upgrade can be charged while the member is still on our pages. */
  saveCard: boolean;
  /** The text on Stripe's receipt: at most 1,000 characters. */
  description: string;
  metadata: IntentMetadata;
  idempotencyKey: string;
}

/**
 * An event of Stripe. `intentId` is the PaymentIntent of an event about an intent, charge, refund or dispute; null for any other
 * event.
 */
export interface ProviderEvent {
  id: string;
  type: string;
  createdAt: Date;
  intentId: string | null;
  /** The metadata of the event's object. */
  metadata: Record<string, string>;
  /** In a `payment_intent.payment_failed`: the failed charge. The intent may have been charged again since. */
  failedChargeId: string | null;
}

/**
 * Calls to Stripe. Each throws a `Refusal` if Stripe cannot be reached, or refuses the call because of our key or request
 * (failures.ts).
 */
export interface PaymentProvider {
  /** Creates a Customer with a card that a payment has saved (`saveCard`). Returns the Customer's id. Throws {@link Declined}. */
  createCustomer(customer: {
    email: string | null;
    name: string | null;
    paymentMethodId: string;
    sessionUuid: string;
    idempotencyKey: string;
  }): Promise<string>;
  /** Deletes a Customer with its cards. Its payments stay and can be refunded. Also resolves if the Customer does not exist. */
  deleteCustomer(customerId: string): Promise<void>;
  /**
   * Writes these values into the metadata of an intent, whatever its status, and of its charges, which have copies of the
   * metadata. An empty value removes its key. Also resolves if the intent does not exist.
   */
  writeNotes(intentId: string, notes: Readonly<Record<string, string>>): Promise<void>;
  /** Returns the id of the Customer to which a card is attached; null if there is none. Throws {@link NotAtStripe}. */
  customerOfCard(paymentMethodId: string): Promise<string | null>;
  /** Creates an intent, to be confirmed by the card form or by {@link confirmWithSavedCard}. */
  createIntent(intent: NewIntent): Promise<Intent>;
  /**
   * In one call, changes all values that depend on the order, so that the intent's amount and revision always match. Throws
   * {@link UnexpectedState}.
   */
  updateIntent(id: string, change: Omit<NewIntent, 'customerId' | 'idempotencyKey'>): Promise<Intent>;
  /** Throws {@link NotAtStripe} if the account has no such intent. */
  retrieveIntent(id: string): Promise<Intent>;
  /** Returns the times at which a card was charged for an intent, earliest first. Declined charges count, too. */
  chargeTimes(id: string): Promise<Date[]>;
  /** Lists the account's intents since `since` (null: all), newest first, including those of other apps. */
  listIntents(since: Date | null): AsyncIterable<Intent>;
  /**
   * Charges a saved card while the member is on our pages. The bank may require authentication: in our page, or on a page of the
   * bank that leads back to `returnUrl`. Throws {@link Declined} and {@link UnexpectedState}.
   */
  confirmWithSavedCard(
    id: string,
    confirmation: { paymentMethodId: string; returnUrl: string; idempotencyKey: string },
  ): Promise<Intent>;
  /** Throws {@link UnexpectedState} if the intent cannot be cancelled any more. */
  cancelIntent(id: string): Promise<Intent>;
  /** Throws {@link RefundRefused} and {@link ProviderFailed}. */
  refund(refund: {
    intentId: string;
    amountCents: number;
    environment: string;
    /** The uuid of our refund row; null if there is none. */
    uuid: string | null;
    decided: Decided;
    idempotencyKey: string;
  }): Promise<void>;
  moneyBack(intentId: string): Promise<MoneyBack>;
  /**
   * Lists the transactions of the account's balance from `from` (inclusive) to `until` (exclusive), newest first, including those
   * of other apps.
   */
  listMovements(from: Date, until: Date): AsyncIterable<BalanceMovement>;
  /** Lists the transactions of the automatic payouts that were created from `from` (inclusive) to `until` (exclusive). */
  listPaidOut(from: Date, until: Date): AsyncIterable<{ movementId: string; payoutId: string }>;
  /**
   * Lists the account's events of these types since `since`, newest first, including those of other apps. Stripe keeps events for
   * 30 days.
   */
  listEvents(types: readonly string[], since: Date): AsyncIterable<ProviderEvent>;
  /**
   * Verifies the signature of a webhook's raw body and parses the event. Returns null if the signature is wrong, or the body is
   * not an event.
   */
  readEvent(rawBody: Buffer, signature: string): Promise<ProviderEvent | null>;
}

/** Stripe's maximum length of a Customer's name (https://docs.stripe.com/api/customers/create). */
const LONGEST_NAME = 256;

/**
 * Returns the payment provider. Every failed call is reported to `onFailure`, which must not throw, before the error is thrown.
 */
export function stripeProvider({
  secretKey,
  webhookSecrets,
  url,
  timeoutMs,
  watch,
  onFailure = async () => {},
}: Providers['stripe'] & {
  timeoutMs?: number;
  watch?: WatchCall;
  onFailure?: (failure: CallFailure) => Promise<void>;
}): PaymentProvider {
  const client = stripeClient(secretKey, url, {
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(watch && { watch }),
  });
  const withCard = { expand: ['payment_method', 'latest_charge'] };

  type Understand = typeof understood;
  const failed = async (call: keyof PaymentProvider, error: unknown, understand: Understand) => {
    const { thrown, failure } = understand(error, call);
    if (failure) await onFailure(failure);
    return thrown;
  };

  /** Makes one call. Converts an error of Stripe's library with `understand`, which also returns the failure to report. */
  async function attempt<T>(
    call: keyof PaymentProvider,
    make: (stripe: Stripe) => Promise<T>,
    understand: Understand = understood,
  ): Promise<T> {
    try {
      return await make(client);
    } catch (error) {
      throw await failed(call, error, understand);
    }
  }

  /** Like {@link attempt} for a list, whose pages are fetched as the caller iterates. */
  async function* attemptEach<T>(
    call: keyof PaymentProvider,
    list: (stripe: Stripe) => AsyncIterable<T>,
  ): AsyncGenerator<T> {
    try {
      yield* list(client);
    } catch (error) {
      throw await failed(call, error, understood);
    }
  }

  /**
   * Makes a call with an email. If Stripe refuses the email, repeats the call without it: joiners cannot correct the email at
   * this point, so a refused email must not keep them from paying. The second request differs from the first, so it needs its own
   * idempotency key (`keyEnding`).
   */
  async function attemptWithEmail<T>(
    call: keyof PaymentProvider,
    email: string | null,
    make: (stripe: Stripe, email: string | null, keyEnding: string) => Promise<T>,
  ): Promise<T> {
    return attempt(call, async (stripe) => {
      try {
        return await make(stripe, email, '');
      } catch (error) {
        if (email === null || !isInvalidEmail(error)) throw error;
        return make(stripe, null, '-without-email');
      }
    });
  }

  return {
    async createCustomer({ email, name, paymentMethodId, sessionUuid, idempotencyKey }) {
      const customer = await attemptWithEmail('createCustomer', email, (stripe, email, keyEnding) =>
        stripe.customers.create(
          {
            ...(email ? { email } : {}),
            ...(name ? { name: shorten(name, LONGEST_NAME) } : {}),
            payment_method: paymentMethodId,
            metadata: { app: 'induct', session: sessionUuid },
          },
          { idempotencyKey: idempotencyKey + keyEnding },
        ),
      );
      return customer.id;
    },
    // https://docs.stripe.com/api/customers/delete
    async deleteCustomer(customerId) {
      try {
        await attempt('deleteCustomer', (stripe) => stripe.customers.del(customerId));
      } catch (error) {
        if (!(error instanceof NotAtStripe)) throw error;
      }
    },
    async writeNotes(intentId, metadata) {
      try {
        await attempt('writeNotes', (stripe) => stripe.paymentIntents.update(intentId, { metadata }));
        const charges = attemptEach('writeNotes', (stripe) =>
          stripe.charges.list({ payment_intent: intentId, limit: 100 }),
        );
        for await (const { id } of charges)
          await attempt('writeNotes', (stripe) => stripe.charges.update(id, { metadata }));
      } catch (error) {
        if (!(error instanceof NotAtStripe)) throw error;
      }
    },
    async customerOfCard(paymentMethodId) {
      const { customer } = await attempt('customerOfCard', (stripe) =>
        stripe.paymentMethods.retrieve(paymentMethodId),
      );
      return typeof customer === 'string' ? customer : (customer?.id ?? null);
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
        await attemptWithEmail('createIntent', receiptEmail, (stripe, email, keyEnding) =>
          stripe.paymentIntents.create(
            {
              amount: amountCents,
              currency: 'usd',
              ...(customerId ? { customer: customerId } : {}),
              allowed_payment_method_types: ['card'],
              description,
              metadata,
              ...(email ? { receipt_email: email } : {}),
              ...(saveCard ? { setup_future_usage: 'on_session' } : {}),
              ...withCard,
            },
            { idempotencyKey: idempotencyKey + keyEnding },
          ),
        ),
      );
    },
    async updateIntent(id, { amountCents, receiptEmail, saveCard, description, metadata }) {
      return read(
        await attemptWithEmail('updateIntent', receiptEmail, (stripe, email) =>
          stripe.paymentIntents.update(id, {
            amount: amountCents,
            description,
            metadata,
            setup_future_usage: saveCard ? 'on_session' : '',
            receipt_email: email ?? '',
            ...withCard,
          }),
        ),
      );
    },
    async retrieveIntent(id) {
      return read(await attempt('retrieveIntent', (stripe) => stripe.paymentIntents.retrieve(id, withCard)));
    },
    async chargeTimes(id) {
      const charges = attemptEach('chargeTimes', (stripe) =>
        stripe.charges.list({ payment_intent: id, limit: 100 }),
      );
      const times: Date[] = [];
      for await (const { created } of charges) times.unshift(new Date(created * 1000));
      return times;
    },
    // Without the return URL Stripe may refuse to confirm
    // (https://docs.stripe.com/changelog/2023-08-16/automatic-payment-methods).
    async confirmWithSavedCard(id, { paymentMethodId, returnUrl, idempotencyKey }) {
      return read(
        await attempt('confirmWithSavedCard', (stripe) =>
          stripe.paymentIntents.confirm(
            id,
            {
              payment_method: paymentMethodId,
              return_url: returnUrl,
              use_stripe_sdk: true,
              ...withCard,
            },
            { idempotencyKey },
          ),
        ),
      );
    },
    async cancelIntent(id) {
      return read(await attempt('cancelIntent', (stripe) => stripe.paymentIntents.cancel(id, withCard)));
    },
    async *listIntents(since) {
      const intents = attemptEach('listIntents', (stripe) =>
        stripe.paymentIntents.list({
          limit: 100,
          expand: ['data.payment_method', 'data.latest_charge'],
          ...(since ? { created: { gte: seconds(since) } } : {}),
        }),
      );
      for await (const intent of intents) yield read(intent);
    },
    async refund({ intentId, amountCents, environment, uuid, decided, idempotencyKey }) {
      const metadata = {
        app: 'induct',
        environment,
        ...(uuid !== null && { refund: uuid }),
        ...refundMetadata(decided),
      };
      await attempt(
        'refund',
        (stripe) =>
          stripe.refunds.create(
            { payment_intent: intentId, amount: amountCents, metadata },
            { idempotencyKey },
          ),
        understoodOfRefund,
      );
    },
    async moneyBack(intentId) {
      const ofIntent = { payment_intent: intentId, limit: 100 };
      const refunds: Stripe.Refund[] = [];
      for await (const refund of attemptEach('moneyBack', (stripe) => stripe.refunds.list(ofIntent)))
        refunds.push(refund);
      const disputes: Stripe.Dispute[] = [];
      for await (const dispute of attemptEach('moneyBack', (stripe) => stripe.disputes.list(ofIntent)))
        disputes.push(dispute);
      return readMoneyBack(refunds, disputes);
    },
    async *listMovements(from, until) {
      const transactions = attemptEach('listMovements', (stripe) =>
        stripe.balanceTransactions.list({
          created: { gte: seconds(from), lt: seconds(until) },
          limit: 100,
          expand: movementSources,
        }),
      );
      for await (const transaction of transactions) yield readMovement(transaction);
    },
    async *listPaidOut(from, until) {
      const payouts = attemptEach('listPaidOut', (stripe) =>
        stripe.payouts.list({ created: { gte: seconds(from), lt: seconds(until) }, limit: 100 }),
      );
      for await (const payout of payouts) {
        if (!tellsItsMovements(payout)) continue;
        const taken = attemptEach('listPaidOut', (stripe) =>
          stripe.balanceTransactions.list({ payout: payout.id, limit: 100 }),
        );
        for await (const { id } of taken) yield { movementId: id, payoutId: payout.id };
      }
    },
    async *listEvents(types, since) {
      const events = attemptEach('listEvents', (stripe) =>
        stripe.events.list({ types: [...types], created: { gte: seconds(since) }, limit: 100 }),
      );
      for await (const event of events) {
        const read = readEvent(event);
        if (read) yield read;
      }
    },
    async readEvent(rawBody, signature) {
      for (const secret of webhookSecrets)
        try {
          return readEvent(client.webhooks.constructEvent(rawBody, signature, secret));
        } catch (error) {
          // Any other error means that the signature is right but the body is not an event.
          if (!(error instanceof Stripe.errors.StripeSignatureVerificationError)) return null;
        }
      return null;
    },
  };
}

const stripeId = z.string().regex(/^[\w-]{1,255}$/);
/** The parts of an event that we read. */
const eventShape = z.object({
  id: stripeId,
  type: z.string().regex(/^[\w.]{1,255}$/),
  created: z.int().min(0).max(1e11),
  data: z.object({
    object: z.object({
      object: z.string().nullish(),
      id: stripeId.nullish(),
      payment_intent: z.union([stripeId, z.object({ id: stripeId })]).nullish(),
      metadata: z.record(z.string(), z.string()).nullish(),
      latest_charge: z.union([stripeId, z.object({ id: stripeId })]).nullish(),
      last_payment_error: z.object({ charge: stripeId.nullish() }).nullish(),
    }),
  }),
});

/** Parses an event of Stripe. Returns null if it does not have the expected shape. */
function readEvent(given: unknown): ProviderEvent | null {
  const read = eventShape.safeParse(given);
  if (!read.success) return null;
  const { id, type, created, data } = read.data;
  const { object } = data;
  const intent = object.payment_intent;
  const charge = object.latest_charge;
  const intentId =
    object.object === 'payment_intent'
      ? (object.id ?? null)
      : typeof intent === 'string'
        ? intent
        : (intent?.id ?? null);
  const isFailure = type === 'payment_intent.payment_failed';
  return {
    id,
    type,
    createdAt: new Date(created * 1000),
    intentId,
    metadata: object.metadata ?? {},
    failedChargeId: isFailure
      ? (object.last_payment_error?.charge ?? (typeof charge === 'string' ? charge : (charge?.id ?? null)))
      : null,
  };
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

/** Returns the card brand's name as cardholders know it. */
function brandName(brand: string): string {
  const names: Record<string, string> = {
    amex: 'American Express',
    diners: 'Diners Club',
    jcb: 'JCB',
    unionpay: 'UnionPay',
  };
  return names[brand] ?? brand.charAt(0).toUpperCase() + brand.slice(1);
}
