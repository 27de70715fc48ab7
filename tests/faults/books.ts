import { parse } from 'csv-parse/sync';
import type Stripe from 'stripe';
import type { Difference } from './ledger.ts';
import type { World } from './world.ts';

/**
 * Adds up the accountant's file independently, without any code of the server. The lines of a transaction must add up to Stripe's
 * balance transaction. The lines of a join must add up to its charges less its refunds. A join's dues must equal the price of its
 * membership in the order, or 0 if the membership was refunded. No line may be unassigned.
 */
export async function sumByHand(world: World): Promise<Difference[]> {
  const found: Difference[] = [];
  const lines = parse<Record<string, string>>(await world.accountantsFile(), {
    columns: true,
    record_delimiter: '\r\n',
  });
  const sum = (of: readonly Record<string, string>[], column: string) =>
    of.reduce((cents, line) => cents + Math.round(Number(line[column]) * 100), 0);

  const byTransaction = Map.groupBy(lines, (line) => line['balance transaction']!);
  const transactions = await world.everything<Stripe.BalanceTransaction>('balance_transactions');
  for (const { id, type, amount, fee, net } of transactions) {
    const told = byTransaction.get(id) ?? [];
    byTransaction.delete(id);
    const sums = [sum(told, 'gross'), sum(told, 'fee'), sum(told, 'net')];
    if (String(sums) !== String([amount, fee, net]))
      found.push({
        kind: 'books unlike the balance',
        subject: id,
        text: `a ${type} of ${[amount, fee, net]} (gross, fee, net); ${told.length} lines of ${sums}`,
      });
  }
  for (const id of byTransaction.keys())
    found.push({ kind: 'books unlike the balance', subject: id, text: 'Stripe has no such transaction' });

  const charges = await world.everything<Stripe.Charge>('charges');
  const keptOf = Map.groupBy(
    charges.filter(({ status }) => status === 'succeeded'),
    ({ metadata }) => metadata.session ?? '',
  );
  // Takes the price from the order, since a checkout link may have set another price than the catalogue's.
  const { rows: held } = await world.database.query<{ session: string; cents: number }>(
    `select held.session_uuid as session, (line ->> 'priceCents')::int as cents
     from membership held join payment on intent_id = payment_intent
     join order_snapshot bought on (bought.session_uuid, bought.kind, bought.revision) = (payment.session_uuid, payment.kind, payment.revision)
     cross join jsonb_array_elements(items) as line
     where held.type = 'membership' and standing <> 'refunded' and line ->> 'type' = 'membership'`,
  );
  const duesOf = new Map(held.map(({ session, cents }) => [session, cents]));
  const sold = lines.filter(({ kind }) => kind && !/dispute|stripe fee|payout|account/.test(kind));
  const byJoin = Map.groupBy(sold, ({ join }) => join ?? '');
  for (const join of new Set([...keptOf.keys(), ...byJoin.keys()])) {
    const told = byJoin.get(join) ?? [];
    const add = (text: string) => found.push({ kind: 'books unlike the join', subject: join, text });
    const kept = (keptOf.get(join) ?? []).reduce(
      (cents, { amount, amount_refunded }) => cents + amount - amount_refunded,
      0,
    );
    if (sum(told, 'gross') !== kept) add(`${sum(told, 'gross')} cents are booked, ${kept} were kept`);
    for (const { kind, product, gross } of told)
      if (kind === 'unassigned') add(`${gross} dollars of “${product}” are unassigned`);
    const dues = sum(
      told.filter(({ kind }) => kind === 'dues'),
      'gross',
    );
    if (dues !== (duesOf.get(join) ?? 0)) add(`${dues} cents of dues; it holds ${duesOf.get(join) ?? 0}`);
  }
  return found;
}
