import type { LedgerSum } from '#core/ledger.ts';
import { displayPrice } from '#core/money.ts';
import { ledgerCells, ledgerColumns } from '../server/books/ledgerFile.ts';
import { type LedgerRow, readLedger } from '../server/books/readLedger.ts';
import { command, Misuse } from './command.ts';
import { print, printCsvLine, warn, warnAll } from './print.ts';

const DAY_MS = 86_400_000;

export const ledgerCommands = [
  command({
    usage: 'ledger --from YYYY-MM-DD --to YYYY-MM-DD [--csv]',
    flags: ['csv'],
    texts: { from: 'YYYY-MM-DD', to: 'YYYY-MM-DD' },
    summary:
      "For the accountant: every product sold and refunded, Stripe's fees, disputes and payouts, line by line, equal to Stripe's balance transactions to the cent. Days are in UTC, --to included. With --csv the lines go to standard output and the totals beside it. Exit status 1 when they are not equal.",
    async run(deps, _, { from, to, csv }) {
      if (to < from) throw new Misuse('The day in --to is before the day in --from.');
      const { rows, totals, others, balance, faults } = await readLedger(deps, {
        from: new Date(from),
        until: new Date(Date.parse(to) + DAY_MS),
      });
      if (csv) for (const line of [ledgerColumns, ...rows.map(cellsOf)]) printCsvLine(line);
      else for (const row of rows) print(...cellsOf(row));
      const beside = csv ? warn : print;
      for (const total of totals) beside(`${total.kind}: ${told(total)}`);
      beside(
        `${others.count} other transactions, ${signed(net(others))}, not Induct's${csv ? ' and not in the file' : ''}.`,
      );
      beside(
        `${balance.count} balance transactions of Stripe from ${from} to ${to} (UTC): ${told(balance)}.`,
      );
      warnAll(faults);
      return faults.length === 0;
    },
  }),
];

const cellsOf = (row: LedgerRow) => ledgerCells(row, (uuid) => uuid);

function told(sum: LedgerSum): string {
  return `${signed(sum.grossCents)} gross, ${signed(sum.feeCents)} fee, ${signed(net(sum))} net`;
}

function net({ grossCents, feeCents }: Pick<LedgerSum, 'grossCents' | 'feeCents'>): number {
  return grossCents - feeCents;
}

function signed(cents: number): string {
  return `${cents < 0 ? '-' : ''}${displayPrice(Math.abs(cents))}`;
}
