import { toPrice } from '#core/money.ts';
import type { LedgerRow } from './readLedger.ts';

/** The columns of the accountant's file. */
export const ledgerColumns = [
  'date',
  'type',
  'kind',
  'join',
  'payment intent',
  'product',
  'gross',
  'fee',
  'net',
  'payout',
  'balance transaction',
];

/** Returns a line of the accountant's file. `nameOf` returns the name of a join. Days are in UTC, as Stripe's are. */
export function ledgerCells(row: LedgerRow, nameOf: (uuid: string) => string): string[] {
  return [
    row.at.toISOString().slice(0, 10),
    row.category,
    row.kind,
    row.join === null ? '' : nameOf(row.join),
    row.intentId ?? '',
    row.product,
    amount(row.grossCents),
    amount(row.feeCents),
    amount(row.grossCents - row.feeCents),
    row.payoutId ?? '',
    row.movementId,
  ];
}

/** Formats cents as dollars in a form that spreadsheets parse as a number: -65.00. */
function amount(cents: number): string {
  return `${cents < 0 ? '-' : ''}${toPrice(Math.abs(cents))}`;
}
