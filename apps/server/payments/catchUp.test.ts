import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { stateOf } from '../testing/rows.ts';
import { openIntent, orderingJoin, paidJoin, payByCard } from '../testing/steps.ts';
import { startTestServer, type TestServer } from '../testing/testServer.ts';
import { catchUpOnEvents } from './catchUp.ts';

/** What Stripe's clock is behind ours, in milliseconds: so much has passed since it happened. */
let behind = 0;
let server: TestServer;
before(async () => {
  server = await startTestServer({}, { stripeClock: () => Date.now() - behind });
});
after(() => server.close());

const catchUp = async () => {
  await sql`update schedule set due_at = now()`.execute(server.deps.database);
  return catchUpOnEvents(server.deps);
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
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await payByCard(server, id);
  assert.ok((await catchUp()) > 0);
  assert.equal(await stateOf(server, uuid), 'paid');
  assert.equal(await catchUp(), 0, 'nothing is left to act on');
});

test('an upgrade that was charged when the server died before it could write it is confirmed', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
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
  const client = server.client();
  const uuid = await orderingJoin(client);
  behind = 10 * 60_000;
  const { id } = await openIntent(client, uuid);
  behind = 0;
  await sql`delete from payment where intent_id = ${id}`.execute(server.deps.database);
  await catchUp();
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.equal((body as unknown as { status: string }).status, 'canceled');
  const next = await openIntent(client, uuid);
  assert.notEqual(next.id, id);
  assert.deepEqual(await paymentsOf(uuid), [
    { kind: 'join', attempt: 1, status: 'canceled' },
    { kind: 'join', attempt: 2, status: 'open' },
  ]);
});

test('one that was made a moment ago is left alone: its row may be about to be written', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const { id } = await openIntent(client, uuid);
  await sql`delete from payment where intent_id = ${id}`.execute(server.deps.database);
  await catchUp();
  const { body } = await server.stripe('GET', `/v1/payment_intents/${id}`);
  assert.equal((body as unknown as { status: string }).status, 'requires_payment_method');
});

test('an event that cannot be acted on is tried again, and does not keep the others waiting', async () => {
  const [one, two] = await Promise.all(
    [0, 1].map(async () => {
      const client = server.client();
      const uuid = await orderingJoin(client);
      const { id } = await openIntent(client, uuid);
      await payByCard(server, id);
      return { uuid, id };
    }),
  );
  await server.stripeFault({ kind: 'status', status: 500, path: `/v1/payment_intents/${one!.id}`, times: 3 });
  await catchUp();
  await server.stripeFault(null);
  assert.deepEqual(
    [await stateOf(server, one!.uuid), await stateOf(server, two!.uuid)],
    ['ordering', 'paid'],
  );
  const { rows } = await sql<{ waits: boolean }>`
    select reached_at <= (select created_at from payment where intent_id = ${one!.id}) + interval '1 second' as waits
    from schedule where name = 'events'`.execute(server.deps.database);
  assert.deepEqual(rows, [{ waits: true }], 'it is read again, however long that takes');
  await catchUp();
  assert.equal(await stateOf(server, one!.uuid), 'paid');
});

test('two servers do not fetch the same: the turn is one of theirs', async () => {
  await sql`update schedule set due_at = now()`.execute(server.deps.database);
  await server.stripeFault({ kind: 'slow', ms: 200, path: '/v1/events' });
  await fetch(`${server.stripeUrl}/_emulator/requests`, { method: 'DELETE' });
  await Promise.all([catchUpOnEvents(server.deps), catchUpOnEvents(server.deps)]);
  const requests = (await (await fetch(`${server.stripeUrl}/_emulator/requests`)).json()) as {
    path: string;
  }[];
  assert.equal(requests.filter(({ path }) => path === '/v1/events').length, 1);
});
