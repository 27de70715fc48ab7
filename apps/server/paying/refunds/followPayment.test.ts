import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../../tests/harness/changeSociety.ts';
import { atHubspot, deliver } from '../../../../tests/harness/deliver.ts';
import {
  chargeOf,
  differencesOf,
  failRefund,
  membershipOnly,
  refundInDashboard,
  refundsOf,
  standingsOf,
  undergraduate,
} from '../../../../tests/harness/refunds.ts';
import { noticesOf, paymentRow } from '../../../../tests/harness/rows.ts';
import { newMember } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge, upgradeIntentOf } from '../../../../tests/harness/upgrades.ts';
import { handleEvent } from '../handleEvent.ts';
import { followPayment } from './followPayment.ts';
import { promiseRefund } from './giveBack.ts';
import { refundJoin } from './refundJoin.ts';

/** Tests what Stripe reports after a payment has succeeded: refunds, disputes and reviews by Stripe's fraud prevention. */
const server = await sharedServer();

/** Sends everything due to HubSpot. Returns the contact's membership status and amount paid in HubSpot. */
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

test("a refund in Stripe's dashboard ends the membership it gives back, tells staff, and lets its contact join again", async () => {
  const person = { firstName: 'Amélie', lastName: 'Tremblay', personalEmail: 'amelie.tremblay@example.com' };
  const { uuid, intentId } = await newMember(server, 'HONOR102', person);
  assert.deepEqual(await membershipAtHubspot('102'), ['member', '65.00']);
  await refundInDashboard(server, intentId, 1000);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  const [unassigned] = await noticesOf(server, uuid);
  assert.match(
    unassigned!,
    /^\$10\.00 of payment pi_\w+ was refunded outside Induct, and its amount does not say/,
  );
  await refundInDashboard(server, intentId);
  await followPayment(server.deps, intentId);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.deepEqual(await noticesOf(server, uuid), [
    unassigned!,
    `$10.00 of payment ${intentId} was refunded outside Induct, for Membership.`,
    `$55.00 of payment ${intentId} was refunded outside Induct, for Membership.`,
    `The membership paid for by ${intentId} has ended: its money goes back.`,
  ]);
  assert.deepEqual(await membershipAtHubspot('102'), ['former', '0.00']);
  const anew = await newMember(server, 'HONOR102');
  assert.deepEqual(await standingsOf(server, anew.uuid), [{ type: 'membership', standing: 'active' }]);
  // The refund of the first membership now fails, so its money is not refunded. Even so, only one of the two memberships may be
  // held.
  await sql`update refund set status = 'failed' where intent_id = ${intentId}`.execute(server.deps.database);
  const { payments } = server.deps;
  const undone = { ...payments, moneyBack: async () => ({ refunds: [], dispute: null, lost: [] }) };
  const disputed = {
    ...payments,
    moneyBack: async () => ({ refunds: [], dispute: 'open' as const, lost: [] }),
  };
  for (const said of [undone, disputed]) await followPayment({ ...server.deps, payments: said }, intentId);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.match(
    (await noticesOf(server, uuid)).at(-1)!,
    /is with us again, but its person has joined anew meanwhile/,
  );
});

test('a dispute keeps the membership disputed and held; won it is active, lost it is charged back', async () => {
  for (const [contactId, ending, standing] of [
    ['101', 'won', 'active'],
    ['104', 'lost', 'charged_back'],
  ] as const) {
    const code = `HONOR${contactId}`;
    const { uuid, intentId } = await newMember(server, code);
    const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'disputed' }]);
    await assert.rejects(refundJoin(server.deps, uuid, membershipOnly), /disputed/);
    const again = await server.client().call('initiateJoin', {
      body: { contactId, invitationCode: code, isTOLA: true },
    });
    assert.equal(again.status, 409, 'still held');
    await server.stripeControl(`disputes/${dispute.id}/close`, { status: ending });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing }]);
    const [, amount] = await membershipAtHubspot(contactId);
    assert.equal(amount, ending === 'won' ? '65.00' : '0.00');
  }
});

test('a dispute that is lost, then not lost, and lost after all takes the money', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  const { payments } = server.deps;
  const notLost = {
    ...payments,
    moneyBack: async () => ({ refunds: [], dispute: null, lost: [] }),
  };
  for (const [said, standing, status] of [
    [payments, 'charged_back', 'succeeded'],
    [notLost, 'active', 'canceled'],
    [payments, 'charged_back', 'succeeded'],
  ] as const) {
    await followPayment({ ...server.deps, payments: said }, intentId);
    assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing }]);
    assert.equal((await refundsOf(server, intentId))[0]?.status, status);
  }
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('a lost dispute has taken what Stripe says last that it took', async () => {
  const { intentId } = await newMember(server);
  for (const amountCents of [6500, 5000]) {
    const lost = [{ id: `du_of_${intentId}`, amountCents }];
    const moneyBack = async () => ({ refunds: [], dispute: 'lost' as const, lost });
    await followPayment({ ...server.deps, payments: { ...server.deps.payments, moneyBack } }, intentId);
    assert.deepEqual(
      (await refundsOf(server, intentId)).map(({ amount_cents, status }) => [amount_cents, status]),
      [[amountCents, 'succeeded']],
    );
  }
});

test('an inquiry of the bank takes no money: the membership stays as it is, and can be refunded', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const charge = await chargeOf(server, intentId);
  const inquiry = await server.stripeControl('disputes', { charge, isInquiry: true });
  await followPayment(server.deps, intentId);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual(await differencesOf(server, intentId), []);
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl(`disputes/${inquiry.id}/close`, { status: 'warning_closed' });
  await followPayment(server.deps, intentId);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'refunded' }]);
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('of several disputes over one payment each counts for what it took', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const charge = await chargeOf(server, intentId);
  const first = await server.stripeControl('disputes', { charge, amount: 2000 });
  const second = await server.stripeControl('disputes', { charge, amount: 4500 });
  const closed = async ({ id }: { id: string }, status: 'won' | 'lost') => {
    await server.stripeControl(`disputes/${id}/close`, { status });
    await followPayment(server.deps, intentId);
    return standingsOf(server, uuid);
  };
  assert.deepEqual(await closed(first, 'won'), [{ type: 'membership', standing: 'disputed' }]);
  // The bank took less than the membership costs, and staff have not assigned the amount to lines.
  assert.deepEqual(await closed(second, 'lost'), [{ type: 'membership', standing: 'disputed' }]);
  const third = await server.stripeControl('disputes', { charge });
  assert.deepEqual(await closed(third, 'lost'), [{ type: 'membership', standing: 'charged_back' }]);
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('a refund that fails at the bank after all gives the membership back, and staff are told', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await refundJoin(server.deps, uuid, membershipOnly);
  const { payments } = server.deps;
  const { refunds } = await payments.moneyBack(intentId);
  const failed = async () => ({
    refunds: refunds.map((refund) => ({ ...refund, status: 'failed' as const })),
    dispute: null,
    lost: [],
  });
  for (let report = 0; report < 2; report++) {
    await followPayment({ ...server.deps, payments: { ...payments, moneyBack: failed } }, intentId);
    // Backdates the notices, since the same notice may be written again the next day.
    await sql`update staff_notice set created_at = created_at - interval '2 days'`.execute(
      server.deps.database,
    );
  }
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  const told = (await noticesOf(server, uuid)).filter((text) => text.startsWith('The refund of $65.00'));
  assert.deepEqual(told, [
    `The refund of $65.00 of payment ${intentId} failed: the money is with us again. To decide it again: npm run operator -- refund ${uuid}`,
  ]);
});

test('a refund from outside that failed before we heard of it gave nothing back, and staff hear of none', async (t) => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const before = await noticesOf(server, uuid);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const { payments } = server.deps;
  const asked = payments.moneyBack.bind(payments);
  t.mock.method(server.deps.payments, 'moneyBack', async (id: string) => {
    const { refunds, dispute } = await asked(id);
    return {
      refunds: refunds.map((refund) => ({ ...refund, status: 'failed' as const })),
      dispute,
      lost: [],
    };
  });
  await followPayment(server.deps, intentId);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual(await noticesOf(server, uuid), before);
});

test('a refund from outside that failed before we heard of it leaves a refund that is due as it was', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'refused' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '1000' });
  await failRefund(server, intentId);
  const refunds = await refundsOf(server, intentId);
  assert.deepEqual(refunds.map(({ status }) => status).sort(), ['due', 'failed']);
});

test('two reports at once: an older answer of Stripe does not overwrite a newer one', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  const { payments } = server.deps;
  // The first call reads from Stripe before the refund is made. It writes only after the second call has written.
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
  await refundInDashboard(server, intentId);
  goOn();
  await first;
  const { refunded_cents } = await paymentRow(server, intentId);
  assert.deepEqual(
    [refunded_cents, (await standingsOf(server, uuid))[0]?.standing, asked],
    [6500, 'refunded', 2],
  );
});

test('an event is acted on once, and one about somebody else not at all', async () => {
  const { intentId } = await newMember(server, 'LINCOLN2026');
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

for (const answer of ['pending', 'requires_action'])
  test(`a refund that is ${answer} at Stripe has gone as far as we are concerned, until it fails`, async () => {
    const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
    await server.stripeControl('refunds', { answer });
    await refundJoin(server.deps, uuid, membershipOnly);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    const state = async () => [
      (await refundsOf(server, intentId))[0]?.status,
      (await standingsOf(server, uuid))[0]?.standing,
    ];
    assert.deepEqual(await state(), ['pending', 'refunded']);
    assert.deepEqual(
      (await differencesOf(server, intentId)).map(({ kind }) => kind),
      answer === 'pending' ? ['refund_waits'] : [],
    );
    await failRefund(server, intentId);
    assert.deepEqual(await state(), ['failed', 'active']);
    assert.deepEqual(await differencesOf(server, intentId), []);
  });

test('a refund that waits is ended by a dispute; won, the membership is there again and can be refunded', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'pending' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  const standing = async () => (await standingsOf(server, uuid))[0]?.standing;
  assert.equal(await standing(), 'refunded');
  const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await followPayment(server.deps, intentId);
  assert.deepEqual(
    [await standing(), (await refundsOf(server, intentId))[0]?.status],
    ['disputed', 'failed'],
  );
  assert.ok((await noticesOf(server, uuid)).some((text) => /^The refund of \$65\.00 .* failed/.test(text)));
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'won' });
  await followPayment(server.deps, intentId);
  assert.equal(await standing(), 'active');
  assert.deepEqual(await differencesOf(server, intentId), []);

  const { notes } = await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual([notes, await standing()], [[], 'refunded']);
  assert.deepEqual(
    (await refundsOf(server, intentId)).map(({ status, amount_cents }) => [status, amount_cents]),
    [
      ['failed', 6500],
      ['succeeded', 6500],
    ],
  );
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('who paid and is held for review is a member; given back as fraud, the membership ends', async () => {
  await server.stripeControl('reviews', { hold: true });
  const [good, bad] = [await newMember(server, 'LINCOLN2026'), await newMember(server, 'LINCOLN2026')];
  await server.stripeControl('reviews', { hold: false });
  const reviewOf = async (intentId: string) =>
    (await server.stripe('GET', `/v1/payment_intents/${intentId}`)).body.review as unknown as string;
  for (const [{ uuid, intentId }, reason, standing] of [
    [good, 'approved', 'active'],
    [bad, 'refunded_as_fraud', 'refunded'],
  ] as const) {
    assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
    await server.stripeControl(`reviews/${await reviewOf(intentId)}/close`, { reason });
    await followPayment(server.deps, intentId);
    assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing }]);
    assert.deepEqual(await differencesOf(server, intentId), []);
  }
});

test('a membership that a dashboard refund less the fee has ended stays ended when the society changes its fee', async (t) => {
  const { uuid, intentId } = await undergraduate(server);
  await refundInDashboard(server, intentId, 9000);
  assert.equal((await standingsOf(server, uuid))[0]?.standing, 'refunded');
  changeSociety(t, server, (source) => source.replace(/processingFee: "5.00"/, 'processingFee: "10.00"'));
  await followPayment(server.deps, intentId);
  assert.equal((await standingsOf(server, uuid))[0]?.standing, 'refunded');
});

test('a refund that is due is replaced by none that came to nothing, and is not made beside one of another amount', async (t) => {
  const [{ intentId }, other] = [await newMember(server), await newMember(server)];
  for (const [of, amountCents] of [
    [intentId, 6500],
    [other.intentId, 1000],
  ] as const)
    await promiseRefund(server.deps.database, { intentId: of, amountCents, reason: 'requested' });
  const outside = {
    uuid: null,
    decided: null,
    lacksFunds: false,
    isCardClosed: false,
    createdAt: new Date(),
  };
  t.mock.method(server.deps.payments, 'moneyBack', async () => ({
    refunds: [
      { ...outside, id: 're_canceled', amountCents: 6500, status: 'canceled' as const },
      { ...outside, id: 're_failed', amountCents: 6500, status: 'failed' as const },
      { ...outside, id: 're_part', amountCents: 1000, status: 'succeeded' as const },
      // A refund of ours whose row a restore has lost, and whose metadata do not have its lines.
      { ...outside, uuid: randomUUID(), id: 're_ours', amountCents: 6500, status: 'pending' as const },
    ],
    dispute: null,
    lost: [],
  }));
  await followPayment(server.deps, intentId);
  const { rows } = await sql`
    select amount_cents, status, reason from refund where intent_id in (${intentId}, ${other.intentId})
    order by reason, status, amount_cents`.execute(server.deps.database);
  assert.deepEqual(rows, [
    { amount_cents: 6500, status: 'canceled', reason: 'dashboard' },
    { amount_cents: 6500, status: 'failed', reason: 'dashboard' },
    { amount_cents: 6500, status: 'pending', reason: 'dashboard' },
    { amount_cents: 1000, status: 'succeeded', reason: 'dashboard' },
    { amount_cents: 6500, status: 'canceled', reason: 'requested' },
    { amount_cents: 1000, status: 'due', reason: 'requested' },
  ]);
});

test('an upgrade whose refund fails at the bank after all is held again beside its membership', async () => {
  const { client, uuid, intentId } = await newMember(server, 'HONOR103');
  const charged = await charge(client, uuid, intentId);
  assert.equal(charged.data.status, 'succeeded');
  const upgrade = await upgradeIntentOf(server, uuid);
  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, upgrade: true });
  const standings = async () => (await standingsOf(server, uuid)).map(({ standing }) => standing);
  assert.deepEqual(await standings(), ['active', 'refunded']);
  const { payments } = server.deps;
  const { refunds } = await payments.moneyBack(upgrade);
  const failed = async () => ({
    refunds: refunds.map((refund) => ({ ...refund, status: 'failed' as const })),
    dispute: null,
    lost: [],
  });
  await followPayment({ ...server.deps, payments: { ...payments, moneyBack: failed } }, upgrade);
  assert.deepEqual(await standings(), ['active', 'active']);
});
