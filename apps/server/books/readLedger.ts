import { sql } from 'kysely';
import { feeReadBy } from '#core/dashboardRefunds.ts';
import {
  type LedgerEntry,
  type LedgerKind,
  type LedgerOrder,
  type LedgerSum,
  ledgerEntries,
  ledgerKinds,
  sumLedger,
} from '#core/ledger.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { GivenBack } from '#core/refunds.ts';
import { type NamedOrder, namedOrder } from '../paying/namedOrder.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import type { BalanceMovement } from '../providers/stripe/movements.ts';
import type { Deps } from './deps.ts';

/** One line of the ledger. Amounts are in cents. */
export interface LedgerRow extends LedgerEntry {
  at: Date;
  category: string;
  join: string | null;
  intentId: string | null;
  /** The payout that includes the transaction; null if Stripe reports none. */
  payoutId: string | null;
  movementId: string;
}

export interface Ledger {
  /** Oldest first. */
  rows: LedgerRow[];
  totals: (LedgerSum & { kind: LedgerKind })[];
  /** The sum of the transactions of other apps or environments on the same Stripe account, which are not in `rows`. */
  others: LedgerSum;
  /** The sum of all balance transactions in the period: those in `rows` and in `others`. */
  balance: LedgerSum;
  /**
   * Sentences on what is wrong with the sums: `rows` and `others` together do not equal `balance`, or not all amounts are
   * dollars.
   */
  faults: string[];
}

const PAGE = 100;
const DAY_MS = 86_400_000;
/** Within this many days a payout of a transaction is expected. Stripe's longest payout interval is a month. */
const PAYOUT_DAYS = 60;

/**
 * Reads the transactions of Stripe's balance from `from` (inclusive) to `until` (exclusive). Splits each into the lines of the
 * order that it paid, or of the refund that it made. The amounts come from Stripe, the lines from our tables. Writes nothing.
 * Calls `progress` after every {@link PAGE} transactions.
 */
export async function readLedger(
  deps: Deps,
  { from, until }: { from: Date; until: Date },
  progress: (transactions: number) => Promise<unknown> = async () => {},
): Promise<Ledger> {
  const movements: BalanceMovement[] = [];
  for await (const movement of deps.payments.listMovements(from, until))
    if (movements.push(movement) % PAGE === 0) await progress(movements.length);
  movements.reverse();
  const payouts = new Map<string, string>();
  const paidOut = deps.payments.listPaidOut(from, new Date(until.getTime() + PAYOUT_DAYS * DAY_MS));
  if (movements.length > 0)
    for await (const { movementId, payoutId } of paidOut) payouts.set(movementId, payoutId);

  const isOther = ({ charge }: BalanceMovement) => charge !== null && namedOrder(deps, charge) === null;
  const ours = movements.filter((movement) => !isOther(movement));
  const rows: LedgerRow[] = [];
  for (let at = 0; at < ours.length; at += PAGE) {
    const page = ours.slice(at, at + PAGE);
    const records = await recordsOf(deps, page);
    for (const [index, movement] of page.entries())
      rows.push(...rowsOf(deps, movement, records[index]!, payouts.get(movement.id) ?? null));
  }
  const others = sumLedger(movements.filter(isOther));
  const balance = sumLedger(movements);
  const totals = ledgerKinds
    .map((kind) => ({ kind, ...sumLedger(rows.filter((row) => row.kind === kind)) }))
    .filter(({ count }) => count > 0);
  return { rows, totals, others, balance, faults: faultsOf({ totals, others, balance }, movements) };
}

function faultsOf(
  { totals, others, balance }: Pick<Ledger, 'totals' | 'others' | 'balance'>,
  movements: readonly BalanceMovement[],
): string[] {
  const faults: string[] = [];
  const told = sumLedger([...totals, others]);
  const net = movements.reduce((sum, { netCents }) => sum + netCents, 0);
  if (
    told.grossCents !== balance.grossCents ||
    told.feeCents !== balance.feeCents ||
    told.grossCents - told.feeCents !== net
  )
    faults.push('The lines do not sum to the transactions of Stripe’s balance.');
  const foreign = new Set(movements.map(({ currency }) => currency).filter((code) => code !== 'usd'));
  if (foreign.size > 0)
    faults.push(
      `Stripe’s balance has transactions in ${[...foreign].join(', ')}, which cannot be added to dollars.`,
    );
  return faults;
}

interface Records {
  lines: OrderLine[] | null;
  amountCents: number | null;
  /** The processing fee of the order's snapshot; null if there is no snapshot, or Stripe did not know the fee after a restore. */
  processingFeeCents: number | null;
  programme: string | null;
  /** Whether the payment bought nothing. */
  isReturned: boolean;
  refunds: (GivenBack & { stripeId: string | null; reason: string })[];
}

/**
 * Returns one record for each balance transaction, at the same index: the order that its charge paid, and our refunds of the
 * payment. An order is used only if its amount equals the charge's. After a failover that lost changes, the revision in the
 * charge's metadata may belong to another, unpaid order.
 */
async function recordsOf(deps: Deps, movements: readonly BalanceMovement[]): Promise<Records[]> {
  const asked = movements.map(({ charge }) => {
    const named = charge && namedOrder(deps, charge);
    return {
      intent_id: charge?.intentId ?? null,
      amount_cents: charge?.amountCents ?? null,
      session_uuid: named && isUuid(named.uuid) ? named.uuid : null,
      kind: named?.kind ?? null,
      revision: named && Number.isSafeInteger(named.revision) ? named.revision : null,
    };
  });
  const { rows } = await sql<Records>`
    select snapshot.items as lines, snapshot.amount_cents as "amountCents", processing_fee_cents as "processingFeeCents",
      (select programme from join_session where uuid = snapshot.session_uuid) as programme,
      exists (select from payment where payment.intent_id = asked.intent_id and status = 'duplicate') as "isReturned", coalesce((
        select json_agg(json_build_object('uuid', uuid, 'stripeId', stripe_id, 'amountCents', amount_cents, 'status', status,
          'reason', reason, 'lines', lines, 'assignedBy', case when reason <> 'dashboard' then 'us' when assigned_at is not null then 'staff' end)
          order by created_at, uuid)
        from refund where refund.intent_id = asked.intent_id), '[]') as refunds
    from rows from (json_to_recordset(${JSON.stringify(asked)}::json)
      as (intent_id text, amount_cents integer, session_uuid uuid, kind text, revision integer)) with ordinality
      as asked (intent_id, amount_cents, session_uuid, kind, revision, position)
    left join order_snapshot snapshot on snapshot.session_uuid = asked.session_uuid
      and snapshot.kind = asked.kind and snapshot.revision = asked.revision and snapshot.amount_cents = asked.amount_cents
    order by position`.execute(deps.database);
  return rows;
}

function rowsOf(
  deps: Deps,
  movement: BalanceMovement,
  records: Records,
  payoutId: string | null,
): LedgerRow[] {
  const named: NamedOrder | null = movement.charge && namedOrder(deps, movement.charge);
  const { refunds } = records;
  const order = orderOf(deps, records);
  const at = refunds.findIndex(
    ({ uuid, stripeId }) =>
      movement.refund !== null && (stripeId === movement.refund.id || uuid === movement.refund.uuid),
  );
  const found = refunds[at];
  const refund = found ? { ...found, before: refunds.slice(0, at) } : null;
  return ledgerEntries(movement, order, refund).map((entry) => ({
    ...entry,
    at: movement.createdAt,
    category: movement.category,
    join: named?.uuid ?? null,
    intentId: movement.charge?.intentId ?? null,
    payoutId,
    movementId: movement.id,
  }));
}

function orderOf(
  { society }: Pick<Deps, 'society'>,
  { lines, amountCents, processingFeeCents, programme, isReturned, refunds }: Records,
): LedgerOrder | null {
  if (!lines || amountCents === null || programme === null) return null;
  const feeCents = processingFeeCents ?? society.programme(programme).processingFeeCents;
  return { lines, amountCents, processingFeeCents: feeReadBy({ lines, refunds }, feeCents), isReturned };
}
