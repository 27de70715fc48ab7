import type { Stripe, StripeElements } from '@stripe/stripe-js';
import type { Answered } from '#contract/schemas.ts';
import { screens } from '#core/navigation.ts';
import { BANK_DECIDES, UPGRADE_FAILED } from '#core/sentences.ts';
import { poll } from '#ui/poll.ts';
import { answerOrPaid, type ProviderAnswer } from '../../lib/answerOrPaid.ts';
import { call } from '../../lib/api.ts';
import { loadPayments } from '../../lib/payments.ts';
import { theSite } from '../../lib/site.ts';

/** The upgrade on the screen. `amount` is in cents. `paymentIntent` is the intent that paid for the membership. */
export interface Purchase {
  uuid: string;
  paymentIntent: string;
  amount: number;
}

/**
 * The outcome of a try to buy the upgrade. `true` means that it was bought. Otherwise `message` says why not; it is null if a
 * card has to be entered first. `clientSecret` belongs to the intent that another card can still pay; null if no card can.
 */
export type Bought = true | { message: string | null; clientSecret: string | null };

type Answer = Answered<'createUpgradeCharge'>;

const FORM_EXPIRED = 'This payment form has expired. Please enter your card again.';

/** The delays (ms) between polls while the payment is processing. After the last delay there is one more poll. */
const POLL_DELAYS_MS = [1000, 2000, 4000, 8000];

/** Charges the saved card. If the bank requires authentication, the page asks for it. */
export async function buyWithSavedCard(purchase: Purchase): Promise<Bought> {
  const answer = await ask(purchase, { charge: true });
  const { clientSecret } = answer;
  if (answer.status !== 'requires_action' || !clientSecret) return read(answer);
  const stripe = await loadPayments(theSite().payments);
  const { error } = await orBought(purchase, stripe.handleNextAction({ clientSecret }));
  return endOf(purchase, clientSecret, error ? (error.message ?? UPGRADE_FAILED) : null);
}

/** Gets the client secret for a card form, if there is no saved card because somebody else paid for the join. */
export async function askForCard(purchase: Purchase): Promise<Bought> {
  const answer = await ask(purchase, { charge: false });
  const { status, clientSecret } = answer;
  if (status !== 'requires_payment_method' || !clientSecret) return read(answer);
  return { message: null, clientSecret };
}

/** Pays with the card in the form, which was mounted for `clientSecret`. */
export async function buyWithOtherCard(
  purchase: Purchase,
  { stripe, elements, clientSecret }: { stripe: Stripe; elements: StripeElements; clientSecret: string },
): Promise<Bought> {
  // First the server checks that the offer and its price are unchanged and that no other tab has bought the upgrade.
  const answer = await ask(purchase, { charge: false });
  if (answer.status !== 'requires_payment_method') return read(answer);
  if (answer.clientSecret !== clientSecret) return read(answer, FORM_EXPIRED);
  const confirmed = stripe.confirmPayment({
    elements,
    redirect: 'if_required',
    confirmParams: { return_url: window.location.origin + screens.postPayment },
  });
  const { error } = await orBought(purchase, confirmed);
  return endOf(purchase, clientSecret, error ? (error.message ?? UPGRADE_FAILED) : null);
}

/**
 * Resolves with the provider's answer, or without an error once the upgrade is not on offer any more, because it was then bought.
 */
const orBought = ({ uuid }: Purchase, answer: Promise<ProviderAnswer>) =>
  answerOrPaid(answer, async (signal) => {
    const { goOn } = await call('getPayLink', { params: { uuid }, quiet: true, signal });
    return goOn.split('?')[0] !== screens.upgrade;
  });

/**
 * Asks the server for the payment's outcome. The server reads it from the provider, because the outcome that the browser got is not
 * trusted. `refusal` is the message of a failed payment.
 */
async function endOf(purchase: Purchase, clientSecret: string, refusal: string | null): Promise<Bought> {
  try {
    return read(await ask(purchase, { charge: false, quiet: refusal !== null }), refusal);
  } catch (error) {
    if (refusal === null) throw error;
    return { message: refusal, clientSecret };
  }
}

/** Asks the server, and polls while the payment is processing. Only the first call may charge. */
function ask(
  { uuid, paymentIntent, amount }: Purchase,
  { charge, quiet = false }: { charge: boolean; quiet?: boolean },
): Promise<Answer> {
  return poll(
    (tries) => {
      const body = { paymentIntent, amount, charge: charge && tries === 0 };
      return call('createUpgradeCharge', { params: { uuid }, body, quiet });
    },
    ({ status }) => status !== 'processing',
    (tries) => POLL_DELAYS_MS[tries],
  );
}

function read({ status, message, clientSecret }: Answer, refusal: string | null = null): Bought {
  if (status === 'succeeded') return true;
  if (status === 'processing') return { message: BANK_DECIDES, clientSecret: null };
  return { message: message ?? refusal ?? UPGRADE_FAILED, clientSecret: clientSecret ?? null };
}
