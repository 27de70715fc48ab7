import { displayPrice } from '#core/money.ts';
import type { RefundPlan, RefundWish } from '#core/refunds.ts';
import { type Command, misused, readArgs } from '../command.ts';
import { isUuid } from '../database/isUuid.ts';
import { sayWhatFor } from '../refunds/assignRefund.ts';
import { NotRefundable, refundJoin, refundPayment } from '../refunds/refundJoin.ts';
import { NotAtStripe } from '../stripe/failures.ts';
import { NotRebuilt } from './rebuildJoin.ts';
import { keepReconciliation, reconcile } from './reconcile.ts';
import { settleJoin, settleMissing, settlePayment } from './settle.ts';

const NIGHTS_SHOWN = 14;
const isIntent = (text: string) => /^pi_[A-Za-z0-9_]+$/.test(text);

export const refundCommand: Command = {
  usage:
    'refund JOIN|PAYMENT_INTENT [--ineligible] [--upgrade] [--items all|ID,ID] [--no-membership] [--dry-run]',
  summary:
    'Give money back. Of a join: its membership, less the processing fee if its payer is --ineligible; the upgrade, donations and store items only if asked for. Of a payment: all that is left. Asked twice, given once.',
  async run(args, { deps }) {
    const read = readArgs(args, {
      ineligible: { type: 'boolean', default: false },
      upgrade: { type: 'boolean', default: false },
      items: { type: 'string' },
      membership: { type: 'boolean', default: true },
      'dry-run': { type: 'boolean', default: false },
    });
    if (read?.positionals.length !== 1) return misused(refundCommand);
    const [subject] = read.positionals as [string];
    const { 'dry-run': isTrial, items, ineligible, upgrade, membership } = read.values;
    const wanted = readItems(items);
    if (wanted === null || (!isIntent(subject) && !isUuid(subject))) return misused(refundCommand);
    try {
      if (isIntent(subject)) {
        if (args.length > 1) return misused(refundCommand);
        const { cents, notes } = await refundPayment(deps, subject);
        for (const note of notes) console.log(note);
        console.log(
          cents > 0
            ? `${displayPrice(cents)} of ${subject} goes back.`
            : `All of ${subject} has already gone back.`,
        );
        return 0;
      }
      const wish: RefundWish = { membership, ineligible, upgrade, items: wanted };
      tellPlan(await refundJoin(deps, subject, wish, { isTrial }), isTrial);
      return 0;
    } catch (error) {
      if (!(error instanceof NotRefundable || error instanceof NotAtStripe)) throw error;
      console.error(error.message);
      return 1;
    }
  },
};

/** Says line by line what goes back, or would. */
export function tellPlan({ refunds, notes }: Pick<RefundPlan, 'refunds' | 'notes'>, isTrial: boolean): void {
  for (const { intentId, lines } of refunds)
    for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
  for (const note of notes) console.log(note);
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  console.log(
    `${displayPrice(total)} ${isTrial ? 'would go back.' : total > 0 ? 'goes back.' : 'goes back: nothing is left to refund.'}`,
  );
}

export const refundAssignCommand: Command = {
  usage: 'refund assign REFUND [--membership] [--upgrade] [--items ID,ID] | --none',
  summary:
    "Say what a refund made in Stripe's dashboard was for, by its id here or at Stripe (re_…): of the membership or the upgrade ends it; --none was for nothing that was bought, and everybody keeps what they have.",
  async run(args, { deps }) {
    const read = readArgs(args, {
      membership: { type: 'boolean', default: false },
      upgrade: { type: 'boolean', default: false },
      items: { type: 'string' },
      none: { type: 'boolean', default: false },
    });
    const [refund = '', ...more] = read?.positionals ?? [];
    if (!read || more.length > 0 || !(isUuid(refund) || /^(re|pyr)_[A-Za-z0-9_]+$/.test(refund)))
      return misused(refundAssignCommand);
    const { membership, upgrade, items, none } = read.values;
    const ids = items === undefined ? [] : readItems(items);
    const isSomething = membership || upgrade || items !== undefined;
    if (ids === null || typeof ids === 'string' || none === isSomething) return misused(refundAssignCommand);
    try {
      const { amountCents, intentId, lines } = await sayWhatFor(
        deps,
        refund,
        none ? 'none' : { membership, upgrade, items: ids },
      );
      for (const { name, cents } of lines) console.log(`${displayPrice(cents)}  ${name}  (${intentId})`);
      if (lines.length === 0)
        console.log(`${displayPrice(amountCents)} of ${intentId} was for nothing that was bought.`);
      return 0;
    } catch (error) {
      if (!(error instanceof NotRefundable)) throw error;
      console.error(error.message);
      return 1;
    }
  },
};

function readItems(text: string | undefined): RefundWish['items'] | null {
  if (text === undefined) return 'none';
  if (text === 'all') return 'all';
  const ids = text.split(',').map((id) => id.trim());
  return ids.every((id) => /^[1-9]\d{0,8}$/.test(id)) ? ids.map(Number) : null;
}

export const reconcileCommand: Command = {
  usage: 'reconcile [--days N] [--history]',
  summary:
    'Compare money with members: Stripe, our payments, joins and memberships side by side (of the last N days, or all). Every difference with the command that repairs it. Exit status 1 when there is one. It also runs every night: --history shows what it found.',
  async run(args, { deps, database }) {
    const read = readArgs(args, { days: { type: 'string' }, history: { type: 'boolean', default: false } });
    const days = read?.values.days;
    if (!read || read.positionals.length > 0 || (days !== undefined && !/^[1-9]\d{0,4}$/.test(days)))
      return misused(reconcileCommand);
    if (read.values.history) {
      const nights = await database
        .selectFrom('reconciliation')
        .select(['finished_at', 'counts', 'differences'])
        .orderBy('id', 'desc')
        .limit(NIGHTS_SHOWN)
        .execute();
      for (const { finished_at, counts, differences } of nights) {
        console.log(
          `${finished_at.toISOString().slice(0, 16)}Z  ${differences.length} differences, ${counts.payments} payments`,
        );
        for (const { subject, text } of differences) console.log(`  ${subject}  ${text}`);
      }
      if (nights.length === 0) console.log('It has not run yet.');
      return nights[0] && nights[0].differences.length > 0 ? 1 : 0;
    }
    const startedAt = deps.now();
    const since = days === undefined ? null : new Date(startedAt.getTime() - Number(days) * 86_400_000);
    const { counts, differences } = await keepReconciliation(
      deps,
      await reconcile(deps, { since }),
      startedAt,
    );
    for (const { subject, text, repair } of differences) console.log(`${subject}\n  ${text}\n  ${repair}`);
    console.log(
      `${counts.intents} intents at Stripe, ${counts.payments} payments, ${counts.paidJoins} paid joins, ${counts.heldMemberships} memberships held; ` +
        `${displayPrice(counts.receivedCents)} received, ${displayPrice(counts.refundedCents)} refunded; ${differences.length} differences.`,
    );
    return differences.length > 0 ? 1 : 0;
  },
};

export const settleCommand: Command = {
  usage: 'settle PAYMENT_INTENT|JOIN | settle --missing',
  summary:
    'Bring a payment, or all payments of a join, to what Stripe says of them: confirm what succeeded, give up what did not. A join that was paid and is not in this database is made again from what Stripe knows; --missing: all such joins, as after a restore.',
  async run(args, { deps }) {
    const read = readArgs(args, { missing: { type: 'boolean', default: false } });
    const [subject = '', ...more] = read?.positionals ?? [];
    if (!read || more.length > 0) return misused(settleCommand);
    if (read.values.missing) {
      if (subject !== '') return misused(settleCommand);
      const { settled, notes } = await settleMissing(deps);
      for (const note of notes) console.log(note);
      console.log(
        `${settled.length} ${settled.length === 1 ? 'payment was' : 'payments were'} not in this database and ${settled.length === 1 ? 'is' : 'are'} now. Addresses, schools and documents are not among what Stripe knows.`,
      );
      return notes.length > 0 ? 1 : 0;
    }
    if (!isIntent(subject) && !isUuid(subject)) return misused(settleCommand);
    let notes: string[] | null;
    try {
      notes = await (isIntent(subject) ? settlePayment : settleJoin)(deps, subject);
    } catch (error) {
      if (!(error instanceof NotRebuilt)) throw error;
      console.error(error.message);
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
