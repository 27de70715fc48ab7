import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { RefundWish } from '#core/refunds.ts';
import { membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundCommand } from '../settlement/refundCommands.ts';
import { followPayment } from './followPayment.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer();

/**
 * Decides a refund that Stripe does not make yet, and gives $1.00 back in the dashboard meanwhile. Returns what the command says that
 * staff are told to decide the dropped refund by.
 */
async function decidedAgain(t: TestContext, wish: RefundWish): Promise<string> {
  const { uuid, intentId } = await undergraduate(server);
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, wish);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '100' });
  await followPayment(server.deps, intentId);
  const dropped = (await noticesOf(server, uuid)).find((notice) => notice.includes('is not made, because'));
  assert.ok(dropped);
  const [, args] = /operator -- refund (.*)$/.exec(dropped)!;
  const { code, out } = await runCommand(t, server, refundCommand, args!.split(' '));
  assert.equal(code, 0, out);
  return `${dropped}\n→ ${out}`;
}

test('the command that staff read of a dropped refund of a pin gives back no membership', async (t) => {
  const told = await decidedAgain(t, { ...membershipOnly, membership: false, items: 'all' });
  assert.match(told, /\$12\.00 would go back/);
});

test('the command that staff read of a dropped refund less the processing fee keeps the fee', async (t) => {
  const told = await decidedAgain(t, { ...membershipOnly, ineligible: true });
  assert.match(told, /\$90\.00 would go back/);
});
