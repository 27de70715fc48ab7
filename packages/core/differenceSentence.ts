import { displayPrice } from './money.ts';
import type { Difference } from './reconciliation.ts';

type Params<Kind extends Difference['kind']> = Extract<Difference, { kind: Kind }>['params'];

/** For each kind of difference, a sentence, or a function that makes it from the params. */
const sentences: { [Kind in Difference['kind']]: string | ((params: Params<Kind>) => string) } = {
  paid_here_only: ({ atStripe, isHeld }) => {
    const stripe = atStripe === null ? 'knows no such payment' : `says ${atStripe}`;
    return `We hold it as paid${isHeld ? ', with a membership' : ''}; Stripe ${stripe}.`;
  },
  open_here_only: ({ atStripe }) =>
    `It is open here; Stripe ${atStripe === null ? 'knows no such payment' : 'has cancelled it'}.`,
  unknown_intent: ({ atStripe }) => `Stripe has it as ${atStripe}; we have no payment of it.`,
  open_there_only: ({ atStripe }) => `It is cancelled here; Stripe says ${atStripe}.`,
  pending: ({ atStripe, hours }) => `It has been ${atStripe} for ${hours} hours.`,
  other_amount_here: ({ heldCents, receivedCents }) =>
    `Stripe took ${displayPrice(receivedCents)}; we hold ${displayPrice(heldCents)}.`,
  refunds: ({ atStripeCents, hereCents }) =>
    `Stripe has refunded ${displayPrice(atStripeCents)}, we know of ${displayPrice(hereCents)}.`,
  dispute: ({ atStripe, here }) => `At Stripe its dispute is ${atStripe ?? 'none'}, here ${here ?? 'none'}.`,
  dispute_amount: ({ atStripeCents, hereCents }) =>
    `At Stripe its dispute took ${displayPrice(atStripeCents)}, here ${displayPrice(hereCents)}.`,
  refund_due: ({ cents, refusals }) =>
    [
      `A refund of ${displayPrice(cents)} was decided and is not made yet.`,
      ...refusals.map((refusal) => `Stripe says: ${refusal}`),
    ].join(' '),
  refund_waits: ({ cents, refusal }) => `A refund of ${displayPrice(cents)} waits: ${refusal}`,
  member_without_money: 'It is to go back, but a membership hangs on it.',
  not_returned: ({ receivedCents }) =>
    `It bought nothing, and not all of its ${displayPrice(receivedCents)} has gone back.`,
  not_here: ({ lacks, receivedCents }) => {
    const what = lacks === 'order' ? 'an order' : 'a join';
    return `Stripe took ${displayPrice(receivedCents)} for ${what} that is not in this database: was it restored from a backup?`;
  },
  nothing_sold: ({ lacks, receivedCents }) => {
    const what = lacks === 'order' ? 'an order that was never shown' : 'a join that does not exist';
    return `Stripe took ${displayPrice(receivedCents)} for ${what}.`;
  },
  other_amount: ({ receivedCents, shownCents }) =>
    `Stripe took ${displayPrice(receivedCents)}; ${displayPrice(shownCents)} was on the screen.`,
  unconfirmed: ({ here, receivedCents }) =>
    `Stripe took ${displayPrice(receivedCents)}; here it is ${here ?? 'unknown'}.`,
  money_without_member: ({ receivedCents }) =>
    `Stripe took ${displayPrice(receivedCents)}, and nobody became a member by it.`,
  other_product: ({ held, paidFor }) => {
    const product = paidFor === null ? 'No membership' : `Product ${paidFor}`;
    return `${product} was paid for, product ${held} is held.`;
  },
  paid_anew: ({ backCents, name }) =>
    `The ${displayPrice(backCents)} of its ${name} is with us again, and its contact has joined anew meanwhile.`,
  standing: ({ expected, here }) => `The membership is ${here}; by its money it is ${expected}.`,
  refund_unassigned: ({ cents }) =>
    `${displayPrice(cents)} went back outside Induct, and nobody said what for.`,
  session: ({ here }) => `It is paid; its join says ${here}.`,
  paid_by_nothing: 'The join says that it is paid; no payment of it succeeded.',
  upgraded_by_nothing: 'The join says that its upgrade is paid; no payment of it succeeded.',
  paying_for_long: 'Its order has been frozen for a payment for too long.',
  paid_twice: 'Two payments of it succeeded for the same thing, and both are kept.',
  upgrade_alone: 'An upgrade is still paid and held, though the membership below it has ended.',
  held_twice: 'Its person holds two memberships of one kind.',
  likely_same: ({ other }) =>
    `It was paid by somebody of the same name and email as join ${other}, and both memberships are held.`,
  former_and_held: 'Its membership is held, and HubSpot calls its contact a former member.',
  unproven_beside: ({ other }) =>
    `Nobody has proved whose join it is, and yet it is of one person with join ${other}.`,
  rejected_held: 'Its document was rejected finally, and its membership is still paid and held.',
};

/** Returns a sentence that describes the difference. */
export function differenceSentence({ kind, params }: Difference): string {
  const sentence = sentences[kind] as string | ((given: typeof params) => string);
  return typeof sentence === 'string' ? sentence : sentence(params);
}
