import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { forgetRequests, requestsTo } from '../../../tests/harness/providers.ts';
import { differencesOf } from '../../../tests/harness/refunds.ts';
import { staffNotices, stateOf } from '../../../tests/harness/rows.ts';
import {
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  payByCard,
  statusAtStripe,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { catchUpOnEvents, giveUpUnwritten } from './catchUp.ts';
import { settlePayment } from './settle.ts';

/** By how much (ms) Stripe's clock is behind ours. New objects at Stripe get times that are this old. */
let behind = 0;
const server = await sharedServer({}, { stripeClock: () => Date.now() - behind });

const catchUp = async () => {
  await sql`update schedule set due_at = now()`.execute(server.deps.database);
  return catchUpOnEvents(server.deps);
};
/** Returns the stored events of an intent that still have to be retried. */
const retries = async (intentId: string) =>
  (
    await sql<{ attempts: number; minutes: number }>`
      select attempts, ceil(extract(epoch from next_try_at - now()) / 60)::int as minutes
      from event_retry where event ->> 'intentId' = ${intentId}`.execute(server.deps.database)
  ).rows;
const minutesLater = (minutes: number) =>
  sql`update event_retry set next_try_at = next_try_at - make_interval(mins => ${minutes}::int),
    created_at = created_at - make_interval(mins => ${minutes}::int)`.execute(server.deps.database);
/** Returns the start time (Unix seconds) of each request that listed Stripe's events. The newest request comes first. */
const listed = async () => {
  return (await requestsTo(server.stripeUrl))
    .filter(({ path }) => path === '/v1/events')
    .map(({ params }) => Number((params as { created: { gte: string } }).created.gte))
    .reverse();
};
const paymentsOf = (uuid: string) =>
  server.deps.database
    .selectFrom('payment')
    .select(['kind', 'attempt', 'status'])
    .where('session_uuid', '=', uuid)
    .orderBy('kind')
    .orderBy('attempt')
    .execute();

test('a payment whose webhook was lost and whose page never came back is confirmed, once', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  assert.ok((await catchUp()) > 0);
  assert.equal(await stateOf(server, uuid), 'paid');
  assert.equal(await catchUp(), 0, 'nothing is left to act on');
});

test('an upgrade that was charged when the server died before it could write it is confirmed', async () => {
  const { client, uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await charge(client, uuid, intentId);
  await sql`
    with gone as (delete from membership where session_uuid = ${uuid} and type = 'membership_upgrade'),
      open as (update join_session set upgrade = 'open' where uuid = ${uuid}),
      forgotten as (delete from stripe_event)
    delete from payment where session_uuid = ${uuid} and kind = 'upgrade'`.execute(server.deps.database);
  await catchUp();
  assert.deepEqual(await paymentsOf(uuid), [
    { kind: 'join', attempt: 1, status: 'succeeded' },
    { kind: 'upgrade', attempt: 1, status: 'succeeded' },
  ]);
});

test('an intent that was made when the server died before it could write it is given up, and the join goes on with another', async () => {
  const { client, uuid } = await newOrder(server);
  behind = 10 * 60_000;
  const { id } = await openIntent(client, uuid);
  behind = 0;
  await sql`delete from payment where intent_id = ${id}`.execute(server.deps.database);
  await catchUp();
  assert.equal(await statusAtStripe(server, id), 'canceled');
  const next = await openIntent(client, uuid);
  assert.notEqual(next.id, id);
  assert.deepEqual(await paymentsOf(uuid), [
    { kind: 'join', attempt: 1, status: 'canceled' },
    { kind: 'join', attempt: 2, status: 'open' },
  ]);
  // A second intent without a payment row is handled in the same way, even if it is already cancelled at Stripe.
  await sql`delete from payment where intent_id = ${next.id}`.execute(server.deps.database);
  await server.stripe('POST', `/v1/payment_intents/${next.id}/cancel`);
  await giveUpUnwritten(server.deps, next.id);
  assert.notEqual((await openIntent(client, uuid)).id, next.id);
});

test('a listing that breaks off is begun again from where the last whole one got to', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await catchUp();
  behind = 30 * 60_000;
  await payByCard(server, id);
  behind = 0;
  await sql`update schedule set reached_at = now() - interval '1 hour' where name = 'events'`.execute(
    server.deps.database,
  );
  const broken = t.mock.method(server.deps.payments, 'listEvents', () => {
    throw new Refusal(503, 'no answer');
  });
  await assert.rejects(catchUp(), Refusal);
  broken.mock.restore();
  assert.ok((await catchUp()) > 0);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('a payment that is with the bank is neither written as cancelled nor cancelled, and confirms when the bank has decided', async (t) => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  const { payments } = server.deps;
  const asked = payments.retrieveIntent.bind(payments);
  const bank = t.mock.method(payments, 'retrieveIntent', async (intentId: string) => ({
    ...(await asked(intentId)),
    status: 'processing' as const,
  }));
  const cancels = t.mock.method(payments, 'cancelIntent');
  await settlePayment(server.deps, id);
  assert.deepEqual(await paymentsOf(uuid), [{ kind: 'join', attempt: 1, status: 'open' }]);
  await sql`delete from payment where intent_id = ${id}`.execute(server.deps.database);
  await giveUpUnwritten(server.deps, id);
  assert.deepEqual([await paymentsOf(uuid), cancels.mock.callCount()], [[], 0]);
  bank.mock.restore();
  await giveUpUnwritten(server.deps, id);
  assert.deepEqual(await paymentsOf(uuid), [{ kind: 'join', attempt: 1, status: 'succeeded' }]);
});

test('one that was made a moment ago is left alone: its row may be about to be written', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  const { rows } = await sql<{ payment: object }>`
    delete from payment where intent_id = ${id} returning to_jsonb(payment) as payment`.execute(
    server.deps.database,
  );
  const status = async () =>
    (await server.stripe('GET', `/v1/payment_intents/${id}`)).body.status as unknown as string;
  await catchUp();
  assert.equal(await status(), 'requires_payment_method');
  assert.equal((await retries(id)).length, 1, 'it is looked at again, by itself');
  // Inserts the missing payment row. The intent can then be paid.
  await sql`insert into payment select * from jsonb_populate_record(null::payment, ${rows[0]!.payment})`.execute(
    server.deps.database,
  );
  await minutesLater(6);
  await catchUp();
  assert.deepEqual([await status(), await retries(id)], ['requires_payment_method', []]);
});

test('one that was made a moment ago, and whose row never comes, is given up five minutes later', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await sql`delete from payment where intent_id = ${id}`.execute(server.deps.database);
  await catchUp();
  await minutesLater(6);
  await catchUp();
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.deepEqual([body.status as unknown, await retries(id)], ['canceled', []]);
});

test('an event that cannot be acted on is tried again by itself, and neither keeps the others waiting nor has them listed again', async () => {
  const [stuck, other] = await Promise.all(
    [0, 1].map(async () => {
      const { client, uuid } = await newOrder(server);
      const { id } = await openIntent(client, uuid);
      await payByCard(server, id);
      return { uuid, id };
    }),
  );
  const path = `/v1/payment_intents/${stuck!.id}`;
  await server.stripeFault({ kind: 'status', status: 500, path, times: 100 });
  await catchUp();
  const states = async () => [await stateOf(server, stuck!.uuid), await stateOf(server, other!.uuid)];
  assert.deepEqual(await states(), ['ordering', 'paid']);
  const { rows } = await sql<{ is_now: boolean }>`
    select reached_at > now() - interval '1 minute' as is_now from schedule where name = 'events'`.execute(
    server.deps.database,
  );
  assert.deepEqual(rows, [{ is_now: true }], 'the listing has got as far as now');
  assert.deepEqual(
    (await retries(stuck!.id)).map(({ attempts }) => attempts),
    [1],
  );

  await minutesLater(3);
  await catchUp();
  assert.deepEqual(
    (await retries(stuck!.id)).map(({ attempts, minutes }) => [attempts, minutes]),
    [[2, 4]],
  );
  const [asked] = await listed();
  assert.ok(asked! > Date.now() / 1000 - 15 * 60, 'not three days of events');
  await server.stripeFault(null);
  await catchUp();
  assert.deepEqual(await states(), ['ordering', 'paid'], 'not tried before its time');
  // Moves the task's cursor an hour ahead, so that the events are too old to be listed a second time.
  await sql`update schedule set reached_at = now() + interval '1 hour' where name = 'events'`.execute(
    server.deps.database,
  );
  await minutesLater(5);
  assert.ok((await catchUp()) > 0);
  assert.deepEqual([await states(), await retries(stuck!.id)], [['paid', 'paid'], []]);
});

/** Returns the notices about events that were given up. */
const givenUp = () => staffNotices(server, { kind: 'event_given_up' });

test('an event that cannot be acted on is tried every hour at last, and left after three days; staff are told once', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  await server.stripeFault({ kind: 'status', status: 500, path: `/v1/payment_intents/${id}`, times: 100 });
  await catchUp();
  await minutesLater(2 * 24 * 60);
  await sql`update event_retry set attempts = 60`.execute(server.deps.database);
  await catchUp();
  const [last] = await retries(id);
  assert.equal(last!.attempts, 61);
  assert.ok(last!.minutes >= 45 && last!.minutes <= 60, `after ${last!.minutes} minutes`);
  assert.deepEqual([(await retries(id)).length, await givenUp()], [1, []]);
  await minutesLater(25 * 60);
  await catchUp();
  await server.stripeFault(null);
  assert.equal((await retries(id)).length, 0);
  assert.match(
    (await givenUp()).join('\n'),
    new RegExp(`^Stripe's event evt_\\w+ \\(payment_intent\\.succeeded\\) .* settle ${id}$`),
  );
  await settlePayment(server.deps, id);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('several events that cannot be acted on for three days are told together, with the command that finds their payments', async () => {
  const ids: string[] = [];
  for (let person = 0; person < 2; person++) {
    const client = server.client();
    const { id } = await openIntent(client, await orderingJoin(client));
    await payByCard(server, id);
    ids.push(id);
  }
  const before = (await givenUp()).length;
  await server.stripeFault({ kind: 'status', status: 500, path: '/v1/payment_intents/*', times: 100 });
  await catchUp();
  await minutesLater(73 * 60);
  await catchUp();
  await server.stripeFault(null);
  const [told, ...more] = (await givenUp()).slice(before);
  assert.deepEqual(more, []);
  assert.match(
    told!,
    /^2 events of Stripe, evt_\w+ \(payment_intent\.succeeded\) and others, .* operator -- reconcile$/,
  );
  assert.deepEqual(
    (await differencesOf(server, ...ids)).map(({ kind }) => kind),
    ['unconfirmed', 'unconfirmed'],
  );
  for (const id of ids) await settlePayment(server.deps, id);
});

test('after a long outage the events of all of it are listed', async () => {
  const { client, uuid } = await newOrder(server);
  behind = 5 * 86_400_000;
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  behind = 0;
  await sql`update schedule set reached_at = now() - interval '6 days' where name = 'events'`.execute(
    server.deps.database,
  );
  await catchUp();
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('an event that shows up after later ones have been listed is acted on', async () => {
  const { client, uuid } = await newOrder(server);
  const { id } = await openIntent(client, uuid);
  await catchUp();
  behind = 8 * 60_000;
  await payByCard(server, id);
  behind = 0;
  assert.ok((await catchUp()) > 0);
  assert.equal(await stateOf(server, uuid), 'paid');
});

test('two servers do not fetch the same: the turn is one of theirs', async () => {
  await sql`update schedule set due_at = now()`.execute(server.deps.database);
  await server.stripeFault({ kind: 'slow', ms: 200, path: '/v1/events' });
  await forgetRequests(server.stripeUrl);
  await Promise.all([catchUpOnEvents(server.deps), catchUpOnEvents(server.deps)]);
  const requests = await requestsTo(server.stripeUrl);
  assert.equal(requests.filter(({ path }) => path === '/v1/events').length, 1);
});

test('of more events than one round retries, those that have waited longest come first', async () => {
  const keep = (minutes: number, count: number) =>
    sql`
      insert into event_retry (id, event, next_try_at)
      select 'evt_' || ${minutes}::int || 'x' || n, jsonb_build_object('id', 'evt', 'type', 'payment_intent.succeeded',
        'intentId', 'pi_nobody', 'createdAt', now()), now() - make_interval(mins => ${minutes}::int)
      from generate_series(1, ${count}::int) n`.execute(server.deps.database);
  await sql`delete from event_retry`.execute(server.deps.database);
  await keep(1, 100);
  await keep(60, 1);
  await catchUp().catch(() => {});
  const { rows } = await sql<{ id: string }>`select id from event_retry where next_try_at <= now()`.execute(
    server.deps.database,
  );
  assert.deepEqual([rows.length, rows[0]?.id.startsWith('evt_1x')], [1, true]);
  await sql`delete from event_retry`.execute(server.deps.database);
});
