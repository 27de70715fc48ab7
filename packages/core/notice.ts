import type { MembershipType } from './product.ts';
import type { Dispute, MembershipStanding } from './refunds.ts';
import type { Remedy } from './remedy.ts';

/** What a notice tells, by kind. Amounts are in cents. Most of them are about a join, the notice's subject. */
interface Kinds {
  /**
   * Money went back outside Induct, or a dispute was lost. `names`: the lines that it was for, or null if they are not known.
   * `bought` is false if the payment bought nothing; `owed` is then what is left of it, if it is disputed.
   */
  refund_elsewhere: {
    intentId: string;
    amountCents: number;
    isDispute: boolean;
    bought: boolean;
    names: string[] | null;
    owed: { dispute: Dispute | null; cents: number } | null;
  };
  /** Stripe has accepted a refund and does not pay it out yet. */
  refund_waits: { intentId: string; amountCents: number; refusal: string };
  /** Stripe does not make due refunds yet, for this reason. Of no join. */
  refunds_due: { refusal: string };
  refund_refused: { intentId: string; amountCents: number; refusal: string };
  /** A refund that Stripe had made has come back. */
  refund_failed: {
    refund: string;
    intentId: string;
    amountCents: number;
    isCanceled: boolean;
    isCardClosed: boolean;
  };
  /** A refund that was decided is not made, since money of its payment went back outside Induct. */
  refund_dropped: { intentId: string; amountCents: number };
  /** A membership or upgrade has another standing. `isNotTold`: its join is erased, so that HubSpot cannot be told. */
  standing: { intentId: string; type: MembershipType; standing: MembershipStanding; isNotTold: boolean };
  /** The money of a membership is with us again, and its person has joined anew. */
  back_again: { intentId: string };
  /** Joins of one person hold the same types. `by`: how they became one person. */
  held_twice: {
    types: MembershipType[];
    others: string[];
    by: 'staff' | { merged: string; into: string };
  };
  /** Likely the same person has paid for other joins. */
  perhaps_twice: { others: string[] };
  /** An upgrade is still held, and the membership below it has ended. */
  upgrade_alone: object;
  /** A payment took another amount than that on the screen. It goes back. */
  other_amount: { intentId: string; receivedCents: number; shownCents: number };
  /** A payment bought nothing, for this reason. It goes back, unless it was made again after a restore. */
  duplicate_payment: { intentId: string; receivedCents: number; why: string; isMadeAgain: boolean };
  /** A join was paid while HubSpot already said that its contact is a member. */
  member_already: { contactId: string };
  /** HubSpot does not take the email of a join or (`isTaken`) has another contact with it, `other` if it is known. */
  email_refused: { contactId: string; isTaken: boolean; other: string | null };
  /** HubSpot is not told of a paid join, since it has no contact of it. */
  contact_gone: object;
  other_hubspot_account: { kept: string; present: string };
  /** A provider refuses our calls: what it says, and what helps. */
  provider_trouble: { text: string };
  letter_refused: { cause: string };
  background: { what: string; cause: string };
  event_given_up: { event: string; type: string; count: number; days: number };
  unreadable_document: { text: string };
  unknown_documents: { count: number };
  reconciliation: { count: number };
  /** Wrong invite codes of the last hour; `most` of them from one address, known by the beginning of its hash. */
  guessing: {
    total: number;
    addresses: number;
    most: number;
    hash: string;
    limit: { count: number; minutes: number };
  };
  /** The typeface lacks letters of a member's name. */
  certificate_name: { letters: string };
  /** What a browser reports of our pages. `isLast`: more of today is not told. */
  blocked: { blocked: string; directive: string; page: string; isLast: boolean };
  broken: { blocked: string; directive: string; page: string; isLast: boolean };
}

export type NoticeKind = keyof Kinds;

/** What staff should know and no page shows, as plain data. `subject` is the join that it is about, or null. */
export type Notice<Kind extends NoticeKind = NoticeKind> = {
  [Each in Kind]: { kind: Each; subject: string | null; params: Kinds[Each]; remedy: Remedy | null };
}[Kind];
