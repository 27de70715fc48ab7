import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import {
  asTold,
  atStripe,
  chargeOf,
  everything,
  membershipOnly,
  paidElsewhere,
} from '../../../tests/harness/refunds.ts';
import { joinRow, stateOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  payByCard,
  payOrder,
  orderingJoin as someonesJoin,
} from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { moveContacts } from '../crm/followMerges.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { reconcile } from './reconcile.ts';
import { refundPayment } from './refundPayment.ts';

/** By how much (ms) Stripe's clock is behind ours. New objects at Stripe get times that are this old. */
let behind = 0;
const server = await sharedServer({}, { stripeClock: () => Date.now() - behind });

let people = 0;
/**
 * Like the harness's function, but with a new person for each join: paid joins of people who are likely the same would be a
 * difference.
 */
function orderingJoin(client: Client, code?: string): Promise<string> {
  return someonesJoin(client, code, { personalEmail: `person${++people}@example.com` });
}
async function paidJoin(to: typeof server, client: Client, code?: string) {
  return payOrder(to, client, await orderingJoin(client, code));
}

/** Returns all differences, even those of payments and joins that were changed just now. */
const look = async () => (await reconcile(server.deps, { graceMinutes: 0 })).differences.map(asTold);

const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);

/** Asserts that `reconcile` finds exactly these kinds of difference, and finds none after the suggested repairs have run. */
async function foundAndRepaired(t: TestContext, ...kinds: string[]): Promise<void> {
  const found = await look();
  assert.deepEqual(found.map(({ kind }) => kind).sort(), kinds.sort());
  for (const { repair } of found) {
    const [name, subject] = repair.replace('npm run operator -- ', '').split(' ') as [string, string];
    const { code, out } = await run(t, name === 'refund' ? 'refund' : 'settle', subject);
    assert.equal(code, 0, out);
  }
  assert.deepEqual(await look(), []);
}

const change = (statement: ReturnType<typeof sql>) => statement.execute(server.deps.database);
const standingsOf = async (uuid: string) =>
  (
    await server.deps.database
      .selectFrom('membership')
      .select('standing')
      .where('session_uuid', '=', uuid)
      .execute()
  ).map(({ standing }) => standing);

test('joins of every kind leave no difference', async () => {
  const client = server.client();
  await paidJoin(server, client, 'HONOR101');
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await openIntent(client, await orderingJoin(client));
  const { counts, differences } = await reconcile(server.deps, { graceMinutes: 0 });
  assert.deepEqual(differences, []);
  assert.deepEqual(
    [counts.intents, counts.payments, counts.paidJoins, counts.heldMemberships, counts.receivedCents],
    [4, 4, 2, 3, 6500 + 6500 + 4500],
  );
});

test('a payment that nobody confirmed', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await foundAndRepaired(t, 'unconfirmed');
  assert.deepEqual(await standingsOf(uuid), ['active']);
});

test('a payment that nobody confirmed is told ten minutes after it was paid, however long its form was open', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  behind = 60 * 60_000;
  t.after(() => {
    behind = 0;
  });
  const { id } = await openIntent(client, uuid);
  behind = 0;
  await payByCard(server, id);
  assert.deepEqual((await reconcile(server.deps)).differences, []);
  await foundAndRepaired(t, 'unconfirmed');
});

test('an intent that is open at Stripe alone is told ten minutes after it was made, though a card was declined just now', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  behind = 60 * 60_000;
  t.after(() => {
    behind = 0;
  });
  const { id } = await openIntent(client, uuid);
  behind = 0;
  await payByCard(server, id, 'pm_card_chargeDeclined');
  await change(sql`update payment set status = 'canceled' where intent_id = ${id}`);
  const { differences } = await reconcile(server.deps);
  assert.deepEqual(
    differences.map(({ kind, subject }) => [kind, subject]),
    [['open_there_only', id]],
  );
  await foundAndRepaired(t, 'open_there_only');
});

test('a payment that nobody wrote down', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await change(sql`delete from payment where intent_id = ${id}`);
  await foundAndRepaired(t, 'unconfirmed');
});

test('a payment of another amount than the one on the screen goes back', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await server.stripe('POST', `/v1/payment_intents/${id}`, { amount: '100' });
  await payByCard(server, id);
  await foundAndRepaired(t, 'other_amount');
  assert.deepEqual(await standingsOf(uuid), []);
  assert.deepEqual(await atStripe(server, id), [100]);
  const { rows } = await sql<{ status: string; reason: string; refunded: string }>`
    select payment.status, reason, refund.status as refunded from payment join refund using (intent_id)
    where intent_id = ${id}`.execute(server.deps.database);
  assert.deepEqual(rows, [{ status: 'duplicate', reason: 'unconfirmed', refunded: 'succeeded' }]);
});

test('money for a join that does not exist goes back, and an outage of Stripe is not told as a refusal', async (t) => {
  const id = await paidElsewhere(server);
  const outage = new Error('Stripe did not answer');
  const refund = t.mock.method(server.deps.payments, 'refund', () => Promise.reject(outage));
  await assert.rejects(refundPayment(server.deps, id), outage);
  refund.mock.restore();
  await foundAndRepaired(t, 'nothing_sold');
});

test('money for a revision of an order that is none goes back', async () => {
  const uuid = await orderingJoin(server.client());
  await openIntent(server.client(), uuid);
  const { rows } = await sql<{ revision: number }>`
    select revision from order_snapshot where session_uuid = ${uuid}`.execute(server.deps.database);
  assert.deepEqual(rows, [{ revision: 1 }], 'a snapshot that must not be taken for it');
  const id = await paidElsewhere(server, { session: uuid, revision: 'x' });
  const [found] = await look();
  assert.deepEqual([found?.kind, found?.subject], ['nothing_sold', id]);
  await server.stripe('POST', '/v1/refunds', { payment_intent: id });
  assert.deepEqual(await look(), []);
});

test('money for an order that a restore has lost, made before intents told whose join it is, is made again from its lines', async (t) => {
  const uuid = await orderingJoin(server.client());
  const { id } = await openIntent(server.client(), uuid);
  await payByCard(server, id);
  await change(sql`delete from order_snapshot where session_uuid = ${uuid}`);
  await server.stripe('POST', `/v1/payment_intents/${id}`, { 'metadata[origin]': '' });
  await foundAndRepaired(t, 'not_here');
  assert.equal((await standingsOf(uuid)).length, 1);
});

test("a payment whose metadata was taken from it in Stripe's dashboard is told from our own row", async () => {
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const mark = (app: string) =>
    server.stripe('POST', `/v1/payment_intents/${intentId}`, { 'metadata[app]': app });
  await mark('');
  assert.deepEqual(
    (await look()).map(({ kind, subject }) => [kind, subject]),
    [['paid_here_only', intentId]],
  );
  await mark('induct');
  assert.deepEqual(await look(), []);
});

test("a refund in Stripe's dashboard whose webhook was lost", async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await foundAndRepaired(t, 'refunds');
  assert.deepEqual(await standingsOf(uuid), ['refunded']);
});

test('a dispute whose webhook was lost', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await foundAndRepaired(t, 'dispute');
  assert.deepEqual(await standingsOf(uuid), ['disputed']);
});

test('a payment of which two lost disputes each took a part', async () => {
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intentId}`);
  const loseDispute = async (amount?: number) => {
    const { id } = await server.stripeControl('disputes', { charge: body.latest_charge, amount });
    await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  };
  const disputes = async () =>
    (await look())
      .filter(({ kind, subject }) => kind === 'dispute_amount' && subject === intentId)
      .map(({ text }) => text);
  await loseDispute(2000);
  await followPayment(server.deps, intentId);
  await loseDispute(1500);
  assert.deepEqual(await disputes(), ['At Stripe its dispute took $35.00, here $20.00.']);
  await followPayment(server.deps, intentId);
  assert.deepEqual(await disputes(), []);
  await loseDispute();
  await followPayment(server.deps, intentId);
  assert.deepEqual(await look(), []);
});

test('a member without money', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await change(sql`
    with paid as (update payment set status = 'succeeded', succeeded_at = now() where intent_id = ${id}),
      done as (update join_session set state = 'paid', paid_at = now() where uuid = ${uuid})
    insert into membership (session_uuid, product_id, type, payment_intent) values (${uuid}, 1, 'membership', ${id})`);
  await foundAndRepaired(t, 'paid_here_only');
  assert.deepEqual(await standingsOf(uuid), ['void']);
  const taken = await server.deps.database
    .selectFrom('payment')
    .select(['status', 'succeeded_at'])
    .where('intent_id', '=', id)
    .executeTakeFirst();
  assert.deepEqual(taken, { status: 'canceled', succeeded_at: null });
  // The join can still be paid and upgraded.
  const { intentId } = await payOrder(server, client, uuid);
  await charge(client, uuid, intentId);
  assert.deepEqual(await standingsOf(uuid), ['void', 'active', 'active']);
  assert.deepEqual(await look(), []);
});

test('payments that Stripe does not know, as after a change of accounts', async (t) => {
  const [open, paid] = [await orderingJoin(server.client()), await orderingJoin(server.client())];
  await change(sql`
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, succeeded_at)
    values ('pi_elsewhere1', ${open}, 'join', 1, 'open', '', '', 6500, 1, null),
      ('pi_elsewhere2', ${paid}, 'join', 1, 'succeeded', '', '', 6500, 1, now())`);
  await change(sql`
    with done as (update join_session set state = 'paid' where uuid = ${paid})
    insert into membership (session_uuid, product_id, type, payment_intent) values (${paid}, 1, 'membership', 'pi_elsewhere2')`);
  await foundAndRepaired(t, 'open_here_only', 'paid_here_only');
  assert.deepEqual(await standingsOf(paid), ['void']);
});

test('an order is open again once its payment, which was cancelled at Stripe, is settled', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id, revision } = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, revision)).status, 200);
  await server.stripe('POST', `/v1/payment_intents/${id}/cancel`);
  assert.equal(await stateOf(server, uuid), 'paying');
  assert.equal((await run(t, 'settle', id)).code, 0);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('money without a member, and a member of something else', async (t) => {
  const one = await paidJoin(server, server.client(), 'LINCOLN2026');
  await change(sql`delete from membership where session_uuid = ${one.uuid}`);
  const two = await paidJoin(server, server.client(), 'LINCOLN2026');
  await change(sql`update membership set product_id = 2 where session_uuid = ${two.uuid}`);
  const three = await paidJoin(server, server.client(), 'LINCOLN2026');
  await change(sql`update membership set standing = 'refunded' where session_uuid = ${three.uuid}`);
  await change(sql`update join_session set paid_at = paid_at - interval '1 day' where uuid = ${two.uuid}`);
  await foundAndRepaired(t, 'money_without_member', 'other_product', 'standing');
  const { paid_at } = await joinRow(server, two.uuid);
  const hoursAgo = (Date.now() - paid_at!.getTime()) / 3_600_000;
  assert.ok(hoursAgo > 23, 'a repair is no payment of today: the upgrade of a day ago is over');
});

test('a payment that is held at another amount, and a paid join or upgrade that says it is not', async (t) => {
  const one = await paidJoin(server, server.client(), 'LINCOLN2026');
  await change(sql`update payment set amount_cents = 6400 where intent_id = ${one.intentId}`);
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await change(sql`update join_session set state = 'ordering', upgrade = 'open' where uuid = ${uuid}`);
  await foundAndRepaired(t, 'other_amount_here', 'session', 'session');
  assert.deepEqual(await standingsOf(uuid), ['active', 'active']);
});

test('joins that say they are paid by nothing, upgraded by nothing or frozen for nothing', async (t) => {
  const [one, three] = [await orderingJoin(server.client()), await orderingJoin(server.client())];
  const two = await paidJoin(server, server.client(), 'LINCOLN2026');
  await change(sql`update join_session set state = 'paid', paid_at = now() where uuid = ${one}`);
  await change(sql`update join_session set upgrade = 'taken' where uuid = ${two.uuid}`);
  const frozenFor = async (minutes: number) => {
    await change(
      sql`update join_session set state = 'paying', paying_since = now() - make_interval(mins => ${minutes}::int) where uuid = ${three}`,
    );
    return (await reconcile(server.deps)).differences.some(({ kind }) => kind === 'paying_for_long');
  };
  assert.deepEqual([await frozenFor(55), await frozenFor(65)], [false, true]);
  await foundAndRepaired(t, 'paid_by_nothing', 'upgraded_by_nothing', 'paying_for_long');
  const { rows } = await sql`select from join_session where uuid = ${one} and paid_at is null`.execute(
    server.deps.database,
  );
  assert.equal(rows.length, 1, 'when it is paid for, that is its time');
});

test('a join that nothing paid is told, though its upgrade was paid', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await change(sql`update payment set status = 'canceled' where intent_id = ${intentId}`);
  const found = await look();
  assert.deepEqual(
    found.map(({ kind, subject }) => [kind, subject]),
    [
      ['unconfirmed', intentId],
      ['paid_by_nothing', uuid],
    ],
  );
  await run(t, 'settle', uuid);
  assert.deepEqual(await look(), []);
});

test('a second payment of one join that is kept goes back', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  const { metadata } = await server.deps.payments.retrieveIntent(intentId);
  const second = await paidElsewhere(server, metadata);
  await change(sql`
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, succeeded_at)
    select ${second}, session_uuid, kind, 2, 'succeeded', '', '', amount_cents, revision, now() from payment where intent_id = ${intentId}`);
  const found = await look();
  assert.deepEqual(found.map(({ kind }) => kind).sort(), ['money_without_member', 'paid_twice']);
  assert.match(found.find(({ kind }) => kind === 'paid_twice')!.repair, new RegExp(`refund ${second}`));
  assert.equal((await run(t, 'refund', second)).out, `$65.00 of ${second} goes back.\n`);
  assert.deepEqual(await standingsOf(uuid), ['active']);
  assert.deepEqual(await look(), []);
});

test('a refund that fails after its contact has joined anew: the money of the first membership goes back', async (t) => {
  const first = await paidJoin(server, server.client(), 'HONOR104');
  const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: first.intentId });
  await run(t, 'settle', first.intentId);
  const second = await paidJoin(server, server.client(), 'HONOR104');
  await server.stripeControl(`refunds/${body.id}/settle`, { status: 'failed' });
  await run(t, 'settle', first.intentId);
  await foundAndRepaired(t, 'paid_anew');
  assert.deepEqual(
    [await standingsOf(first.uuid), await standingsOf(second.uuid)],
    [['refunded'], ['active']],
  );
});

test('a contact that holds two memberships since a merge: the one that is left over goes back, unless a bank has the money of either', async (t) => {
  const [present, old] = [
    await newContact(server, 'present@example.com'),
    await newContact(server, 'old@example.com'),
  ];
  const one = await upgradeByLink(server, present, { productId: 1 });
  const other = await upgradeByLink(server, old, { productId: 1 });
  await server.deps.database.transaction().execute((trx) => moveContacts(trx, [{ old, present }]));
  for (const { intentId } of [one, other]) {
    await change(sql`update membership set standing = 'disputed' where payment_intent = ${intentId}`);
    assert.deepEqual(
      (await look()).filter(({ kind }) => kind === 'held_twice'),
      [],
    );
    await change(sql`update membership set standing = 'active' where payment_intent = ${intentId}`);
  }
  await foundAndRepaired(t, 'held_twice');
  assert.deepEqual([await standingsOf(one.uuid), await standingsOf(other.uuid)], [['active'], ['refunded']]);
});

test('of a contact that holds two upgrades since a merge, the upgrade that is left over goes back', async (t) => {
  const [present, old] = [
    await newContact(server, 'present.upgraded@example.com'),
    await newContact(server, 'old.upgraded@example.com'),
  ];
  for (const contact of [present, old]) {
    await upgradeByLink(server, contact, { productId: 1 });
    await upgradeByLink(server, contact);
  }
  await server.deps.database.transaction().execute((trx) => moveContacts(trx, [{ old, present }]));
  const found = await look();
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['held_twice', 'held_twice'],
  );
  const commands = found.map(({ repair }) => repair.replace('npm run operator -- refund ', '').split(' '));
  assert.deepEqual(commands.map(([, ...options]) => options.join(' ')).sort(), [
    '',
    '--no-membership --upgrade',
  ]);
  for (const args of commands) assert.equal((await run(t, 'refund', ...args)).code, 0);
  assert.deepEqual(await look(), []);
});

test('a membership whose refund failed unseen is to come back, though its contact has had another one that ended', async (t) => {
  const paidAndReturned = async () => {
    const { uuid, intentId } = await paidJoin(server, server.client(), 'HONOR103');
    const { body } = await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
    await run(t, 'settle', intentId);
    return { uuid, intentId, refund: body.id };
  };
  await paidAndReturned();
  const { uuid, intentId, refund } = await paidAndReturned();
  await server.stripeControl(`refunds/${refund}/settle`, { status: 'failed' });
  await change(sql`update refund set status = 'failed' where intent_id = ${intentId}`);
  await change(sql`update payment set refunded_cents = 0 where intent_id = ${intentId}`);
  await foundAndRepaired(t, 'standing');
  assert.deepEqual(await standingsOf(uuid), ['active']);
});

test('of more payments than are compared at a time, each is compared', async (t) => {
  const [differs, agrees] = await Promise.all(
    [0, 1].map(() => paidJoin(server, server.client(), 'LINCOLN2026')),
  );
  await change(sql`update membership set product_id = 2 where session_uuid = ${differs!.uuid}`);
  const { payments } = server.deps;
  const [first, other] = await Promise.all(
    [differs!, agrees!].map(({ intentId }) => payments.retrieveIntent(intentId)),
  );
  const listed = t.mock.method(payments, 'listIntents', async function* () {
    yield first!;
    for (let more = 0; more < 250; more++) yield other!;
  });
  const found = await look();
  listed.mock.restore();
  assert.deepEqual(
    found.map(({ kind, subject }) => [kind, subject]),
    [['other_product', differs!.intentId]],
  );
  await run(t, 'settle', differs!.intentId);
});

test('of more payments than are read at a time, each is compared, though Stripe lists none of them', async () => {
  const uuid = await orderingJoin(server.client());
  await change(sql`
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision)
    select 'pi_unlisted_' || n, ${uuid}, 'join', n, case n when 250 then 'duplicate' else 'canceled' end, '', '', 6500, 1
    from generate_series(101, 250) as n`);
  const found = await look();
  await change(sql`delete from payment where session_uuid = ${uuid}`);
  assert.deepEqual(
    found.map(({ kind, subject }) => [kind, subject]),
    [['paid_here_only', 'pi_unlisted_250']],
  );
});

test('a membership that has ended by mistake is to come back, though its contact holds an upgrade', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'HONOR102');
  await charge(client, uuid, intentId);
  await change(sql`update membership set standing = 'refunded' where payment_intent = ${intentId}`);
  const found = await look();
  assert.deepEqual(
    found.filter(({ subject }) => subject === intentId).map(({ kind }) => kind),
    ['standing'],
  );
  await run(t, 'settle', intentId);
  assert.deepEqual(await look(), []);
});

function rejectDocument(uuid: string, isFinal = true, reason = 'outdated'): Promise<unknown> {
  return change(sql`
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, review, reason, is_final, reviewed_at)
    values (gen_random_uuid(), 'transcript', ${uuid}, 'a.pdf', 'application/pdf', 1, '\\x00', gen_random_uuid()::text, 'rejected', ${reason}, ${isFinal}, now())`);
}

test('an upgrade that is left of a rejected membership is told as that alone', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await rejectDocument(uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.deepEqual(
    (await look()).map(({ kind, subject }) => [kind, subject]),
    [['upgrade_alone', uuid]],
  );
  await refundJoin(server.deps, uuid, everything);
  assert.deepEqual(await look(), []);
});

test('a membership that is held though its document was rejected finally', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await rejectDocument(uuid, false);
  assert.ok(!(await look()).some(({ kind }) => kind === 'rejected_held'), 'another one may be sent');
  await rejectDocument(uuid, true, 'unreadable');
  await rejectDocument(uuid);
  assert.ok(
    !(await reconcile(server.deps)).differences.some(({ kind }) => kind === 'rejected_held'),
    'it may be under way',
  );
  const repair = `npm run operator -- documents reject ${uuid} --reason outdated --final`;
  assert.deepEqual(
    (await look()).map(({ kind, subject, repair }) => [kind, subject, repair]),
    [['rejected_held', uuid, repair]],
  );
  // A disputed membership is not listed, because its money cannot be refunded.
  await change(sql`update membership set standing = 'disputed' where payment_intent = ${intentId}`);
  assert.ok(!(await look()).some(({ kind }) => kind === 'rejected_held'));
  await change(sql`update membership set standing = 'active' where payment_intent = ${intentId}`);
  // The difference disappears as soon as a refund is decided, even if Stripe has not made it yet.
  await server.stripeControl('refunds', { answer: 'refused' });
  const args = repair.replace('npm run operator -- documents reject ', '').split(' ');
  assert.equal((await run(t, 'documents reject', ...args)).code, 0);
  assert.deepEqual(
    (await look()).map(({ kind }) => kind),
    ['refund_due'],
  );
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await foundAndRepaired(t, 'refund_due');
});

test('what moves while it is being read is no difference', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  // The payment is confirmed between the listing of the intents and the second read of this intent.
  const { payments } = server.deps;
  const deps = {
    ...server.deps,
    payments: {
      ...payments,
      async *listIntents(since: Date | null) {
        yield* payments.listIntents(since);
      },
      async retrieveIntent(intentId: string) {
        if (intentId === id) await confirmPayment(server.deps, id);
        return payments.retrieveIntent(intentId);
      },
    },
  };
  const before = await look();
  const { differences } = await reconcile(deps, { graceMinutes: 0 });
  assert.deepEqual(
    before.filter(({ subject }) => subject === id).map(({ kind }) => kind),
    ['unconfirmed'],
  );
  assert.deepEqual(
    differences.filter(({ subject }) => subject === id),
    [],
  );
});

test('a member whom HubSpot calls a former member, and nothing is due to change that', async (t) => {
  const id = await newContact(server, 'former.held@example.com');
  const { uuid } = await upgradeByLink(server, id, { productId: 1 });
  await deliver(server);
  assert.deepEqual(await look(), []);
  await editAtHubspot(server, id, { membership_status: 'former' });
  await change(sql`
    update crm_delivery set sent = sent || '{"membershipStatus": "former"}'
    where person_id = (select person_id from join_session where uuid = ${uuid})`);
  const [found, ...others] = await look();
  assert.deepEqual([found?.kind, found?.subject, others], ['former_and_held', uuid, []]);
  assert.equal((await run(t, 'contacts retry', uuid)).code, 0);
  assert.equal(found!.repair, `npm run operator -- contacts retry ${uuid}`);
  assert.deepEqual(await look(), []);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
  assert.deepEqual(await look(), []);
});

test('an unproven join that is of one person with a proven one, though nobody joined them', async () => {
  const proven = await upgradeByLink(server, await newContact(server, 'proven@example.com'), {
    productId: 1,
  });
  const stray = await paidJoin(server, server.client(), 'LINCOLN2026');
  const own = await server.deps.database
    .selectFrom('join_session')
    .select('person_id')
    .where('uuid', '=', stray.uuid)
    .executeTakeFirstOrThrow();
  await change(sql`
    update join_session set person_id = (select person_id from join_session where uuid = ${proven.uuid})
    where uuid = ${stray.uuid}`);
  const [found, ...others] = await look();
  assert.deepEqual([found?.kind, found?.subject, others], ['unproven_beside', stray.uuid, []]);
  assert.match(found!.text, new RegExp(proven.uuid));
  await change(sql`update join_session set person_id = ${own.person_id} where uuid = ${stray.uuid}`);
  assert.deepEqual(await look(), []);
});
