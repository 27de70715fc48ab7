import type Stripe from 'stripe';

/**
 * The event types that webhook endpoints must receive (the doctor checks this). books/catchUp.ts polls for these types, and for
 * `payment_intent.created`.
 */
export const webhookEvents = [
  'payment_intent.succeeded',
  'payment_intent.payment_failed',
  'payment_intent.canceled',
  'charge.refunded',
  'charge.refund.updated',
  'refund.created',
  'refund.updated',
  'refund.failed',
  'charge.dispute.created',
  'charge.dispute.updated',
  'charge.dispute.closed',
  'charge.dispute.funds_withdrawn',
  'charge.dispute.funds_reinstated',
] as const satisfies readonly Stripe.Event['type'][];

export type WebhookEvent = (typeof webhookEvents)[number];
