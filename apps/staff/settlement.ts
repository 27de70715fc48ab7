import { displayPrice } from '#core/money.ts';
import { lastReconciliations, type Reconciliation, reconcileNow } from '../server/books/reconcile.ts';
import { settleJoin, settleMissing, settlePayment } from '../server/books/settle.ts';
import { isIntentId } from '../server/paying/namedOrder.ts';
import { isUuid } from '../server/platform/database/isUuid.ts';
import { Failed } from '../server/platform/failed.ts';
import { type Command, misused, notId, readArgs } from './command.ts';
import { differenceSentence } from './sentences/differences.ts';
import { failureSentence } from './sentences/failures.ts';
import { commandOf } from './sentences/remedies.ts';

const NIGHTS_SHOWN = 14;

const reconcileOptions = { days: { type: 'string' }, history: { type: 'boolean', default: false } } as const;

export const reconcileCommand: Command = {
  options: reconcileOptions,
  usage: 'reconcile [--days N] [--history]',
  summary:
    'Compare money with members: Stripe, our payments, joins and memberships side by side (of the last N days, or all). Every difference with the command that repairs it. Exit status 1 when there is one. It also runs every night: --history shows what the runs over all payments found.',
  async run(args, { deps, database }) {
    const read = readArgs(args, reconcileOptions);
    const days = read?.values.days;
    if (!read || read.positionals.length > 0 || (days !== undefined && !/^[1-9]\d{0,4}$/.test(days)))
      return misused(reconcileCommand);
    if (read.values.history) {
      const nights = await lastReconciliations(database, NIGHTS_SHOWN);
      for (const { finished_at, counts, differences } of nights) {
        console.log(
          `${finished_at.toISOString().slice(0, 16)}Z  ${differences.length} differences, ${counts.payments} payments`,
        );
        for (const difference of differences)
          console.log(`  ${difference.subject}  ${differenceSentence(difference)}`);
      }
      if (nights.length === 0) console.log('It has not run yet.');
      return nights[0] && nights[0].differences.length > 0 ? 1 : 0;
    }
    const result = await reconcileNow(deps, days === undefined ? null : Number(days));
    tellReconciliation(result);
    return result.differences.length > 0 ? 1 : 0;
  },
};

/** Prints each difference with its repair, and the totals. */
export function tellReconciliation({ counts, differences }: Reconciliation): void {
  for (const difference of differences) {
    const { subject, remedy } = difference;
    console.log(`${subject}\n  ${differenceSentence(difference)}\n  ${commandOf(remedy)}`);
  }
  console.log(
    `${counts.intents} intents at Stripe, ${counts.payments} payments, ${counts.paidJoins} paid joins, ${counts.heldMemberships} memberships held; ` +
      `${displayPrice(counts.receivedCents)} received, ${displayPrice(counts.refundedCents)} refunded; ${differences.length} differences.`,
  );
}

const settleOptions = { missing: { type: 'boolean', default: false } } as const;

export const settleCommand: Command = {
  options: settleOptions,
  usage: 'settle PAYMENT_INTENT|JOIN | settle --missing',
  summary:
    'Bring a payment, or all payments of a join, to what Stripe says of them: confirm what succeeded, give up what did not. A join that was paid and is not in this database is made again from what Stripe knows; --missing, after a restore and before servers start: all such joins, and what went back meanwhile.',
  async run(args, { deps }) {
    const read = readArgs(args, settleOptions);
    const [subject = '', ...more] = read?.positionals ?? [];
    if (!read || more.length > 0) return misused(settleCommand);
    if (read.values.missing) {
      if (subject !== '') return misused(settleCommand);
      const { settled, closed, followed, notMade } = await settleMissing(deps);
      for (const { intentId, why } of notMade) console.log(`${intentId}: ${failureSentence(why)}`);
      console.log(
        `${settled.length} ${settled.length === 1 ? 'payment was' : 'payments were'} not in this database as paid, and ${settled.length === 1 ? 'is' : 'are'} now. Addresses, schools and documents are not among what Stripe knows.`,
      );
      if (followed > 0)
        console.log(
          `The refunds and disputes of ${followed} ${followed === 1 ? 'payment' : 'payments'} that this database has were read from Stripe again.`,
        );
      if (closed > 0)
        console.log(
          `${closed} ${closed === 1 ? 'payment form was' : 'payment forms were'} open at Stripe for another order than in this database, and ${closed === 1 ? 'is' : 'are'} closed.`,
        );
      return notMade.length > 0 ? 1 : 0;
    }
    if (!isIntentId(subject) && !isUuid(subject)) return misused(settleCommand, notId('join', subject));
    let notes: string[] | null;
    try {
      notes = await (isIntentId(subject) ? settlePayment : settleJoin)(deps, subject);
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      console.error(failureSentence(error));
      return 1;
    }
    if (notes === null) {
      console.error(`There is no join ${subject}.`);
      return 1;
    }
    console.log(notes.length > 0 ? notes.join('\n') : `${subject} is settled.`);
    return notes.length > 0 ? 1 : 0;
  },
};
