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

/** What Stripe needs to take a payment by the card form, or by the wallet's button. */
export interface CardForm {
  stripe: Stripe;
  elements: StripeElements;
}

/** The forms that are mounted. */
export type Forms = Record<FormName, CardForm | null>;

/** The ways in which a payment leads on within the app. */
export interface Ways {
  reload: () => Promise<void>;
  goTo: (path: string) => Promise<void> | void;
}

/** Does what the present stage is for. Without its form nothing can be confirmed. Resolves with the event that ends the stage; null if none does. */
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

/** Resolves with what the form finds wrong with what was typed; null if nothing. */
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
    // The programme began to ask for guardian consent after the page was loaded, so the consent's sentence has to be loaded.
    const isOld = errors?.hasGuardianConsent !== undefined;
    return { kind: 'error' as const, text: messageOf(error, fallback.payment), isOld };
  }
}

/** Resolves only if the provider refuses the payment, or its answer is lost. Otherwise it leads the browser away. */
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

/** Makes the card form get the new total of its intent; what is typed stays. Resolves with whether that failed. */
export async function updateTotal(form: CardForm | null): Promise<boolean> {
  if (!form) return false;
  const failure = await within(() => form.elements.fetchUpdates()).then(
    ({ error }) => error,
    (cause: unknown) => cause,
  );
  if (failure) console.error(NOT_UPDATED, failure);
  return failure !== undefined;
}
