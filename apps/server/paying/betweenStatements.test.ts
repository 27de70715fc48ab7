import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stateOf } from '../../../tests/harness/rows.ts';
import { beforeStatement } from '../../../tests/harness/statements.ts';
import {
  askIntent,
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, chargesOf, idOf, intentsOf } from '../../../tests/harness/upgrades.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();

type Answer = { status: number };

interface Ordered {
  client: Client;
  uuid: string;
  id: string;
  clientSecret: string;
  revision: number;
}

/** The page's calls that read or change an order. Each must answer 200 or 409, and must not open a second intent. */
const ordering: Record<string, (ordered: Ordered) => Promise<Answer>> = {
  submitDetails: ({ client, uuid }) =>
    client.call('submitDetails', { params: { uuid }, body: details({ city: 'Dallas' }) }),
  setMembership: ({ client, uuid }) =>
    client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } }),
  setSessionProduct: ({ client, uuid }) =>
    client.call('setSessionProduct', {
      params: { uuid },
      body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021' },
    }),
  getCheckoutDetails: ({ client, uuid }) => client.call('getCheckoutDetails', { params: { uuid } }),
  createPaymentIntent: ({ client, uuid }) => askIntent(client, uuid),
  beginPayment: ({ client, uuid, revision }) => beginPayment(client, uuid, revision),
  postPayment: ({ client, uuid, ...intent }) => reportPayment(client, uuid, intent),
  'postPayment of a failure': ({ client, uuid, ...intent }) => reportPayment(client, uuid, intent, 'failed'),
};

const upgrading: Record<string, (client: Client, uuid: string, intentId: string) => Promise<Answer>> = {
  createUpgradeCharge: (client, uuid, intentId) => charge(client, uuid, intentId),
  'createUpgradeCharge for another card': (client, uuid, intentId) =>
    charge(client, uuid, intentId, { charge: false }),
  getUpgradeDetails: (client, uuid) => client.call('getUpgradeDetails', { params: { uuid } }),
  skipUpgrade: (client, uuid) => client.call('skipUpgrade', { params: { uuid } }),
};

/** Pays an intent and confirms it, as another process does when Stripe's webhook arrives. */
async function pay(id: string): Promise<void> {
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
}

/** Runs `does` once for each of its SQL statements. The n-th run calls `happens` right before the n-th statement. */
async function beforeEachStatement(
  arrange: () => Promise<{ happens: () => Promise<unknown>; does: () => Promise<Answer> }>,
  check: (isReached: boolean, place: string) => Promise<void>,
): Promise<void> {
  for (let place = 1, isReached = true; isReached; place++) {
    const { happens, does } = await arrange();
    let status = 0;
    isReached = await beforeStatement(server, place, happens, async () => {
      ({ status } = await does());
    });
    assert.ok([200, 409].includes(status), `before statement ${place}: ${status}`);
    await check(isReached, `before statement ${place}`);
  }
}

for (const [name, call] of Object.entries(ordering))
  for (const isBegun of [true, false])
    test(`paid before any statement of ${name}, ${isBegun ? 'begun' : 'not yet begun'}, a join is paid once`, async () => {
      let uuid = '';
      await beforeEachStatement(
        async () => {
          const client = server.client();
          uuid = await orderingJoin(client);
          const intent = await openIntent(client, uuid);
          if (isBegun) await beginPayment(client, uuid, intent.revision);
          return { happens: () => pay(intent.id), does: () => call({ client, uuid, ...intent }) };
        },
        async (isReached, place) => {
          if (!isReached) return;
          const amounts = (await intentsOf(server, uuid)).map(({ amount, status }) => [amount, status]);
          assert.deepEqual([await stateOf(server, uuid), amounts], ['paid', [[6500, 'succeeded']]], place);
        },
      );
    });

for (const [name, call] of Object.entries(upgrading))
  test(`paid with another card before any statement of ${name}, there is one intent`, async () => {
    let uuid = '';
    await beforeEachStatement(
      async () => {
        const client = server.client();
        const paid = await paidJoin(server, client, 'LINCOLN2026');
        ({ uuid } = paid);
        const { clientSecret } = (await charge(client, uuid, paid.intentId, { charge: false })).data;
        return { happens: () => pay(idOf(clientSecret)), does: () => call(client, uuid, paid.intentId) };
      },
      async (isReached, place) => {
        if (!isReached) return;
        const [atStripe, joined] = await intentsOf(server, uuid);
        assert.deepEqual([atStripe?.amount, joined?.amount], [4500, 6500], place);
        assert.deepEqual(
          await chargesOf(server, uuid),
          [{ amount_cents: 4500, status: atStripe?.status }],
          place,
        );
      },
    );
  });
