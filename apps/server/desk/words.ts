import type { LetterKind } from '#core/letterKinds.ts';
import type { RefundReason } from '#core/refunds.ts';
import { callWords } from '#core/staff.ts';
import type { Society } from '../society/society.ts';

/** The desk's name for each kind of letter. */
export const letterNames: Record<LetterKind, string> = {
  confirmation: 'Confirmation',
  upgrade: 'Confirmation of the upgrade',
  certificate: 'Certificate',
  portal: 'Member portal',
  'proof-due': 'Reminder of the transcript',
  'proof-overdue': 'Reminder of the overdue transcript',
  'proof-accepted': 'Transcript accepted',
  'proof-rejected': 'Transcript rejected',
  refund: 'Refund',
  'refund-asked': 'Refund asked for',
  'refund-declined': 'Refund declined',
  'second-payment': 'Second payment',
  'payment-failed': 'Payment failed',
  'goods-sent': 'Goods sent',
  'payer-receipt': 'Receipt of the payer',
  'payer-refund': 'Refund to the payer',
  'payer-failed': 'Payment of the payer failed',
  link: 'Link to the join',
  code: 'Code',
  'email-changed': 'Email changed',
  'reminder-hour': 'Reminder after an hour',
  'reminder-days': 'Reminder after two days',
};

const refundReasons: Record<RefundReason, string> = {
  duplicate: 'The payment bought nothing.',
  unconfirmed: 'The payment could not be confirmed.',
  requested: 'Staff gave it back.',
  ineligible: 'The person was not eligible.',
  dashboard: 'It was refunded outside Induct.',
};

/** Returns a sentence about why money was refunded. */
export function refundWords({ reason, isDispute }: { reason: RefundReason; isDispute: boolean }): string {
  return isDispute ? 'A lost dispute took it.' : refundReasons[reason];
}

/** Returns a sentence about an action of a member of staff, made from the name of its call: "Refund payment." */
export function actionWords({ action, outcome }: { action: string; outcome: string }): string {
  return `${callWords(action)}${outcome === 'done' ? '' : ` (${outcome})`}.`;
}

/** Returns the name of a programme; its key if the society's file no longer has it. */
export function programmeName({ programmes }: Society, key: string): string {
  return programmes[key]?.name ?? key;
}
