import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  atStripe,
  chargeOf,
  differencesOf,
  membershipOnly,
  paidElsewhere,
  refundsOf,
  settleRefund,
  standingsOf,
  undergraduate,
} from '../../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../../tests/harness/rows.ts';
import { newMember, newOrder, payOrder } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge } from '../../../../tests/harness/upgrades.ts';
import { refundPayment } from '../../books/refundPayment.ts';
import { sweepRefunds } from '../../books/sweep.ts';
import { Refusal } from '../../platform/http/refusal.ts';
import { ProviderFailed, RefundRefused } from '../../providers/stripe/failures.ts';
import { followPayment } from './followPayment.ts';
import { giveBack } from './giveBack.ts';
import { NotRefundable, refundJoin } from './refundJoin.ts';

const server = await sharedServer();

/** A store item of the catalogue, for $79.00. */
const framedCertificate = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0032';

/** Backdates all refunds by an hour, as if the hour had passed. */
const anHourLater = () =>
  sql`update refund set next_try_at = next_try_at - interval '1 hour', created_at = created_at - interval '1 hour'`.execute(
    server.deps.database,
  );

test('a refund that Stripe does not make for now stays due, is tried ever later, and is made when it can be; staff see the reason among the differences', async () => {
  const first = await newMember(server, 'LINCOLN2026');
  const second = await undergraduate(server);
  await server.stripeControl('refunds', { answer: 'refused' });
  const { notes } = await refundJoin(server.deps, first.uuid, membershipOnly);
  assert.deepEqual(notes, [
    '$65.00 stays due, and is tried again: Insufficient funds in your Stripe balance to refund this amount.',
  ]);
  await refundJoin(server.deps, second.uuid, membershipOnly);
  const waits = async () =>
    (
      await sql<{ minutes: number; attempts: number }>`
        select ceil(extract(epoch from next_try_at - now()) / 60)::int as minutes, attempts
        from refund where intent_id = ${first.intentId} and status = 'due'`.execute(server.deps.database)
    ).rows;
  const later: unknown[] = [await waits()];
  for (let turn = 0; turn < 3; turn++) {
    await anHourLater();
    await sweepRefunds(server.deps);
    later.push(await waits());
    // The refund is not due yet, so this run does not try it.
    await sweepRefunds(server.deps);
  }
  assert.deepEqual(later.flat(), [
    { minutes: 2, attempts: 1 },
    { minutes: 4, attempts: 2 },
    { minutes: 8, attempts: 3 },
    { minutes: 16, attempts: 4 },
  ]);
  const differences = await differencesOf(server, first.intentId, second.intentId);
  assert.deepEqual(
    differences.map(({ kind, subject, text }) => [kind, subject, /Stripe says: Insufficient/.test(text)]),
    [second.intentId, first.intentId].map((subject) => ['refund_due', subject, true]),
  );
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await anHourLater();
  await sweepRefunds(server.deps);
  assert.deepEqual(
    [await atStripe(server, first.intentId), await atStripe(server, second.intentId)],
    [[6500], [9500]],
  );
  assert.deepEqual(await differencesOf(server, first.intentId, second.intentId), []);
});

test('a refund that Stripe holds back until its balance suffices is in reconcile until it is sent', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'pending' });
  const { notes } = await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  const held = 'Stripe sends it once the balance of the Stripe account suffices. Put money on that account.';
  assert.deepEqual(notes, [`The refund of $65.00 of payment ${intentId} waits: ${held}`]);
  await followPayment(server.deps, intentId);
  assert.ok(!(await noticesOf(server, uuid)).some((text) => text.includes(held)));
  assert.deepEqual(
    (await differencesOf(server, intentId)).map(({ kind, text }) => [kind, text]),
    [['refund_waits', `A refund of $65.00 waits: ${held}`]],
  );
  await settleRefund(server, intentId, 'succeeded');
  assert.deepEqual(await differencesOf(server, intentId), []);
  assert.deepEqual(
    (await refundsOf(server, intentId)).map(({ status }) => status),
    ['succeeded'],
  );
});

test("a refund of the dashboard's that waits for the balance is there, too", async () => {
  const { intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'pending' });
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await followPayment(server.deps, intentId);
  assert.deepEqual(
    (await differencesOf(server, intentId)).map(({ kind }) => kind),
    ['refund_waits'],
  );
  await settleRefund(server, intentId, 'succeeded');
});

test('a refund that has waited for weeks is still tried every six hours', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await sql`update refund set attempts = 60, next_try_at = now() where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  await sweepRefunds(server.deps);
  const { rows } = await sql`
    select ceil(extract(epoch from next_try_at - now()) / 3600)::int as hours, attempts
    from refund where intent_id = ${intentId}`.execute(server.deps.database);
  assert.deepEqual(rows, [{ hours: 6, attempts: 61 }]);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await giveBack(server.deps, intentId);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
});

test('an error that Stripe keeps under a key delays a refund no longer than it lasts', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const keys: string[] = [];
  const { payments } = server.deps;
  const deps = {
    ...server.deps,
    payments: {
      ...payments,
      async refund(refund: Parameters<typeof payments.refund>[0]) {
        keys.push(refund.idempotencyKey);
        return payments.refund(refund);
      },
    },
  };
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(deps, uuid, membershipOnly));
  await server.stripeFault(null);
  await giveBack(deps, intentId);
  assert.deepEqual([new Set(keys).size, await atStripe(server, intentId)], [2, [6500]]);
});

test('a refund for which Stripe could not be reached is asked for again under its key, which makes it once', async (t) => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  const refund = payments.refund.bind(payments);
  const keys: string[] = [];
  const asked = t.mock.method(payments, 'refund', async (given: Parameters<typeof refund>[0]) => {
    keys.push(given.idempotencyKey);
    if (keys.length === 1) throw new Refusal(503, 'no answer');
    return refund(given);
  });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), Refusal);
  await giveBack(server.deps, intentId);
  asked.mock.restore();
  assert.deepEqual([keys.length, new Set(keys).size], [2, 1]);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
});

test('what is disputed stays, and what is not goes back, each payment by itself', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await assert.rejects(refundPayment(server.deps, intentId), /is disputed: its bank has the money/);
  const { refunds, disputed, notes } = await refundJoin(server.deps, uuid, {
    ...membershipOnly,
    upgrade: true,
  });
  assert.deepEqual([refunds.map(({ amountCents }) => amountCents), disputed], [[4500], [intentId]]);
  assert.match(notes.join('\n'), /is disputed/);
  assert.deepEqual(await refundsOf(server, intentId), []);
  assert.deepEqual(await standingsOf(server, uuid), [
    { type: 'membership', standing: 'disputed' },
    { type: 'membership_upgrade', standing: 'refunded' },
  ]);
});

/** Makes a paid join with a framed certificate: $144.00, of which the membership is $65.00. */
async function withCertificate() {
  const { client, uuid } = await newOrder(server);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: framedCertificate } });
  return payOrder(server, client, uuid);
}
const paymentOf = (intentId: string) =>
  server.deps.database
    .selectFrom('payment')
    .innerJoin('membership', 'payment_intent', 'intent_id')
    .select(['status', 'standing', 'refunded_cents'])
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();

/** Refunds the membership's $65.00 in Stripe's dashboard. */
const inDashboard = (intentId: string) =>
  server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '6500' });

test('a refund that Stripe would not make yet, made by staff in the dashboard instead, is not made a second time', async () => {
  const { uuid, intentId } = await withCertificate();
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await inDashboard(intentId);
  await anHourLater();
  await sweepRefunds(server.deps);
  await anHourLater();
  await sweepRefunds(server.deps);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
  assert.deepEqual(
    [await paymentOf(intentId), await differencesOf(server, intentId)],
    [{ status: 'succeeded', standing: 'refunded', refunded_cents: 6500 }, []],
  );
});

test('nor is one for which Stripe was asked and did not answer', async () => {
  const { uuid, intentId } = await withCertificate();
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 9 });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), ProviderFailed);
  await server.stripeFault(null);
  await inDashboard(intentId);
  await anHourLater();
  await sweepRefunds(server.deps);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('one that Stripe is asked for at the moment is not taken for one of the dashboard', async (t) => {
  const { uuid, intentId } = await withCertificate();
  const { payments } = server.deps;
  const { refund } = payments;
  const asked = t.mock.method(payments, 'refund', async (...given: Parameters<typeof refund>) => {
    await inDashboard(intentId);
    await followPayment(server.deps, intentId);
    return refund(...given);
  });
  await refundJoin(server.deps, uuid, membershipOnly);
  asked.mock.restore();
  assert.deepEqual(await atStripe(server, intentId), [6500, 6500]);
  const [difference] = await differencesOf(server, intentId);
  assert.equal(difference?.kind, 'refund_unassigned');
});

test('both count when Stripe had made it all the same', async (t) => {
  const { uuid, intentId } = await withCertificate();
  const { payments } = server.deps;
  const { refund } = payments;
  const unheard = t.mock.method(payments, 'refund', async (...given: Parameters<typeof refund>) => {
    await inDashboard(intentId);
    await refund(...given);
    throw new ProviderFailed(503, 'no answer');
  });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), ProviderFailed);
  unheard.mock.restore();
  await followPayment(server.deps, intentId);
  const { refunded_cents } = await paymentOf(intentId);
  assert.deepEqual([await atStripe(server, intentId), refunded_cents], [[6500, 6500], 13_000]);
});

test('one that was made in the dashboard while Stripe refused it is no refusal', async (t) => {
  const { uuid, intentId } = await withCertificate();
  const refused = t.mock.method(server.deps.payments, 'refund', async () => {
    await inDashboard(intentId);
    await followPayment(server.deps, intentId);
    throw new RefundRefused('It is refunded already.', { isFinal: true, cause: null });
  });
  await refundJoin(server.deps, uuid, membershipOnly);
  refused.mock.restore();
  assert.ok(!(await noticesOf(server, uuid)).some((text) => text.startsWith('Stripe refuses')));
  assert.deepEqual(await refundsOf(server, intentId), [
    { reason: 'requested', status: 'succeeded', amount_cents: 6500 },
  ]);
});

test('one of a payment that Stripe has no more stays due, and says so', async (t) => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const unknown = t.mock.method(server.deps.payments, 'refund', async () => {
    throw new RefundRefused('No such payment_intent.', { isFinal: false, cause: null });
  });
  const { notes } = await refundJoin(server.deps, uuid, membershipOnly);
  unknown.mock.restore();
  assert.deepEqual(notes, ['$65.00 stays due, and is tried again: No such payment_intent.']);
  assert.equal((await refundsOf(server, intentId))[0]?.status, 'due');
});

test('money for a join that does not exist is asked for anew each time, whether or not less of it is left', async () => {
  for (const isPartlyBack of [false, true]) {
    const id = await paidElsewhere(server);
    await server.stripeControl('refunds', { answer: 'refused' });
    await assert.rejects(refundPayment(server.deps, id), NotRefundable);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    if (isPartlyBack) await server.stripe('POST', '/v1/refunds', { payment_intent: id, amount: '1000' });
    assert.equal((await refundPayment(server.deps, id)).cents, isPartlyBack ? 5500 : 6500);
    assert.deepEqual(await atStripe(server, id), isPartlyBack ? [5500, 1000] : [6500]);
  }
});

test('an attempt that ends late does not take the next ones back', async (t) => {
  const { uuid, intentId } = await withCertificate();
  const late = t.mock.method(server.deps.payments, 'refund', async () => {
    await sql`update refund set attempts = 2 where intent_id = ${intentId}`.execute(server.deps.database);
    throw new ProviderFailed(503, 'no answer');
  });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), ProviderFailed);
  late.mock.restore();
  const { rows } = await sql`select attempts from refund where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  assert.deepEqual(rows, [{ attempts: 2 }]);
});

test('a refund of a payment for which Stripe stops answering halfway decides nothing', async () => {
  const { intentId } = await withCertificate();
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', skip: 1, times: 50 });
  await assert.rejects(
    refundPayment(server.deps, intentId),
    (error) => error instanceof NotRefundable && /Stripe does not answer/.test(error.message),
  );
  await server.stripeFault(null);
  assert.deepEqual(await paymentOf(intentId), {
    status: 'succeeded',
    standing: 'active',
    refunded_cents: 0,
  });
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('a refund of a part that Stripe made, and whose answer was an error, is made once, however soon it is tried again', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await server.stripeFault({
    kind: 'status_after',
    status: 500,
    method: 'POST',
    path: '/v1/refunds',
    times: 3,
  });
  await assert.rejects(refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: 'all' }));
  await server.stripeFault(null);
  await giveBack(server.deps, intentId);
  assert.deepEqual(await atStripe(server, intentId), [1200]);
});

test('a failure of our own database says nothing of the payment that staff refund', async (t) => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026', {
    personalEmail: 'own.database@example.com',
  });
  const fails = () => {
    throw new Error('canceling statement due to statement timeout');
  };
  t.mock.method(server.deps.database, 'transaction', fails, { times: 1 });
  await assert.rejects(refundPayment(server.deps, intentId), /statement timeout/);
  assert.deepEqual(await differencesOf(server, intentId, uuid), []);
  await refundPayment(server.deps, intentId);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
});

test('all that is left of a payment ends its membership when it is decided, though Stripe is down', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundPayment(server.deps, intentId), ProviderFailed);
  await server.stripeFault(null);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  await giveBack(server.deps, intentId);
  assert.deepEqual(await atStripe(server, intentId), [6500]);
});
