import { displayPrice } from '#core/money.ts';
import { notToldOfErased } from '#core/noticeSentence.ts';
import { isMembershipLine } from '#core/orderLine.ts';
import { acceptedWish } from '#core/refundRequest.ts';
import type { RefundPlan, RefundWish } from '#core/refunds.ts';
import { erasedJoins } from '../server/books/erasedJoins.ts';
import { refundPaid } from '../server/books/refundPaid.ts';
import { type RefundablePart, refundablePart, refundPayment } from '../server/books/refundPayment.ts';
import type { Deps } from '../server/deps.ts';
import { isIntentId } from '../server/paying/namedOrder.ts';
import {
  assignRefundLines,
  choicesOf,
  elsewhereSentence,
  FOR_NOTHING,
  readAssignable,
} from '../server/paying/refunds/assignRefund.ts';
import { listRequests, type RefundRequest, readRequest } from '../server/paying/refunds/readRequests.ts';
import { type JoinRefund, orStaysDue } from '../server/paying/refunds/refundJoin.ts';
import { declineLines, planLines, previewLines, totalLine } from '../server/paying/refunds/refundLines.ts';
import { declineRequest, NO_OPEN_REQUEST } from '../server/paying/refunds/requestRefund.ts';
import { Failed } from '../server/platform/failed.ts';
import { command, Misuse, requireThere } from './command.ts';
import { agree, day, print, printAll } from './print.ts';
import { joinName } from './sentences/notices.ts';
import { assignCommand, commandOf } from './sentences/remedies.ts';

interface Asking {
  yes: boolean;
  'dry-run': boolean;
}

export const refundCommands = [
  command({
    usage: 'refund assign REFUND [[--membership] [--upgrade] [--items PRODUCTS] | --none] [--yes]',
    args: ['REFUND'],
    flags: ['membership', 'upgrade', 'none', 'yes'],
    texts: { items: '[PRODUCTS]' },
    summary:
      "Say what a refund made in Stripe's dashboard, or a lost dispute, was for, by its id here or at Stripe (re_…, du_…): of the membership or the upgrade ends it; --none was for nothing that was bought, and everybody keeps what they have. It asks before (--yes: it does not). Without an option it lists what it may have been for, with the commands.",
    async run(deps, [refund], { membership, upgrade, items, none, yes }) {
      const isSomething = membership || upgrade || items !== undefined;
      if (none && isSomething) throw new Misuse();
      await printErased(deps, refund);
      if (!none && !isSomething) {
        printAssignable(await readAssignable(deps, refund));
        return;
      }
      const assignment = none ? 'none' : { membership, upgrade, items: items?.split(',').map(Number) ?? [] };
      const trial = yes ? null : await assignRefundLines(deps, refund, assignment, { isTrial: true });
      if (trial !== null) {
        const { order } = await readAssignable(deps, refund);
        print(`${displayPrice(trial.amountCents)} of ${trial.intentId} went back outside Induct.`);
        for (const { line, name } of trial.lines)
          if (isMembershipLine(order.lines[line]!)) print(`Ends: ${name}.`);
        await agree('Say that it was for this?', 'changed', { yes });
      }
      const seen = trial === null ? {} : { seen: trial };
      const { amountCents, intentId, lines } = await assignRefundLines(deps, refund, assignment, seen);
      for (const { name, cents } of lines) print(displayPrice(cents), name, `(${intentId})`);
      if (lines.length === 0)
        print(`${displayPrice(amountCents)} of ${intentId} was for nothing that was bought.`);
    },
  }),
  command({
    usage:
      'refund JOIN [--ineligible] [--upgrade] [--items all|PRODUCTS] [--no-membership] [--dry-run | --yes] | refund PAYMENT_INTENT [--dry-run | --yes]',
    args: ['PAYMENT_INTENT|JOIN'],
    flags: ['ineligible', 'upgrade', 'no-membership', 'dry-run', 'yes'],
    texts: { items: '[all|PRODUCTS]' },
    summary:
      'Give money back. Of a join: its membership, less the processing fee if its payer is --ineligible; the upgrade, donations and store items (PRODUCTS: ID,ID) only if asked for. Of a payment: all that is left. What would go back and what ends is shown first, and done when you agree (--yes: without asking; --dry-run: only shown). Asked twice, given once.',
    async run(deps, [subject], { ineligible, upgrade, items, 'no-membership': keepsMembership, ...asking }) {
      const isPayment = isIntentId(subject);
      if (isPayment && (ineligible || upgrade || items !== undefined || keepsMembership)) throw new Misuse();
      await printErased(deps, subject);
      const wish: RefundWish = {
        membership: !keepsMembership,
        ineligible,
        upgrade,
        items: items === undefined || items === 'all' ? (items ?? 'none') : items.split(',').map(Number),
      };
      return orStaysDue(
        isPayment ? refundOnePayment(deps, subject, asking) : refundJoin(deps, subject, wish, asking),
      );
    },
  }),
  command({
    usage: 'refunds asked',
    summary: 'The joins whose members ask for their money back and wait for an answer, the oldest first.',
    async run(deps) {
      const requests = await listRequests(deps.database);
      for (const { uuid, askedAt, amountCents, name } of requests)
        print(uuid, `since ${day(askedAt)}`, displayPrice(amountCents), name ?? 'unknown');
      print(`${requests.length} to answer.`);
    },
  }),
  command({
    usage: 'refunds accept JOIN [--dry-run | --yes]',
    args: ['JOIN'],
    flags: ['dry-run', 'yes'],
    summary:
      'Give back what a member asks for. What would go back and what ends is shown first, and done when you agree (--yes: without asking; --dry-run: only shown).',
    async run(deps, [uuid], asking) {
      const { asked } = await openRequest(deps, uuid);
      return orStaysDue(refundJoin(deps, uuid, acceptedWish(asked), asking));
    },
  }),
  command({
    usage: 'refunds decline JOIN --sentence TEXT [--dry-run | --yes]',
    args: ['JOIN'],
    flags: ['dry-run', 'yes'],
    texts: { sentence: 'TEXT' },
    summary:
      'Give nothing back of what a member asks for, and write them the sentence that says why. It is shown first, and done when you agree (--yes: without asking; --dry-run: only shown).',
    async run(deps, [uuid], { sentence, ...asking }) {
      printAll(declineLines(await openRequest(deps, uuid), sentence, day));
      await agree('Decline it?', 'declined', asking);
      await declineRequest(deps, uuid, sentence);
      print('It is declined.');
    },
  }),
];

/** Returns a join's refund request that waits for an answer. Throws {@link Failed} if there is none. */
async function openRequest(deps: Deps, uuid: string): Promise<RefundRequest> {
  await requireThere(deps, 'join', uuid);
  const request = await readRequest(deps.database, uuid);
  if (!request?.isOpen) throw new Failed(NO_OPEN_REQUEST);
  return request;
}

async function refundOnePayment(deps: Deps, intentId: string, asking: Asking): Promise<boolean> {
  let seen: RefundablePart | undefined;
  const allBack = `All of ${intentId} has already gone back.`;
  if (!asking.yes) {
    seen = await refundablePart(deps, intentId);
    const { cents, preview } = seen;
    if (cents > 0) printAll(previewLines(preview, day));
    print(cents > 0 ? `${displayPrice(cents)} of ${intentId} would go back.` : allBack);
    if (cents === 0) return true;
    await agree('Give it back?', 'refunded', asking);
  }
  const { cents, notes, refused } = await refundPayment(deps, intentId, seen);
  printAll([...notes, ...refused]);
  if (cents > 0) print(`${displayPrice(cents)} of ${intentId} goes back.`);
  else if (notes.length + refused.length === 0) print(allBack);
  return refused.length === 0;
}

async function refundJoin(deps: Deps, uuid: string, wish: RefundWish, asking: Asking): Promise<boolean> {
  if (asking.yes) return printPlan(await refundPaid(deps, uuid, wish), false);
  const seen = await refundPaid(deps, uuid, wish, { isTrial: true });
  printPlan(seen, true);
  if (seen.refunds.length === 0) return true;
  await agree('Give it back?', 'refunded', asking);
  return printPlan(await refundPaid(deps, uuid, wish, { seen }), false);
}

/** For each erased join that the command is about, prints that HubSpot cannot be updated for it any more. */
async function printErased({ database }: Deps, subject: string): Promise<void> {
  printAll((await erasedJoins(database, subject)).map((uuid) => notToldOfErased(joinName(uuid))));
}

/** Prints what a refund made outside Induct may have been for, each with the command that records it. */
function printAssignable(assignable: Awaited<ReturnType<typeof readAssignable>>): void {
  print(`${elsewhereSentence(assignable)} It may have been for:`);
  for (const { names, lines } of choicesOf(assignable))
    printAll([`  ${names}`, `    ${assignCommand(assignable.uuid, lines)}`]);
  printAll([`  ${FOR_NOTHING}`, `    ${assignCommand(assignable.uuid, 'none')}`]);
}

/**
 * Prints each planned refund, and then a sum: in a trial that of the plan, otherwise that of the refunds that Stripe has made.
 * Returns false if Stripe has refused a refund permanently.
 */
export function printPlan(
  plan: Pick<RefundPlan, 'refunds' | 'notes'> & Pick<JoinRefund, 'given' | 'preview'> & { kept?: string[] },
  isTrial: boolean,
): boolean {
  const { refunds, kept = [], given, preview } = plan;
  printAll(planLines(plan));
  for (const intentId of kept)
    print(
      `Payment ${intentId} bought nothing and is still with us: ${commandOf({ do: 'refund payment', intentId })}`,
    );
  const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
  const made = given?.cents ?? 0;
  if (isTrial) printAll([...previewLines(preview, day), totalLine(plan)]);
  else if (total === 0) print('$0.00 goes back: nothing of what was asked for is left to refund.');
  else print(`${displayPrice(made)} ${made === total ? '' : `of ${displayPrice(total)} `}goes back.`);
  return given === null || given.refused.length === 0;
}
