import type { MembershipType } from './product.ts';
import type { Dispute, MembershipStanding } from './refunds.ts';
import type { Remedy } from './remedy.ts';

/**
 * The params of a notice, by kind. Amounts are in cents. Most notices are about a join, which is their `subject`. Problems that
 * already appear in a queue (unsent letters, due refunds, records that HubSpot refuses, differences between money and members)
 * get no notice.
 */
type Kinds = MendedKinds & StaffKinds;

/** Kinds that are closed automatically once their cause is gone. */
interface MendedKinds {
  /**
   * Money was refunded outside Induct, or a dispute was lost. `names`: the lines that it was for, or null if they are unknown.
   * `bought` is false if the payment bought nothing; `owed` is then the rest that cannot be refunded because of a dispute. Ends
   * when more is known about the refund: staff have assigned it, or a further refund shows what it was for.
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
  /** Stripe refuses a refund for good. Ends when the refund is decided again. */
  refund_refused: { intentId: string; amountCents: number; refusal: string };
  /**
   * A refund that Stripe had made was returned to us. Ends when the refund is decided again. Induct cannot see a refund that
   * staff pay outside Stripe.
   */
  refund_failed: {
    refund: string;
    intentId: string;
    amountCents: number;
    isCanceled: boolean;
    isCardClosed: boolean;
  };
  /**
   * A refund that was decided is not made, because money was refunded outside Induct meanwhile. Ends when the refund is decided
   * again.
   */
  refund_dropped: { intentId: string; amountCents: number };
  /**
   * The standing of a membership or upgrade has changed. `isNotTold`: its join is erased, so HubSpot cannot be updated. Ends with
   * the next change of standing.
   */
  standing: { intentId: string; type: MembershipType; standing: MembershipStanding; isNotTold: boolean };
  /**
   * The money of a membership has returned to us after its refund or dispute, but its person has joined again meanwhile. Ends
   * like {@link perhaps_twice}, and with the next change of standing.
   */
  back_again: { intentId: string };
  /**
   * Several joins of one person hold the same types of membership. `by`: how they became joins of one person. Ends like {@link
   * perhaps_twice}.
   */
  held_twice: {
    types: MembershipType[];
    others: string[];
    by: 'staff' | { merged: string; into: string };
  };
  /** Somebody who is likely the same person has paid for other joins. Ends when a reconciliation no longer finds this. */
  perhaps_twice: { others: string[] };
  /** An upgrade is still held although its base membership has ended. Ends like {@link perhaps_twice}. */
  upgrade_alone: object;
  /**
   * A background task fails. Ends at the next reconciliation, unless the task has failed within the last hours. The
   * reconciliation lists the differences that the failure left.
   */
  background: { what: string; cause: string };
  /**
   * We gave up processing one or more Stripe events. Ends at the next reconciliation, which lists the differences that this left.
   */
  event_given_up: { event: string; type: string; count: number; days: number };
  /**
   * The HubSpot token belongs to another account than the mirrored contacts do. Ends when it belongs to that account again, or
   * when staff state that the society has moved.
   */
  other_hubspot_account: { kept: string; present: string };
  /** The storage has documents that are not in the database. Ends when there are none any more, or when their number changes. */
  unknown_documents: { count: number };
  /**
   * The typeface lacks letters of a member's name. Ends when the name is corrected, or when staff print the name in other
   * letters.
   */
  certificate_name: { letters: string };
  /**
   * HubSpot rejects the email of a join or, if `isTaken`, has another contact with this email (`other`, if known). Ends when the
   * email is corrected. Changes that staff make in HubSpot do not end it, since we do not see them.
   */
  email_refused: { contactId: string; isTaken: boolean; other: string | null };
}

/** Kinds that only staff can close. */
interface StaffKinds {
  /** The amount of a payment was not the amount on the screen. It is refunded automatically; the notice informs staff. */
  other_amount: { intentId: string; receivedCents: number; shownCents: number };
  /**
   * A payment bought nothing, for the reason `why`. It is refunded automatically; the notice informs staff. A payment that was
   * made again after a restore is not refunded automatically, and its notice ends when staff refund it.
   */
  duplicate_payment: { intentId: string; receivedCents: number; why: string; isMadeAgain: boolean };
  /** A join was paid although HubSpot already listed its contact as a member. Only staff know whether that was right. */
  member_already: { contactId: string };
  /**
   * A provider refuses our calls; `text` is its message. A later successful call does not end the notice, since it may be of
   * another kind. `provider` is missing in notices that former versions wrote.
   */
  provider_trouble: { text: string; provider?: 'Stripe' | 'HubSpot' | 'Mail' };
  /** A document cannot be read. Only staff know whether they have another copy of it. */
  unreadable_document: { text: string };
  /**
   * Wrong invite codes in the last hour. `most` of them came from one address, shown by the beginning of its hash. The notice
   * stays after the guessing has stopped, so that staff learn of it. A notice of a later hour replaces it.
   */
  guessing: {
    total: number;
    addresses: number;
    most: number;
    hash: string;
    limit: { count: number; minutes: number };
  };
  /**
   * A problem on our pages that a browser reported. `isLast`: further problems of the same day are not reported. A browser
   * without problems sends no report, so nothing shows when a problem has ended.
   */
  blocked: { blocked: string; directive: string; page: string; isLast: boolean };
  broken: { blocked: string; directive: string; page: string; isLast: boolean };
}

export type NoticeKind = keyof Kinds;

/** Something that staff should know and no page shows, as plain data. `subject` is the join that it is about, or null. */
export type Notice<Kind extends NoticeKind = NoticeKind> = {
  [Each in Kind]: { kind: Each; subject: string | null; params: Kinds[Each]; remedy: Remedy | null };
}[Kind];
