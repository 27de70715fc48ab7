import type { MembershipType } from './product.ts';
import type { Dispute, MembershipStanding } from './refunds.ts';
import type { Remedy } from './remedy.ts';

/**
 * What a notice tells, by kind. Amounts are in cents. Most of them are about a join, the notice's subject. What a queue shows already
 * (letters, refunds that are due, what HubSpot refuses, where money and members differ) is no notice.
 */
type Kinds = MendedKinds & StaffKinds;

/** Kinds that end by themselves when their cause mends. */
interface MendedKinds {
  /**
   * Money went back outside Induct, or a dispute was lost. `names`: the lines that it was for, or null if they are not known.
   * `bought` is false if the payment bought nothing; `owed` is then what is left of it, if it is disputed. Ends when something else
   * is known of the refund: staff have said what it was for, or a further refund tells.
   */
  refund_elsewhere: {
    refund: string;
    intentId: string;
    amountCents: number;
    isDispute: boolean;
    bought: boolean;
    names: string[] | null;
    owed: { dispute: Dispute | null; cents: number } | null;
  };
  /** Stripe refuses a refund for good. Ends when it is decided again. */
  refund_refused: { intentId: string; amountCents: number; refusal: string };
  /** A refund that Stripe had made has come back. Ends when it is decided again; what is paid back outside Stripe, staff know. */
  refund_failed: {
    refund: string;
    intentId: string;
    amountCents: number;
    isCanceled: boolean;
    isCardClosed: boolean;
  };
  /** A refund that was decided is not made, since money went back outside Induct. Ends when it is decided again. */
  refund_dropped: { intentId: string; amountCents: number };
  /**
   * A membership or upgrade has another standing. `isNotTold`: its join is erased, so that HubSpot cannot be told. Ends with the next
   * standing.
   */
  standing: { intentId: string; type: MembershipType; standing: MembershipStanding; isNotTold: boolean };
  /** The money of a membership is with us again, and its person has joined anew. Ends as {@link perhaps_twice}. */
  back_again: { intentId: string };
  /** Joins of one person hold the same types. `by`: how they became one person. Ends as {@link perhaps_twice}. */
  held_twice: {
    types: MembershipType[];
    others: string[];
    by: 'staff' | { merged: string; into: string };
  };
  /** Likely the same person has paid for other joins. Ends when a reconciliation finds it no more. */
  perhaps_twice: { others: string[] };
  /** An upgrade is still held, and the membership below it has ended. Ends as {@link perhaps_twice}. */
  upgrade_alone: object;
  /** A background task fails. Ends at a reconciliation, which shows what differs, if it was not met for hours. */
  background: { what: string; cause: string };
  /** Events of Stripe were left. Ends at the next reconciliation, which shows what differs. */
  event_given_up: { event: string; type: string; count: number; days: number };
  /** Ends when the token is of the account of the contacts again, or staff say that the society has moved. */
  other_hubspot_account: { kept: string; present: string };
  /** Ends when the storage has no document, or another number of them, that the database does not know. */
  unknown_documents: { count: number };
  /** The typeface lacks letters of a member's name. Ends when the name is corrected, or staff print it in other letters. */
  certificate_name: { letters: string };
  /**
   * HubSpot does not take the email of a join or (`isTaken`) has another contact with it, `other` if it is known. Ends when the email is
   * corrected; of what staff do in HubSpot, we learn nothing.
   */
  email_refused: { contactId: string; isTaken: boolean; other: string | null };
}

/** Kinds of which only staff can say that they are done. */
interface StaffKinds {
  /** A payment took another amount than that on the screen. It goes back by itself, and staff are to know. */
  other_amount: { intentId: string; receivedCents: number; shownCents: number };
  /**
   * A payment bought nothing, for this reason. It goes back by itself, and staff are to know. One that was made again after a restore
   * does not, and its notice ends when staff give it back.
   */
  duplicate_payment: { intentId: string; receivedCents: number; why: string; isMadeAgain: boolean };
  /** A join was paid while HubSpot already said that its contact is a member. Only staff know whether that was right. */
  member_already: { contactId: string };
  /**
   * A provider refuses our calls: what it says. A call that succeeds says nothing of another one. `provider` is missing in notices of
   * former versions.
   */
  provider_trouble: { text: string; provider?: 'Stripe' | 'HubSpot' | 'Mail' };
  /** A document cannot be read. Only staff know whether they have another copy of it. */
  unreadable_document: { text: string };
  /**
   * Wrong invite codes of the last hour; `most` of them from one address, known by the beginning of its hash. When it is over, staff are
   * to know that it was. A new hour replaces the notice of the one before.
   */
  guessing: {
    total: number;
    addresses: number;
    most: number;
    hash: string;
    limit: { count: number; minutes: number };
  };
  /** What a browser reports of our pages. `isLast`: more of today is not told. A browser that is content reports nothing. */
  blocked: { blocked: string; directive: string; page: string; isLast: boolean };
  broken: { blocked: string; directive: string; page: string; isLast: boolean };
}

export type NoticeKind = keyof Kinds;

/** What staff should know and no page shows, as plain data. `subject` is the join that it is about, or null. */
export type Notice<Kind extends NoticeKind = NoticeKind> = {
  [Each in Kind]: { kind: Each; subject: string | null; params: Kinds[Each]; remedy: Remedy | null };
}[Kind];
