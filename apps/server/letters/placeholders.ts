import type { LetterKind } from '#core/letterKinds.ts';

/** The placeholders that every letter may use. */
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
 * The placeholders that each kind of letter may use in addition to {@link everywhere}. If a placeholder has no value, its whole
 * paragraph, list item or button is left out. The placeholders in {@link pages} are web addresses, those in {@link tables} are
 * tables, and all others are text.
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
    'calendarEntry',
    'welcomePage',
  ],
  upgrade: ['upgrade', 'receipt', 'total', 'date', 'memberNumber', 'upgradeRefund', 'welcomePage'],
  certificate: ['memberNumber', 'certificatePage'],
  portal: ['memberNumber', 'portalPage', 'welcomePage', 'aboutPage', 'storePage', 'storeCode', 'discount'],
  'proof-due': ['daysLeft', 'dueDate', 'calendarEntry', 'uploadPage'],
  'proof-overdue': ['wasDueDate', 'uploadPage'],
  'proof-accepted': ['welcomePage'],
  'proof-rejected': ['reason', 'keptFee', 'endedMembership', 'dueDate', 'uploadPage', 'refundsPage'],
  refund: ['amount', 'refundReceipt', 'returnedTo', 'keptFee', 'endedMembership', 'card', 'refundsPage'],
  'refund-asked': ['askedAmount', 'answerDate', 'welcomePage'],
  'refund-declined': ['askedAmount', 'sentence', 'refundsPage'],
  'second-payment': ['amount', 'alreadyHeld', 'upgradeOfEnded', 'receipt', 'card', 'refundsPage'],
  'payment-failed': ['total', 'checkoutPage'],
  'goods-sent': ['goods', 'tracking', 'welcomePage'],
  'payer-receipt': ['joiner', 'receipt', 'total', 'date', 'refund', 'aboutPage'],
  'payer-refund': ['joiner', 'amount', 'refundReceipt', 'keptFee', 'card', 'refundsPage'],
  'payer-failed': ['joiner', 'total'],
  link: ['joinPage'],
  code: ['code', 'codeMinutes'],
  'email-changed': [],
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
  'calendarEntry',
] as const;
export type PageName = (typeof pages)[number];

export const tables = ['receipt', 'refundReceipt'] as const;
export type TableName = (typeof tables)[number];

/** Placeholders that may lack a value in some of the letters that may use them. */
const notAlwaysThere = [
  'firstName',
  'memberNumber',
  'proofDueDate',
  'dueDate',
  'keptFee',
  'endedMembership',
  'card',
  'tracking',
  'alreadyHeld',
  'upgradeOfEnded',
];
export const isNotAlwaysThere = (name: string): boolean => notAlwaysThere.includes(name);

export function placeholdersOf(kind: LetterKind): readonly string[] {
  return [...everywhere, ...ofLetter[kind]];
}

export const isPage = (name: string): name is PageName => pages.some((page) => page === name);
export const isTable = (name: string): name is TableName => tables.some((table) => table === name);
