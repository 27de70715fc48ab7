import type { LetterKind } from '#core/letterKinds.ts';

/** What every letter may name. */
const everywhere = [
  'greeting',
  'firstName',
  'society',
  'shortName',
  'product',
  'email',
  'phone',
  'fee',
] as const;

/**
 * What each letter may name besides. One that has no value in a letter takes its paragraph, list item or button with it. Those
 * of {@link pages} are addresses, of {@link tables} tables; all others are text.
 */
const ofLetter = {
  confirmation: [
    'membership',
    'receipt',
    'total',
    'date',
    'memberNumber',
    'refund',
    'proofDueDate',
    'welcomePage',
  ],
  upgrade: ['upgrade', 'receipt', 'total', 'date', 'memberNumber', 'upgradeRefund', 'welcomePage'],
  certificate: ['memberNumber', 'certificatePage'],
  portal: ['memberNumber', 'portalPage', 'welcomePage', 'aboutPage', 'storePage', 'storeCode', 'discount'],
  'proof-due': ['daysLeft', 'dueDate', 'uploadPage'],
  'proof-accepted': ['welcomePage'],
  'proof-rejected': ['reason', 'dueDate', 'uploadPage', 'refundsPage'],
  refund: ['amount', 'refundReceipt', 'card', 'refundsPage'],
  'second-payment': ['amount', 'alreadyHeld', 'upgradeOfEnded', 'receipt', 'card', 'refundsPage'],
  'payment-failed': ['total', 'checkoutPage'],
  link: ['joinPage'],
  code: ['code', 'codeMinutes'],
  'reminder-hour': ['joinPage'],
  'reminder-days': ['joinPage'],
} as const satisfies Record<LetterKind, readonly string[]>;

export const pages = [
  'welcomePage',
  'portalPage',
  'certificatePage',
  'uploadPage',
  'checkoutPage',
  'joinPage',
  'aboutPage',
  'storePage',
  'refundsPage',
] as const;
export type PageName = (typeof pages)[number];

export const tables = ['receipt', 'refundReceipt'] as const;
export type TableName = (typeof tables)[number];

/** What one letter of a kind has, and another has not. */
const notAlwaysThere = [
  'firstName',
  'memberNumber',
  'proofDueDate',
  'dueDate',
  'card',
  'alreadyHeld',
  'upgradeOfEnded',
];
export const isNotAlwaysThere = (name: string): boolean => notAlwaysThere.includes(name);

/** The names that the letter of a kind may use. */
export function placeholdersOf(kind: LetterKind): readonly string[] {
  return [...everywhere, ...ofLetter[kind]];
}

export const isPage = (name: string): name is PageName => pages.some((page) => page === name);
export const isTable = (name: string): name is TableName => tables.some((table) => table === name);
