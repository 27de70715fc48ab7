import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atStripe, chargeOf, refundsOf } from '../../../tests/harness/refunds.ts';
import { openIntent, orderingJoin, paidJoin, payByCard } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from '../payments/confirmPayment.ts';
import { sendDue } from './sendLetters.ts';

const server = await sharedServer();

test('no letter says that a second payment goes back which Stripe refuses for good to give back', async () => {
  const personalEmail = 'second.disputed@example.com';
  const client = server.client();
  const uuid = await orderingJoin(client, 'HONOR103', { personalEmail });
  const { id } = await openIntent(client, uuid);
  await paidJoin(server, server.client(), 'HONOR103', { personalEmail });
  await payByCard(server, id);
  await server.stripeControl('disputes', { charge: await chargeOf(server, id) });
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.deepEqual(
    [(await refundsOf(server, id)).map(({ status }) => status), await atStripe(server, id)],
    [['failed'], []],
    'the bank has the money, and Stripe refunds nothing',
  );
  while (await sendDue(server.deps, server.deps.config.mail!));
  const untrue = (await server.letters())
    .map((letter) => JSON.stringify(letter).replaceAll('=\\r\\n', ''))
    .filter((text) => text.includes(personalEmail) && /bought nothing, so all of it goes back/.test(text));
  assert.deepEqual(untrue.length, 0, untrue.join('\n').slice(0, 2000));
});
