import type { FastifyInstance } from 'fastify';
import { displayPrice } from '#core/money.ts';
import { isMembershipLine } from '#core/orderLine.ts';
import { isMembershipType } from '#core/product.ts';
import { refundPaid } from '../books/refundPaid.ts';
import { refundablePart, refundPayment } from '../books/refundPayment.ts';
import { previewSettlement, settleJoin } from '../books/settle.ts';
import {
  assignRefundLines,
  choicesOf,
  elsewhereSentence,
  FOR_NOTHING,
  readAssignable,
} from '../paying/refunds/assignRefund.ts';
import type { Given } from '../paying/refunds/giveBack.ts';
import type { RefundPreview } from '../paying/refunds/previewRefund.ts';
import { readRequest } from '../paying/refunds/readRequests.ts';
import { orStaysDue, StaysDue } from '../paying/refunds/refundJoin.ts';
import { consequenceLines, declineLines } from '../paying/refunds/refundLines.ts';
import { declineRequest, NO_OPEN_REQUEST } from '../paying/refunds/requestRefund.ts';
import { Failed } from '../platform/failed.ts';
import { dateOf } from '../society/texts.ts';
import type { Deps } from './deps.ts';
import { joinOf } from './joinOf.ts';
import { serveDesk } from './serve.ts';
import { type ActionContext, orRefused, serveAction } from './serveAction.ts';

export const NO_PAYMENT = 'There is no such payment.';
export const NO_REFUND = 'There is no such refund.';

/**
 * Serves the calls that refund money, decline refund requests, settle joins, and record what refunds from Stripe's dashboard and
 * lost disputes were for.
 */
export function refundRoutes(app: FastifyInstance, deps: Deps & { deskUrl: string }): void {
  const more = (preview: RefundPreview) => consequenceLines(preview, (time) => dateOf(deps.society, time));

  serveAction(
    app,
    deps,
    'refundJoin',
    {
      async preview(context) {
        const uuid = await joinOf(context.deps, context.params, context.body.join);
        const plan = await refundPaid(context.deps, uuid, wishOf(context), { isTrial: true });
        const { refunds, notes, kept, preview } = plan;
        const bare = kept.map((intentId) => `Payment ${intentId} bought nothing and is still with us.`);
        if (refunds.length === 0)
          throw new Failed([...notes, ...bare].join(' ') || 'Nothing is ticked that could go back.');
        const lines = refunds.flatMap(({ intentId, lines }) =>
          lines.map(({ name, cents }) => `${displayPrice(cents)} of ${name} ${toCard(preview, intentId)}`),
        );
        const total = refunds.reduce((sum, { amountCents }) => sum + amountCents, 0);
        return {
          lines: [...lines, ...more(preview), ...notes, ...bare],
          verb: `Refund ${displayPrice(total)}`,
          seen: { uuid, plan },
        };
      },
      async act(context, { uuid, plan }) {
        const refunded = refundPaid(context.deps, uuid, wishOf(context), { seen: plan });
        return { lines: await outcome(refunded.then(({ given }) => given!)) };
      },
    },
    ({ params }) => params.id,
  );

  serveAction(
    app,
    deps,
    'declineRefund',
    {
      async preview({ deps, params, body }) {
        const uuid = await joinOf(deps, params, body.join);
        const request = await readRequest(deps.database, uuid);
        if (!request?.isOpen) throw new Failed(NO_OPEN_REQUEST);
        const lines = declineLines(request, body.sentence, (time) => dateOf(deps.society, time));
        return { lines, verb: 'Decline', seen: uuid };
      },
      async act({ deps, body }, uuid) {
        await declineRequest(deps, uuid, body.sentence);
        return { lines: [] };
      },
    },
    ({ params }) => params.id,
  );

  serveAction(
    app,
    deps,
    'refundPayment',
    {
      async preview({ deps, params: { id } }) {
        const seen = await refundablePart(deps, id);
        const { cents, preview } = seen;
        if (cents === 0) throw new Failed(`All of payment ${id} has already gone back.`);
        const lines = [`${displayPrice(cents)} of payment ${id} ${toCard(preview, id)}`, ...more(preview)];
        return { lines, verb: `Refund ${displayPrice(cents)}`, seen };
      },
      async act({ deps, params: { id } }, seen) {
        return { lines: await outcome(refundPayment(deps, id, seen)) };
      },
    },
    ({ params }) => `payment ${params.id}`,
  );

  serveDesk(app, deps, 'getAssignments', async ({ params }) => {
    const assignable = await orRefused(deps, readAssignable(deps, params.id));
    const choices = choicesOf(assignable).map(({ names, lines }) => ({
      names,
      membership: lines.some(({ type }) => type === 'membership'),
      upgrade: lines.some(({ type }) => type === 'membership_upgrade'),
      items: lines.flatMap(({ type, productId }) => (isMembershipType(type) ? [] : [productId])),
    }));
    return { what: elsewhereSentence(assignable), amountCents: assignable.amountCents, choices };
  });

  serveAction(
    app,
    deps,
    'assignRefund',
    {
      async preview({ deps, params, body }) {
        const seen = await assignRefundLines(deps, params.id, body.for ?? 'none', { isTrial: true });
        const assignable = await readAssignable(deps, params.id);
        const ended = seen.lines.filter(({ line }) => isMembershipLine(assignable.order.lines[line]!));
        const names = (lines: typeof seen.lines) => lines.map(({ name }) => name).join(' and ');
        const lines = [
          elsewhereSentence(assignable),
          ...(seen.before === null
            ? []
            : [`Until now it was for ${names(seen.before) || 'nothing that was bought'}.`]),
          ...seen.lines.map(({ name, cents }) => `${displayPrice(cents)} was for ${name}.`),
          ...(seen.lines.length === 0 ? [`It was for ${FOR_NOTHING}.`] : []),
          ...ended.map(({ name }) => `Ends: ${name}.`),
        ];
        return { lines, verb: `Assign ${displayPrice(seen.amountCents)}`, seen };
      },
      async act({ deps, params, body }, seen) {
        await assignRefundLines(deps, params.id, body.for ?? 'none', { seen });
        return { lines: [] };
      },
    },
    ({ params }) => `refund ${params.id}`,
  );

  serveAction(
    app,
    deps,
    'settleJoin',
    {
      async preview({ deps, params, body }) {
        const uuid = await joinOf(deps, params, body.join);
        const payments = await previewSettlement(deps, uuid);
        if (payments.length === 0) throw new Failed('This join has no payment.');
        const lines = payments.map(
          ({ intentId, cents, here, atStripe }) =>
            `Payment ${intentId} of ${displayPrice(cents)}: ${here} here, ${atStripe ?? 'unknown'} at Stripe.`,
        );
        const what =
          'What succeeded at Stripe is confirmed here, what did not is given up, and refunds are read again.';
        return { lines: [...lines, what], verb: 'Settle', seen: uuid };
      },
      async act({ deps }, uuid) {
        const notes = await settleJoin(deps, uuid);
        return { lines: notes ?? [] };
      },
    },
    ({ params }) => params.id,
  );
}

function wishOf({ body: { membership, ineligible, upgrade, items } }: ActionContext<'refundJoin'>) {
  return { membership, ineligible: membership && ineligible, upgrade, items };
}

function toCard({ cards }: RefundPreview, intentId: string): string {
  const card = cards.find((each) => each.intentId === intentId)?.card;
  return card ? `to ${card.brand} ending in ${card.last4}.` : `to the card with which ${intentId} was paid.`;
}

/** Returns sentences about the outcome of refunds: made, waiting, or refused with Stripe's reason. */
async function outcome(refunded: Promise<Given>): Promise<string[]> {
  try {
    const { madeCents, waitingCents, refusedCents, notes, refused } = await orStaysDue(refunded);
    return [
      ...(madeCents > 0 ? [`Made: ${displayPrice(madeCents)}.`] : []),
      ...(waitingCents > 0 ? [`Waits: ${displayPrice(waitingCents)}.`] : []),
      ...notes,
      ...(refusedCents > 0 ? [`Refused: ${displayPrice(refusedCents)}.`] : []),
      ...refused,
    ];
  } catch (error) {
    if (error instanceof StaysDue) return [`Waits: ${error.message}`];
    throw error;
  }
}
