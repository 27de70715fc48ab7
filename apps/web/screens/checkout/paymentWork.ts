import type { Stripe, StripeElements } from '@stripe/stripe-js';
import { ApiError, ifOffered, messageOf } from '#client/failures.ts';
import { within } from '#client/within.ts';
import { screens } from '#core/navigation.ts';
import { fallback } from '#core/sentences.ts';
import { answerOrPaid } from '../../lib/answerOrPaid.ts';
import { call } from '../../lib/api.ts';
import type { FormName, Payment, PaymentEvent, Wanted } from './payment.ts';

export const NOT_UPDATED =
  'The card form does not have your new total yet, so you cannot pay. Nothing was charged. Please check your connection.';

/** The Stripe objects that take a payment, by the card form or by a wallet's button. */
export interface CardForm {
  stripe: Stripe;
  elements: StripeElements;
}

/** The mounted forms; null for a form that is not mounted. */
export type Forms = Record<FormName, CardForm | null>;

/** The ways in which the app continues after a payment. */
export interface Ways {
  reload: () => Promise<void>;
  goTo: (path: string) => Promise<void> | void;
}

/**
 * Does the work of the present stage. If its form is not mounted, nothing is confirmed. Resolves with the event that ends the
 * stage; null if there is none.
 */
export async function workOf(
  { stage, form: used, attempt, wanted, goOn }: Payment,
  forms: Forms,
  { reload, goTo }: Ways,
): Promise<PaymentEvent | null> {
  const form = forms[used];
  switch (stage) {
    case 'ready':
      return null;
    case 'checking':
      return { type: 'checked', attempt, fault: await check(form) };
    case 'beginning':
      return { type: 'begun', attempt, refusal: await begin(wanted!) };
    case 'confirming':
      return { type: 'refused', attempt, ...(await confirm(form, wanted!)) };
    case 'releasing':
      return { type: 'released', attempt, ...(await release(wanted!)) };
    case 'reloading':
      await reload();
      return { type: 'reloaded', attempt };
    case 'leaving':
      await goTo(goOn!);
      return null;
  }
}

/** Validates the form. Resolves with the form's error message; null if it is valid. */
async function check(form: CardForm | null): Promise<string | null> {
  try {
    const { error } = await form!.elements.submit();
    return error ? (error.message ?? fallback.payment) : null;
  } catch (cause) {
    console.error(cause);
    return fallback.payment;
  }
}

async function begin({ uuid, ...body }: Wanted) {
  try {
    // A server without this call charges the amount of its last intent, which is the total on the screen.
    await ifOffered(call('beginPayment', { params: { uuid }, body, quiet: 'perhaps_paid' }), null);
    return null;
  } catch (error) {
    const { status, code, message, errors } = error instanceof ApiError ? error : ({} as Partial<ApiError>);
    if (code === 'perhaps_paid') return { kind: 'question' as const, text: message!, isOld: false };
    if (status === 409)
      return { kind: 'changed' as const, text: messageOf(error, 'Your order has changed.'), isOld: false };
    // The programme began to ask for guardian consent after the page was loaded, so the page has to load the sentence of the
    // consent.
    const isOld = errors?.hasGuardianConsent !== undefined;
    return { kind: 'error' as const, text: messageOf(error, fallback.payment), isOld };
  }
}

/** Resolves only if the provider refuses the payment or its answer is lost. Otherwise the provider redirects the browser. */
async function confirm(form: CardForm | null, { uuid }: Wanted) {
  try {
    const { stripe, elements } = form!;
    const confirmed = stripe.confirmPayment({
      elements,
      confirmParams: { return_url: window.location.origin + screens.postPayment },
    });
    const { error } = await answerOrPaid(confirmed, async (signal) => {
      const { state } = await call('getPayLink', { params: { uuid }, quiet: true, signal });
      return state === 'paid';
    });
    const isOver = error?.type === 'card_error' || error?.type === 'validation_error';
    return { sentence: error?.message ?? fallback.payment, isOver };
  } catch (cause) {
    console.error(cause);
    return { sentence: fallback.payment, isOver: false };
  }
}

async function release({ uuid }: Wanted) {
  try {
    return await call('releasePayment', { params: { uuid }, body: {} });
  } catch {
    return { state: null, goOn: null };
  }
}

/** Makes the card form load the new total of its intent. The typed values are kept. Resolves with whether it failed. */
export async function updateTotal(form: CardForm | null): Promise<boolean> {
  if (!form) return false;
  const failure = await within(() => form.elements.fetchUpdates()).then(
    ({ error }) => error,
    (cause: unknown) => cause,
  );
  if (failure) console.error(NOT_UPDATED, failure);
  return failure !== undefined;
}
