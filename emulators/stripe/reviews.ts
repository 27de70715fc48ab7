import type Stripe from 'stripe';
import { type Call, emit, require } from './call.ts';
import type { Charge } from './charges.ts';
import { refused } from './errors.ts';
import { newId } from './ids.ts';
import type { Intent } from './intent-states.ts';
import { page } from './lists.ts';
import { createRefund } from './refunds.ts';
import type { ApiObject } from './store.ts';

type Review = Stripe.Review & ApiObject;

/** How staff end a review in the dashboard. */
export const REVIEW_ENDINGS = ['approved', 'refunded', 'refunded_as_fraud'] as const;
export type ReviewEnding = (typeof REVIEW_ENDINGS)[number];

/** The name of the setting that decides whether Radar opens a review of each payment. */
export const REVIEWING = 'reviews';

/**
 * Opens a review: Radar asks a person to check a payment (https://docs.stripe.com/radar/reviews). The payment has already
 * succeeded, and the account has its money, since automatic captures are not held back.
 */
export function openReview(call: Call, intent: Intent, charge: Charge): Review {
  const review: Review = {
    id: newId('prv'),
    object: 'review',
    billing_zip: charge.billing_details.address?.postal_code ?? null,
    charge: charge.id,
    closed_reason: null,
    created: call.now,
    ip_address: null,
    ip_address_location: null,
    livemode: false,
    open: true,
    opened_reason: 'rule',
    payment_intent: intent.id,
    reason: 'rule',
    session: null,
  };
  call.store.insert(review);
  return review;
}

/** Ends a review. If it was not approved, its charge is refunded in full. */
export function closeReview(call: Call, id: string, reason: ReviewEnding): Review {
  const review = require<Review>(call, 'review', id, 'id');
  if (!review.open) throw refused('This review is already closed.');
  const closed: Review = { ...review, closed_reason: reason, open: false, reason };
  call.store.save(closed);
  const charge = require<Charge>(call, 'charge', review.charge as string, 'charge');
  call.store.save({ ...charge, review: null });
  const intent = require<Intent>(call, 'payment_intent', review.payment_intent as string, 'intent');
  call.store.save({ ...intent, review: null });
  if (reason !== 'approved') {
    const why = reason === 'refunded_as_fraud' ? { reason: 'fraudulent' } : {};
    createRefund({ ...call, params: { charge: charge.id, ...why } });
  }
  emit(call, 'review.closed', closed);
  return closed;
}

export function retrieveReview(call: Call): ApiObject {
  return require(call, 'review', call.ids.id!, 'id');
}

export function approveReview(call: Call): ApiObject {
  return closeReview(call, call.ids.id!, 'approved');
}

export function listReviews(call: Call): object {
  return page(call, 'review', '/v1/reviews', [{ sql: "json_extract(body, '$.open') = 1", values: [] }]);
}
