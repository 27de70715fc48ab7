import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { openIntent, orderingJoin, paidJoin, payByCard } from '../testing/steps.ts';
import { startTestServer, type TestServer } from '../testing/testServer.ts';

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

test('the receipt lists what was paid for the membership, the gifts and the upgrade, with its card', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: 7.5 } });
  const intent = await openIntent(client, uuid);
  await client.call('beginPayment', { params: { uuid }, body: { revision: intent.revision } });
  await payByCard(server, intent.id);
  const { id, clientSecret } = intent;
  await client.call('postPayment', {
    params: { uuid },
    body: { paymentIntent: id, paymentIntentClientSecret: clientSecret, redirectStatus: 'succeeded' },
  });
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: id, amount: 4500 } });
  const { receipt } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.equal(receipt?.name, 'Jordan Rivera');
  assert.deepEqual(
    receipt?.payments.map(({ lines, amount, refunded, card }) => ({ lines, amount, refunded, card })),
    [
      {
        lines: [
          { name: 'Membership', amount: 6500 },
          { name: 'Donation to scholarships', amount: 750 },
        ],
        amount: 7250,
        refunded: 0,
        card: { brand: 'Visa', last4: '4242' },
      },
      {
        lines: [{ name: 'Distinguished Member upgrade', amount: 4500 }],
        amount: 4500,
        refunded: 0,
        card: { brand: 'Visa', last4: '4242' },
      },
    ],
  );
  assert.equal(receipt?.payments[0]?.reference, id);
});

test('who only knows the id of a join sees neither its name nor its receipt', async () => {
  const { uuid } = await paidJoin(server, server.client());
  const { data } = await server.client().call('getWelcome', { params: { uuid } });
  assert.deepEqual([data.firstName, data.receipt], [null, null]);
});
