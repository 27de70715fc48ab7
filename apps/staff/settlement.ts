import { differenceSentence } from '#core/differenceSentence.ts';
import { displayPrice } from '#core/money.ts';
import { lastReconciliations, type Reconciliation, reconcileNow } from '../server/books/reconcile.ts';
import { settleJoin, settleMissing, settlePayment } from '../server/books/settle.ts';
import { isIntentId } from '../server/paying/namedOrder.ts';
import { count } from '../server/people/privacy/counted.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, Misuse, noJoin } from './command.ts';
import { minute, print, printAll } from './print.ts';
import { failureSentence } from './sentences/failures.ts';
import { commandOf } from './sentences/remedies.ts';

const NIGHTS_SHOWN = 14;

export const settlementCommands = [
  command({
    usage: 'reconcile [--days DAYS] [--history]',
    flags: ['history'],
    texts: { days: '[DAYS]' },
    summary:
      'Compare money with members: Stripe, our payments, joins and memberships side by side (of the last DAYS days, or all). Every difference with the command that repairs it. Exit status 1 when there is one. It also runs every night: --history shows what the runs over all payments found.',
    async run(deps, _, { days, history }) {
      if (history) {
        const nights = await lastReconciliations(deps.database, NIGHTS_SHOWN);
        for (const { finished_at, counts, differences } of nights) {
          print(minute(finished_at), `${differences.length} differences, ${counts.payments} payments`);
          for (const each of differences) print(`  ${each.subject}`, differenceSentence(each));
        }
        if (nights.length === 0) print('It has not run yet.');
        return !nights[0] || nights[0].differences.length === 0;
      }
      const result = await reconcileNow(deps, days === undefined ? null : Number(days));
      printReconciliation(result);
      return result.differences.length === 0;
    },
  }),
  command({
    usage: 'settle PAYMENT_INTENT|JOIN | settle --missing',
    args: ['[PAYMENT_INTENT|JOIN]'],
    flags: ['missing'],
    summary:
      'Bring a payment, or all payments of a join, to what Stripe says of them: confirm what succeeded, give up what did not. A join that was paid and is not in this database is made again from what Stripe knows; --missing, after a restore and before servers start: all such joins, and what went back meanwhile.',
    async run(deps, [subject], { missing }) {
      if (missing === (subject !== undefined)) throw new Misuse();
      if (subject === undefined) return printMissing(await settleMissing(deps));
      const notes = await (isIntentId(subject) ? settlePayment : settleJoin)(deps, subject);
      if (notes === null) throw new Failed(noJoin(subject));
      printAll(notes.length > 0 ? notes : [`${subject} is settled.`]);
      return notes.length === 0;
    },
  }),
];

/** Prints each difference with its repair, and the totals. */
export function printReconciliation({ counts, differences }: Reconciliation): void {
  for (const difference of differences) {
    const { subject, remedy } = difference;
    printAll([subject, `  ${differenceSentence(difference)}`, `  ${commandOf(remedy)}`]);
  }
  print(
    `${counts.intents} intents at Stripe, ${counts.payments} payments, ${counts.paidJoins} paid joins, ${counts.heldMemberships} memberships held; ` +
      `${displayPrice(counts.receivedCents)} received, ${displayPrice(counts.refundedCents)} refunded; ${differences.length} differences.`,
  );
}

function printMissing({
  settled,
  closed,
  followed,
  notMade,
}: Awaited<ReturnType<typeof settleMissing>>): boolean {
  for (const { intentId, why } of notMade) print(`${intentId}: ${failureSentence(why)}`);
  const [was, is] = settled.length === 1 ? ['payment was', 'is'] : ['payments were', 'are'];
  print(
    `${settled.length} ${was} not in this database as paid, and ${is} now. Addresses, schools and documents are not among what Stripe knows.`,
  );
  if (followed > 0)
    print(
      `The refunds and disputes of ${count(followed, 'payment')} that this database has were read from Stripe again.`,
    );
  if (closed > 0)
    print(
      `${closed} ${closed === 1 ? 'payment form was' : 'payment forms were'} open at Stripe for another order than in this database, and ${closed === 1 ? 'is' : 'are'} closed.`,
    );
  return notMade.length === 0;
}
