import { differenceSentence } from '#core/differenceSentence.ts';
import type { Difference } from '#core/reconciliation.ts';
import type { RefundWish } from '#core/refunds.ts';
import { reconcile } from '../../apps/server/books/reconcile.ts';
import { confirmPayment } from '../../apps/server/paying/confirmPayment.ts';
import { followPayment } from '../../apps/server/paying/refunds/followPayment.ts';
import { commandOf } from '../../apps/staff/sentences/remedies.ts';
import { details, openIntent, payByCard } from './steps.ts';
import type { TestServer } from './testServer.ts';

export const membershipOnly: RefundWish = {
  membership: true,
  ineligible: false,
  upgrade: false,
  items: 'none',
};
/** The wish to refund everything that was paid, like `refund JOIN --upgrade --items all`. */
export const everything: RefundWish = { membership: true, ineligible: false, upgrade: true, items: 'all' };
/** The uuid of a store item in the catalogue. */
export const lapelPin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** Returns the amounts of an intent's refunds at Stripe, in cents. */
export async function atStripe(server: TestServer, intentId: string): Promise<number[]> {
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  return (body as unknown as { data: { amount: number }[] }).data.map(({ amount }) => amount);
}

/**
 * Makes a paid intent of $65.00 for an order that was not made on this server. `metadata` is added to the metadata that our server
 * gives every intent.
 */
export async function paidElsewhere(
  server: TestServer,
  metadata: { session?: string; revision?: string; lines?: string } = {},
): Promise<string> {
  const all = {
    app: 'induct',
    environment: server.deps.environment,
    session: '00000000-0000-4000-8000-000000000000',
    kind: 'join',
    revision: '1',
    ...metadata,
  };
  const { body } = await server.stripe('POST', '/v1/payment_intents', {
    amount: '6500',
    currency: 'usd',
    'allowed_payment_method_types[0]': 'card',
    ...Object.fromEntries(Object.entries(all).map(([name, value]) => [`metadata[${name}]`, value])),
  });
  await payByCard(server, body.id);
  return body.id;
}

/** Returns the standing of each membership that a join has bought, including its upgrade. */
export const standingsOf = ({ deps }: TestServer, uuid: string) =>
  deps.database
    .selectFrom('membership')
    .select(['type', 'standing'])
    .where('session_uuid', '=', uuid)
    .orderBy('id')
    .execute();

export const refundsOf = ({ deps }: TestServer, intentId: string) =>
  deps.database
    .selectFrom('refund')
    .select(['reason', 'status', 'amount_cents'])
    .where('intent_id', '=', intentId)
    .orderBy('created_at')
    .execute();

/**
 * Settles the last refund of a payment at Stripe. Then makes our server read the refund from Stripe (`followPayment`), as after a
 * webhook.
 */
export async function settleRefund(
  server: TestServer,
  intentId: string,
  status: 'succeeded' | 'failed' | 'canceled',
  reason?: string,
): Promise<void> {
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  const [last] = (body as unknown as { data: { id: string }[] }).data;
  await server.stripeControl(`refunds/${last!.id}/settle`, { status, reason });
  await followPayment(server.deps, intentId);
}

/** Makes the bank return the last refund of a payment, with Stripe's `failure_reason`; `unknown` if it is not given. */
export const failRefund = (server: TestServer, intentId: string, reason?: string) =>
  settleRefund(server, intentId, 'failed', reason);

/**
 * Refunds money of a payment in Stripe's dashboard, all of it by default, and makes our server read the refund, as after a
 * webhook.
 */
export async function refundInDashboard(
  server: TestServer,
  intentId: string,
  amountCents?: number,
): Promise<string> {
  const amount = amountCents === undefined ? {} : { amount: String(amountCents) };
  const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, ...amount });
  await followPayment(server.deps, intentId);
  return body.id;
}

export const chargeOf = async (server: TestServer, intentId: string) =>
  (await server.stripe('GET', `/v1/payment_intents/${intentId}`)).body.latest_charge as unknown as string;

/** Reconciles, and returns the differences about these payments. Payments of other tests on the same server are left out. */
export const differencesOf = async ({ deps }: TestServer, ...intentIds: string[]) =>
  (await reconcile(deps, { graceMinutes: 0 })).differences
    .filter(({ subject }) => intentIds.includes(subject))
    .map(asTold);

/** Returns a difference in the words that staff read: its sentence, and the command that repairs it. */
export function asTold(difference: Difference) {
  const { kind, subject, remedy } = difference;
  return { kind, subject, text: differenceSentence(difference), repair: commandOf(remedy) };
}

/** Makes a paid join in the undergraduate programme. Its order has the membership for $95.00 and a pin for $12.00. */
export async function undergraduate(server: TestServer) {
  const client = server.client();
  const started = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false },
  });
  const { uuid } = started.data;
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
  return { client, uuid, intentId: id };
}
