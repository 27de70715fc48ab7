import { displayPrice } from './money.ts';
import type { OrderLine } from './orderLine.ts';
import { isMembershipType } from './product.ts';

/**
 * The steps of a join: its start, and those that the database records. Steps recorded in the same transaction have the same time
 * and are shown in this order.
 */
export const storySteps = [
  'started',
  'contact_linked',
  'details_submitted',
  'details_corrected',
  'order_changed',
  'intent_opened',
  'intent_changed',
  'payment_begun',
  'order_reopened',
  'intent_succeeded',
  'intent_duplicate',
  'intent_canceled',
  'dispute_open',
  'dispute_lost',
  'dispute_over',
  'refund_asked',
  'refund_declined',
  'refund_decided',
  'refund_pending',
  'refund_succeeded',
  'refund_failed',
  'refund_canceled',
  'refund_assigned',
  'membership_active',
  'membership_disputed',
  'membership_refunded',
  'membership_charged_back',
  'membership_void',
  'paid',
  'upgrade_taken',
  'upgrade_skipped',
  'upgrade_reopened',
  'document_uploaded',
  'document_accepted',
  'document_rejected',
  'document_open',
  'shipped',
  'unshipped',
] as const;
export type StoryStep = (typeof storySteps)[number];

/**
 * Who caused a step. `induct`: the server itself, in background work. `record`: unknown, because the join was erased and the step
 * was derived from the rows that stay.
 */
export type StoryCause = 'joiner' | 'staff' | 'stripe' | 'induct' | 'record';

/** The details that the triggers of the migrations (`record_…_step`) write with a step. Amounts are in cents. */
export interface StoryDetail {
  origin?: string;
  /** The fields that were corrected. */
  fields?: readonly string[];
  programme?: string;
  revision?: number;
  /** The lines of an order, or the lines that a refund was for. */
  lines?: readonly Pick<OrderLine, 'productId' | 'type' | 'name' | 'priceCents'>[] | null;
  from?: string;
  intent?: string;
  kind?: string;
  cents?: number;
  reason?: string | null;
  type?: string;
  isFinal?: boolean;
  goods?: string;
  contact?: string;
}

export interface StoryEvent {
  at: Date;
  step: StoryStep;
  cause: StoryCause;
  actor: string | null;
  detail: StoryDetail | null;
}

export interface StoryLine {
  at: Date;
  text: string;
  /** Who caused the step, in words: "Stripe", "staff (NAME)" and so on. */
  by: string;
  isStaff: boolean;
  step: StoryStep;
}

/**
 * Returns the recorded steps of a join as sentences, in the order of time. Steps with the same time are sorted as in {@link
 * storySteps}. The sentence about a changed order names the changes.
 */
export function storyLines(events: readonly StoryEvent[]): StoryLine[] {
  const moments = Map.groupBy(events, ({ at }) => at.getTime()).values();
  const inOrder = [...moments].flatMap((moment) =>
    moment.toSorted((one, other) => storySteps.indexOf(one.step) - storySteps.indexOf(other.step)),
  );
  let order: NonNullable<StoryDetail['lines']> = [];
  return inOrder.map(({ at, step, cause, actor, detail }) => {
    const before = order;
    if (step === 'order_changed') order = detail?.lines ?? [];
    const text = step === 'order_changed' ? changeOf(before, order) : sentenceOf(step, detail ?? {}, cause);
    return { at, text, by: byWhom(cause, actor), isStaff: cause === 'staff', step };
  });
}

function changeOf(
  before: NonNullable<StoryDetail['lines']>,
  after: NonNullable<StoryDetail['lines']>,
): string {
  const has = (lines: typeof before, line: (typeof before)[number]) =>
    lines.some(({ productId, priceCents }) => productId === line.productId && priceCents === line.priceCents);
  const added = after.filter((line) => !has(before, line));
  const removed = before.filter((line) => !has(after, line));
  const replaced = removed.find(({ type }) => isMembershipType(type));
  const parts = [
    ...added.map((line) => {
      const what = `${line.name}, ${displayPrice(line.priceCents)}`;
      if (!isMembershipType(line.type)) return `added ${what}`;
      return replaced ? `membership changed from ${replaced.name} to ${what}` : `membership chosen: ${what}`;
    }),
    ...removed
      .filter((line) => line !== replaced || !added.some(({ type }) => isMembershipType(type)))
      .map(({ name }) => `removed ${name}`),
  ];
  const total = after.reduce((sum, { priceCents }) => sum + priceCents, 0);
  return `Order: ${parts.join('; ') || 'as before'}. Total ${displayPrice(total)}.`;
}

const origins: Record<string, string> = {
  invite: 'with a personal invite code',
  school: "with a school's code",
  self_nomination: 'by self-nomination',
  link: 'by a link',
  checkout: 'by a checkout link',
};

/** Returns how a join began, in words. */
export function originWords(origin: string): string {
  return origins[origin] ?? 'somehow';
}

function sentenceOf(
  step: Exclude<StoryStep, 'order_changed'>,
  detail: StoryDetail,
  cause: StoryCause,
): string {
  const money = displayPrice(detail.cents ?? 0);
  const intent = detail.intent ?? '';
  const what = detail.kind === 'upgrade' || detail.type === 'membership_upgrade' ? 'upgrade' : 'membership';
  const because = detail.reason ? ` (${detail.reason})` : '';
  switch (step) {
    case 'started':
      return `Started ${originWords(detail.origin ?? '')}, programme ${detail.programme}.`;
    case 'contact_linked':
      return cause === 'staff'
        ? `Linked to contact ${detail.contact}.`
        : `Its contact was merged in HubSpot and is contact ${detail.contact} now.`;
    case 'details_submitted':
      return 'Student details submitted.';
    case 'details_corrected':
      return `Corrected: ${(detail.fields ?? []).join(', ')}.`;
    case 'payment_begun':
      return 'Payment begun: the order is frozen.';
    case 'order_reopened':
      return detail.from === 'paid'
        ? 'No longer paid: the order is open again.'
        : 'The order is open again: the payment was not finished.';
    case 'paid':
      return 'The join is paid.';
    case 'upgrade_taken':
      return 'Upgrade taken.';
    case 'upgrade_skipped':
      return 'Upgrade skipped.';
    case 'upgrade_reopened':
      return 'The upgrade is on offer again.';
    case 'intent_opened':
      return `Payment intent ${intent} of ${money} opened for the ${what}.`;
    case 'intent_changed':
      return `Payment intent ${intent} is ${money} now.`;
    case 'intent_succeeded':
      return `${money} paid by ${intent}.`;
    case 'intent_canceled':
      return `Payment intent ${intent} cancelled.`;
    case 'intent_duplicate':
      return `${money} paid by ${intent}, which bought nothing.`;
    case 'dispute_open':
      return `The payer's bank disputes ${intent} and has its money for now.`;
    case 'dispute_lost':
      return `The dispute over ${intent} was lost.`;
    case 'dispute_over':
      return `The dispute over ${intent} is over: its money is back.`;
    case 'refund_asked':
      return `Asked for ${money} back.`;
    case 'refund_declined':
      return `The request for ${money} was declined.`;
    case 'refund_decided':
      return `Refund of ${money} of ${intent} decided${because}.`;
    case 'refund_pending':
      return `Refund of ${money} of ${intent} is on its way${because}.`;
    case 'refund_succeeded':
      return `${money} of ${intent} refunded${because}.`;
    case 'refund_failed':
      return `Refund of ${money} of ${intent} failed${because}.`;
    case 'refund_canceled':
      return `Refund of ${money} of ${intent} cancelled${because}.`;
    case 'refund_assigned': {
      const names = detail.lines?.map(({ name }) => name).join(' and ');
      return `Said of the refund of ${money} of ${intent}: it was for ${names || 'nothing that was bought'}.`;
    }
    case 'membership_active':
      return `The ${what} is active.`;
    case 'membership_disputed':
      return `The ${what} is disputed.`;
    case 'membership_refunded':
      return `The ${what} has ended: refunded.`;
    case 'membership_charged_back':
      return `The ${what} has ended: a dispute was lost.`;
    case 'membership_void':
      return `The ${what} has ended: nothing was paid for it.`;
    case 'document_uploaded':
      return `${detail.kind === 'resume' ? 'Resume' : 'Transcript'} uploaded.`;
    case 'document_accepted':
      return 'Transcript accepted.';
    case 'document_rejected':
      return `Transcript rejected${detail.isFinal ? ' finally' : ''}${because}.`;
    case 'document_open':
      return 'The decision on the transcript was taken back.';
    case 'shipped':
      return `${detail.goods} sent.`;
    case 'unshipped':
      return `${detail.goods} not sent after all.`;
  }
}

function byWhom(cause: StoryCause, actor: string | null): string {
  if (cause === 'staff') return `staff (${actor ?? 'unknown'})`;
  return { joiner: 'the joiner', stripe: 'Stripe', induct: 'Induct', record: 'from the rows' }[cause];
}
