import { plain } from '#core/cleanText.ts';
import type { LedgerSum } from '#core/ledger.ts';
import { displayPrice, toPrice } from '#core/money.ts';
import { type LedgerRow, readLedger } from '../server/books/readLedger.ts';
import { type Command, misused, printCsvLine, readArgs } from './command.ts';

const DAY_MS = 86_400_000;

const COLUMNS = [
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

const ledgerOptions = {
  from: { type: 'string' },
  to: { type: 'string' },
  csv: { type: 'boolean', default: false },
} as const;

export const ledgerCommand: Command = {
  options: ledgerOptions,
  usage: 'ledger --from YYYY-MM-DD --to YYYY-MM-DD [--csv]',
  summary:
    "For the accountant: every product sold and refunded, Stripe's fees, disputes and payouts, line by line, equal to Stripe's balance transactions to the cent. Days are in UTC, --to included. With --csv the lines go to standard output and the totals beside it. Exit status 1 when they are not equal.",
  async run(args, { deps }) {
    const read = readArgs(args, ledgerOptions);
    const from = readDay(read?.values.from);
    const to = readDay(read?.values.to);
    if (!read || read.positionals.length > 0) return misused(ledgerCommand);
    if (!from || !to) {
      const wrong = from ? read.values.to : read.values.from;
      return misused(ledgerCommand, wrong && `"${wrong}" is not a day: write it as 2026-11-30.`);
    }
    if (to < from) return misused(ledgerCommand, 'The day in --to is before the day in --from.');
    const { rows, totals, others, balance, faults } = await readLedger(deps, {
      from,
      until: new Date(to.getTime() + DAY_MS),
    });

    const { csv } = read.values;
    const beside = csv ? console.error : console.log;
    if (csv) for (const line of [COLUMNS, ...rows.map(cellsOf)]) printCsvLine(line);
    else for (const row of rows) console.log(plain(cellsOf(row).filter(Boolean).join('  ')));
    for (const total of totals) beside(`${total.kind}: ${told(total)}`);
    beside(
      `${others.count} other transactions, ${signed(net(others))}, not Induct's${csv ? ' and not in the file' : ''}.`,
    );
    beside(
      `${balance.count} balance transactions of Stripe from ${day(from)} to ${day(to)} (UTC): ${told(balance)}.`,
    );
    for (const fault of faults) console.error(fault);
    return faults.length > 0 ? 1 : 0;
  },
};

function cellsOf(row: LedgerRow): string[] {
  return [
    day(row.at),
    row.category,
    row.kind,
    row.join ?? '',
    row.intentId ?? '',
    row.product,
    amount(row.grossCents),
    amount(row.feeCents),
    amount(net(row)),
    row.payoutId ?? '',
    row.movementId,
  ];
}

function told(sum: LedgerSum): string {
  return `${signed(sum.grossCents)} gross, ${signed(sum.feeCents)} fee, ${signed(net(sum))} net`;
}

function net({ grossCents, feeCents }: Pick<LedgerSum, 'grossCents' | 'feeCents'>): number {
  return grossCents - feeCents;
}

/** Formats cents as dollars in a form that spreadsheets parse as a number: -65.00. */
function amount(cents: number): string {
  return `${cents < 0 ? '-' : ''}${toPrice(Math.abs(cents))}`;
}

function signed(cents: number): string {
  return `${cents < 0 ? '-' : ''}${displayPrice(Math.abs(cents))}`;
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}

/** Parses a date as the start of that day in UTC. Undefined if the text is not a date. */
function readDay(text: string | undefined): Date | undefined {
  if (!text || !/^\d{4}-\d{2}-\d{2}$/.test(text)) return undefined;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && day(date) === text ? date : undefined;
}
