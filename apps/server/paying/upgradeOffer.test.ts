import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { waiting } from '../../../tests/harness/locks.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { differencesOf, membershipOnly, undergraduate } from '../../../tests/harness/refunds.ts';
import {
  details,
  newMember,
  newOrder,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import {
  attemptsOf,
  beforeStripe,
  charge,
  chargesOf,
  idOf,
  intentsOf,
  membershipTypesOf,
} from '../../../tests/harness/upgrades.ts';
import { refundPayment } from '../books/refundPayment.ts';
import type { Tables } from '../platform/database/types.ts';
import { cancelIntent } from './cancelIntent.ts';
import { refundJoin } from './refunds/refundJoin.ts';

const server = await sharedServer();

test('the offer names the processing fee with which the membership was sold, whatever it is today', async () => {
  const { uuid, client } = await undergraduate(server);
  await sql`update order_snapshot set processing_fee_cents = 1234 where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.match(data.refundNote!, /less a \$12\.34 processing fee/);
});

test('the offer names its price and the card it would be charged to', async () => {
  const { client, uuid } = await newOrder(server);
  // The join also has a cancelled payment. The offer must show the card of the payment that succeeded, not that of the cancelled
  // one.
  await cancelIntent(server.deps, (await openIntent(client, uuid)).id);
  await payOrder(server, client, uuid);
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual(
    [data.isEligibleForUpgrade, data.upgradeOption?.displayPrice, data.card],
    [true, '$45.00', { brand: 'Visa', last4: '4242' }],
  );
  assert.equal(data.isSelfNomination, false);
  assert.ok(data.features.length > 0);
  assert.equal(data.goOn, '/registration/congratulations');
});

test('only the browser that paid is offered an upgrade and may buy it', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const other = server.client();
  assert.equal((await other.call('getUpgradeDetails', { params: { uuid } })).status, 404);
  assert.equal((await charge(other, uuid, intentId)).status, 404);
  assert.deepEqual(await chargesOf(server, uuid), []);
});

test('a card that was not kept is offered no upgrade', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await sql`update payment set saves_card = false where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual([data.isEligibleForUpgrade, data.upgradeOption, data.card], [false, null, null]);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.equal((await intentsOf(server, uuid)).length, 1);
});

test('half an hour after paying the offer is closed', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const isOffered = async (minutes: number) => {
    await sql`update join_session set paid_at = now() - make_interval(mins => ${minutes}::int) where uuid = ${uuid}`.execute(
      server.deps.database,
    );
    return (await client.call('getUpgradeDetails', { params: { uuid } })).data.isEligibleForUpgrade;
  };
  assert.deepEqual([await isOffered(29), await isOffered(31)], [true, false]);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
});

test('an upgrade is only offered while the membership that this join bought is active', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  for (const standing of ['disputed', 'refunded'] as const) {
    await server.deps.database
      .updateTable('membership')
      .set({ standing })
      .where('session_uuid', '=', uuid)
      .execute();
    const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
    assert.deepEqual([data.isEligibleForUpgrade, data.upgradeOption, data.card], [false, null, null]);
    assert.equal((await charge(client, uuid, intentId)).status, 409);
  }
  // The card form was opened before the membership was refunded. A payment by this form must now be refunded.
  await payByCard(server, idOf(clientSecret));
  const late = (await charge(client, uuid, intentId)).data;
  assert.equal(late.status, 'failed');
  assert.match(late.message ?? '', /is being refunded in full/);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'duplicate' }]);
});

test('an upgrade that a contact kept is not offered with the membership that they buy anew', async () => {
  const first = server.client();
  const kept = await paidJoin(server, first, 'HONOR104');
  assert.equal((await charge(first, kept.uuid, kept.intentId)).data.status, 'succeeded');
  await refundJoin(server.deps, kept.uuid, membershipOnly);
  const { client, uuid, intentId } = await newMember(server, 'HONOR104');
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(data.isEligibleForUpgrade, false);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
});

test('a self-nominator is sent to the transcript after the upgrade', async () => {
  const client = server.client();
  const uuid = (
    await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, isTOLA: false } })
  ).data.uuid;
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  await payOrder(server, client, uuid);
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.deepEqual(
    [data.isSelfNomination, data.upgradeOption?.displayPrice, data.goOn],
    [true, '$55.00', '/registration/upload-transcript'],
  );
});

test("the link's own offer (usp) replaces the catalogue's, and a bought upgrade is offered none", async () => {
  const pay = async (client: Client, body: object) => {
    const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
    const intent = await openIntent(client, uuid);
    await client.call('beginPayment', {
      params: { uuid },
      body: { revision: intent.revision, agreeToPolicies: true },
    });
    await payByCard(server, intent.id);
    await reportPayment(client, uuid, intent);
    return (await client.call('getUpgradeDetails', { params: { uuid } })).data;
  };
  const byLink = await pay(server.client(), {
    hubspotContactId: '103',
    mainProductId: 1,
    upsellProductId: 11,
  });
  assert.equal(byLink.upgradeOption?.productId, 11);
  const upgradeOnly = await pay(server.client(), { hubspotContactId: '105', mainProductId: 10 });
  assert.equal(upgradeOnly.isEligibleForUpgrade, false);
});

test('an upgrade that goes back leaves a member whom HubSpot knows a member', async () => {
  const { database } = server.deps;
  const isMember = () =>
    database
      .selectFrom('person')
      .select('is_member')
      .where('contact_id', '=', '105')
      .executeTakeFirstOrThrow();
  const bought = await database
    .selectFrom('membership')
    .select(['payment_intent', 'standing'])
    .where('person_id', '=', personId('105'))
    .execute();
  assert.deepEqual(
    [bought.length, bought[0]?.standing, (await isMember()).is_member],
    [1, 'active', true],
    'as the test before has sold it',
  );
  await refundPayment(server.deps, bought[0]!.payment_intent);
  const { standing } = await database
    .selectFrom('membership')
    .select('standing')
    .where('person_id', '=', personId('105'))
    .executeTakeFirstOrThrow();
  assert.deepEqual([standing, (await isMember()).is_member], ['refunded', true]);
});

test('an upgrade whose membership goes back while it is charged is told as one that goes back, now and later', async (t) => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  beforeStripe(server, t, 'confirmWithSavedCard', () => refundPayment(server.deps, intentId));
  const { data } = await charge(client, uuid, intentId);
  assert.deepEqual(
    [data.status, /Your payment is being refunded in full\.$/.test(data.message!)],
    ['failed', true],
  );
  const later = await charge(client, uuid, intentId);
  assert.deepEqual([later.status, later.message], [409, data.message]);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'duplicate' }]);
});

test('Skip is honored: the offer does not come back and nothing can be charged', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal(skipped.data.goOn, '/registration/congratulations');
  const { status, message } = await charge(client, uuid, intentId);
  assert.deepEqual([status, message], [409, 'This upgrade is no longer available, so nothing was charged.']);
  assert.equal((await charge(client, uuid, intentId, { charge: false })).status, 409);
  assert.deepEqual(await chargesOf(server, uuid), []);
});

test('Skip of an order that is not paid is refused, and the upgrade is offered once it is', async () => {
  const { client, uuid } = await newOrder(server);
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.deepEqual([skipped.status, skipped.goOn], [409, '/registration/checkout']);
  await payOrder(server, client, uuid);
  const { data } = await client.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(data.isEligibleForUpgrade, true);
});

test('Skip cancels an intent whose card form is still open in another tab', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal((await payByCard(server, idOf(clientSecret))).status, 400);
  assert.deepEqual(await attemptsOf(server, idOf(clientSecret)), []);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'canceled' }]);
});

test('Skip cancels the intent that is open, whatever became of an earlier one', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const open = async () => idOf((await charge(client, uuid, intentId, { charge: false })).data.clientSecret);
  await cancelIntent(server.deps, await open());
  const later = await open();
  assert.equal((await client.call('skipUpgrade', { params: { uuid }, body: {} })).status, 200);
  assert.equal((await payByCard(server, later)).status, 400);
  assert.deepEqual(
    (await chargesOf(server, uuid)).map(({ status }) => status),
    ['canceled', 'canceled'],
  );
});

test('Skip that finds the upgrade paid in that moment confirms it', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { clientSecret } = (await charge(client, uuid, intentId, { charge: false })).data;
  await payByCard(server, idOf(clientSecret));
  const skipped = await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.equal(skipped.data.goOn, '/registration/congratulations');
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'succeeded' }]);
  assert.deepEqual(await membershipTypesOf(server, uuid), ['membership', 'membership_upgrade']);
  // Skip is pressed in a tab that does not know yet that the upgrade was bought.
  assert.equal((await client.call('skipUpgrade', { params: { uuid }, body: {} })).status, 200);
  assert.deepEqual(await differencesOf(server, idOf(clientSecret)), []);
});

test('Skip cancels an intent that another tab opens in that moment', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const id = idOf((await charge(client, uuid, intentId, { charge: false })).data.clientSecret);
  const write = (database: Kysely<Tables>, status: 'open' | 'canceled') =>
    database.updateTable('payment').set({ status }).where('intent_id', '=', id).execute();
  // The intent's row is `canceled` for all others until the transaction below commits. This simulates a tab that opens the intent
  // only then.
  await write(server.deps.database, 'canceled');
  const { skipped } = await server.deps.database.transaction().execute(async (trx) => {
    await trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forUpdate().execute();
    const skipped = client.call('skipUpgrade', { params: { uuid }, body: {} });
    await waiting(trx, 1);
    await write(trx, 'open');
    return { skipped };
  });
  assert.equal((await skipped).status, 200);
  assert.equal((await payByCard(server, id)).status, 400);
  assert.deepEqual(await chargesOf(server, uuid), [{ amount_cents: 4500, status: 'canceled' }]);
});

test('Skip that is being written lets no intent be opened beside it', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { pressed } = await server.deps.database.transaction().execute(async (trx) => {
    await sql`update join_session set upgrade = 'skipped' where uuid = ${uuid}`.execute(trx);
    const pressed = charge(client, uuid, intentId);
    await waiting(trx, 1);
    return { pressed };
  });
  assert.equal((await pressed).status, 409);
  assert.deepEqual(await chargesOf(server, uuid), []);
});

for (const moment of ['createIntent', 'confirmWithSavedCard'] as const)
  test(`Skip pressed while Upgrade Now is under way charges nothing: before ${moment}`, async (t) => {
    const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
    beforeStripe(server, t, moment, () => client.call('skipUpgrade', { params: { uuid }, body: {} }));
    const pressed = await charge(client, uuid, intentId);
    assert.deepEqual([pressed.status, pressed.goOn], [409, '/registration/congratulations']);
    assert.deepEqual((await intentsOf(server, uuid)).map(({ status }) => status).sort(), [
      'canceled',
      'succeeded',
    ]);
    assert.deepEqual(await membershipTypesOf(server, uuid), ['membership']);
  });
