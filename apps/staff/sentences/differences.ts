import { displayPrice } from '#core/money.ts';
import type { Difference } from '#core/reconciliation.ts';

/** Returns what differs, in a sentence. */
export function differenceSentence({ kind, params }: Difference): string {
  switch (kind) {
    case 'paid_here_only': {
      const stripe = params.atStripe === null ? 'knows no such payment' : `says ${params.atStripe}`;
      return `We hold it as paid${params.isHeld ? ', with a membership' : ''}; Stripe ${stripe}.`;
    }
    case 'open_here_only':
      return `It is open here; Stripe ${params.atStripe === null ? 'knows no such payment' : 'has cancelled it'}.`;
    case 'unknown_intent':
      return `Stripe has it as ${params.atStripe}; we have no payment of it.`;
    case 'open_there_only':
      return `It is cancelled here; Stripe says ${params.atStripe}.`;
    case 'pending':
      return `It has been ${params.atStripe} for ${params.hours} hours.`;
    case 'other_amount_here':
      return `Stripe took ${displayPrice(params.receivedCents)}; we hold ${displayPrice(params.heldCents)}.`;
    case 'refunds':
      return `Stripe has refunded ${displayPrice(params.atStripeCents)}, we know of ${displayPrice(params.hereCents)}.`;
    case 'dispute':
      return `At Stripe its dispute is ${params.atStripe ?? 'none'}, here ${params.here ?? 'none'}.`;
    case 'dispute_amount':
      return `At Stripe its dispute took ${displayPrice(params.atStripeCents)}, here ${displayPrice(params.hereCents)}.`;
    case 'refund_due':
      return [
        `A refund of ${displayPrice(params.cents)} was decided and is not made yet.`,
        ...params.refusals.map((refusal) => `Stripe says: ${refusal}`),
      ].join(' ');
    case 'refund_waits':
      return `A refund of ${displayPrice(params.cents)} waits: ${params.refusal}`;
    case 'member_without_money':
      return 'It is to go back, but a membership hangs on it.';
    case 'not_returned':
      return `It bought nothing, and not all of its ${displayPrice(params.receivedCents)} has gone back.`;
    case 'not_here': {
      const what = params.lacks === 'order' ? 'an order' : 'a join';
      return `Stripe took ${displayPrice(params.receivedCents)} for ${what} that is not in this database: was it restored from a backup?`;
    }
    case 'nothing_sold': {
      const what = params.lacks === 'order' ? 'an order that was never shown' : 'a join that does not exist';
      return `Stripe took ${displayPrice(params.receivedCents)} for ${what}.`;
    }
    case 'other_amount':
      return `Stripe took ${displayPrice(params.receivedCents)}; ${displayPrice(params.shownCents)} was on the screen.`;
    case 'unconfirmed':
      return `Stripe took ${displayPrice(params.receivedCents)}; here it is ${params.here ?? 'unknown'}.`;
    case 'money_without_member':
      return `Stripe took ${displayPrice(params.receivedCents)}, and nobody became a member by it.`;
    case 'other_product': {
      const paidFor = params.paidFor === null ? 'No membership' : `Product ${params.paidFor}`;
      return `${paidFor} was paid for, product ${params.held} is held.`;
    }
    case 'paid_anew':
      return `The ${displayPrice(params.backCents)} of its ${params.name} is with us again, and its contact has joined anew meanwhile.`;
    case 'standing':
      return `The membership is ${params.here}; by its money it is ${params.expected}.`;
    case 'refund_unassigned':
      return `${displayPrice(params.cents)} went back outside Induct, and nobody said what for.`;
    case 'session':
      return `It is paid; its join says ${params.here}.`;
    case 'paid_by_nothing':
      return 'The join says that it is paid; no payment of it succeeded.';
    case 'upgraded_by_nothing':
      return 'The join says that its upgrade is paid; no payment of it succeeded.';
    case 'paying_for_long':
      return 'Its order has been frozen for a payment for too long.';
    case 'paid_twice':
      return 'Two payments of it succeeded for the same thing, and both are kept.';
    case 'upgrade_alone':
      return 'An upgrade is still paid and held, though the membership below it has ended.';
    case 'held_twice':
      return 'Its person holds two memberships of one kind.';
    case 'likely_same':
      return `It was paid by somebody of the same name and email as join ${params.other}, and both memberships are held.`;
    case 'former_and_held':
      return 'Its membership is held, and HubSpot calls its contact a former member.';
    case 'unproven_beside':
      return `Nobody has proved whose join it is, and yet it is of one person with join ${params.other}.`;
    case 'rejected_held':
      return 'Its document was rejected finally, and its membership is still paid and held.';
  }
}
