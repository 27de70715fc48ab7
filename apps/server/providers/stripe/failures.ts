import Stripe from 'stripe';
import { Refusal } from '../../platform/http/refusal.ts';
import { unreadableAnswer } from './client.ts';
import type { PaymentProvider } from './provider.ts';

const { errors } = Stripe;

/** A failed call to Stripe, for staff and the log. Contains no personal data. */
export interface CallFailure {
  call: keyof PaymentProvider;
  /** HTTP status; null if there was no answer. */
  status: number | null;
  /** Stripe's error code, or the error's type if it has no code: `idempotency_error`. */
  code: string | null;
  param: string | null;
  /** Stripe's id of the request, for https://dashboard.stripe.com/logs */
  requestId: string | null;
  /**
   * `refusal`: Stripe will refuse this call until somebody repairs something, here or at Stripe. `unreadable`: the answer does
   * not have Stripe's format. `outage`: the failure is temporary.
   */
  kind: 'refusal' | 'unreadable' | 'outage';
  /** Stripe's message if the failure is about the key, since it names the permission that the key lacks; otherwise null. */
  said: string | null;
}

/**
 * Thrown if the bank declines a card. The message is Stripe's, for the cardholder. `intentId` is the intent of the declined call,
 * which stays open at Stripe; null if Stripe's error names none.
 */
export class Declined extends Error {
  readonly intentId: string | null;
  constructor(message: string, intentId: string | null) {
    super(message);
    this.intentId = intentId;
  }
}

const UNAVAILABLE =
  'The payment service did not answer. Nothing was charged by this step; please try again in a moment.';
const PERHAPS_CHARGED =
  'The payment service did not answer. Please try again in a moment: what was charged is found, and nothing is charged twice.';
const NOT_OUR_DAY =
  'We cannot take payments right now, for a fault on our side. Nothing was charged by this step, and we have been told; please try again later.';
const RETRY_SECONDS = 5;

/**
 * Thrown if Stripe answered with an error of its own (5xx). Stripe may have done the work nevertheless. For a day Stripe repeats
 * this answer to the same idempotency key (docs.stripe.com/api/idempotent_requests), so a retry needs another key.
 */
export class ProviderFailed extends Refusal {}

/**
 * Thrown if Stripe refuses a call for a reason other than the card: the key was rolled or lacks a permission, or Stripe does not
 * accept a parameter. The message is Stripe's, for staff; joiners read `sentence`. Stripe may repeat this answer to the same
 * idempotency key.
 */
export class ProviderRefused extends Refusal {
  constructor(message: string, options: { cause: unknown }) {
    super(502, message);
    this.cause = options.cause;
  }

  override get sentence(): string {
    return NOT_OUR_DAY;
  }
}

/** Thrown if the intent's status has changed and does not allow this call any more (Stripe: payment_intent_unexpected_state). */
export class UnexpectedState extends ProviderRefused {}

/** Thrown if the object does not exist on this Stripe account. */
export class NotAtStripe extends ProviderRefused {}

/**
 * Thrown if Stripe refuses a refund. `isFinal`: the refund can never be made, because the payment was refunded meanwhile or is
 * disputed, or because the amount exceeds what is left. If `isFinal` is false, a later refund may succeed, for example when the
 * account's balance suffices. That refund needs another idempotency key, because Stripe repeats its answer to the same key.
 */
export class RefundRefused extends Error {
  readonly isFinal: boolean;
  constructor(message: string, { isFinal, ...options }: { isFinal: boolean; cause: unknown }) {
    super(message, options);
    this.isFinal = isFinal;
  }
}

/** The error codes after which the refund can never be made (https://docs.stripe.com/error-codes). */
const REFUSED_FOR_GOOD = [
  'charge_already_refunded',
  'charge_disputed',
  'charge_not_refundable',
  'refund_disputed_payment',
  'amount_too_large',
  'amount_too_small',
];

/** The calls that a bank may decline. */
const ASK_A_BANK: readonly (keyof PaymentProvider)[] = ['createCustomer', 'confirmWithSavedCard'];

interface Understood {
  thrown: unknown;
  /**
   * The failure to report to staff. Null if the error can occur in a normal join (a declined card, or an intent that has changed
   * or does not exist) or does not come from Stripe's library.
   */
  failure: CallFailure | null;
}

/** Converts an error of Stripe's library to one of our errors, with the failure to report. */
export function understood(error: unknown, call: keyof PaymentProvider): Understood {
  if (!(error instanceof errors.StripeError)) return { thrown: error, failure: null };
  const { message, code, statusCode: status = 0 } = error;
  const cause = { cause: error };
  // The library turns every 402 into a StripeCardError; only the type `card_error` concerns the card.
  if (ASK_A_BANK.includes(call) && error instanceof errors.StripeCardError && error.rawType === 'card_error')
    return { thrown: new Declined(message, error.payment_intent?.id ?? null), failure: null };
  if (code === 'resource_missing' && status === 404)
    return { thrown: new NotAtStripe(message, cause), failure: null };
  if (code === 'payment_intent_unexpected_state')
    return { thrown: new UnexpectedState(message, cause), failure: null };
  const unreadable = unreadableAnswer(error);
  if (unreadable && !endsByItself(unreadable.status))
    return {
      thrown: outage(error, call),
      failure: {
        ...failureOf(error, call, 'unreadable'),
        status: unreadable.status,
        code: 'unreadable_answer',
      },
    };
  const isRefusal = isFaultOfOurs(error);
  return {
    thrown: isRefusal ? new ProviderRefused(message, cause) : outage(error, call),
    failure: {
      ...failureOf(error, call, isRefusal ? 'refusal' : 'outage'),
      ...(unreadable ? { status: unreadable.status } : {}),
    },
  };
}

/**
 * Like {@link understood}, for refunds: Stripe mostly refuses a refund because of its payment, not because of the key or the
 * request.
 */
export function understoodOfRefund(error: unknown, call: keyof PaymentProvider): Understood {
  if (!(error instanceof errors.StripeError) || !isFaultOfOurs(error)) return understood(error, call);
  // For an amount that exceeds the unrefunded rest, Stripe's error has no code, only `param`.
  const isFinal = error.param === 'amount' || REFUSED_FOR_GOOD.includes(error.code ?? '');
  const isOfTheKey = error.statusCode === 401 || error.statusCode === 403;
  const isOfTheRequest = error.param !== undefined && error.param !== 'amount';
  return {
    thrown: new RefundRefused(error.message, { isFinal, cause: error }),
    failure: isOfTheKey || (isOfTheRequest && !isFinal) ? failureOf(error, call, 'refusal') : null,
  };
}

/** Whether Stripe refuses a request because of its email. */
export function isInvalidEmail(error: unknown): boolean {
  return error instanceof errors.StripeInvalidRequestError && error.code === 'email_invalid';
}

/** Whether the status is a 4xx after which a retry does not help. */
function isFaultOfOurs({ statusCode: status = 0 }: Stripe.errors.StripeError): boolean {
  return status >= 400 && !endsByItself(status);
}

/** Whether the status means an error of Stripe (5xx), that the same call is still running, or that there are too many calls. */
function endsByItself(status: number): boolean {
  return status >= 500 || [408, 409, 424, 425, 429].includes(status);
}

function outage({ statusCode: status = 0 }: Stripe.errors.StripeError, call: keyof PaymentProvider): Refusal {
  const sentence = call === 'confirmWithSavedCard' ? PERHAPS_CHARGED : UNAVAILABLE;
  const Failure = status >= 500 ? ProviderFailed : Refusal;
  return new Failure(503, sentence, { retryAfter: RETRY_SECONDS });
}

function failureOf(
  { statusCode: status, code, rawType, param, requestId, message }: Stripe.errors.StripeError,
  call: keyof PaymentProvider,
  kind: CallFailure['kind'],
): CallFailure {
  return {
    call,
    status: status ?? null,
    code: code ?? rawType ?? null,
    param: param ?? null,
    requestId: requestId ?? null,
    kind,
    said: status === 401 || status === 403 ? message : null,
  };
}
