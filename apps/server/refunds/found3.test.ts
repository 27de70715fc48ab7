import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failRefund, refundsOf } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { openIntent, orderingJoin, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from '../payments/confirmPayment.ts';
import { refundCommand } from '../settlement/refundCommands.ts';

const server = await sharedServer();

test('of a join whose second payment came back from the bank, refund does not say that nothing was paid', async (t) => {
  const uuid = await orderingJoin(server.client(), 'HONOR104');
  const { id } = await openIntent(server.client(), uuid);
  await paidJoin(server, server.client(), 'HONOR104');
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await failRefund(server, id);
  assert.deepEqual(
    (await refundsOf(server, id)).map(({ status }) => status),
    ['failed'],
    'its $65.00 are with us',
  );
  const { out } = await runCommand(t, server, refundCommand, [uuid]);
  assert.doesNotMatch(out, /nothing was paid/);
});
