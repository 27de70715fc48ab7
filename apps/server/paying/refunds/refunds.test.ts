import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { RefundWish } from '#core/refunds.ts';
import { waiting } from '../../../../tests/harness/locks.ts';
import {
  atStripe,
  chargeOf,
  everything,
  membershipOnly,
  refundInDashboard,
  refundsOf,
  standingsOf,
  undergraduate,
} from '../../../../tests/harness/refunds.ts';
import { noticesOf, paymentRow } from '../../../../tests/harness/rows.ts';
import { newMember, newOrder, reportPayment } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { charge, upgradeIntentOf } from '../../../../tests/harness/upgrades.ts';
import { refundPayment } from '../../books/refundPayment.ts';
import { RefundRefused } from '../../providers/stripe/failures.ts';
import { confirmPayment } from '../confirmPayment.ts';
import { assignRefundLines } from './assignRefund.ts';
import { followPayment } from './followPayment.ts';
import { giveBack, nothingGiven, promiseRefund } from './giveBack.ts';
import { lockPaid, NotRefundable, refundJoin } from './refundJoin.ts';

const server = await sharedServer();

test('a payer who is not eligible gets the membership less the processing fee, once, however often it is asked', async () => {
  const { uuid, intentId } = await undergraduate(server);
  const wish = { ...membershipOnly, ineligible: true };
  const plans = await Promise.all(Array.from({ length: 6 }, () => refundJoin(server.deps, uuid, wish)));
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual(plans.map(({ refunds }) => refunds.length).sort(), [0, 0, 0, 0, 0, 1]);
  assert.deepEqual(await atStripe(server, intentId), [9000]);
  assert.deepEqual(await refundsOf(server, intentId), [
    { reason: 'ineligible', status: 'succeeded', amount_cents: 9000 },
  ]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
});

test('the fee is not taken from a pin when the membership has gone back in full before', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await refundJoin(server.deps, uuid, membershipOnly);
  await refundJoin(server.deps, uuid, { ...membershipOnly, ineligible: true, items: 'all' });
  assert.deepEqual(await atStripe(server, intentId), [1200, 9500]);
});

test('across both payments: the membership, the upgrade and the items, each only when asked for', async () => {
  const { client, uuid, intentId } = await undergraduate(server);
  const { client_secret: clientSecret } = await paymentRow(server, intentId);
  await reportPayment(client, uuid, { id: intentId, clientSecret });
  const charged = await charge(client, uuid, intentId);
  assert.equal(charged.data.status, 'succeeded');
  const upgrade = await upgradeIntentOf(server, uuid);
  const trial = await refundJoin(server.deps, uuid, everything, { isTrial: true });
  assert.deepEqual(
    trial.refunds.map(({ amountCents }) => amountCents),
    [10700, 5500],
  );
  assert.deepEqual([await atStripe(server, intentId), await atStripe(server, upgrade)], [[], []]);

  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: [30] });
  assert.deepEqual(await standingsOf(server, uuid), [
    { type: 'membership', standing: 'active' },
    { type: 'membership_upgrade', standing: 'active' },
  ]);
  await refundJoin(server.deps, uuid, { ...membershipOnly, upgrade: true });
  assert.deepEqual(
    [await atStripe(server, intentId), await atStripe(server, upgrade)],
    [[9500, 1200], [5500]],
  );
  assert.deepEqual(
    (await standingsOf(server, uuid)).map(({ standing }) => standing),
    ['refunded', 'refunded'],
  );
});

test('a join that is not paid, or not known, has nothing to refund', async () => {
  const { uuid } = await newOrder(server);
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), NotRefundable);
  await assert.rejects(
    refundJoin(server.deps, '00000000-0000-4000-8000-000000000000', membershipOnly),
    /There is no join/,
  );
});

test('while Stripe is down the refund is decided and the membership ends; the money follows when Stripe is back', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly));
  await server.stripeFault(null);
  assert.deepEqual(await refundsOf(server, intentId), [
    { reason: 'requested', status: 'due', amount_cents: 6500 },
  ]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  await giveBack(server.deps, intentId);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
});

test('a refund that Stripe made before the server died is not made again, even when its key is forgotten', async () => {
  const { uuid, intentId } = await undergraduate(server);
  // The pin costs less than half of the payment, so Stripe would accept the same refund twice.
  const pin: RefundWish = { ...membershipOnly, membership: false, items: [30] };
  // Each time, Stripe makes the refund, but the connection breaks before Stripe's answer arrives.
  await server.stripeFault({ kind: 'cut_after', method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, pin));
  await server.stripeFault(null);
  await sql`update refund set created_at = created_at - interval '1 day' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  // Another environment name changes the idempotency keys. Only reading Stripe's refunds first can then prevent a second refund.
  await giveBack({ ...server.deps, environment: 'forgotten' }, intentId);
  assert.deepEqual(await atStripe(server, intentId), [1200]);
  assert.deepEqual(
    (await refundsOf(server, intentId)).map(({ status }) => status),
    ['succeeded'],
  );
});

test('a refund that Stripe refuses for good is failed: the membership follows its money, and staff are told', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  // A dispute is opened after the refund was decided and before Stripe makes it.
  const deps = {
    ...server.deps,
    payments: {
      ...payments,
      async refund(refund: Parameters<typeof payments.refund>[0]) {
        await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
        return payments.refund(refund);
      },
    },
  };
  await refundJoin(deps, uuid, membershipOnly);
  assert.deepEqual(await refundsOf(server, intentId), [
    { reason: 'requested', status: 'failed', amount_cents: 6500 },
  ]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'disputed' }]);
  assert.match(
    (await noticesOf(server, uuid)).join('\n'),
    /Stripe refuses to refund payment pi_\w+ by \$65\.00: .*charged back/,
  );
});

test('an upgrade that is paid late, when its membership has been refunded, goes back', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('processing', { hold: true });
  await charge(client, uuid, intentId);
  await server.stripeControl('processing', { hold: false });
  const upgrade = await upgradeIntentOf(server, uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl(`payment_intents/${upgrade}/settle`, {});
  assert.equal(await confirmPayment(server.deps, upgrade), 'refunded');
  assert.deepEqual(await atStripe(server, upgrade), [4500]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
});

test('what was given back in the dashboard and not reported yet is not given back again, nor planned in a trial', async () => {
  const { uuid, intentId } = await undergraduate(server);
  const wish = { ...membershipOnly, ineligible: true };
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9500' });
  for (const isTrial of [true, false]) {
    const { refunds, notes } = await refundJoin(server.deps, uuid, wish, { isTrial });
    assert.deepEqual([refunds, notes], [[], ['Membership has already been refunded.']]);
  }
  assert.deepEqual(await atStripe(server, intentId), [9500]);
});

test('all that is left of a payment is what the dashboard has left of it', async () => {
  const { intentId } = await undergraduate(server);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9500' });
  assert.deepEqual(await refundPayment(server.deps, intentId), {
    ...nothingGiven(),
    cents: 1200,
    madeCents: 1200,
  });
  assert.deepEqual(await atStripe(server, intentId), [1200, 9500]);
});

test('all that is left is given back by its lines, so that the ledger knows for what', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await refundJoin(server.deps, uuid, membershipOnly);
  await refundPayment(server.deps, intentId);
  const { rows } = await sql<{ paid: number[]; back: number[] }>`
    select (select array_agg((line ->> 'line')::int order by (line ->> 'line')::int) from refund, jsonb_array_elements(lines) as line
        where intent_id = ${intentId}) as back,
      (select array_agg(place::int - 1 order by place) from order_snapshot, jsonb_array_elements(items) with ordinality as item (value, place)
        where session_uuid = ${uuid}) as paid`.execute(server.deps.database);
  assert.deepEqual(rows[0]!.back, rows[0]!.paid);
});

test('what is due already is not given back again with all that is left', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly));
  await server.stripeFault(null);
  await refundPayment(server.deps, intentId);
  assert.deepEqual(
    (await refundsOf(server, intentId)).map(({ amount_cents, status }) => [amount_cents, status]),
    [
      [9500, 'succeeded'],
      [1200, 'succeeded'],
    ],
  );
  assert.deepEqual((await atStripe(server, intentId)).sort(), [1200, 9500]);
});

test('while Stripe does not say what has gone back, nothing is planned, in a trial neither', async () => {
  const { uuid, intentId } = await undergraduate(server);
  for (const path of ['/v1/refunds', '/v1/payment_intents/*']) {
    await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path, times: 30 });
    for (const isTrial of path === '/v1/refunds' ? [true, false] : [])
      await assert.rejects(
        refundJoin(server.deps, uuid, membershipOnly, { isTrial }),
        (error) => error instanceof NotRefundable && /Stripe does not answer/.test(error.message),
      );
    await assert.rejects(refundPayment(server.deps, intentId), /Stripe does not answer/);
    await server.stripeFault(null);
  }
  assert.deepEqual(
    [await refundsOf(server, intentId), (await standingsOf(server, uuid))[0]?.standing],
    [[], 'active'],
  );
});

test('Stripe refuses a refund for good when the charge has nothing left for it, and only then', async () => {
  const { intentId } = await newMember(server, 'LINCOLN2026');
  const isFinal = async (amountCents: number) => {
    const refund = server.deps.payments.refund({
      intentId,
      amountCents,
      environment: server.deps.environment,
      uuid: null,
      decided: { reason: 'unconfirmed', lines: null },
      idempotencyKey: randomUUID(),
    });
    const error = await refund.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof RefundRefused ? error.isFinal : error;
  };
  assert.equal(await isFinal(6501), true, 'more than is left');
  await server.stripeControl('refunds', { answer: 'refused' });
  assert.equal(await isFinal(6500), false, 'the balance does not suffice');
  await server.stripeControl('refunds', { answer: 'succeeded' });
  assert.equal(await isFinal(6500), null);
  assert.equal(await isFinal(6500), true, 'refunded already');
  await followPayment(server.deps, intentId);
});

for (const [what, write] of [
  ['what Stripe tells of a payment', ({ intentId }) => followPayment(server.deps, intentId)],
  ['a refund that staff ask for', ({ uuid }) => refundJoin(server.deps, uuid, membershipOnly)],
  ['what staff say a refund was for', ({ refund }) => assignRefundLines(server.deps, refund, 'none')],
] as const satisfies [
  string,
  (join: { uuid: string; intentId: string; refund: string }) => Promise<unknown>,
][])
  test(`${what} waits for its join before it touches the payment`, async () => {
    const { uuid, intentId } = await newMember(server);
    const refund = await refundInDashboard(server, intentId, 1000);
    // Waits until the return page's background work has recorded the customer of the saved card. That work locks the payment for
    // a moment.
    const customer = server.deps.database
      .selectFrom('payment')
      .select('customer_id')
      .where('intent_id', '=', intentId);
    await until(async () => (await customer.executeTakeFirstOrThrow()).customer_id !== '');
    const { late } = await server.deps.database.transaction().execute(async (trx) => {
      await trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forNoKeyUpdate().execute();
      const late = write({ uuid, intentId, refund });
      await waiting(trx, 1);
      const payment = trx.selectFrom('payment').select('intent_id').where('intent_id', '=', intentId);
      assert.equal((await payment.forUpdate().noWait().execute()).length, 1);
      // In an object, since the transaction would await a bare promise, and `late` waits for the transaction.
      return { late };
    });
    await late;
  });

test('a refund is planned from what stands once the join is locked', async () => {
  const { uuid, intentId } = await newMember(server);
  const { read } = await server.deps.database.transaction().execute(async (trx) => {
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forUpdate().execute();
    const read = server.deps.database.transaction().execute((later) => lockPaid(server.deps, later, [uuid]));
    await waiting(trx, 1);
    await promiseRefund(trx, { intentId, amountCents: 6500, reason: 'requested' });
    return { read };
  });
  const { orders } = await read;
  assert.deepEqual(
    orders.flatMap(({ refunds }) => refunds.map(({ amountCents }) => amountCents)),
    [6500],
  );
});

test('the joins of one payer are locked in one order, whichever of them has changed', async () => {
  const person = { personalEmail: 'locked.in.order@example.com' };
  const joins = [];
  for (let n = 0; n < 2; n++) joins.push(await newMember(server, 'LINCOLN2026', person));
  const [first, second] = joins.sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  const { late } = await server.deps.database.transaction().execute(async (trx) => {
    const join = (uuid: string) => trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid);
    await join(first!.uuid).forUpdate().execute();
    const late = followPayment(server.deps, second!.intentId);
    await waiting(trx, 1);
    // Background work may hold a key share of the join, which does not conflict with a share.
    assert.equal((await join(second!.uuid).forShare().noWait().execute()).length, 1);
    return { late };
  });
  await late;
});
