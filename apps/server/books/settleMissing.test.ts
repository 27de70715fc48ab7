import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { dump } from '../../../tests/harness/dump.ts';
import { personId } from '../../../tests/harness/personId.ts';
import {
  chargeOf,
  differencesOf,
  failRefund,
  paidElsewhere,
  refundInDashboard,
  refundsOf,
  standingsOf,
} from '../../../tests/harness/refunds.ts';
import { restored } from '../../../tests/harness/restored.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
  paidJoin as someonesPaidJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink, upgradeIntentOf } from '../../../tests/harness/upgrades.ts';
import { sendDue } from '../letters/sendLetters.ts';
import { parcelOf } from '../membership/orders.ts';
import { confirmIntent, confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { madeAgainOf } from './rebuildJoin.ts';

/** Tests the restore of a backup that lacks later payments. `stripeAheadMs`: by how much Stripe's clock is ahead of ours. */
let stripeAheadMs = 0;
const server = await sharedServer(
  {},
  { hubspotLimits: 'off', stripeClock: () => Date.now() + stripeAheadMs },
);

const { settleMissing, openJoin, bookOf } = restored(server);
const refund = async (t: TestContext, ...args: string[]) => {
  const { code, out } = await runCommand(t, server, 'refund', args);
  assert.equal(code, 0, out);
};

/** Buys the upgrade of a paid join. Returns the id of its payment intent. */
async function upgraded(client: Client, uuid: string, intentId: string): Promise<string> {
  await charge(client, uuid, intentId);
  return upgradeIntentOf(server, uuid);
}

/**
 * Like the harness's function, but with a person for each code: paid joins of people who are likely the same would be a
 * difference.
 */
function paidJoin(...[to, client, code, person]: Parameters<typeof someonesPaidJoin>) {
  return someonesPaidJoin(to, client, code, person ?? { personalEmail: `${code}@example.com` });
}

/** Returns an invite code for a contact that no other test uses. */
async function invited(contactId: string): Promise<string> {
  const code = `ONE${contactId}`;
  const { database } = server.deps;
  await database.insertInto('person').values({ contact_id: contactId, profile: '{}' }).execute();
  await database
    .insertInto('invitation')
    .values({ code, person_id: personId(contactId) })
    .execute();
  return code;
}

const secondPaymentLetters = async (intentId: string) =>
  (
    await server.deps.database
      .selectFrom('letter')
      .select('id')
      .where('kind', '=', 'second-payment')
      .where('occasion', '=', intentId)
      .execute()
  ).length;

test('an upgrade stays sold whose join the backup has as an open order', async (t) => {
  const join = await openJoin(await invited('8001'));
  const { client } = join;
  const restore = await dump(server);
  await beginPayment(client, join.uuid, join.revision);
  await payByCard(server, join.id);
  await reportPayment(client, join.uuid, join);
  const upgrade = await upgraded(client, join.uuid, join.id);
  const lost = await bookOf([join.uuid], [join.id, upgrade]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf([join.uuid], [join.id, upgrade]), lost);
  assert.deepEqual([lost.atStripe, lost.differences], [[[], []], []]);
});

test('who was refunded and joined again holds the second membership, and what was kept of the first stays kept', async (t) => {
  const code = await invited('8002');
  const restore = await dump(server);
  const client = server.client();
  const mine = { personalEmail: 'twice@example.com' };
  const uuid = await orderingJoin(client, code, mine);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '25.00' } });
  const { intentId } = await payOrder(server, client, uuid);
  const upgrade = await upgraded(client, uuid, intentId);
  await refund(t, uuid, '--upgrade');
  const second = await paidJoin(server, server.client(), code, mine);
  const joins = [uuid, second.uuid];
  const intents = [intentId, upgrade, second.intentId];
  const lost = await bookOf(joins, intents);
  assert.deepEqual([lost.atStripe, lost.differences], [[[6500], [4500], []], []]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf(joins, intents), lost);
  // Staff settle the payments one by one, with the commands that `reconcile` prints, in any order.
  await restore();
  for (const id of [second.intentId, intentId, upgrade])
    assert.equal((await runCommand(t, server, 'settle', [id])).code, 0);
  assert.deepEqual(await bookOf(joins, intents), lost);
  for (const join of joins)
    assert.ok(!(await noticesOf(server, join)).some((text) => text.includes('of the same name and email')));
});

test('a refund of a membership that the backup has as held is taken in before the next one of its contact', async (t) => {
  const code = await invited('8003');
  const first = await paidJoin(server, server.client(), code);
  const restore = await dump(server);
  await refund(t, first.uuid);
  const second = await paidJoin(server, server.client(), code);
  const joins = [first.uuid, second.uuid];
  const intents = [first.intentId, second.intentId];
  const lost = await bookOf(joins, intents);
  for (const args of [['--missing'], [second.intentId]]) {
    await restore();
    assert.equal((await runCommand(t, server, 'settle', args)).code, 0);
    assert.deepEqual(await bookOf(joins, intents), lost);
  }
});

test('an upgrade whose membership has ended is made again as sold, and named with the command that gives it back', async (t) => {
  const restore = await dump(server);
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const upgrade = await upgraded(client, uuid, intentId);
  await refund(t, uuid);
  const lost = await bookOf([uuid], [intentId, upgrade]);
  assert.deepEqual(lost.differences, ['upgrade_alone']);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf([uuid], [intentId, upgrade]), lost);
});

test('an upgrade that is made again leaves the membership below it as it is, though a refund of that had failed before', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), await invited('8041'));
  const restore = await dump(server);
  await refund(t, uuid);
  await failRefund(server, intentId);
  const upgrade = await upgradeByLink(server, '8041');
  const book = () => bookOf([uuid, upgrade.uuid], [intentId, upgrade.intentId]);
  const lost = await book();
  assert.deepEqual(lost.differences, []);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await book(), lost);
});

test('what looks like a second payment is given back by staff alone, and its payer is written to then', async (t) => {
  const code = await invited('8031');
  const [first, second] = [await openJoin(code), await openJoin(code)];
  const restore = await dump(server);
  await payByCard(server, first.id);
  await payByCard(server, second.id);
  await restore();
  await settleMissing(t);
  const { payments, atStripe } = await bookOf([], [first.id, second.id]);
  assert.deepEqual(payments.map(({ status }) => status).sort(), ['duplicate', 'succeeded']);
  assert.deepEqual([atStripe, await refundsOf(server, second.id)], [[[], []], []]);
  assert.deepEqual(
    (await differencesOf(server, first.id, second.id)).map(({ kind, subject, repair }) => [
      kind,
      subject,
      repair,
    ]),
    [['not_returned', second.id, `npm run operator -- refund ${second.id}`]],
  );
  assert.equal(await secondPaymentLetters(second.id), 0);
  assert.match(
    (await noticesOf(server, second.uuid)).at(-1)!,
    /contact 8031 already holds by another join\. It was made again after a restore, so nothing goes back by itself\. To give it back: npm run operator -- refund pi_/,
  );
  await refundInDashboard(server, second.id);
  assert.equal(await secondPaymentLetters(second.id), 1);
  assert.deepEqual(await differencesOf(server, first.id, second.id), []);
});

test('of two payments of one contact the one that was paid first buys the membership, whichever form was opened first', async (t) => {
  t.after(() => {
    stripeAheadMs = 0;
  });
  const code = await invited('8030');
  const early = await openJoin(code);
  stripeAheadMs = 2_000;
  const late = await openJoin(code);
  const restore = await dump(server);
  for (const { id } of [late, early]) {
    stripeAheadMs += 2_000;
    await payByCard(server, id);
  }
  await restore();
  await settleMissing(t);
  const { payments } = await bookOf([], [early.id, late.id]);
  assert.deepEqual(Object.fromEntries(payments.map(({ intent_id, status }) => [intent_id, status])), {
    [early.id]: 'duplicate',
    [late.id]: 'succeeded',
  });
});

test('a second payment that went back before the restore has gone back, and nobody hears of it again', async (t) => {
  const code = await invited('8005');
  const [first, second] = [await openJoin(code), await openJoin(code)];
  const restore = await dump(server);
  for (const { id } of [first, second]) await payByCard(server, id);
  // Confirms the second payment first. The second payment therefore buys the membership, and the first is a duplicate.
  assert.equal(await confirmPayment(server.deps, second.id), 'succeeded');
  assert.equal(await confirmPayment(server.deps, first.id), 'refunded');
  const joins = [first.uuid, second.uuid];
  const lost = await bookOf(joins, [first.id, second.id]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf(joins, [first.id, second.id]), lost);
  assert.deepEqual([await secondPaymentLetters(first.id), await noticesOf(server, first.uuid)], [0, []]);
});

test('refunds since the backup are read back from Stripe with what they were for, by the ledger and the orders to send', async (t) => {
  const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  /** Makes a join whose donation costs as much as its membership, so that the amount of a refund may be for either. */
  const join = async (personalEmail: string) => {
    const client = server.client();
    const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail });
    await client.call('setCustomDonation', { params: { uuid }, body: { amount: '65.00' } });
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
    return payOrder(server, client, uuid);
  };
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  /**
   * Returns all records of these joins' money and goods. They are compared before a loss and after the joins are made again from
   * Stripe. Postal addresses are left out, since Stripe does not have them.
   */
  const books = async (...joins: { uuid: string; intentId: string }[]) => ({
    ledger: (await runCommand(t, server, 'ledger', ['--from', day(-1), '--to', day(1), '--csv'])).out
      .split('\r\n')
      .filter((line) => joins.some(({ uuid }) => line.includes(uuid))),
    goods: await Promise.all(
      joins.map(async ({ uuid }) => (await parcelOf(server.deps.database, server.deps.society, uuid))?.goods),
    ),
    refunds: await Promise.all(joins.map(({ intentId }) => refundRows(intentId))),
    standings: await Promise.all(joins.map(({ uuid }) => standingsOf(server, uuid))),
    notices: await Promise.all(joins.map(({ uuid }) => noticesOf(server, uuid))),
    differences: (await differencesOf(server, ...joins.map(({ intentId }) => intentId))).length,
  });
  const refundRows = (intentId: string) =>
    server.deps.database
      .selectFrom('refund')
      .select(['uuid', 'stripe_id', 'reason', 'lines', 'status', 'amount_cents', 'assigned_at'])
      .where('intent_id', '=', intentId)
      .execute();

  const known = await join('known@example.com');
  const restore = await dump(server);
  const missing = await join('missing@example.com');
  await refund(t, known.uuid, '--ineligible');
  await refund(t, missing.uuid);
  await refund(t, missing.uuid, '--no-membership', '--items', '30');
  const lost = await books(known, missing);
  await restore();
  await settleMissing(t);
  const again = await books(known, missing);
  // In this database the rebuilt membership never had another standing, so there is no second notice about a change of standing.
  assert.deepEqual({ ...again, notices: again.notices[0] }, { ...lost, notices: lost.notices[0] });
  assert.deepEqual(again.notices[1], []);
});

test('a refund that is told again after a restore is told under the same Message-ID, wherever it was made', async (t) => {
  const emails = ['told.ours@example.com', 'told.elsewhere@example.com'];
  const [ours, elsewhere] = await Promise.all(
    emails.map((personalEmail) => paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail })),
  );
  /**
   * Sends the due letters. Returns how often each letter about a refund has arrived at the mail server, which recognises a letter
   * by its Message-ID.
   */
  const arrivals = async () => {
    while (await sendDue(server.deps, server.deps.config.mail!));
    const letters = await server.letters();
    return letters
      .filter(({ to, subject }) => emails.includes(to) && subject.startsWith('Your refund'))
      .map((letter) => letter.arrivals);
  };
  const restore = await dump(server);
  await refund(t, ours!.uuid);
  await refundInDashboard(server, elsewhere!.intentId);
  assert.deepEqual(await arrivals(), [1, 1]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await arrivals(), [2, 2]);
});

test('a refund that failed since the backup, and another one of the same amount, are both taken in', async (t) => {
  const { intentId } = await paidJoin(server, server.client(), await invited('8010'));
  const giveBack = async () =>
    (await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '2000' })).body.id;
  const first = await giveBack();
  await followPayment(server.deps, intentId);
  const restore = await dump(server);
  await server.stripeControl(`refunds/${first}/settle`, { status: 'failed' });
  const second = await giveBack();
  await restore();
  await settleMissing(t);
  const rows = await server.deps.database
    .selectFrom('refund')
    .select(['stripe_id', 'status'])
    .where('intent_id', '=', intentId)
    .orderBy('created_at')
    .execute();
  assert.deepEqual(rows, [
    { stripe_id: first, status: 'failed' },
    { stripe_id: second, status: 'succeeded' },
  ]);
});

test('a payment that is made again is dated by Stripe, and cut off halfway as well', async (t) => {
  const code = await invited('8011');
  const [first, second] = [await openJoin(code), await openJoin(await invited('8012'))];
  const unwanted = await openJoin(code);
  const restore = await dump(server);
  for (const { id } of [first, second, unwanted]) await payByCard(server, id);
  await restore();
  const intent = await server.deps.payments.retrieveIntent(first.id);
  await confirmIntent(server.deps, intent, await madeAgainOf(server.deps, intent));
  await settleMissing(t);
  for (const { id, uuid } of [first, second, unwanted]) {
    const { charge } = await server.deps.payments.retrieveIntent(id);
    const row = await server.deps.database
      .selectFrom('payment')
      .innerJoin('join_session', 'uuid', 'session_uuid')
      .select(['succeeded_at', 'paid_at'])
      .where('uuid', '=', uuid)
      .executeTakeFirstOrThrow();
    const paid_at = id === unwanted.id ? null : charge!.createdAt;
    assert.deepEqual(row, { succeeded_at: charge!.createdAt, paid_at });
  }
});

for (const [contactId, backup] of [
  ['8020', 'refunded'],
  ['8021', 'paid'],
  ['8022', 'nothing'],
] as const)
  test(`a refund that failed after its contact had joined anew brings nothing back, nor does a restore of a backup with ${backup} of it`, async (t) => {
    const code = await invited(contactId);
    let restore = await dump(server);
    const first = await paidJoin(server, server.client(), code);
    if (backup === 'paid') restore = await dump(server);
    await refund(t, first.uuid);
    if (backup === 'refunded') restore = await dump(server);
    const second = await paidJoin(server, server.client(), code);
    await failRefund(server, first.intentId);
    const book = () => bookOf([first.uuid, second.uuid], [first.intentId, second.intentId]);
    const lost = await book();
    assert.deepEqual(lost.differences, ['paid_anew']);
    await restore();
    await settleMissing(t);
    assert.deepEqual(await book(), lost);
  });

test('a dispute that was lost since the backup ends the membership that the backup has as held', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), await invited('8013'));
  const restore = await dump(server);
  const { id } = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  const lost = await bookOf([uuid], [intentId]);
  assert.deepEqual(lost.standings, [[{ type: 'membership', standing: 'charged_back' }]]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf([uuid], [intentId]), lost);
});

test('a lost dispute is taken in before the next membership of its contact is made again', async (t) => {
  const code = await invited('8009');
  const restore = await dump(server);
  const first = await paidJoin(server, server.client(), code);
  const { id } = await server.stripeControl('disputes', { charge: await chargeOf(server, first.intentId) });
  await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  await followPayment(server.deps, first.intentId);
  const second = await paidJoin(server, server.client(), code);
  const joins = [first.uuid, second.uuid];
  const intents = [first.intentId, second.intentId];
  const lost = await bookOf(joins, intents);
  assert.deepEqual(
    lost.standings.flat().map(({ standing }) => standing),
    ['charged_back', 'active'],
  );
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf(joins, intents), lost);
});

test('what cannot be made again is named with the command that gives it back, and keeps nothing else from being settled', async (t) => {
  const join = await openJoin(await invited('8007'));
  const strange = [
    await paidElsewhere(server),
    await paidElsewhere(server, { session: join.uuid, revision: 'x' }),
    await paidElsewhere(server, { session: 'nobody' }),
    await paidElsewhere(server, { session: join.uuid, revision: String(join.revision) }),
  ];
  // Part of the first payment was already refunded.
  await server.stripe('POST', '/v1/refunds', { payment_intent: strange[0]!, amount: '1200' });
  // Makes the snapshot's amount differ from the payment's.
  await sql`update order_snapshot set amount_cents = 7000 where session_uuid = ${join.uuid}`.execute(
    server.deps.database,
  );
  const other = await openJoin(await invited('8008'));
  await payByCard(server, other.id);
  const { code, out } = await runCommand(t, server, 'settle', ['--missing']);
  assert.equal(code, 1);
  for (const id of strange) {
    assert.match(out, new RegExp(`^${id}: .* To give it back: npm run operator -- refund ${id}$`, 'm'));
    await server.stripe('POST', '/v1/refunds', { payment_intent: id });
  }
  assert.match(out, /^1 payment was not in this database as paid, and is now\./m);
  assert.deepEqual(await standingsOf(server, other.uuid), [{ type: 'membership', standing: 'active' }]);
  await settleMissing(t);
});

test('a paid order that the backup has as open, and that went back as a whole, ends no membership that was bought since', async (t) => {
  const code = await invited('8006');
  const [first, second] = [await openJoin(code), await openJoin(code)];
  const restore = await dump(server);
  await payByCard(server, first.id);
  await confirmPayment(server.deps, first.id);
  await refundInDashboard(server, first.id);
  await payByCard(server, second.id);
  await confirmPayment(server.deps, second.id);
  const joins = [first.uuid, second.uuid];
  const lost = await bookOf(joins, [first.id, second.id]);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await bookOf(joins, [first.id, second.id]), lost);
});

/**
 * Makes two payments for one contact, loses both in a restore, and makes them again with `settle --missing`. Returns the second
 * payment, which is a duplicate and is not refunded automatically, and the uuid of the first join.
 */
async function keptSecond(t: TestContext, contactId: string) {
  const code = await invited(contactId);
  const [first, second] = [await openJoin(code), await openJoin(code)];
  const restore = await dump(server);
  await payByCard(server, first.id);
  await payByCard(server, second.id);
  await restore();
  await settleMissing(t);
  assert.deepEqual(await refundsOf(server, second.id), [], 'nothing was decided');
  return { ...second, firstUuid: first.uuid };
}

test('a payer whose second payment was made again after a restore does not read that it is being returned', async (t) => {
  const { client, uuid, id, clientSecret } = await keptSecond(t, '8101');
  const { data } = await reportPayment(client, uuid, { id, clientSecret });
  assert.deepEqual(
    [data.status, data.refunded?.isReturned, data.refunded?.isWithStaff],
    ['refunded', false, true],
    'no refund was decided, and none is made until staff give it back',
  );
  await runCommand(t, server, 'refund', [id]);
  const { refunded } = (await reportPayment(client, uuid, { id, clientSecret })).data;
  assert.deepEqual([refunded?.isReturned, refunded?.isWithStaff], [true, false]);
});

test('the story of a second payment that was made again after a restore does not say that it goes back', async (t) => {
  const { uuid, id } = await keptSecond(t, '8102');
  const { out } = await runCommand(t, server, 'story', [uuid]);
  assert.match(out, new RegExp(`paid by ${id}, which bought nothing\\.`));
  assert.doesNotMatch(out, /goes back|Refund of/);
});

test('staff who refund a join are told that a second payment of it is still with us', async (t) => {
  const { client, uuid, id, firstUuid } = await keptSecond(t, '8103');
  const refund = async (join: string) => (await runCommand(t, server, 'refund', [join])).out;
  assert.match(await refund(firstUuid), /^\$65\.00 goes back\.$/m);
  await payOrder(server, client, uuid);
  const out = await refund(uuid);
  assert.match(out, new RegExp(`^Payment ${id} bought nothing and is still with us: .* refund ${id}$`, 'm'));
  assert.match(out, /^\$65\.00 goes back\.$/m);
  await refund(id);
  assert.doesNotMatch(await refund(uuid), /still with us/);
});
