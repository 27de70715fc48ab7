import assert from 'node:assert/strict';
import type Stripe from 'stripe';
import type { OrderLine } from '#core/orderLine.ts';
import { reconcile } from '../../apps/server/books/reconcile.ts';
import { assignRefundLines } from '../../apps/server/paying/refunds/assignRefund.ts';
import { refundJoin } from '../../apps/server/paying/refunds/refundJoin.ts';
import { keepApart } from '../../apps/server/people/mergePersons.ts';
import { Refusal } from '../../apps/server/platform/http/refusal.ts';
import type { Person } from './person.ts';
import type { World } from './world.ts';

/**
 * Plays the evening after the joins, as each person's plan says in `aftermath` (plan.ts): staff refund the person's payment in
 * Stripe's dashboard, or the bank disputes it. Resolves with a function that plays the next day, in which the bank returns a
 * refund, or decides a dispute or an inquiry.
 */
export async function spendTheEvening(world: World, people: readonly Person[]): Promise<() => Promise<void>> {
  const charges = await world.everything<Stripe.Charge>('charges');
  const untouched = new Map(
    charges
      .filter(
        ({ status, amount_refunded, disputed }) =>
          status === 'succeeded' && amount_refunded === 0 && !disputed,
      )
      .map((charge) => [String(charge.payment_intent), charge]),
  );
  const nextDay: (() => Promise<unknown>)[] = [];
  for (const person of people) {
    const { aftermath } = person.join;
    // A charge that failed, or that was refunded or disputed already, is not in `untouched`: nothing more happens to it.
    const charge = untouched.get(person.screen?.intentId ?? '');
    if (!aftermath || !charge) continue;
    const refund = (form: Record<string, string> = {}) =>
      world.stripe<{ id: string }>('POST', '/v1/refunds', {
        payment_intent: String(charge.payment_intent),
        ...form,
      });
    switch (aftermath) {
      case 'refunded':
        await refund();
        break;
      case 'refundFailed': {
        const { id } = await refund();
        nextDay.push(() => world.bank(`refunds/${id}/settle`, { status: 'failed' }));
        break;
      }
      case 'itemReturned':
      case 'itemReturnedInOutage': {
        const item = await itemOf(world, charge);
        if (!item) break;
        if (aftermath === 'itemReturnedInOutage') await askInVain(world, charge, item);
        const { id } = await refund({ amount: String(item.priceCents) });
        person.returned = { refundId: id, productId: item.productId, cents: item.priceCents };
        break;
      }
      case 'inquired':
      case 'inquiryEscalated': {
        const { id } = await world.bank('disputes', { charge: charge.id, isInquiry: true });
        const decides = aftermath === 'inquired' ? 'close' : 'escalate';
        nextDay.push(() => world.bank(`disputes/${id}/${decides}`, { status: 'warning_closed' }));
        break;
      }
      default: {
        const { id } = await world.bank('disputes', { charge: charge.id });
        const status = aftermath === 'disputeWon' ? 'won' : 'lost';
        if (aftermath !== 'disputed') nextDay.push(() => world.bank(`disputes/${id}/close`, { status }));
      }
    }
  }
  return async () => {
    for (const happens of nextDay) await happens();
  };
}

/**
 * Makes staff ask for a refund while Stripe cannot be reached. The refund stays due. The caller then refunds the same item in
 * Stripe's dashboard.
 */
async function askInVain(
  world: World,
  { payment_intent, metadata }: Stripe.Charge,
  { productId }: OrderLine,
): Promise<void> {
  const { deps } = world.wired;
  // Staff cannot ask for a refund while our server does not know yet that the payment succeeded.
  const { rows } = await world.database.query(
    `select from payment where intent_id = $1 and status = 'succeeded'`,
    [payment_intent],
  );
  if (rows.length === 0) return;
  await world.addFault({
    kind: 'cut',
    method: 'POST',
    path: '/v1/refunds',
    about: String(payment_intent),
    times: 9,
  });
  await assert.rejects(
    refundJoin(deps, metadata.session!, {
      membership: false,
      ineligible: false,
      upgrade: false,
      items: [productId],
    }),
    Refusal,
  );
  await world.clearFaults();
}

/** Returns a donation or store item of the order that a charge paid for. */
async function itemOf(world: World, { metadata }: Stripe.Charge): Promise<OrderLine | undefined> {
  const { rows } = await world.database.query<{ items: OrderLine[] }>(
    `select items from order_snapshot where session_uuid = $1 and kind = 'join' and revision = $2`,
    [metadata.session, metadata.revision],
  );
  return rows[0]?.items.find(({ type }) => type !== 'membership' && type !== 'membership_upgrade');
}

/**
 * Does what staff have to do after reconciling: says which item each refund of a returned item was for, and refunds an upgrade
 * whose membership has ended. Keeps apart persons who are likely the same, because in this run they are always different people.
 */
export async function doAsStaff(
  { wired: { deps }, database }: World,
  people: readonly Person[],
): Promise<void> {
  for (const person of people) {
    const { returned } = person;
    if (!returned) continue;
    const { lines } = await deps.database
      .selectFrom('refund')
      .select('lines')
      .where('stripe_id', '=', returned.refundId)
      .executeTakeFirstOrThrow();
    if (lines === null)
      await assignRefundLines(deps, returned.refundId, {
        membership: false,
        upgrade: false,
        items: [returned.productId],
      });
  }
  const { differences } = await reconcile(deps, { graceMinutes: 0 });
  for (const { kind, subject, params } of differences) {
    if (kind === 'upgrade_alone')
      await refundJoin(deps, subject, { membership: false, ineligible: false, upgrade: true, items: 'none' });
    if (kind === 'likely_same') {
      const { rows } = await database.query<{ person_id: number }>(
        'select person_id from join_session where uuid = any($1)',
        [[subject, params.other]],
      );
      await keepApart(deps, rows[0]!.person_id, rows[1]!.person_id);
    }
  }
}
