import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { stateOf } from '../../../tests/harness/rows.ts';
import {
  beginPayment,
  newIntent,
  newMember,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { startSweeping, sweepPayments, sweepRefunds } from './sweep.ts';

const server = await sharedServer();

/** Backdates the timestamps in the database by `time`, as if that much time had passed. */
const pass = (time: string) =>
  sql`with sessions as (update join_session set paying_since = paying_since - ${time}::interval),
      refunds as (update refund set next_try_at = next_try_at - ${time}::interval, created_at = created_at - ${time}::interval)
    update payment set checked_at = checked_at - ${time}::interval, created_at = created_at - ${time}::interval`.execute(
    server.deps.database,
  );
const statusOf = async (intentId: string) =>
  (
    await server.deps.database
      .selectFrom('payment')
      .select('status')
      .where('intent_id', '=', intentId)
      .executeTakeFirstOrThrow()
  ).status;

const sweepOnce = () => startSweeping(server.deps)();

async function begun() {
  const { client, uuid, intent } = await newIntent(server);
  await beginPayment(client, uuid, intent.revision);
  return { uuid, intentId: intent.id };
}

test('a payment that neither the browser nor a webhook reported is confirmed within ten minutes', async () => {
  const { uuid, intentId } = await begun();
  await payByCard(server, intentId);
  assert.equal(await stateOf(server, uuid), 'paying');
  await pass('6 minutes');
  await sweepPayments(server.deps);
  assert.deepEqual([await stateOf(server, uuid), await statusOf(intentId)], ['paid', 'succeeded']);
});

test('a payment that is still open is asked about once in its time, so that every other has its turn', async () => {
  const { uuid, intentId } = await begun();
  // The upgrade state `skipped` must not affect the payment for the join itself. An unpaid join has this state if the join was
  // paid, the upgrade skipped, and the payment then undone.
  await sql`update join_session set upgrade = 'skipped' where uuid = ${uuid}`.execute(server.deps.database);
  await pass('6 minutes');
  assert.equal(await sweepPayments(server.deps), 1);
  assert.equal(await sweepPayments(server.deps), 0);
  assert.equal(await statusOf(intentId), 'open');
});

test('of more payments than one round takes, those that have waited longest come first', async () => {
  const { uuid, intentId } = await begun();
  await payByCard(server, intentId);
  await pass('3 hours');
  await sql`
    with persons as (insert into person (profile) select '{}' from generate_series(1, 20) returning id), others as (
      insert into join_session select (jsonb_populate_record(null::join_session,
        to_jsonb(session) || jsonb_build_object('uuid', gen_random_uuid(), 'person_id', persons.id))).*
      from join_session session, persons where uuid = ${uuid} returning uuid)
    insert into payment (intent_id, session_uuid, kind, attempt, status, client_secret, customer_id, amount_cents, revision, checked_at)
    select 'pi_' || replace(uuid::text, '-', ''), uuid, 'join', 1, 'open', '', '', 6500, 1, now() - interval '2 hours' from others`.execute(
    server.deps.database,
  );
  assert.equal(await sweepPayments(server.deps), 20);
  assert.equal(await stateOf(server, uuid), 'paid');
  while ((await sweepPayments(server.deps)) > 0);
});

test('of more refunds than one round makes, those that have waited longest come first', async () => {
  const { intentId } = await newMember(server);
  const wait = (minutes: number, count: number) =>
    sql`
      insert into refund (intent_id, amount_cents, reason, status, next_try_at, lines)
      select ${intentId}, 1, 'requested', 'due', now() - make_interval(mins => ${minutes}::int), '[]' from generate_series(1, ${count}::int)`.execute(
      server.deps.database,
    );
  await wait(1, 20);
  await wait(60, 1);
  // While Stripe is unavailable, each refund that the sweep takes stays due and is postponed.
  await server.stripeFault({ kind: 'cut', times: 1_000 });
  await sweepRefunds(server.deps).catch(() => {});
  await server.stripeFault(null);
  const { rows } = await sql<{ minutes: number }>`
    select floor(extract(epoch from now() - next_try_at) / 60)::int as minutes from refund
    where intent_id = ${intentId} and next_try_at <= now()`.execute(server.deps.database);
  assert.deepEqual(rows, [{ minutes: 1 }]);
  await sql`delete from refund where intent_id = ${intentId}`.execute(server.deps.database);
});

test('an abandoned intent is cancelled after a day, in Stripe and then here; and the join can still be paid', async () => {
  for (const card of [null, 'pm_card_authenticationRequired', 'not confirmed']) {
    const { uuid, intentId } = await begun();
    if (card === 'not confirmed')
      await server.stripe('POST', `/v1/payment_intents/${intentId}`, { payment_method: 'pm_card_visa' });
    // The joiner leaves the bank's page without authenticating.
    else if (card) await payByCard(server, intentId, card);
    await pass('23 hours');
    await sweepPayments(server.deps);
    assert.equal(await statusOf(intentId), 'open');
    await pass('2 hours');
    await sweepPayments(server.deps);
    assert.equal(await statusAtStripe(server, intentId), 'canceled');
    assert.equal(await statusOf(intentId), 'canceled');
    const next = await payOrder(server, server.client(), uuid);
    assert.deepEqual([next.intentId === intentId, await stateOf(server, uuid)], [false, 'paid']);
  }
});

test('a payment that this Stripe account does not know is given up, and the order opens', async () => {
  const { uuid, intentId } = await begun();
  await sql`update payment set intent_id = 'pi_elsewhere' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  await pass('6 minutes');
  await sweepPayments(server.deps);
  assert.equal(await statusOf('pi_elsewhere'), 'canceled');
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('a success confirms even when it is found only after a day', async () => {
  const { uuid, intentId } = await begun();
  await payByCard(server, intentId);
  await pass('26 hours');
  await sweepPayments(server.deps);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('while Stripe is down nothing is given up, and one failure does not hold up the others', async () => {
  const [first, second] = [await begun(), await begun()];
  await payByCard(server, second.intentId);
  await pass('6 minutes');
  const path = `/v1/payment_intents/${first.intentId}`;
  await server.stripeFault({ kind: 'status', status: 500, path, times: 3 });
  await sweepPayments(server.deps);
  await server.stripeFault(null);
  assert.deepEqual(
    [await stateOf(server, first.uuid), await stateOf(server, second.uuid)],
    ['paying', 'paid'],
  );
});

test('a refund that an outage kept from being made is made', async () => {
  const [one, two] = await Promise.all(
    [0, 1].map(async () => {
      const client = server.client();
      return (await openIntent(client, await orderingJoin(client, 'HONOR103'))).id;
    }),
  );
  await payByCard(server, one!);
  await payByCard(server, two!);
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  await pass('61 minutes');
  await sweepOnce();
  await server.stripeFault(null);
  const statuses = async () => [await statusOf(one!), await statusOf(two!)].sort();
  assert.deepEqual(await statuses(), ['duplicate', 'succeeded']);
  const refunds = () =>
    server.deps.database
      .selectFrom('refund')
      .select(['amount_cents', 'status'])
      .where('intent_id', 'in', [one!, two!])
      .execute();
  assert.deepEqual(await refunds(), [{ amount_cents: 6500, status: 'due' }]);
  await sweepRefunds(server.deps);
  assert.deepEqual(await refunds(), [{ amount_cents: 6500, status: 'due' }], 'not before its time');
  await pass('3 minutes');
  // The round before has just read Stripe's events, so this round does not read them. Only the sweep of refunds can make the
  // refund.
  await sweepOnce();
  assert.deepEqual(await refunds(), [{ amount_cents: 6500, status: 'succeeded' }]);
});

test('an order that is frozen for a payment which does not exist any more opens', async () => {
  const { uuid, intentId } = await begun();
  await server.stripe('POST', `/v1/payment_intents/${intentId}/cancel`);
  await sql`update payment set status = 'canceled' where intent_id = ${intentId}`.execute(
    server.deps.database,
  );
  await sweepPayments(server.deps);
  assert.equal(await stateOf(server, uuid), 'paying', 'a page may still be about to ask');
  await pass('6 minutes');
  await sweepPayments(server.deps);
  assert.equal(await stateOf(server, uuid), 'ordering');
});

test('an upgrade that nobody paid is given up after an hour, a skipped one at once; the membership stays', async () => {
  for (const skips of [false, true]) {
    const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
    const body = { paymentIntent: intentId, charge: false };
    const { data } = await client.call('createUpgradeCharge', { params: { uuid }, body });
    const upgrade = data.clientSecret!.split('_secret_')[0]!;
    // The upgrade was skipped while Stripe was down, so its intent is open.
    if (skips)
      await sql`update join_session set upgrade = 'skipped' where uuid = ${uuid}`.execute(
        server.deps.database,
      );
    else await pass('55 minutes');
    await sweepPayments(server.deps);
    assert.equal(await statusOf(upgrade), 'open');
    await pass('6 minutes');
    await sweepPayments(server.deps);
    assert.equal(await statusOf(upgrade), 'canceled');
    assert.equal(await statusAtStripe(server, upgrade), 'canceled');
    assert.equal(await stateOf(server, uuid), 'paid');
  }
});
