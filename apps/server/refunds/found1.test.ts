import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf, membershipOnly, refundsOf, undergraduate } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { followPayment } from './followPayment.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer();

/** Lets Stripe end the waiting refund of a payment. */
async function endRefund(intentId: string, status: 'failed' | 'canceled'): Promise<void> {
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  const [{ id }] = (body as unknown as { data: [{ id: string }] }).data;
  await server.stripeControl(`refunds/${id}/settle`, { status });
  await followPayment(server.deps, intentId);
}

for (const status of ['failed', 'canceled'] as const)
  test(`staff hear of a refund of a pin that was decided, was on its way, and is ${status} at Stripe`, async () => {
    const { uuid, intentId } = await undergraduate(server);
    await server.stripeControl('refunds', { answer: 'requires_action' });
    await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: 'all' });
    await server.stripeControl('refunds', { answer: 'succeeded' });
    assert.deepEqual(
      (await refundsOf(server, intentId)).map((refund) => refund.status),
      ['pending'],
    );
    await endRefund(intentId, status);
    assert.deepEqual(
      (await refundsOf(server, intentId)).map((refund) => refund.status),
      [status],
    );
    const told = [
      ...(await noticesOf(server, uuid)),
      ...(await differencesOf(server, intentId)).map(({ text }) => text),
    ];
    assert.ok(
      told.some((text) => text.includes('$12.00') && text.includes('with us again')),
      `the $12.00 never reached the payer; staff read ${JSON.stringify(told)}`,
    );
  });
