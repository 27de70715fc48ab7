/** The kinds of letter. The file of each kind, in society/letters, has the kind's name. */
export const letterKinds = [
  /** The receipt for a membership. */
  'confirmation',
  /** The receipt for an upgrade. */
  'upgrade',
  'certificate',
  'portal',
  'proof-due',
  /** A reminder that staff send to a member whose proof is overdue. */
  'proof-overdue',
  'proof-accepted',
  'proof-rejected',
  /** Reports that Stripe has made a refund. */
  'refund',
  /** A member has asked for a refund. The next kind: staff have declined it. */
  'refund-asked',
  'refund-declined',
  /** Reports that a payment bought nothing (for example because the joiner already holds the product) and is refunded in full. */
  'second-payment',
  /** Reports that a payment on which the bank was still deciding has failed. */
  'payment-failed',
  /** Goods were sent by post. */
  'goods-sent',
  /**
   * Letters to the person who pays by a pay link: the receipt, a refund, and that a payment on which the bank was still deciding
   * has failed.
   */
  'payer-receipt',
  'payer-refund',
  'payer-failed',
  /** A link to a join, sent on request. */
  'link',
  /** The code with which a user proves on a new device that they are the joiner. */
  'code',
  /** A notice to the former address of a joiner who has corrected their email. */
  'email-changed',
  /** The reminders about an unfinished join, an hour and two days after the joiner's last activity. */
  'reminder-hour',
  'reminder-days',
] as const;
export type LetterKind = (typeof letterKinds)[number];

/** Whether letters of a kind go to the person who pays by a pay link, instead of the joiner. */
export const isToPayer = (kind: LetterKind): boolean => kind.startsWith('payer-');
