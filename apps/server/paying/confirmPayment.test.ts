import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { chargeOf, everything } from '../../../tests/harness/refunds.ts';
import { membershipsOf, staffNotices, stateOf } from '../../../tests/harness/rows.ts';
import { beginPayment, openIntent, orderingJoin, payByCard, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, membershipByLink } from '../../../tests/harness/upgrades.ts';
import { readStanding } from '../session/standing.ts';
import { confirmPayment } from './confirmPayment.ts';
import { paidOrders } from './refunds/paidOrders.ts';
import { refundJoin } from './refunds/refundJoin.ts';

const server = await sharedServer();

/** Makes a join of a person, with an order that can be paid. */
const orderFor = (person: Partial<StudentDetails>, code?: string) =>
  orderingJoin(server.client(), code, person);

/** Pays an order's intent at Stripe without reporting it to the server. Returns the intent's id. */
async function paidIntent(uuid: string): Promise<string> {
  const { id } = await openIntent(server.client(), uuid);
  await payByCard(server, id);
  return id;
}

const pay = async (uuid: string) => (await payOrder(server, server.client(), uuid)).uuid;

const refundsOf = async (intentId: string) =>
  (
    await server.deps.database
      .selectFrom('refund')
      .select('amount_cents')
      .where('intent_id', '=', intentId)
      .execute()
  ).map(({ amount_cents }) => amount_cents);

const toldTwice = (uuid: string) => staffNotices(server, { uuid, kind: 'perhaps_twice' });

test('what counts is what Stripe received, not what the intent asked for', async (t) => {
  const uuid = await orderFor({ personalEmail: 'received@example.com' });
  const { id } = await openIntent(server.client(), uuid);
  const { payments, database } = server.deps;
  assert.equal(
    (await payments.retrieveIntent(id)).amountReceivedCents,
    0,
    'nothing is received before it is paid',
  );
  await payByCard(server, id);
  const intent = await payments.retrieveIntent(id);
  assert.deepEqual([intent.amountCents, intent.amountReceivedCents], [6500, 6500]);

  // A payment with one of the wrong amounts below would be refunded. That is prevented here, because the same intent is confirmed
  // with the right amount at the end.
  const refund = t.mock.method(payments, 'refund', () => Promise.reject(new Error('not now')));
  for (const other of [
    { amountReceivedCents: 5000 },
    { amountReceivedCents: 6600 },
    { currency: 'cad' },
  ] as const) {
    const received = t.mock.method(payments, 'retrieveIntent', async () => ({ ...intent, ...other }));
    assert.equal(await confirmPayment(server.deps, id), 'refunded');
    received.mock.restore();
    assert.deepEqual(await refundsOf(id), [{ ...intent, ...other }.amountReceivedCents]);
    assert.deepEqual([await stateOf(server, uuid), await membershipsOf(server, uuid)], ['ordering', []]);
    await database.deleteFrom('refund').where('intent_id', '=', id).execute();
    await database.updateTable('payment').set({ status: 'open' }).where('intent_id', '=', id).execute();
  }
  refund.mock.restore();

  // Only the amount that Stripe received counts, not the intent's `amount`, which may have been changed since.
  const other = t.mock.method(payments, 'retrieveIntent', async () => ({ ...intent, amountCents: 9900 }));
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  other.mock.restore();
  assert.equal((await membershipsOf(server, uuid)).length, 1);
});

test('of a payment that bought nothing goes back what Stripe received, not what the intent asked for', async (t) => {
  const id = await paidIntent(await orderFor({ personalEmail: 'second.intent@example.com' }));
  await sql`update payment set intent_id = 'pi_other', status = 'succeeded' where intent_id = ${id}`.execute(
    server.deps.database,
  );
  const { payments } = server.deps;
  const intent = await payments.retrieveIntent(id);
  t.mock.method(payments, 'retrieveIntent', async () => ({ ...intent, amountCents: 9900 }));
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  assert.deepEqual(await refundsOf(id), [6500]);
});

test('what was paid is what Stripe took the intent for, though we never heard that it had changed', async () => {
  const client = server.client();
  const uuid = await orderFor({ personalEmail: 'unheard@example.com' });
  const { id, revision } = await openIntent(client, uuid);
  await client.call('setSessionProduct', {
    params: { uuid },
    body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021' },
  });
  await server.stripeFault({ kind: 'status_after', method: 'POST', path: `/v1/payment_intents/${id}` });
  const body = { amount: 9000, currency: 'usd', billingEmail: '' };
  assert.equal((await client.call('createPaymentIntent', { params: { uuid }, body })).status, 503);
  await sql`update payment set saves_card = false where intent_id = ${id}`.execute(server.deps.database);
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'succeeded');
  assert.equal((await readStanding(server.deps, uuid))?.upgrade?.id, 10, 'by a card that Stripe has kept');
  const [paid] = await paidOrders(server.deps, server.deps.database, [id]);
  assert.deepEqual(
    [paid?.amountCents, paid?.lines.map(({ type, priceCents }) => [type, priceCents])],
    [
      9000,
      [
        ['membership', 6500],
        ['donation', 2500],
      ],
    ],
    `revision ${revision + 1}`,
  );
});

test('what was disputed or refunded before it was confirmed is followed at once', async () => {
  for (const [name, standing, happens] of [
    [
      'disputed',
      'disputed',
      async (intent: string) => {
        await server.stripeControl('disputes', { charge: await chargeOf(server, intent) });
      },
    ],
    [
      'refunded',
      'refunded',
      (intent: string) => server.stripe('POST', '/v1/refunds', { payment_intent: intent }),
    ],
  ] as const) {
    const uuid = await orderFor({ personalEmail: `${name}.before@example.com` });
    const intent = await paidIntent(uuid);
    await happens(intent);
    await confirmPayment(server.deps, intent);
    const [membership] = await membershipsOf(server, uuid);
    assert.equal(membership?.standing, standing);
  }
});

test('two joins of one contact are confirmed one after the other: the second sees what the first bought', async (t) => {
  const intents = [];
  for (const personalEmail of ['here@example.com', 'there@example.com'])
    intents.push(await paidIntent(await orderFor({ personalEmail }, 'HONOR104')));
  const holder = await lockHolder(t, server);
  // Makes both confirmations wait for a lock on the contact. This lock conflicts with their locks, but lets them insert rows that
  // refer to the contact.
  await holder.query("select from person where contact_id = '104' for no key update");
  const confirmed = Promise.all(intents.map((id) => confirmPayment(server.deps, id)));
  assert.equal(await Promise.race([confirmed, waiting(holder, 2)]), 'waiting');
  await holder.query('commit');
  assert.deepEqual((await confirmed).sort(), ['refunded', 'succeeded']);
});

test('one join is confirmed by one at a time, whoever asks', async (t) => {
  const uuid = await orderFor({ personalEmail: 'alone@example.com' });
  const id = await paidIntent(uuid);
  // Removes the details and the likeness, so that the confirmations take no advisory lock on a likeness.
  await sql`update join_session set details = null where uuid = ${uuid}`.execute(server.deps.database);
  await sql`update person set likeness = null where id = (select person_id from join_session where uuid = ${uuid})`.execute(
    server.deps.database,
  );
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for no key update', [uuid]);
  const confirmed = Promise.all([confirmPayment(server.deps, id), confirmPayment(server.deps, id)]);
  assert.equal(await Promise.race([confirmed, waiting(holder, 2)]), 'waiting');
  await holder.query('commit');
  assert.deepEqual(await confirmed, ['succeeded', 'succeeded']);
  assert.equal((await membershipsOf(server, uuid)).length, 1);
});

test('who pays for two joins under one name and email is told to staff, with the ways on', async () => {
  const first = await pay(await orderFor({ personalEmail: 'twice@example.com', firstName: 'Robin' }));
  assert.deepEqual(await toldTwice(first), []);
  const second = await pay(await orderFor({ personalEmail: ' Twice@Example.com', firstName: 'ROBIN ' }));
  assert.deepEqual(await toldTwice(second), [
    `Join ${second} was paid by somebody of the same name and email as join ${first}. If it is one person: npm run operator -- person merge ${second} ${first}, and give one of them back: npm run operator -- refund ${second} --upgrade --items all. If they are two, as father and son: npm run operator -- person keep-apart ${second} ${first}`,
  ]);
  assert.deepEqual(await toldTwice(first), []);
});

test('an upgrade of the second join tells nobody a second time', async () => {
  const person = { personalEmail: 'upgraded@example.com', firstName: 'Robin' };
  const [before, client] = [server.client(), server.client()];
  const first = await payOrder(server, before, await orderFor(person));
  const body = { paymentIntent: first.intentId };
  await before.call('createUpgradeCharge', { params: { uuid: first.uuid }, body });
  const { uuid, intentId } = await payOrder(server, client, await orderingJoin(client, undefined, person));
  const told = await toldTwice(uuid);
  assert.equal(told.length, 1);
  assert.match(told[0]!, new RegExp(`as join ${first.uuid}\\. If`), 'once, for all that it bought');
  await sql`update staff_notice set created_at = now() - interval '2 days'`.execute(server.deps.database);
  const upgraded = await charge(client, uuid, intentId);
  assert.deepEqual([upgraded.data.status, (await toldTwice(uuid)).length], ['succeeded', 1]);
});

test("a join by a contact's own code and one by a school's code are perhaps one person, too", async () => {
  const person = { personalEmail: 'amelie.tremblay@example.com', firstName: 'Amélie', lastName: 'Tremblay' };
  const school = await pay(await orderFor(person));
  const invited = await pay(await orderFor(person, 'HONOR102'));
  assert.match((await toldTwice(invited))[0] ?? '', new RegExp(`as join ${school}\\.`));
});

test('a checkout link tells no details: its contact does', async () => {
  const school = await pay(
    await orderFor({ personalEmail: 'sam.okafor@example.com', firstName: 'Sam', lastName: 'Okafor' }),
  );
  const { uuid: linked } = await membershipByLink(server, '103');
  assert.match((await toldTwice(linked))[0] ?? '', new RegExp(`as join ${school}\\.`));
});

test('siblings who share an email are two people, and who was refunded may pay again', async () => {
  const email = 'parents@example.com';
  const ada = await pay(await orderFor({ personalEmail: email, firstName: 'Ada' }));
  const ben = await pay(await orderFor({ personalEmail: email, firstName: 'Ben' }));
  assert.deepEqual([await toldTwice(ada), await toldTwice(ben)], [[], []]);
  await refundJoin(server.deps, ada, everything);
  const again = await pay(await orderFor({ personalEmail: email, firstName: 'Ada' }));
  assert.deepEqual(await toldTwice(again), []);
});

test('of two joins of one person that are confirmed at the same moment, one is told of the other', async (t) => {
  const person = { personalEmail: 'same.moment@example.com' };
  const joins = [await orderFor(person), await orderFor(person)];
  const intents = [];
  for (const uuid of joins) {
    await beginPayment(server.client(), uuid, 1);
    intents.push(await paidIntent(uuid));
  }
  const holder = await lockHolder(t, server);
  await holder.query("select pg_advisory_xact_lock(hashtextextended('likeness ' || $1, 0))", [
    'same.moment@example.com jordan rivera',
  ]);
  const confirmed = Promise.all(intents.map((id) => confirmPayment(server.deps, id)));
  assert.equal(await Promise.race([confirmed, waiting(holder, 2)]), 'waiting');
  await holder.query('commit');
  assert.deepEqual(await confirmed, ['succeeded', 'succeeded']);
  const told = await Promise.all(joins.map(toldTwice));
  assert.equal(told.flat().length, 1);
});

test('what went back of a payment before it was confirmed is taken in with it, and otherwise Stripe is not asked for it', async (t) => {
  const asked = t.mock.method(server.deps.payments, 'moneyBack');
  const confirm = async (personalEmail: string, cents: number) => {
    const uuid = await orderFor({ personalEmail });
    const { id } = await openIntent(server.client(), uuid);
    await payByCard(server, id);
    if (cents > 0) await server.stripe('POST', '/v1/refunds', { payment_intent: id, amount: String(cents) });
    await confirmPayment(server.deps, id);
    return refundsOf(id);
  };
  assert.deepEqual(await confirm('whole@example.com', 0), []);
  assert.equal(asked.mock.callCount(), 0);
  assert.deepEqual(await confirm('returned@example.com', 6500), [6500]);
  assert.deepEqual(await confirm('returned.in.part@example.com', 2500), [2500]);
});

test('of a member whose membership is missing here, a payment of another amount than its order is left to staff', async () => {
  const uuid = await orderFor({ personalEmail: 'missing.membership@example.com' });
  const { intentId } = await payOrder(server, server.client(), uuid);
  await server.deps.database.deleteFrom('membership').where('session_uuid', '=', uuid).execute();
  await sql`update order_snapshot set amount_cents = amount_cents + 100 where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  await assert.rejects(confirmPayment(server.deps, intentId), /its snapshot says 6600 usd/);
  assert.deepEqual(await refundsOf(intentId), []);
});
