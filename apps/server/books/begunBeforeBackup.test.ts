import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { dump } from '../../../tests/harness/dump.ts';
import { atStripe, differencesOf, lapelPin, standingsOf } from '../../../tests/harness/refunds.ts';
import { toldStaff } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { cancelIntent } from '../paying/cancelIntent.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { settlePaying } from '../paying/settlePaying.ts';
import { catchUpOnEvents } from './catchUp.ts';

/**
 * Tests restores of a backup in which Buy Now was pressed at $65.00 and the card was declined. After the backup, the joiner added
 * a pin and paid the $77.00 that the page showed.
 */
const server = await sharedServer({}, { hubspotLimits: 'off' });

const active = [{ type: 'membership', standing: 'active' }];

let payers = 0;

/** Makes a join whose card is declined. The browser has not reported the decline yet. */
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
    (await toldStaff(server)).filter((text) => text.includes(intentId)),
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
