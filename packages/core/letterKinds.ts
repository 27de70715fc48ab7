/** The kinds of letter. Each is also the name of its file in society/letters. */
export const letterKinds = [
  /** A membership was paid for: its receipt. */
  'confirmation',
  /** An upgrade was paid for: its receipt. */
  'upgrade',
  'certificate',
  'portal',
  'proof-due',
  'proof-accepted',
  'proof-rejected',
  /** Stripe has made a refund. */
  'refund',
  /** A payment bought nothing, for example because its payer already holds the product: all of it goes back. */
  'second-payment',
  /** A payment that was processing at the bank failed. */
  'payment-failed',
  /** Somebody asked at Get Started for the link of their join. */
  'link',
  /** The code that proves on a new device that the user is the joiner. */
  'code',
  /** A join was left behind: an hour ago, or two days ago. */
  'reminder-hour',
  'reminder-days',
] as const;
export type LetterKind = (typeof letterKinds)[number];
