/** The kinds of letter. Each kind's file in society/letters has its name. */
export const letterKinds = [
  /** The receipt for a membership. */
  'confirmation',
  /** The receipt for an upgrade. */
  'upgrade',
  'certificate',
  'portal',
  'proof-due',
  'proof-accepted',
  'proof-rejected',
  /** Stripe has made a refund. */
  'refund',
  /** A payment bought nothing, for example because its payer already holds the product. All of it is refunded. */
  'second-payment',
  /** A payment that the bank was still deciding on has failed. */
  'payment-failed',
  /** Somebody asked at Get Started for the link of their join. */
  'link',
  /** The code with which a user proves on a new device to be the joiner. */
  'code',
  /** The reminders about an unfinished join, an hour and two days after the joiner's last activity. */
  'reminder-hour',
  'reminder-days',
] as const;
export type LetterKind = (typeof letterKinds)[number];
