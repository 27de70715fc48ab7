import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { RefundWish } from '#core/refunds.ts';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import {
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from '../payments/confirmPayment.ts';
import { handleEvent } from '../payments/handleEvent.ts';
import { RefundRefused } from '../providers/stripe/failures.ts';
import { reconcile } from '../settlement/reconcile.ts';
import { refundPayment } from '../settlement/refundPayment.ts';
import { sweepRefunds } from '../settlement/sweep.ts';
import { followPayment } from './followPayment.ts';
import { giveBack } from './giveBack.ts';
import { NotRefundable, refundJoin } from './refundJoin.ts';

const server = await sharedServer();

const membershipOnly: RefundWish = { membership: true, ineligible: false, upgrade: false, items: 'none' };
const lapelPin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** What Stripe has given back of an intent, in cents, one refund after the other. */
async function atStripe(intentId: string): Promise<number[]> {
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  return (body as unknown as { data: { amount: number }[] }).data.map(({ amount }) => amount);
}
const membershipsOf = (uuid: string) =>
  server.deps.database
    .selectFrom('membership')
    .select(['type', 'standing'])
    .where('session_uuid', '=', uuid)
    .orderBy('id')
    .execute();
const refundsOf = (intentId: string) =>
  server.deps.database
    .selectFrom('refund')
    .select(['reason', 'status', 'amount_cents'])
    .where('intent_id', '=', intentId)
    .orderBy('created_at')
    .execute();
const chargeOf = async (intentId: string) =>
  (await server.stripe('GET', `/v1/payment_intents/${intentId}`)).body.latest_charge as unknown as string;

/** What HubSpot knows of a contact's membership and its money, once everything is delivered. */
async function membershipAtHubspot(contactId: string): Promise<(string | null | undefined)[]> {
  await deliver(server);
  const { membership_status, amount_paid } = await atHubspot(
    server,
    contactId,
    'membership_status',
    'amount_paid',
  );
  return [membership_status, amount_paid];
}

/** An undergraduate's join that is paid, with a pin in the order. */
async function undergraduate() {
  const client = server.client();
  const started = await client.call('initiateSelfNomination', {
    body: { hasConfirmedEligibility: true, isTOLA: false },
  });
  const { uuid } = started.data;
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 3 } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await confirmPayment(server.deps, id);
  return { client, uuid, intentId: id };
}

test('a payer who is not eligible gets the membership less the processing fee, once, however often it is asked', async () => {
  const { uuid, intentId } = await undergraduate();
  const wish = { ...membershipOnly, ineligible: true };
  const plans = await Promise.all(Array.from({ length: 6 }, () => refundJoin(server.deps, uuid, wish)));
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual(plans.map(({ refunds }) => refunds.length).sort(), [0, 0, 0, 0, 0, 1]);
  assert.deepEqual(await atStripe(intentId), [9000]);
  assert.deepEqual(await refundsOf(intentId), [
    { reason: 'ineligible', status: 'succeeded', amount_cents: 9000 },
  ]);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'refunded' }]);
});

test('across both payments: the membership, the upgrade and the items, each only when asked for', async () => {
  const { client, uuid, intentId } = await undergraduate();
  const { client_secret: clientSecret } = await server.deps.database
    .selectFrom('payment')
    .select('client_secret')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  await reportPayment(client, uuid, { id: intentId, clientSecret });
  const charged = await client.call('createUpgradeCharge', {
    params: { uuid },
    body: { paymentIntent: intentId },
  });
  assert.equal(charged.data.status, 'succeeded');
  const upgrade = (
    await server.deps.database
      .selectFrom('payment')
      .select('intent_id')
      .where('session_uuid', '=', uuid)
      .where('kind', '=', 'upgrade')
      .executeTakeFirstOrThrow()
  ).intent_id;
  const trial = await refundJoin(
    server.deps,
    uuid,
    { membership: true, ineligible: false, upgrade: true, items: 'all' },
    { isTrial: true },
  );
  assert.deepEqual(
    trial.refunds.map(({ amountCents }) => amountCents),
    [10700, 5500],
  );
  assert.deepEqual([await atStripe(intentId), await atStripe(upgrade)], [[], []]);

  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: [30] });
  assert.deepEqual(await membershipsOf(uuid), [
    { type: 'membership', standing: 'active' },
    { type: 'membership_upgrade', standing: 'active' },
  ]);
  await refundJoin(server.deps, uuid, { ...membershipOnly, upgrade: true });
  assert.deepEqual([await atStripe(intentId), await atStripe(upgrade)], [[9500, 1200], [5500]]);
  assert.deepEqual(
    (await membershipsOf(uuid)).map(({ standing }) => standing),
    ['refunded', 'refunded'],
  );
});

test('a join that is not paid, or not known, has nothing to refund', async () => {
  const uuid = await orderingJoin(server.client());
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), NotRefundable);
  await assert.rejects(
    refundJoin(server.deps, '00000000-0000-4000-8000-000000000000', membershipOnly),
    /There is no join/,
  );
});

test('while Stripe is down the refund is decided and the membership ends; the money follows when Stripe is back', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly));
  await server.stripeFault(null);
  assert.deepEqual(await refundsOf(intentId), [{ reason: 'requested', status: 'due', amount_cents: 6500 }]);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'refunded' }]);
  await giveBack(server.deps, intentId);
  assert.deepEqual(await atStripe(intentId), [6500]);
});

test('a refund that Stripe made before the server died is not made again, even when its key is forgotten', async () => {
  const { uuid, intentId } = await undergraduate();
  // Less than half of the payment, so that nothing at Stripe stands against making it twice.
  const pin: RefundWish = { ...membershipOnly, membership: false, items: [30] };
  // The connection is cut each time after the work is done: the server never learns of it.
  await server.stripeFault({ kind: 'cut_after', method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, pin));
  await server.stripeFault(null);
  await sql`update refund set created_at = created_at - interval '2 days' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  // Another environment's key is another key: only what Stripe already has can keep it from a second refund.
  await giveBack({ ...server.deps, environment: 'forgotten' }, intentId);
  assert.deepEqual(await atStripe(intentId), [1200]);
  assert.deepEqual(
    (await refundsOf(intentId)).map(({ status }) => status),
    ['succeeded'],
  );
});

test('a refund that Stripe refuses for good is failed: the membership follows its money, and staff are told', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const { payments } = server.deps;
  // Disputed in the moment between what was planned and what is made.
  const deps = {
    ...server.deps,
    payments: {
      ...payments,
      async refund(refund: Parameters<typeof payments.refund>[0]) {
        await server.stripeControl('disputes', { charge: await chargeOf(intentId) });
        return payments.refund(refund);
      },
    },
  };
  await refundJoin(deps, uuid, membershipOnly);
  assert.deepEqual(await refundsOf(intentId), [
    { reason: 'requested', status: 'failed', amount_cents: 6500 },
  ]);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'disputed' }]);
  assert.match(
    (await noticesOf(server, uuid)).join('\n'),
    /Stripe refuses to refund payment pi_\w+ by \$65\.00: .*charged back/,
  );
});

test("a refund in Stripe's dashboard ends the membership it gives back, tells staff, and lets its contact join again", async () => {
  const person = { firstName: 'Amélie', lastName: 'Tremblay', personalEmail: 'amelie.tremblay@example.com' };
  const { uuid, intentId } = await paidJoin(server, server.client(), 'HONOR102', person);
  assert.deepEqual(await membershipAtHubspot('102'), ['member', '65.00']);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '1000' });
  await followPayment(server.deps, intentId);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'active' }]);
  const [unassigned] = await noticesOf(server, uuid);
  assert.match(
    unassigned!,
    /^\$10\.00 of payment pi_\w+ was refunded outside Induct, and its amount does not say/,
  );
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await followPayment(server.deps, intentId);
  await followPayment(server.deps, intentId);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.deepEqual(await noticesOf(server, uuid), [
    unassigned!,
    `$10.00 of payment ${intentId} was refunded outside Induct, for Membership.`,
    `$55.00 of payment ${intentId} was refunded outside Induct, for Membership.`,
    `The membership paid for by ${intentId} has ended: its money was refunded.`,
  ]);
  // HubSpot hears of it.
  assert.deepEqual(await membershipAtHubspot('102'), ['former', '0.00']);
  const anew = await paidJoin(server, server.client(), 'HONOR102');
  assert.deepEqual(await membershipsOf(anew.uuid), [{ type: 'membership', standing: 'active' }]);
  // And should the bank undo the first refund now, one of the two memberships is enough.
  await sql`update refund set status = 'failed' where intent_id = ${intentId}`.execute(server.deps.database);
  const { payments } = server.deps;
  const undone = { ...payments, moneyBack: async () => ({ refunds: [], dispute: null }) };
  await followPayment({ ...server.deps, payments: undone }, intentId);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.match(
    (await noticesOf(server, uuid)).at(-1)!,
    /is with us again, but its contact 102 has joined anew meanwhile/,
  );
});

test('a dispute keeps the membership disputed and held; won it is active, lost it is charged back', async () => {
  for (const [contactId, ending, standing] of [
    ['101', 'won', 'active'],
    ['104', 'lost', 'charged_back'],
  ] as const) {
    const code = `HONOR${contactId}`;
    const { uuid, intentId } = await paidJoin(server, server.client(), code);
    const dispute = await server.stripeControl('disputes', { charge: await chargeOf(intentId) });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'disputed' }]);
    await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), /disputed/);
    const again = await server.client().call('initiateJoin', {
      body: { contactId, invitationCode: code, isTOLA: true },
    });
    assert.equal(again.status, 409, 'still held');
    await server.stripeControl(`disputes/${dispute.id}/close`, { status: ending });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing }]);
  }
});

test('a refund that fails at the bank after all gives the membership back, and staff are told', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await refundJoin(server.deps, uuid, membershipOnly);
  const { payments } = server.deps;
  const { refunds } = await payments.moneyBack(intentId);
  const failed = async () => ({
    refunds: refunds.map((refund) => ({ ...refund, status: 'failed' as const })),
    dispute: null,
  });
  for (let report = 0; report < 2; report++)
    await followPayment({ ...server.deps, payments: { ...payments, moneyBack: failed } }, intentId);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'active' }]);
  const told = (await noticesOf(server, uuid)).filter((text) => text.startsWith('The refund of $65.00'));
  assert.deepEqual(told, [`The refund of $65.00 of payment ${intentId} failed: the money is with us again.`]);
});

test('two reports at once: an older answer of Stripe does not overwrite a newer one', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const { payments } = server.deps;
  // The first one reads before the refund and writes after the second one has written.
  let goOn = () => {};
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  let asked = 0;
  const slow = {
    ...server.deps,
    payments: {
      ...payments,
      async moneyBack(id: string) {
        const answer = await payments.moneyBack(id);
        if (asked++ === 0) await held;
        return answer;
      },
    },
  };
  const first = followPayment(slow, intentId);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await followPayment(server.deps, intentId);
  goOn();
  await first;
  const { refunded_cents } = await server.deps.database
    .selectFrom('payment')
    .select('refunded_cents')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  assert.deepEqual([refunded_cents, (await membershipsOf(uuid))[0]?.standing, asked], [6500, 'refunded', 2]);
});

test('an event is acted on once, and one about somebody else not at all', async () => {
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const about = { intentId, metadata: {}, failedChargeId: null };
  const event = { id: 'evt_refund', type: 'charge.refunded', createdAt: new Date(), ...about };
  let asked = 0;
  const counting = {
    ...server.deps,
    payments: {
      ...server.deps.payments,
      moneyBack(id: string) {
        asked++;
        return server.deps.payments.moneyBack(id);
      },
    },
  };
  assert.deepEqual([await handleEvent(counting, event), await handleEvent(counting, event)], [true, true]);
  assert.equal(asked, 1);
  const foreign = { ...event, id: 'evt_other', intentId: 'pi_of_another_app' };
  assert.equal(await handleEvent(counting, foreign), false);
});

test('an upgrade that is paid late, when its membership has been refunded, goes back', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await server.stripeControl('processing', { hold: true });
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
  await server.stripeControl('processing', { hold: false });
  const { intent_id: upgrade } = await server.deps.database
    .selectFrom('payment')
    .select('intent_id')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'upgrade')
    .executeTakeFirstOrThrow();
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl(`payment_intents/${upgrade}/settle`, {});
  assert.equal(await confirmPayment(server.deps, upgrade), 'refunded');
  assert.deepEqual(await atStripe(upgrade), [4500]);
  assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'refunded' }]);
});

test('what was given back in the dashboard and not reported yet is not given back again, nor planned in a trial', async () => {
  const { uuid, intentId } = await undergraduate();
  const wish = { ...membershipOnly, ineligible: true };
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9500' });
  for (const isTrial of [true, false]) {
    const { refunds, notes } = await refundJoin(server.deps, uuid, wish, { isTrial });
    assert.deepEqual([refunds, notes], [[], ['Membership has already been refunded.']]);
  }
  assert.deepEqual(await atStripe(intentId), [9500]);
});

test('all that is left of a payment is what the dashboard has left of it', async () => {
  const { intentId } = await undergraduate();
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '9500' });
  assert.deepEqual(await refundPayment(server.deps, intentId), { cents: 1200, notes: [] });
  assert.deepEqual(await atStripe(intentId), [1200, 9500]);
});

test('all that is left is given back by its lines, so that the ledger knows for what', async () => {
  const { uuid, intentId } = await undergraduate();
  await refundJoin(server.deps, uuid, membershipOnly);
  await refundPayment(server.deps, intentId);
  const { rows } = await sql<{ paid: number[]; back: number[] }>`
    select (select array_agg((line ->> 'line')::int order by 1) from refund, jsonb_array_elements(lines) as line
        where intent_id = ${intentId}) as back,
      (select array_agg(place::int - 1 order by 1) from order_snapshot, jsonb_array_elements(items) with ordinality as item (value, place)
        where session_uuid = ${uuid}) as paid`.execute(server.deps.database);
  assert.deepEqual(rows[0]!.back, rows[0]!.paid);
});

test('what is due already is not given back again with all that is left', async () => {
  const { uuid, intentId } = await undergraduate();
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await assert.rejects(refundJoin(server.deps, uuid, membershipOnly));
  await server.stripeFault(null);
  await refundPayment(server.deps, intentId);
  assert.deepEqual(
    (await refundsOf(intentId)).map(({ amount_cents, status }) => [amount_cents, status]),
    [
      [9500, 'succeeded'],
      [1200, 'succeeded'],
    ],
  );
  assert.deepEqual((await atStripe(intentId)).sort(), [1200, 9500]);
});

test('while Stripe does not say what has gone back, nothing is planned, in a trial neither', async () => {
  const { uuid, intentId } = await undergraduate();
  for (const path of ['/v1/refunds', '/v1/payment_intents/*']) {
    await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path, times: 30 });
    for (const isTrial of path === '/v1/refunds' ? [true, false] : [])
      await assert.rejects(
        refundJoin(server.deps, uuid, membershipOnly, { isTrial }),
        (error) => error instanceof NotRefundable && /Stripe does not answer/.test(error.message),
      );
    await assert.rejects(refundPayment(server.deps, intentId), /Stripe does not answer/);
    await server.stripeFault(null);
  }
  assert.deepEqual([await refundsOf(intentId), (await membershipsOf(uuid))[0]?.standing], [[], 'active']);
});

test('Stripe refuses a refund for good when the charge has nothing left for it, and only then', async () => {
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const isFinal = async (amountCents: number) => {
    const refund = server.deps.payments.refund({
      intentId,
      amountCents,
      metadata: { app: 'induct', environment: server.deps.environment, reason: 'requested' },
      idempotencyKey: randomUUID(),
    });
    const error = await refund.then(
      () => null,
      (thrown: unknown) => thrown,
    );
    return error instanceof RefundRefused ? error.isFinal : error;
  };
  assert.equal(await isFinal(6501), true, 'more than is left');
  await server.stripeControl('refunds', { answer: 'refused' });
  assert.equal(await isFinal(6500), false, 'the balance does not suffice');
  await server.stripeControl('refunds', { answer: 'succeeded' });
  assert.equal(await isFinal(6500), null);
  assert.equal(await isFinal(6500), true, 'refunded already');
  await followPayment(server.deps, intentId);
});

/** What reconciling finds of these payments, whatever other tests have left. */
const differencesOf = async (...intentIds: string[]) =>
  (await reconcile(server.deps, { graceMinutes: 0 })).differences.filter(({ subject }) =>
    intentIds.includes(subject),
  );
/** As if an hour had passed for what is due. */
const anHourLater = () =>
  sql`update refund set next_try_at = next_try_at - interval '1 hour', created_at = created_at - interval '1 hour'`.execute(
    server.deps.database,
  );
const waiting = async () =>
  (
    await sql<{ message: string }>`select message from staff_notice where kind = 'refund_waits'`.execute(
      server.deps.database,
    )
  ).rows.map(({ message }) => message);

test('a refund that Stripe does not make for now stays due, is tried ever later, and is made when it can be; staff hear of the reason once', async () => {
  const first = await paidJoin(server, server.client(), 'LINCOLN2026');
  const second = await undergraduate();
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
    // Not due again so soon.
    await sweepRefunds(server.deps);
  }
  assert.deepEqual(later.flat(), [
    { minutes: 2, attempts: 1 },
    { minutes: 4, attempts: 2 },
    { minutes: 8, attempts: 3 },
    { minutes: 16, attempts: 4 },
  ]);
  assert.match((await waiting()).join('\n'), /^Stripe makes a refund not yet: Insufficient funds[^\n]+$/);
  const differences = await differencesOf(first.intentId, second.intentId);
  assert.deepEqual(
    differences.map(({ kind, subject, text }) => [kind, subject, /Stripe says: Insufficient/.test(text)]),
    [second.intentId, first.intentId].map((subject) => ['refund_due', subject, true]),
  );
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await anHourLater();
  await sweepRefunds(server.deps);
  assert.deepEqual([await atStripe(first.intentId), await atStripe(second.intentId)], [[6500], [9500]]);
  assert.deepEqual(await differencesOf(first.intentId, second.intentId), []);
});

test('an error that Stripe keeps under a key delays a refund no longer than it lasts', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
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
  assert.deepEqual([new Set(keys).size, await atStripe(intentId)], [2, [6500]]);
});

for (const answer of ['pending', 'requires_action'])
  test(`a refund that is ${answer} at Stripe has gone as far as we are concerned, until it fails`, async () => {
    const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
    await server.stripeControl('refunds', { answer });
    await refundJoin(server.deps, uuid, membershipOnly);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    const state = async () => [
      (await refundsOf(intentId))[0]?.status,
      (await membershipsOf(uuid))[0]?.standing,
    ];
    assert.deepEqual(await state(), ['pending', 'refunded']);
    assert.deepEqual(await differencesOf(intentId), []);
    const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
    const [{ id }] = (body as unknown as { data: [{ id: string }] }).data;
    await server.stripeControl(`refunds/${id}/settle`, { status: 'failed' });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await state(), ['failed', 'active']);
    assert.deepEqual(await differencesOf(intentId), []);
  });

test('a refund that waits is ended by a dispute; won, the membership is there again and can be refunded', async () => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'pending' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  const standing = async () => (await membershipsOf(uuid))[0]?.standing;
  assert.equal(await standing(), 'refunded');
  const dispute = await server.stripeControl('disputes', { charge: await chargeOf(intentId) });
  await followPayment(server.deps, intentId);
  assert.deepEqual([await standing(), (await refundsOf(intentId))[0]?.status], ['disputed', 'failed']);
  assert.ok((await noticesOf(server, uuid)).some((text) => /^The refund of \$65\.00 .* failed/.test(text)));
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'won' });
  await followPayment(server.deps, intentId);
  assert.equal(await standing(), 'active');
  assert.deepEqual(await differencesOf(intentId), []);

  const { notes } = await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual([notes, await standing()], [[], 'refunded']);
  assert.deepEqual(
    (await refundsOf(intentId)).map(({ status, amount_cents }) => [status, amount_cents]),
    [
      ['failed', 6500],
      ['succeeded', 6500],
    ],
  );
  assert.deepEqual(await differencesOf(intentId), []);
});

test('who paid and is held for review is a member; given back as fraud, the membership ends', async () => {
  await server.stripeControl('reviews', { hold: true });
  const [good, bad] = [
    await paidJoin(server, server.client(), 'LINCOLN2026'),
    await paidJoin(server, server.client(), 'LINCOLN2026'),
  ];
  await server.stripeControl('reviews', { hold: false });
  const reviewOf = async (intentId: string) =>
    (await server.stripe('GET', `/v1/payment_intents/${intentId}`)).body.review as unknown as string;
  for (const [{ uuid, intentId }, reason, standing] of [
    [good, 'approved', 'active'],
    [bad, 'refunded_as_fraud', 'refunded'],
  ] as const) {
    assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing: 'active' }]);
    await server.stripeControl(`reviews/${await reviewOf(intentId)}/close`, { reason });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await membershipsOf(uuid), [{ type: 'membership', standing }]);
    assert.deepEqual(await differencesOf(intentId), []);
  }
});
