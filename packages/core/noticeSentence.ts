import { displayPrice } from './money.ts';
import type { Notice } from './notice.ts';
import { disputedSentence, type MembershipStanding } from './refunds.ts';

/** Returns how a page or command names a join within a sentence, for example "join 2 of Ann Lee". */
export type JoinName = (uuid: string) => string;

const standings: Record<MembershipStanding, string> = {
  active: 'is active again.',
  disputed: "is disputed: its payer's bank has taken money back.",
  refunded: 'has ended: its money goes back.',
  charged_back: 'has ended: a dispute over its money was lost.',
  void: 'has ended: nothing was paid for it.',
};

/** Returns the sentence for staff about an erased join whose membership begins or ends. */
export function notToldOfErased(join: string): string {
  return `${capital(join)} is erased, so HubSpot cannot be told any more what becomes of its membership: if its contact is still there, change it by hand. An upgrade that a link has sold for it is not found here either: if the membership has ended and that contact has one, give it back.`;
}

/** Returns the sentence that describes a notice. It leaves out the remedy, which each page or command offers in its own way. */
export function noticeSentence({ kind, subject, params }: Notice, joinName: JoinName): string {
  const join = subject === null ? 'a join' : joinName(subject);
  switch (kind) {
    case 'refund_elsewhere': {
      const { intentId, amountCents, isDispute, bought, names, owed } = params;
      const what = `${displayPrice(amountCents)} of payment ${intentId} was ${isDispute ? 'lost by a dispute' : 'refunded outside Induct'}`;
      if (owed)
        return `${what}, and it bought nothing. ${disputedSentence({ intentId, dispute: owed.dispute })} That is ${displayPrice(owed.cents)}.`;
      if (!bought) return `${what}.`;
      if (names !== null) return `${what}, for ${names.join(' and ') || 'nothing that was bought'}.`;
      return `${what}, and its amount does not say what for: everybody keeps what they have until you do.`;
    }
    case 'refund_refused':
      return `Stripe refuses to refund payment ${params.intentId} by ${displayPrice(params.amountCents)}: ${params.refusal}`;
    case 'refund_failed': {
      const { intentId, amountCents, isCanceled, isCardClosed } = params;
      const closed =
        ' The card is closed, so a further refund to it would fail, too: ask the payer, and pay it back outside Stripe.';
      return `The refund of ${displayPrice(amountCents)} of payment ${intentId} ${isCanceled ? 'was cancelled at Stripe' : 'failed'}: the money is with us again.${isCardClosed ? closed : ''}`;
    }
    case 'refund_dropped':
      return `The refund of ${displayPrice(params.amountCents)} of payment ${params.intentId} that was decided is not made, because money of that payment has gone back outside Induct meanwhile. If something is still owed, it is to be decided again.`;
    case 'standing': {
      const { intentId, type, standing, isNotTold } = params;
      return `The ${type === 'membership' ? type : 'upgrade'} paid for by ${intentId} ${standings[standing]}${isNotTold ? ` ${notToldOfErased(join)}` : ''}`;
    }
    case 'back_again':
      return `The money of payment ${params.intentId} is with us again, but its person has joined anew meanwhile.`;
    case 'held_twice': {
      const { types, others, by } = params;
      const what = types.map((type) => `a ${type.replace('_', ' ')}`).join(' and ');
      const who =
        by === 'staff'
          ? `Staff have joined two persons who both hold ${what}`
          : `Contact ${by.merged} was merged into ${by.into} in HubSpot, and both hold ${what} bought here,`;
      return `${who} by ${[...others.map(joinName), join].join(' and ')}. One of them is to be given back.`;
    }
    case 'perhaps_twice':
      return `${capital(join)} was paid by somebody of the same name and email as ${params.others.map(joinName).join(' and ')}.`;
    case 'upgrade_alone':
      return 'An upgrade is still paid and held, though the membership below it has ended.';
    case 'other_amount':
      return `Payment ${params.intentId} took ${displayPrice(params.receivedCents)}, while the order on the screen was ${displayPrice(params.shownCents)}. It goes back in full.`;
    case 'duplicate_payment':
      return `Payment ${params.intentId} of ${displayPrice(params.receivedCents)} ${params.why} ${params.isMadeAgain ? 'It was made again after a restore, so nothing goes back by itself.' : 'It goes back in full.'}`;
    case 'member_already':
      return `${capital(join)} was paid, while HubSpot already said that its contact ${params.contactId} is a member. If they paid twice, it is to be given back, and the status set in HubSpot again afterwards.`;
    case 'email_refused': {
      const { contactId, isTaken, other } = params;
      return isTaken
        ? `The email of ${join} was corrected, and HubSpot knows ${other === null ? 'another contact' : `contact ${other}`} by it. All else of the join is in contact ${contactId}: if it is one person, merge the two in HubSpot.`
        : `HubSpot does not take the email of ${join}. All else of it is in contact ${contactId}: correct the email there.`;
    }
    case 'other_hubspot_account':
      return `HUBSPOT_ACCESS_TOKEN is of the HubSpot account ${params.present}, and the contacts in this database are of account ${params.kept}. Nothing is done with contacts that are missing there, and none is created. Set the token of account ${params.kept}, and restart the servers.`;
    case 'provider_trouble':
    case 'unreadable_document':
      return params.text;
    case 'background':
      return `In the background ${params.what}: ${params.cause} It is tried again.`;
    case 'event_given_up': {
      const { event, type, count, days } = params;
      return count === 1
        ? `Stripe's event ${event} (${type}) could not be acted on for ${days} days, and is left.`
        : `${count} events of Stripe, ${event} (${type}) and others, could not be acted on for ${days} days, and are left.`;
    }
    case 'unknown_documents':
      return `The storage has ${params.count} ${params.count === 1 ? 'document' : 'documents'} that this database does not know: was it restored from a backup?`;
    case 'guessing': {
      const { total, addresses, most, hash, limit } = params;
      const from = addresses === 1 ? '1 address' : `${addresses} addresses, ${most} of them from one`;
      return `Invite codes are being guessed: ${total} wrong ones in the last hour from ${from} (${hash}). Codes that Induct makes cannot be guessed; an address is kept waiting after ${limit.count} in ${limit.minutes} minutes.`;
    }
    case 'certificate_name':
      return `The certificate of ${join} cannot be printed: its typeface has no ${params.letters}. Make it by hand, or ask the member how the name is written in Latin, Greek or Cyrillic letters.`;
    case 'blocked':
    case 'broken': {
      const { blocked, directive, page, isLast } = params;
      const what =
        kind === 'broken'
          ? `A page broke in a browser: ${blocked} (${directive}, first on ${page}). This is the first report of it. It is a fault of ours, or of the browser: docs/run.md, "What browsers report".`
          : `Browsers block ${blocked} on our pages (${directive}, first on ${page}). This is the first report of it. It is a change of Stripe's, a fault of ours, or a script that somebody else has put there: docs/run.md, "What browsers report".`;
      return `${what}${isLast ? ' More that is new today is not told.' : ''}`;
    }
  }
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
