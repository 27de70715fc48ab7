import type { Stripe, StripeElements } from '@stripe/stripe-js';
import type { Data } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { UPGRADE_FAILED } from '#core/sentences.ts';
import { call } from '../../lib/api.ts';
import { loadPayments } from '../../lib/payments.ts';
import { leaveToPay } from '../../lib/session.ts';
import { theSite } from '../../lib/site.ts';

/** What the joiner sees and agrees to. `amount` is cents; `paymentIntent` is the one that paid for the membership. */
export interface Purchase {
  uuid: string;
  paymentIntent: string;
  amount: number;
}

/** How it ended. With a client secret the same intent takes another card. */
export type Bought = true | { message: string; clientSecret: string | null };

type Answer = Data<'createUpgradeCharge'>;

const FORM_EXPIRED = 'This payment form has expired. Please enter your card again.';

/** Between two questions while the provider is still at work, in milliseconds. */
const WAITS = [1000, 2000, 4000, 8000];

/** The upgrade by the saved card, with the cardholder's confirmation in the page when the bank asks for it. */
export async function buyWithSavedCard(purchase: Purchase): Promise<Bought> {
  const answer = await ask(purchase, { charge: true });
  const { clientSecret } = answer;
  if (answer.status !== 'requires_action' || !clientSecret) return read(answer);
  const stripe = await loadPayments(theSite().payments);
  const { error } = await stripe.handleNextAction({ clientSecret });
  return endOf(purchase, clientSecret, error ? (error.message ?? UPGRADE_FAILED) : null);
}

/** The same upgrade by the card in the form, which was made for `clientSecret`. */
export async function buyWithOtherCard(
  purchase: Purchase,
  { stripe, elements, clientSecret }: { stripe: Stripe; elements: StripeElements; clientSecret: string },
): Promise<Bought> {
  // Still on offer, at this price, and not sold in another tab: only the server knows.
  const answer = await ask(purchase, { charge: false });
  if (answer.status !== 'requires_payment_method') return read(answer);
  if (answer.clientSecret !== clientSecret) return read(answer, FORM_EXPIRED);
  leaveToPay(purchase.uuid);
  const { error } = await stripe.confirmPayment({
    elements,
    redirect: 'if_required',
    confirmParams: { return_url: window.location.origin + screens.postPayment },
  });
  return endOf(purchase, clientSecret, error ? (error.message ?? UPGRADE_FAILED) : null);
}

/** What the page has seen of it is not believed: the server asks the provider. */
async function endOf(purchase: Purchase, clientSecret: string, refusal: string | null): Promise<Bought> {
  try {
    return read(await ask(purchase, { charge: false, quiet: refusal !== null }), refusal);
  } catch (error) {
    if (refusal === null) throw error;
    return { message: refusal, clientSecret };
  }
}

/** Asks, and once more while the provider is at work; only the first question may charge. */
async function ask(
  { uuid, paymentIntent, amount }: Purchase,
  { charge, quiet }: { charge: boolean; quiet?: boolean },
): Promise<Answer> {
  for (let asked = 0; ; asked++) {
    const body = { paymentIntent, amount, charge: charge && asked === 0 };
    const answer = await call('createUpgradeCharge', {
      params: { uuid },
      body,
      ...(quiet ? { quiet } : {}),
    });
    const wait = WAITS[asked];
    if (answer.status !== 'processing' || wait === undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, wait));
  }
}

function read({ status, message, clientSecret }: Answer, refusal: string | null = null): Bought {
  if (status === 'succeeded') return true;
  return { message: message ?? refusal ?? UPGRADE_FAILED, clientSecret: clientSecret ?? null };
}
