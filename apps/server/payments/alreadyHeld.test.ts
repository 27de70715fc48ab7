import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { lockHolder } from '../../../tests/harness/locks.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { confirmPayment } from './confirmPayment.ts';

/** Payments by contacts that already hold what they buy. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/** Makes a paid join whose contact staff made a member in HubSpot after Buy Now was pressed. */
async function paidMeanwhile(code: string) {
  const personalEmail = `${code.toLowerCase()}@example.com`;
  const id = await newContact(server, personalEmail, { invitation_code: code });
  const client = server.client();
  const uuid = await orderingJoin(client, code, { personalEmail });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  await editAtHubspot(server, id, { membership_status: 'member', membership_name: 'Paid by cheque' });
  await server.deps.contacts.refresh(id);
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  await deliver(server);
  return { id, uuid };
}

test('staff are told when the contact of a payment had become a member by hand since Buy Now', async () => {
  const { uuid } = await paidMeanwhile('CHEQUE1');
  const { status } = await server.deps.database
    .selectFrom('payment')
    .select('status')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const notices = await noticesOf(server, uuid);
  assert.equal(status, 'succeeded');
  assert.match(
    notices.join('\n'),
    /HubSpot already said that its contact \d+ is a member\. .* operator -- refund \S+ --upgrade --items all/,
  );
});

test('no card is saved for an upgrade that is not offered, since its contact holds one', async () => {
  const personalEmail = 'a5@example.com';
  await newContact(server, personalEmail, { invitation_code: 'REJOIN5' });
  const client = server.client();
  const first = await paidJoin(server, client, 'REJOIN5', { personalEmail });
  const charged = await client.call('createUpgradeCharge', {
    params: { uuid: first.uuid },
    body: { paymentIntent: first.intentId },
  });
  assert.equal(charged.data.status, 'succeeded');
  await refundJoin(server.deps, first.uuid, { ...everything, upgrade: false });
  await deliver(server);
  const again = server.client();
  const uuid = await orderingJoin(again, 'REJOIN5', { personalEmail });
  const intent = await openIntent(again, uuid);
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intent.id}`);
  await payOrder(server, again, uuid);
  const details = await again.call('getUpgradeDetails', { params: { uuid } });
  assert.equal(details.data.isEligibleForUpgrade, false);
  assert.equal((body as unknown as { setup_future_usage: string | null }).setup_future_usage, null);
});

test('a payment does not wait for another join of its payer that is locked, or the two could deadlock', async (t) => {
  const person = { personalEmail: 'ended.before@example.com' };
  const ended = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await refundJoin(server.deps, ended.uuid, everything);
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for update', [ended.uuid]);
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  assert.equal(await confirmPayment(server.deps, intentId), 'succeeded');
});
