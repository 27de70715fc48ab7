import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { type StoryStep, storySteps } from '#core/story.ts';
import { newContact } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { chargeOf, membershipOnly } from '../../../tests/harness/refunds.ts';
import { runAsStaff, runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  nominatedOrder,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { settlePaying } from '../paying/settlePaying.ts';

const server = await sharedServer({}, { searchLagMs: 0 });

const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** Asserts that the steps of a join's story are in order of time. Returns them without their times. */
async function storyOf(t: TestContext, uuid: string): Promise<string[]> {
  const { out, code } = await runCommand(t, server, 'story', [uuid]);
  assert.equal(code, 0);
  const lines = out.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => line.slice(0, 19)).toSorted(),
    lines.map((line) => line.slice(0, 19)),
  );
  return lines.map((line) => line.slice(21).replaceAll(/pi_\w+/g, 'INTENT'));
}

async function stepsOf(uuid: string): Promise<StoryStep[]> {
  const { rows } = await sql<{ step: StoryStep }>`
    select step from join_event where session_uuid = ${uuid} order by id`.execute(server.deps.database);
  return rows.map(({ step }) => step);
}

async function order() {
  const client = server.client();
  const uuid = await nominatedOrder(client);
  return { client, uuid, params: { uuid } };
}

test('a join is told from its first step to what staff did of it, and by whom', async (t) => {
  const { client, uuid, params } = await order();
  await client.call('setMembership', { params, body: { membershipId: 2 } });
  await openIntent(client, uuid);
  const added = await client.call('setSessionProduct', { params, body: { productUuid: PIN } });
  const { sessionProductUuid } = added.data;
  await client.call('deleteSessionProduct', {
    params: { sessionProductUuid: sessionProductUuid! },
    body: {},
  });
  const { intentId } = await payOrder(server, client, uuid);
  await client.call('skipUpgrade', { params, body: {} });
  await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  await runAsStaff(t, server, 'Robin', 'documents accept', uuid);
  await runAsStaff(t, server, 'Robin', 'orders ship', uuid, '--note', 'TRACK 1');
  await runAsStaff(t, server, 'Alex', 'orders unship', uuid);
  await runAsStaff(t, server, 'Alex', 'refund', uuid);
  assert.deepEqual(await storyOf(t, uuid), [
    'Started by self-nomination, programme high-school.  the joiner',
    'Student details submitted.  the joiner',
    'Order: membership chosen: Membership, $65.00. Total $65.00.  the joiner',
    'Order: membership changed from Membership to Membership with Honor Cord, $89.00. Total $89.00.  the joiner',
    'Payment intent INTENT of $89.00 opened for the membership.  the joiner',
    'Order: added Lapel Pin, $12.00. Total $101.00.  the joiner',
    'Order: removed Lapel Pin. Total $89.00.  the joiner',
    'Payment begun: the order is frozen.  the joiner',
    '$89.00 paid by INTENT.  Stripe',
    'The membership is active.  Stripe',
    'The join is paid.  Stripe',
    'Upgrade skipped.  the joiner',
    'Transcript uploaded.  the joiner',
    'Transcript accepted.  staff (Robin)',
    'Honor Cord sent.  staff (Robin)',
    'Honor Cord not sent after all.  staff (Alex)',
    'Refund of $89.00 of INTENT decided (requested).  staff (Alex)',
    'The membership has ended: refunded.  staff (Alex)',
    '$89.00 of INTENT refunded (requested).  staff (Alex)',
  ]);
  assert.ok(intentId);
});

test('a payment that is left, disputes and refunds from the dashboard are steps too', async (t) => {
  const { client, uuid } = await order();
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id, 'pm_card_visa_chargeDeclined');
  assert.equal(await settlePaying(server.deps, uuid, 'failed'), 'ordering');
  assert.deepEqual((await stepsOf(uuid)).slice(2), ['intent_opened', 'payment_begun', 'order_reopened']);
  const { intentId } = await payOrder(server, client, uuid);
  const charge = await chargeOf(server, intentId);
  const dispute = await server.stripeControl('disputes', { charge });
  await followPayment(server.deps, intentId);
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  assert.deepEqual((await storyOf(t, uuid)).slice(-4), [
    "The payer's bank disputes INTENT and has its money for now.  Stripe",
    'The membership is disputed.  Stripe',
    'The dispute over INTENT was lost.  Stripe',
    'The membership has ended: a dispute was lost.  Stripe',
  ]);

  const other = await order();
  const paid = await payOrder(server, other.client, other.uuid);
  const refunded = await server.stripe('POST', '/v1/refunds', { payment_intent: paid.intentId });
  await followPayment(server.deps, paid.intentId);
  await server.stripeControl(`refunds/${refunded.body.id}/settle`, { status: 'failed' });
  await followPayment(server.deps, paid.intentId);
  assert.deepEqual((await storyOf(t, other.uuid)).slice(-4), [
    '$65.00 of INTENT refunded (dashboard).  Stripe',
    'The membership has ended: refunded.  Stripe',
    'Refund of $65.00 of INTENT failed (dashboard).  Stripe',
    'The membership is active.  Stripe',
  ]);
});

test('the first order of a join by a checkout link is told', async (t) => {
  const { data } = await server.client().call('initiateCheckout', { body: { hubspotContactId: '103' } });
  assert.deepEqual(await storyOf(t, data.joinSessionUuid), [
    'Started by a checkout link, programme high-school.  the joiner',
    'Order: membership chosen: Membership, $65.00. Total $65.00.  the joiner',
  ]);
});

/** Erases a join, as far as its story is concerned. */
async function eraseJoin(uuid: string): Promise<void> {
  const { database } = server.deps;
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(database);
  await sql`delete from join_event where session_uuid = ${uuid}`.execute(database);
}

test('of an erased join the rows tell what they know, and the record goes on', async (t) => {
  const { client, uuid } = await order();
  const { intentId } = await payOrder(server, client, uuid);
  await eraseJoin(uuid);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await followPayment(server.deps, intentId);
  assert.deepEqual(await storyOf(t, uuid), [
    'Started by self-nomination, programme high-school.  from the rows',
    'Payment intent INTENT of $65.00 opened for the membership.  from the rows',
    '$65.00 paid by INTENT.  from the rows',
    'The membership is active.  from the rows',
    'The join is paid.  from the rows',
    '$65.00 of INTENT refunded (dashboard).  Stripe',
    'The membership has ended: refunded.  Stripe',
  ]);
});

test('of an erased join, money that a bank took is not told as a refund', async (t) => {
  const { client, uuid } = await order();
  const { intentId } = await payOrder(server, client, uuid);
  const charge = await chargeOf(server, intentId);
  const dispute = await server.stripeControl('disputes', { charge });
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  await eraseJoin(uuid);
  assert.doesNotMatch((await storyOf(t, uuid)).join('\n'), /refund/i);
});

test('a merge in HubSpot is told as one, and not as a link by staff', async (t) => {
  const old = await newContact(server, 'merged.one@example.com', { invitation_code: 'MERGED01' });
  const other = await newContact(server, 'merged.two@example.com');
  const { uuid } = await paidJoin(server, server.client(), 'MERGED01', {
    personalEmail: 'merged.one@example.com',
  });
  const body = { primaryObjectId: other, objectIdToMerge: old };
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', body);
  await server.deps.contacts.refresh(id);
  assert.equal(
    (await storyOf(t, uuid)).at(-1),
    `Its contact was merged in HubSpot and is contact ${id} now.  Induct`,
  );
});

test('a refund that is dropped before Stripe was asked is not told as one that Stripe cancelled', async (t) => {
  const { client, uuid, params } = await order();
  await client.call('setSessionProduct', { params, body: { productUuid: PIN } });
  const { intentId } = await payOrder(server, client, uuid);
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'requires_action' });
  const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '1200' });
  await followPayment(server.deps, intentId);
  await server.stripeControl(`refunds/${body.id}/settle`, { status: 'canceled' });
  await followPayment(server.deps, intentId);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  assert.deepEqual(
    (await storyOf(t, uuid)).filter((line) => line.includes('cancelled')),
    [
      'Refund of $65.00 of INTENT cancelled (requested).  Induct',
      'Refund of $12.00 of INTENT cancelled (dashboard).  Stripe',
    ],
  );
});

test('every step that is recorded can be told, and none names a person', async () => {
  const { rows } = await sql<{ step: StoryStep; detail: string | null }>`
    select step, detail::text from join_event`.execute(server.deps.database);
  const { personalEmail, lastName, address1 } = details();
  for (const { step, detail } of rows) {
    assert.ok(storySteps.includes(step), step);
    for (const text of [personalEmail, lastName, address1, 'secret'])
      assert.ok(!detail?.includes(text), detail!);
  }
});
