import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { dump } from '../../../tests/harness/dump.ts';
import {
  atStripe,
  differencesOf,
  failRefund,
  lapelPin,
  refundsOf,
  standingsOf,
} from '../../../tests/harness/refunds.ts';
import { restored } from '../../../tests/harness/restored.ts';
import { noticesOf, staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  newOrder,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { cancelIntent } from '../paying/cancelIntent.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { catchUpOnEvents } from './catchUp.ts';

/** Tests orders whose last changes a restore or a failover has lost. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { settleMissing, openJoin, bookOf } = restored(server);

let donors = 0;

/** Makes a join whose order has lost a donation of $500 in a restore. */
async function withLostDonation() {
  const join = await openJoin('LINCOLN2026', { personalEmail: `donor${++donors}@example.com` });
  const restore = await dump(server);
  const { client, uuid } = join;
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '500.00' } });
  assert.equal((await openIntent(client, uuid)).amount, join.amount + 50000);
  await restore();
  return { ...join, restore };
}

test('an order that the backup has as it was before its last change is charged as it is shown, and staff read that its form is closed', async (t) => {
  const { client, uuid, ...before } = await withLostDonation();
  const { code, out } = await runCommand(t, server, 'settle', ['--missing']);
  assert.deepEqual(
    [code, out.split('\n').slice(1)],
    [0, ['1 payment form was open at Stripe for another order than in this database, and is closed.', '']],
  );
  const shown = await openIntent(client, uuid);
  assert.deepEqual([shown.amount, shown.id === before.id], [before.amount, false]);
  const { intentId } = await payOrder(server, client, uuid);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  assert.equal(body.amount_received, before.amount);
  assert.deepEqual(await differencesOf(server, uuid, before.id, intentId), []);
});

/** Makes a join whose order has lost its last change in a restore: the donation was replaced by a pin of the same price. */
async function withLostPin() {
  const { client, uuid } = await openJoin('LINCOLN2026');
  const { sessionProductUuid } = (
    await client.call('setCustomDonation', { params: { uuid }, body: { amount: '12.00' } })
  ).data;
  const before = await openIntent(client, uuid);
  const restore = await dump(server);
  await client.call('deleteSessionProduct', {
    params: { sessionProductUuid: sessionProductUuid! },
    body: {},
  });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  const after = await openIntent(client, uuid);
  assert.deepEqual([after.id, after.amount], [before.id, before.amount]);
  await restore();
  return { client, uuid, ...before };
}

test('an intent that was changed since the backup to another order of the same total is closed', async (t) => {
  const { client, uuid, id } = await withLostPin();
  await settleMissing(t);
  assert.notEqual((await openIntent(client, uuid)).id, id);
});

test('a payment of an order that is lost buys no other order, though its total is the same', async () => {
  const { client, uuid, id, revision, amount } = await withLostPin();
  await beginPayment(client, uuid, revision);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.deepEqual([await standingsOf(server, uuid), await atStripe(server, id)], [[], [amount]]);
});

test('an intent that was changed to a dearer order of the same number, in a history that is lost, is not charged', async (t) => {
  const { client, uuid, ...before } = await openJoin('LINCOLN2026');
  const toStandby = await dump(server, 'standby');
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  const inBackup = await openIntent(client, uuid);
  const toBackup = await dump(server);
  // A standby without the pin serves the join for a while. Then the backup with the pin is restored.
  await toStandby();
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '500.00' } });
  const lost = await openIntent(client, uuid);
  assert.deepEqual([lost.id, lost.revision], [before.id, inBackup.revision]);
  await toBackup();
  await settleMissing(t);
  const { intentId } = await payOrder(server, client, uuid);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  assert.equal(body.amount_received, inBackup.amount);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
});

test('an intent that was opened and changed since the backup is not opened again under its key', async (t) => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026');
  const restore = await dump(server);
  const lost = await openIntent(client, uuid);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '500.00' } });
  await openIntent(client, uuid);
  await restore();
  await settleMissing(t);
  assert.notEqual((await openIntent(client, uuid)).id, lost.id);
});

test('an intent that is open here for the order that Stripe has stays open', async (t) => {
  const { client, uuid, id } = await openJoin('LINCOLN2026');
  await settleMissing(t);
  assert.equal((await openIntent(client, uuid)).id, id);
});

test('staff give back all that is left of a payment whose order is lost, once, and the books say so', async (t) => {
  for (const inDashboard of [0, 4000]) {
    const { client, uuid } = await openJoin('LINCOLN2026');
    const restore = await dump(server);
    await client.call('setCustomDonation', { params: { uuid }, body: { amount: '35.00' } });
    const { intentId } = await payOrder(server, client, uuid);
    await restore();
    if (inDashboard > 0)
      await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: String(inDashboard) });
    const left = 10_000 - inDashboard;
    const told = () => runCommand(t, server, 'refund', [intentId]);
    assert.equal((await told()).out, `$${left / 100}.00 of ${intentId} goes back.\n`);
    assert.equal((await told()).out, `All of ${intentId} has already gone back.\n`);
    assert.deepEqual(await atStripe(server, intentId), inDashboard > 0 ? [left, inDashboard] : [left]);
    assert.deepEqual(
      (await refundsOf(server, intentId)).map(({ status, amount_cents }) => [status, amount_cents]),
      inDashboard > 0
        ? [
            ['succeeded', inDashboard],
            ['succeeded', left],
          ]
        : [['succeeded', left]],
    );
    const { payments, differences } = await bookOf([uuid], [intentId]);
    assert.deepEqual([payments.map(({ refunded_cents }) => refunded_cents), differences], [[10_000], []]);
  }
});

test('what staff give back of a payment whose order is lost is told to its payer, and to staff when the bank returns it', async (t) => {
  const { client, uuid } = await openJoin('LINCOLN2026');
  const restore = await dump(server);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '35.00' } });
  const intent = await openIntent(client, uuid);
  await payByCard(server, intent.id);
  await restore();
  await runCommand(t, server, 'refund', [intent.id]);
  const { data } = await reportPayment(client, uuid, intent);
  assert.deepEqual(
    [data.status, data.refunded?.amount, data.refunded?.isReturned],
    ['refunded', 10_000, true],
  );
  await failRefund(server, intent.id);
  const again = `npm run operator -- refund ${intent.id}`;
  assert.match(
    (await noticesOf(server, uuid)).at(-1)!,
    new RegExp(`^The refund of \\$100\\.00 .* failed: .* To decide it again: ${again}$`),
  );
});

test('who paid another amount than a database that lost the last change showed has it back, and can pay the order', async () => {
  const { client, uuid, id, ...shown } = await withLostDonation();
  // Simulates a failover that the servers did not notice: from here on, the database lacks the last change of the order.
  assert.equal((await openIntent(client, uuid)).id, id);
  await beginPayment(client, uuid, shown.revision);
  await payByCard(server, id);
  const { status, data } = await reportPayment(client, uuid, { id, ...shown });
  const back = shown.amount + 50000;
  assert.deepEqual(
    [status, data.status, data.refunded?.why, data.refunded?.amount, data.refunded?.isReturned],
    [200, 'refunded', 'other_amount', back, true],
  );
  assert.deepEqual(await atStripe(server, id), [back]);
  assert.deepEqual(await noticesOf(server, uuid), [
    `Payment ${id} took $565.00, while the order on the screen was $65.00. It goes back in full.`,
  ]);
  assert.deepEqual(await differencesOf(server, uuid, id), []);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  const letters = await server.deps.database
    .selectFrom('letter')
    .select('kind')
    .where('session_uuid', '=', uuid)
    .execute();
  assert.deepEqual(letters, [{ kind: 'refund' }]);
  const { intentId } = await payOrder(server, client, uuid);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual((await client.call('getWelcome', { params: { uuid } })).data.refunded, [
    { kind: 'join', why: 'other_amount', amount: back, isReturned: true, isWithStaff: false },
  ]);
  assert.deepEqual(await differencesOf(server, uuid, id, intentId), []);
});

test('staff who settle a payment of another amount than was shown give it back, too', async (t) => {
  const { client, uuid, id, ...shown } = await withLostDonation();
  await openIntent(client, uuid);
  await beginPayment(client, uuid, shown.revision);
  await payByCard(server, id);
  assert.equal((await runCommand(t, server, 'settle', [id])).code, 0);
  assert.deepEqual(await atStripe(server, id), [shown.amount + 50000]);
  assert.deepEqual(await standingsOf(server, uuid), []);
});

test('who had another amount back before a restore is no member after it either, and can pay the order', async (t) => {
  const { client, uuid, id, restore, ...shown } = await withLostDonation();
  await beginPayment(client, uuid, shown.revision);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  const lost = await bookOf([uuid], [id]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf([uuid], [id]), lost);
  await payOrder(server, client, uuid);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
});

test('what was charged before the order was begun here was paid as it was shown then, and is made again', async (t) => {
  const { client, uuid, id, ...shown } = await withLostDonation();
  await payByCard(server, id);
  await openIntent(client, uuid);
  await beginPayment(client, uuid, shown.revision);
  await sql`update join_session set paying_since = now() + interval '5 seconds' where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await assert.rejects(confirmPayment(server.deps, id), /not in this database/);
  assert.equal((await runCommand(t, server, 'settle', [id])).code, 0);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
});

test('an order that was changed after a declined card, and whose change is lost, is not taken for the one before it', async (t) => {
  const { client, uuid, id, revision } = await openJoin('LINCOLN2026');
  await beginPayment(client, uuid, revision);
  assert.equal((await payByCard(server, id, 'pm_card_chargeDeclined')).status, 402);
  const restore = await dump(server);
  await client.call('releasePayment', { params: { uuid }, body: {} });
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '25.00' } });
  const changed = await openIntent(client, uuid);
  assert.equal(changed.id, id);
  await beginPayment(client, uuid, changed.revision);
  await payByCard(server, id);
  await restore();
  await assert.rejects(confirmPayment(server.deps, id), /not in this database/);
  await settleMissing(t);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual(await atStripe(server, id), []);
});

const active = [{ type: 'membership', standing: 'active' }];

let payers = 0;

/**
 * Makes a join whose card is declined at $65.00, which the browser has not reported yet. In the tests, its joiner then adds a pin
 * ({@link addPin}) and pays the $77.00 that the page shows.
 */
async function declinedJoin() {
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, { personalEmail: `payer${++payers}@example.com` });
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id, 'pm_card_visa_chargeDeclined');
  return { client, uuid, intent };
}

/** Reports the declined card as the browser does, which reopens the order. */
async function reopen({ client, uuid, intent }: Awaited<ReturnType<typeof declinedJoin>>): Promise<void> {
  await reportPayment(client, uuid, intent, 'failed');
  await sql`update payment set looked_at = now() - interval '1 minute' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(await settlePaying(server.deps, uuid, 'failed'), 'ordering');
}

async function addPin(client: Client, uuid: string) {
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  return openIntent(client, uuid);
}

async function addPinAndPay(client: Client, uuid: string): Promise<string> {
  const intent = await addPin(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  return intent.id;
}

const outcomeOf = async (uuid: string, intentId: string) => [
  await standingsOf(server, uuid),
  await atStripe(server, intentId),
  await differencesOf(server, uuid, intentId),
];

test('a payment that is made again stays paid, however often it is confirmed, and no notice tells staff to give it back', async (t) => {
  const join = await declinedJoin();
  await reopen(join);
  const restore = await dump(server);
  const { uuid } = join;
  const intentId = await addPinAndPay(join.client, uuid);
  await restore();
  assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
  assert.deepEqual(await outcomeOf(uuid, intentId), [active, [], []]);
  assert.equal(await confirmPayment(server.deps, intentId), 'succeeded');
  assert.equal((await runCommand(t, server, 'settle', [intentId])).code, 0);
  // Lets the background work process once more the events that Stripe has had since the backup.
  for (let day = 0; day < 5; day++) {
    await sql`update schedule set due_at = now() - interval '1 second'`.execute(server.background);
    await sql`update event_retry set next_try_at = now(), created_at = created_at - interval '1 day'`.execute(
      server.background,
    );
    await catchUpOnEvents(server.deps);
  }
  assert.deepEqual(
    (await staffNotices(server)).filter((text) => text.includes(intentId)),
    [],
  );
  assert.deepEqual(await outcomeOf(uuid, intentId), [active, [], []]);
});

test('the command that reconcile names for such a payment makes its join a member', async (t) => {
  const join = await declinedJoin();
  // The backup has the join in the state `paying`.
  const restore = await dump(server);
  await reopen(join);
  const intentId = await addPinAndPay(join.client, join.uuid);
  await restore();
  const [difference] = await differencesOf(server, intentId);
  assert.match(difference!.repair, new RegExp(`settle ${intentId}$`));
  assert.equal((await runCommand(t, server, 'settle', [intentId])).code, 0);
  assert.deepEqual(await outcomeOf(join.uuid, intentId), [active, [], []]);
});

test('who is at their bank during the restore pays what their page shows, and is a member', async (t) => {
  const join = await declinedJoin();
  await reopen(join);
  const { client, uuid } = join;
  const intent = await addPin(client, uuid);
  // The backup has the order of $77.00 and its intent. It does not have the press of Buy Now for that order.
  const restore = await dump(server);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await restore();
  assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  assert.deepEqual(await outcomeOf(uuid, intent.id), [active, [], []]);
});

for (const isOtherForm of [false, true])
  test(`whose bank is deciding on the payment during the restore has paid what their page showed, and is a member${isOtherForm ? ', though the form was opened after the backup' : ''}`, async (t) => {
    const join = await declinedJoin();
    await reopen(join);
    const { client, uuid } = join;
    const before = await addPin(client, uuid);
    const restore = await dump(server);
    if (isOtherForm) await cancelIntent(server.deps, before.id);
    const { id, revision } = await openIntent(client, uuid);
    assert.equal(id !== before.id, isOtherForm);
    assert.equal((await beginPayment(client, uuid, revision)).status, 200);
    await server.stripeControl('processing', { hold: true });
    await payByCard(server, id);
    await server.stripeControl('processing', { hold: false });
    await restore();
    assert.equal((await runCommand(t, server, 'settle', ['--missing'])).code, 0);
    await server.stripeControl(`payment_intents/${id}/settle`, {});
    assert.equal(await confirmPayment(server.deps, id), 'succeeded');
    assert.deepEqual(await standingsOf(server, uuid), active);
    assert.deepEqual(await atStripe(server, id), []);
  });
