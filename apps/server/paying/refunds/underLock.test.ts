import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waiting } from '../../../../tests/harness/locks.ts';
import { membershipOnly } from '../../../../tests/harness/refunds.ts';
import { paidJoin } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { sayWhatFor } from './assignRefund.ts';
import { followPayment } from './followPayment.ts';
import { promiseRefund } from './giveBack.ts';
import { lockPaid, refundJoin } from './refundJoin.ts';

/** Tests that all writes about a join's money are sequential, whichever caller makes them. */
const server = await sharedServer();

for (const [what, write] of [
  ['what Stripe tells of a payment', ({ intentId }) => followPayment(server.deps, intentId)],
  ['a refund that staff ask for', ({ uuid }) => refundJoin(server.deps, uuid, membershipOnly)],
  ['what staff say a refund was for', ({ refund }) => sayWhatFor(server.deps, refund, 'none')],
] as const satisfies [
  string,
  (join: { uuid: string; intentId: string; refund: string }) => Promise<unknown>,
][])
  test(`${what} waits for its join before it touches the payment`, async () => {
    const { uuid, intentId } = await paidJoin(server, server.client());
    const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '1000' });
    await followPayment(server.deps, intentId);
    // Waits until the return page's background work has recorded the customer of the saved card. That work locks the payment for
    // a moment.
    const customer = server.deps.database
      .selectFrom('payment')
      .select('customer_id')
      .where('intent_id', '=', intentId);
    await until(async () => (await customer.executeTakeFirstOrThrow()).customer_id !== '');
    const { late } = await server.deps.database.transaction().execute(async (trx) => {
      await trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forNoKeyUpdate().execute();
      const late = write({ uuid, intentId, refund: body.id });
      await waiting(trx, 1);
      const payment = trx.selectFrom('payment').select('intent_id').where('intent_id', '=', intentId);
      assert.equal((await payment.forUpdate().noWait().execute()).length, 1);
      // In an object, since the transaction would await a bare promise, and `late` waits for the transaction.
      return { late };
    });
    await late;
  });

test('a refund is planned from what stands once the join is locked', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client());
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
  for (let n = 0; n < 2; n++) joins.push(await paidJoin(server, server.client(), 'LINCOLN2026', person));
  const [first, second] = joins.sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  const { late } = await server.deps.database.transaction().execute(async (trx) => {
    const lock = (uuid: string) =>
      trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forUpdate();
    await lock(first!.uuid).execute();
    const late = followPayment(server.deps, second!.intentId);
    await waiting(trx, 1);
    assert.equal((await lock(second!.uuid).noWait().execute()).length, 1);
    return { late };
  });
  await late;
});
