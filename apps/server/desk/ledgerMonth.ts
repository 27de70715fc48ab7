import { sql } from 'kysely';
import { csvLine } from '#core/csv.ts';
import { type LedgerSum, sumLedger } from '#core/ledger.ts';
import { ledgerCells, ledgerColumns } from '../books/ledgerFile.ts';
import { type Ledger, type LedgerRow, readLedger } from '../books/readLedger.ts';
import { nameJoins } from '../people/nameJoins.ts';
import type { ByStaff } from '../platform/deps.ts';
import { Refusal } from '../platform/http/refusal.ts';
import type { Deps } from './deps.ts';

/** The sums of a month's ledger. Amounts are in cents, with Stripe's signs: money that leaves the account is negative. */
export interface LedgerSummary {
  kinds: { kind: string; grossCents: number; refundsCents: number; feeCents: number }[];
  /** Transactions of other apps or environments on the same Stripe account, which are not in the file. */
  others: LedgerSum;
  /** All transactions of Stripe's balance. */
  balance: LedgerSum;
  /** Sentences on what is wrong with the sums: the lines do not add up to Stripe's balance, or not all amounts are dollars. */
  faults: string[];
}

/** The state of reading a month's ledger from Stripe. */
export interface LedgerMonth {
  isReading: boolean;
  /** How many transactions the last run has read so far. */
  transactions: number;
  /** Why the last run ended early; null if it did not. */
  fault: string | null;
  askedBy: string;
  readAt: Date | null;
  summary: LedgerSummary | null;
}

/** If a server has not reported progress for this long (s), its run counts as interrupted. */
const SILENT_SECONDS = 60;
const INTERRUPTED = 'The reading was interrupted.';

/** SQL for the first day of a month such as `2026-11`. */
const dayOf = (month: string) => sql`${`${month}-01`}::date`;

/** Returns the ledger of a month such as `2026-11`, as far as it has been read; null if nobody has requested it. */
export async function ledgerMonth(
  { database }: Pick<Deps, 'database'>,
  month: string,
): Promise<LedgerMonth | null> {
  const { rows } = await sql<LedgerMonth & { isInterrupted: boolean }>`
    select coalesce(reading_at > now() - make_interval(secs => ${SILENT_SECONDS}), false) as "isReading",
      coalesce(reading_at <= now() - make_interval(secs => ${SILENT_SECONDS}), false) as "isInterrupted",
      transactions, fault, asked_by as "askedBy", read_at as "readAt", summary
    from ledger_month where month = ${dayOf(month)}`.execute(database);
  if (!rows[0]) return null;
  const { isInterrupted, ...found } = rows[0];
  return { ...found, fault: isInterrupted ? INTERRUPTED : found.fault };
}

/** Returns the CSV file of a month; null if the month has not been read completely yet. */
export async function ledgerFile(
  { database }: Pick<Deps, 'database'>,
  month: string,
): Promise<string | null> {
  const { rows } = await sql<{ file: string | null }>`
    select file from ledger_month where month = ${dayOf(month)}`.execute(database);
  return rows[0]?.file ?? null;
}

/**
 * Starts reading a month from Stripe, unless a server is already doing so. The earlier result stays available until the new run
 * is complete. Resolves when the run has started. The returned promise `ended` resolves when it has ended, and never rejects.
 */
export async function beginLedger(deps: ByStaff<Deps>, month: string): Promise<{ ended: Promise<void> }> {
  const { rows } = await sql`
    insert into ledger_month (month, asked_by, reading_at) values (${dayOf(month)}, ${deps.actor}, now())
    on conflict (month) do update set asked_by = excluded.asked_by, reading_at = now(), transactions = 0, fault = null
      where ledger_month.reading_at is null or ledger_month.reading_at <= now() - make_interval(secs => ${SILENT_SECONDS})
    returning month`.execute(deps.database);
  return { ended: rows.length === 0 ? Promise.resolve() : readMonth(deps, month) };
}

async function readMonth(deps: Deps, month: string): Promise<void> {
  const from = new Date(`${month}-01`);
  const until = new Date(Date.UTC(from.getUTCFullYear(), from.getUTCMonth() + 1, 1));
  const here = sql`month = ${dayOf(month)}`;
  try {
    const ledger = await readLedger(deps, { from, until }, (transactions) =>
      sql`update ledger_month set reading_at = now(), transactions = ${transactions} where ${here}`.execute(
        deps.database,
      ),
    );
    await sql`
      update ledger_month set reading_at = null, read_at = now(), transactions = ${ledger.balance.count},
        summary = ${JSON.stringify(summaryOf(ledger))}::jsonb, file = ${await fileOf(deps, ledger.rows)}
      where ${here}`.execute(deps.database);
  } catch (error) {
    deps.log.error({ err: error }, 'a ledger could not be read');
    const fault = error instanceof Refusal ? error.message : 'It could not be read.';
    await sql`update ledger_month set reading_at = null, fault = ${fault} where ${here}`
      .execute(deps.database)
      .catch(() => {});
  }
}

function summaryOf({ rows, totals, others, balance, faults }: Ledger): LedgerSummary {
  return {
    kinds: totals.map(({ kind, feeCents }) => {
      const own = rows.filter((row) => row.kind === kind);
      const back = sumLedger(own.filter(isBack)).grossCents;
      return { kind, grossCents: sumLedger(own).grossCents - back, refundsCents: back, feeCents };
    }),
    others,
    balance,
    faults,
  };
}

/** Whether a line is about a refund or a dispute, including money that came back from one. */
function isBack({ category }: LedgerRow): boolean {
  return category.startsWith('refund') || category.startsWith('dispute');
}

/** Returns the CSV file of a ledger. It names a join by its person's number and the join's number, instead of by its uuid. */
async function fileOf(deps: Deps, rows: readonly LedgerRow[]): Promise<string> {
  const joins = await nameJoins(deps, [...new Set(rows.flatMap(({ join }) => join ?? []))]);
  const nameOf = (uuid: string) => {
    const join = joins.get(uuid);
    return join ? `person ${join.personId}, join ${join.number}` : 'erased';
  };
  return [ledgerColumns, ...rows.map((row) => ledgerCells(row, nameOf))].map(csvLine).join('');
}
