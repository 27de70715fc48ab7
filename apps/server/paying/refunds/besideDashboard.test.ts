import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import type { RefundWish } from '#core/refunds.ts';
import { deliver, newContact } from '../../../../tests/harness/deliver.ts';
import {
  atStripe,
  membershipOnly,
  refundInDashboard,
  standingsOf,
  undergraduate,
} from '../../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  newIntent,
  newMember,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
} from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { catchUpOnEvents } from '../../books/catchUp.ts';
import { readLedger } from '../../books/readLedger.ts';
import { refundPayment } from '../../books/refundPayment.ts';
import { sweepPayments, sweepRefunds } from '../../books/sweep.ts';
import { confirmPayment } from '../confirmPayment.ts';
import { followPayment } from './followPayment.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/** These tests make our own refunds and refunds in Stripe's dashboard for the same payment. */

const product = (number: number) => `0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f00${number}`;

for (const parts of [[6500], [6500, 1200]])
  test(`what waits to go back is not given a second time when staff give ${parts.join(' and ')} cents of it back in the dashboard`, async (t) => {
    const client = server.client();
    const uuid = await orderingJoin(client, 'LINCOLN2026', {
      personalEmail: `due${parts.length}@example.com`,
    });
    for (const number of [30, 31, 32])
      await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: product(number) } });
    const { intentId } = await payOrder(server, client, uuid);
    await server.stripeControl('refunds', { answer: 'refused' });
    const { out } = await runCommand(t, server, 'refund', [uuid, '--items', '30']);
    assert.match(out, /\$77\.00 stays due/);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    for (const amount of parts) {
      await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: String(amount) });
      await followPayment(server.deps, intentId);
    }
    await sql`update refund set next_try_at = now() where status = 'due'`.execute(server.deps.database);
    await sweepRefunds(server.deps);
    const back = (await atStripe(server, intentId)).reduce((sum, cents) => sum + cents, 0);
    assert.ok(
      back <= 7700,
      `${back} cents went back of a membership for $65.00 and a pin for $12.00: ${JSON.stringify(await noticesOf(server, uuid))}`,
    );
  });

test('no dues are booked of a payment that bought nothing and went back in two parts', async () => {
  const personalEmail = 'dues@example.com';
  await newContact(server, personalEmail, { invitation_code: 'DUES1' });
  const [one, two] = [server.client(), server.client()];
  const first = await orderingJoin(one, 'DUES1', { personalEmail });
  const second = await orderingJoin(two, 'DUES1', { personalEmail });
  const late = await openIntent(two, second);
  await payOrder(server, one, first);
  await payByCard(server, late.id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: late.id, amount: '2000' });
  await confirmPayment(server.deps, late.id);
  await refundPayment(server.deps, late.id);
  const day = 86_400_000;
  const { rows } = await readLedger(server.deps, {
    from: new Date(Date.now() - day),
    until: new Date(Date.now() + day),
  });
  const own = rows.filter(({ intentId, kind }) => intentId === late.id && kind !== 'stripe fee');
  const dues = own.filter(({ kind }) => kind === 'dues').reduce((sum, { grossCents }) => sum + grossCents, 0);
  assert.equal(dues, 0, JSON.stringify(own.map(({ kind, grossCents }) => [kind, grossCents])));
});

for (const answer of ['succeeded', 'pending'])
  test(`of a payment that bought nothing the rest goes back when staff have given a part of it back in the dashboard (${answer})`, async () => {
    const personalEmail = `rest.${answer}@example.com`;
    await newContact(server, personalEmail, { invitation_code: `REST${answer.toUpperCase()}` });
    const [one, two] = [server.client(), server.client()];
    const first = await orderingJoin(one, `REST${answer.toUpperCase()}`, { personalEmail });
    const second = await orderingJoin(two, `REST${answer.toUpperCase()}`, { personalEmail });
    const late = await openIntent(two, second);
    await payOrder(server, one, first);
    await payByCard(server, late.id);
    await server.stripeControl('refunds', { answer: 'refused' });
    await confirmPayment(server.deps, late.id);
    await server.stripeControl('refunds', { answer });
    await server.stripe('POST', '/v1/refunds', { payment_intent: late.id, amount: '1000' });
    await server.stripeControl('refunds', { answer: 'succeeded' });
    await followPayment(server.deps, late.id);
    await sql`update refund set next_try_at = now() where status = 'due'`.execute(server.deps.database);
    await sweepRefunds(server.deps);
    assert.deepEqual((await atStripe(server, late.id)).sort(), [1000, 5500]);
  });

/**
 * Decides a refund while Stripe refuses refunds. Then refunds $1.00 in the dashboard, which makes the server drop the decided
 * refund, and runs the command in the notice about the dropped refund. Returns the notice and the command's output.
 */
async function decidedAgain(t: TestContext, wish: RefundWish): Promise<string> {
  const { uuid, intentId } = await undergraduate(server);
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, wish);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await refundInDashboard(server, intentId, 100);
  const dropped = (await noticesOf(server, uuid)).find((notice) => notice.includes('is not made, because'));
  assert.ok(dropped);
  const [, args] = /operator -- refund (.*)$/.exec(dropped)!;
  const { code, out } = await runCommand(t, server, 'refund', args!.split(' '));
  assert.equal(code, 0, out);
  return `${dropped}\n→ ${out}`;
}

test('the command that staff read of a dropped refund of a pin gives back no membership', async (t) => {
  const told = await decidedAgain(t, { ...membershipOnly, membership: false, items: 'all' });
  assert.match(told, /\$12\.00 would go back/);
});

test('the command that staff read of a dropped refund less the processing fee keeps the fee', async (t) => {
  const told = await decidedAgain(t, { ...membershipOnly, ineligible: true });
  assert.match(told, /\$90\.00 would go back/);
});

test('all of a payment that bought nothing goes back, also if a part went back in the dashboard before', async () => {
  const personalEmail = 'left@example.com';
  await newContact(server, personalEmail, { invitation_code: 'LEFT1' });
  const [one, two] = [server.client(), server.client()];
  const first = await orderingJoin(one, 'LEFT1', { personalEmail });
  const second = await orderingJoin(two, 'LEFT1', { personalEmail });
  const late = await openIntent(two, second);
  await payOrder(server, one, first);
  await payByCard(server, late.id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: late.id, amount: '2000' });
  assert.equal(await confirmPayment(server.deps, late.id), 'refunded');
  const back = (await atStripe(server, late.id)).reduce((sum, cents) => sum + cents, 0);
  assert.equal(back, 6500, JSON.stringify(await noticesOf(server, second)));
});
test('what went back in the dashboard before its payment was confirmed ends the membership, even if Stripe fails once', async () => {
  const { database } = server.deps;
  const { client, uuid, intent } = await newIntent(server, 'LINCOLN2026', {
    personalEmail: 'before@example.com',
  });
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intent.id });
  const background = async () => {
    await sql`update schedule set due_at = now() - interval '1 second'`.execute(database);
    await sql`update payment set checked_at = now() - interval '1 hour', looked_at = null`.execute(database);
    await sql`update refund set next_try_at = now()`.execute(database);
    await sql`update event_retry set next_try_at = now()`.execute(database);
    await catchUpOnEvents(server.deps);
    await sweepRefunds(server.deps);
    await sweepPayments(server.deps);
  };
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path: '/v1/refunds', times: 3 });
  await background();
  await server.stripeFault(null);
  for (let turn = 0; turn < 3; turn++) await background();
  await deliver(server);
  assert.deepEqual(
    (await standingsOf(server, uuid)).map(({ standing }) => standing),
    ['refunded'],
  );
});

test('the refund of a payment that nobody has reported yet is planned, and not said to be of nothing', async (t) => {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  const { out } = await runCommand(t, server, 'refund', [uuid, '--dry-run']);
  assert.match(out, /\$65\.00 {2}Membership/);
});

test('a refund of what was not bought does not say that nothing is left of the join', async (t) => {
  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail: 'left.over@example.com' });
  const { out } = await runCommand(t, server, 'refund', [uuid, '--no-membership', '--upgrade']);
  assert.doesNotMatch(out, /nothing is left/, out);
});
