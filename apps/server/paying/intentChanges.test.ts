import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { stateOf } from '../../../tests/harness/rows.ts';
import {
  askIntent,
  beginPayment,
  details,
  newIntent,
  newOrder,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import { cancelIntent } from './cancelIntent.ts';
import { confirmPayment } from './confirmPayment.ts';

const server = await sharedServer();

const presets = {
  25: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021',
  50: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0022',
} as const;

async function donate(client: Client, uuid: string, dollars: keyof typeof presets): Promise<string> {
  const body = { productUuid: presets[dollars] };
  return (await client.call('setSessionProduct', { params: { uuid }, body })).data.sessionProductUuid!;
}

async function atStripe(intentId: string) {
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  return body as unknown as {
    amount: number;
    status: string;
    setup_future_usage: string | null;
    description: string | null;
    metadata: Record<string, string>;
  };
}

/** Backdates the running change of the intent by 4 s, so that it counts as given up. */
async function ageChange(uuid: string): Promise<void> {
  await sql`
    update join_session set intent_changing_since = now() - interval '4 seconds'
    where uuid = ${uuid} and intent_changing_since is not null`.execute(server.deps.database);
}

/**
 * Holds back each update of an intent before it reaches Stripe. With `firstOnItsWayBack`, instead holds back Stripe's answer to
 * the first update. `arrived` resolves when an update is held back.
 */
function holdChanges(t: TestContext, { firstOnItsWayBack = false } = {}) {
  const { payments } = server.deps;
  const real = payments.updateIntent.bind(payments);
  const held: { letGo: () => void }[] = [];
  const waiting: (() => void)[] = [];
  const hold = () =>
    new Promise<void>((letGo) => {
      held.push({ letGo });
      waiting.shift()?.();
    });
  let isFirst = true;
  t.mock.method(payments, 'updateIntent', async (...args: Parameters<typeof real>) => {
    const isOnItsWayBack = isFirst && firstOnItsWayBack;
    isFirst = false;
    if (!isOnItsWayBack) await hold();
    const answer = await real(...args);
    if (isOnItsWayBack) await hold();
    return answer;
  });
  return {
    arrived: () =>
      held.length > 0
        ? Promise.resolve(held.shift()!)
        : new Promise<{ letGo: () => void }>((resolve) => waiting.push(() => resolve(held.shift()!))),
    end: () => t.mock.restoreAll(),
  };
}

for (const way of ['to Stripe', 'back from Stripe'])
  test(`a change held on its way ${way} leaves the mark of another one alone: what is begun is what is charged`, async (t) => {
    const { client, uuid, intent: first } = await newIntent(server);
    const changes = holdChanges(t, { firstOnItsWayBack: way === 'back from Stripe' });

    await donate(client, uuid, 25);
    const late = openIntent(client, uuid).catch(() => {});
    const lateAtStripe = await changes.arrived();
    await ageChange(uuid);
    const second = await openIntent(client, uuid);
    assert.notEqual(second.id, first.id);

    const line = await donate(client, uuid, 50);
    const dear = openIntent(client, uuid).catch(() => {});
    const dearAtStripe = await changes.arrived();
    lateAtStripe.letGo();
    await late;
    changes.end();

    await client.call('deleteSessionProduct', { params: { sessionProductUuid: line }, body: {} });
    await ageChange(uuid);
    const shown = await openIntent(client, uuid);
    assert.equal(shown.amount, 9000);
    assert.equal((await beginPayment(client, uuid, shown.revision)).status, 200);
    dearAtStripe.letGo();
    await dear;
    assert.equal((await atStripe(shown.id)).amount, 9000);
    await payByCard(server, shown.id);
    assert.equal((await reportPayment(client, uuid, shown)).data.status, 'succeeded');
  });

for (const [from, to] of [
  [1, 2],
  [2, 1],
] as const)
  test(`the card is saved only for a membership with an upgrade: ${from} chosen, then ${to}`, async (t) => {
    // Takes the upgrade of membership 2 out of the society file.
    changeSociety(t, server, (source) => source.replace(/(price: "89\.00"\n.*\n) *upgrade: 10\n/, '$1'));
    const { client, uuid } = await newOrder(server);
    const choose = (membershipId: number) =>
      client.call('setMembership', { params: { uuid }, body: { membershipId } });
    await choose(from);
    const { id } = await openIntent(client, uuid);
    assert.equal((await atStripe(id)).setup_future_usage, from === 1 ? 'on_session' : null);
    await choose(to);
    assert.equal((await openIntent(client, uuid)).id, id);
    assert.equal((await atStripe(id)).setup_future_usage, to === 1 ? 'on_session' : null);
    const { intentId } = await payOrder(server, client, uuid);
    const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
    assert.equal(data.isEligibleForUpgrade, to === 1);
    if (to === 1) {
      const bought = await charge(client, uuid, intentId);
      assert.equal(bought.data.status, 'succeeded');
    }
  });

test('the card is not saved once the membership is offered without its upgrade', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  changeSociety(t, server, (source) => source.replace(/(price: "65\.00"\n.*\n) *upgrade: 10\n/, '$1'));
  assert.equal((await openIntent(client, uuid)).id, id);
  assert.equal((await atStripe(id)).setup_future_usage, null);
});

test('the card is saved for the upgrade that a link offers', async (t) => {
  changeSociety(t, server, (source) => source.replace(/(price: "65\.00"\n.*\n) *upgrade: 10\n/, '$1'));
  const client = server.client();
  const body = { hubspotContactId: '103', mainProductId: 1, upsellProductId: 10 };
  const { data } = await client.call('initiateCheckout', { body });
  const { id } = await openIntent(client, data.joinSessionUuid);
  assert.equal((await atStripe(id)).setup_future_usage, 'on_session');
});

test('a failure that Stripe keeps under its key does not keep an order from being paid: the next press is a new attempt', async () => {
  const { client, uuid } = await newOrder(server);
  for (let time = 0; time < 2; time++) {
    await server.stripeFault({ kind: 'status_after', method: 'POST', path: '/v1/payment_intents' });
    const refused = await askIntent(client, uuid);
    assert.equal(refused.status, 503);
  }
  const { intentId } = await payOrder(server, client, uuid);
  assert.equal((await atStripe(intentId)).status, 'succeeded');
});

test('an intent says what it is for, in words for the receipt and in its metadata, as the order is now', async () => {
  const { client, uuid } = await newOrder(server);
  const line = await donate(client, uuid, 25);
  const { id } = await openIntent(client, uuid);
  const before = await atStripe(id);
  assert.match(before.description!, /: Membership \$65\.00; Donation to scholarships \$25\.00$/);
  assert.equal(
    before.metadata.lines,
    '1 membership 65.00 Membership\n21 donation 25.00 Donation to scholarships',
  );
  await client.call('deleteSessionProduct', { params: { sessionProductUuid: line }, body: {} });
  await openIntent(client, uuid);
  const after = await atStripe(id);
  assert.match(after.description!, /: Membership \$65\.00$/);
  assert.equal(after.metadata.lines, '1 membership 65.00 Membership');
});

test('an order that changed after the answer to its first intent was lost gets an intent of its own', async () => {
  const { client, uuid } = await newOrder(server);
  const path = '/v1/payment_intents';
  await server.stripeFault({ kind: 'cut_after', method: 'POST', path, times: 3 });
  const lost = await askIntent(client, uuid);
  await server.stripeFault(null);
  assert.equal(lost.status, 503);
  await donate(client, uuid, 25);
  const intent = await openIntent(client, uuid);
  const { amount, metadata } = await atStripe(intent.id);
  assert.deepEqual([amount, metadata.revision], [9000, String(intent.revision)]);
});

test('two tabs that open an intent at the same total get the same one, and it can be paid', async (t) => {
  const { client, uuid } = await newOrder(server);
  await cancelIntent(server.deps, (await openIntent(client, uuid)).id);
  const { payments } = server.deps;
  const make = payments.createIntent;
  const both = Promise.withResolvers<void>();
  let asked = 0;
  t.mock.method(payments, 'createIntent', async (...given: Parameters<typeof make>) => {
    if (++asked === 2) both.resolve();
    await both.promise;
    return make(...given);
  });
  const [one, other] = await Promise.all([openIntent(client, uuid), openIntent(client, uuid)]);
  assert.equal(one.id, other.id);
  assert.equal((await payByCard(server, one.id)).status, 200);
});

test('of two tabs that open the first intent at different totals, the later one is shown the total of the other', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { payments } = server.deps;
  const real = payments.createIntent.bind(payments);
  const made: string[] = [];
  let other: ReturnType<typeof openIntent> | undefined;
  t.mock.method(payments, 'createIntent', async (...args: Parameters<typeof real>) => {
    const isFirst = made.length === 0 && other === undefined;
    if (isFirst) {
      other = donate(client, uuid, 25).then(() => openIntent(client, uuid));
      await other;
    }
    const intent = await real(...args);
    made.push(intent.id);
    return intent;
  });
  const late = await askIntent(client, uuid);
  t.mock.restoreAll();
  const kept = await other!;
  assert.deepEqual([late.status, made.length], [409, 2]);
  assert.deepEqual(
    (await Promise.all(made.map(atStripe))).map(({ status, amount }) => [status, amount]),
    [
      ['requires_payment_method', 9000],
      ['canceled', 6500],
    ],
  );
  await beginPayment(client, uuid, kept.revision);
  assert.equal((await payByCard(server, kept.id)).status, 200);
});

test('nobody begins to pay an order whose intent is still for the one before', async () => {
  const { client, uuid } = await newOrder(server);
  const { id, revision } = await openIntent(client, uuid);
  await donate(client, uuid, 25);
  const refused = await beginPayment(client, uuid, revision + 1);
  assert.deepEqual(
    [refused.status, refused.message],
    [409, 'Your order has changed: the total is now $90.00. Please check it and try again.'],
  );
  assert.equal((await atStripe(id)).amount, 6500);
  assert.equal((await beginPayment(client, uuid, (await openIntent(client, uuid)).revision)).status, 200);
});

test('nobody begins to pay while the intent is being changed, even by a change of nothing but the email', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { revision } = await openIntent(client, uuid);
  const changes = holdChanges(t);
  const personalEmail = 'jordan.corrected@example.com';
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  const changing = openIntent(client, uuid);
  const atStripe = await changes.arrived();
  assert.equal((await beginPayment(client, uuid, revision)).status, 409);
  atStripe.letGo();
  await changing;
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
});

test('a look at a payment that came to nothing leaves the next one alone, however late it ends', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id, revision } = await openIntent(client, uuid);
  const release = () => client.call('releasePayment', { params: { uuid }, body: {} });
  await beginPayment(client, uuid, revision);
  await payByCard(server, id, 'pm_card_visa_chargeDeclined');

  const { payments } = server.deps;
  const real = payments.retrieveIntent.bind(payments);
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  t.mock.method(
    payments,
    'retrieveIntent',
    async (intentId: string) => {
      const intent = await real(intentId);
      asked.resolve();
      await answered.promise;
      return intent;
    },
    { times: 1 },
  );
  const late = release();
  await asked.promise;
  assert.equal((await release()).data.state, 'ordering');
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  answered.resolve();
  assert.equal((await late).data.state, 'paying');
  assert.equal(await stateOf(server, uuid), 'paying');
});

test('an intent that the account does not have, as after a change of keys, is given up for a new one when the order changes', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  const { database } = server.deps;
  await database.updateTable('payment').set({ intent_id: 'pi_other' }).where('intent_id', '=', id).execute();
  await donate(client, uuid, 25);
  const { amount, revision } = await openIntent(client, uuid);
  assert.equal(amount, 9000);
  const { rows } = await sql<{ status: string; is_other: boolean }>`
    select status, intent_id = 'pi_other' as is_other from payment where session_uuid = ${uuid} order by attempt`.execute(
    database,
  );
  assert.deepEqual(rows, [
    { status: 'canceled', is_other: true },
    { status: 'open', is_other: false },
  ]);
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
});

test('an order that is being paid answers with its intent as it is, whatever another tab knows of the receipt', async () => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await sql`update payment set receipt_email = 'before@example.com' where intent_id = ${intent.id}`.execute(
    server.deps.database,
  );
  assert.equal((await openIntent(client, uuid)).clientSecret, intent.clientSecret);
});

const statusOf = async (intentId: string) =>
  (
    await server.deps.database
      .selectFrom('payment')
      .select('status')
      .where('intent_id', '=', intentId)
      .executeTakeFirstOrThrow()
  ).status;
const open = async () => (await openIntent(server.client(), await orderingJoin(server.client()))).id;

test('an intent that was paid in this very moment is not written as cancelled, and is confirmed', async () => {
  const id = await open();
  await payByCard(server, id);
  assert.equal(await cancelIntent(server.deps, id), false);
  assert.equal(await statusOf(id), 'open');
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  assert.equal(await cancelIntent(server.deps, id), false);
  assert.equal(await statusOf(id), 'succeeded');
});

test('a payment that succeeded stays so with the keys of an account that does not know it', async (t) => {
  const id = await open();
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
  t.mock.method(server.deps.payments, 'cancelIntent', () =>
    Promise.reject(new NotAtStripe('No such intent', { cause: null })),
  );
  await cancelIntent(server.deps, id);
  assert.equal(await statusOf(id), 'succeeded');
});

test('an intent is written as cancelled when Stripe says so, and when Stripe knows none', async () => {
  const id = await open();
  assert.equal(await cancelIntent(server.deps, id), true);
  assert.equal(await statusOf(id), 'canceled');
  assert.equal(await cancelIntent(server.deps, 'pi_nobody'), true);
  const inDashboard = await open();
  await server.stripe('POST', `/v1/payment_intents/${inDashboard}/cancel`);
  assert.equal(await confirmPayment(server.deps, inDashboard), 'canceled');
  assert.equal(await statusOf(inDashboard), 'canceled');
});

test('while Stripe does not answer, nothing is written as cancelled', async () => {
  const id = await open();
  await server.stripeFault({
    kind: 'status',
    status: 500,
    path: `/v1/payment_intents/${id}/cancel`,
    times: 3,
  });
  await assert.rejects(cancelIntent(server.deps, id));
  await server.stripeFault(null);
  assert.equal(await statusOf(id), 'open');
});

test('a payment that the bank works on is not cancelled for a change of its order', async (t) => {
  const { client, uuid, intent } = await newIntent(server);
  const { id, revision } = intent;
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  await sql`update join_session set paying_since = now() - interval '1 hour' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const cancel = t.mock.method(server.deps.payments, 'cancelIntent');
  const body = { membershipId: 2 };
  assert.equal((await client.call('setMembership', { params: { uuid }, body })).status, 409);
  assert.equal(cancel.mock.callCount(), 0);
  const { data } = await reportPayment(client, uuid, intent);
  assert.deepEqual([data.status, data.goOn], ['processing', null], 'its page waits');
  assert.equal(await statusOf(id), 'open');
});
