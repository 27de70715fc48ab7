import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { Refusal } from '../platform/http/refusal.ts';
import { readFigures } from '../running/gauges.ts';
import { lastReconciliations, reconcileNightly, startReconciling } from './reconcile.ts';
import { settlePayment } from './settle.ts';

/** Tests when `reconcile` runs, what it covers, and what it tells staff. reconcile.test.ts tests which differences it finds. */

const DAY_MS = 86_400_000;
/** By how much (ms) Stripe's clock is behind ours. New objects at Stripe get times that are this old. */
let behind = 0;
const server = await sharedServer({}, { stripeClock: () => Date.now() - behind });

const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);
const change = (statement: ReturnType<typeof sql>) => statement.execute(server.deps.database);

test('the command says what it counted, ends with 1 when there is a difference, and its results are kept', async (t) => {
  const clean = await run(t, 'reconcile');
  assert.deepEqual(clean.code, 0);
  assert.match(clean.out, /0 intents at Stripe, 0 payments, .* 0 differences\.\n$/);
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  await change(sql`update membership set product_id = 2 where session_uuid = ${uuid}`);
  const dirty = await run(t, 'reconcile');
  assert.equal(dirty.code, 1);
  assert.match(dirty.out, /Product 1 was paid for, product 2 is held\.\n {2}npm run operator -- settle pi_/);
  assert.match(
    dirty.out,
    /1 intents at Stripe, 1 payments, 1 paid joins, 1 memberships held; \$65\.00 received/,
  );
  const kept = await run(t, 'reconcile', '--history');
  assert.equal(kept.code, 1);
  assert.match(kept.out, /1 differences, 1 payments\n.*product 2 is held[\s\S]*0 differences, 0 payments/);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  await settlePayment(server.deps, intentId);
  const repaired = await run(t, 'reconcile');
  assert.match(repaired.out, / 0 memberships held; \$65\.00 received, \$65\.00 refunded; 0 differences/);
  assert.equal((await run(t, 'reconcile', '--history')).code, 0, 'as the last one ended');
  assert.equal((await run(t, 'reconcile', '--days', 'x')).code, 2);
});

async function differencesTold(): Promise<number | undefined> {
  const figures = await readFigures(server.deps);
  return figures.find(({ kind, name }) => kind === 'number' && name === 'differences')?.value;
}

test('with --days the command compares the payments of these days alone', async (t) => {
  behind = 3 * DAY_MS;
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026');
  behind = 0;
  await change(sql`update payment set created_at = now() - interval '3 days' where intent_id = ${intentId}`);
  await change(sql`update membership set product_id = 2 where session_uuid = ${uuid}`);
  const isTold = async (...args: string[]) =>
    (await run(t, 'reconcile', ...args)).out.includes(`${intentId}\n`);
  assert.deepEqual([await isTold('--days', '4'), await isTold()], [true, true]);
  // A run that compares only recent payments does not end the alert about a difference of an older payment.
  assert.equal(await isTold('--days', '2'), false);
  assert.equal(await differencesTold(), 1);
  assert.equal((await run(t, 'reconcile', '--history')).code, 1);
  await settlePayment(server.deps, intentId);
});

test('every night it runs once, whatever the number of servers, and keeps what differs', async () => {
  const nights = async () => (await change(sql`select from reconciliation`)).rows.length;
  const before = await nights();
  await Promise.all([reconcileNightly(server.deps), reconcileNightly(server.deps)]);
  await reconcileNightly(server.deps);
  assert.equal((await nights()) - before, 1);
  const { due_at } = await server.deps.database
    .selectFrom('schedule')
    .select('due_at')
    .where('name', '=', 'reconcile')
    .executeTakeFirstOrThrow();
  const minutesAfterEight = (due_at.getTime() % DAY_MS) / 60_000 - 8 * 60;
  assert.ok(Math.abs(minutesAfterEight) < 1, `the next one begins at ${due_at.toISOString()}`);
  assert.ok(due_at > new Date() && due_at.getTime() < Date.now() + DAY_MS + 60_000);
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026', { personalEmail: 'nightly@example.com' });
  await change(sql`update membership set product_id = 2 where session_uuid = ${uuid}`);
  await change(sql`update schedule set due_at = now()`);
  await reconcileNightly(server.deps);
  const [night] = await lastReconciliations(server.deps.database, 1);
  assert.deepEqual(
    night!.differences.map(({ kind, subject }) => [kind, subject]),
    [['other_product', intentId]],
  );
  await settlePayment(server.deps, intentId);
});

test('a night in which Stripe fails is made up for within the hour, and the run that follows says when it began', async (t) => {
  const { payments } = server.deps;
  const fails = t.mock.method(payments, 'listIntents', () => {
    throw new Refusal(503, 'no answer');
  });
  await change(sql`update schedule set due_at = now()`);
  await assert.rejects(reconcileNightly(server.deps), Refusal);
  fails.mock.restore();
  const { rows } = await sql<{ minutes: number }>`
    select ceil(extract(epoch from due_at - now()) / 60)::int as minutes from schedule where name = 'reconcile'`.execute(
    server.deps.database,
  );
  assert.deepEqual(rows, [{ minutes: 60 }]);

  const listed = payments.listIntents.bind(payments);
  t.mock.method(payments, 'listIntents', async function* (since: Date | null) {
    await pause(30);
    yield* listed(since);
  });
  await change(sql`update schedule set due_at = now()`);
  await reconcileNightly(server.deps);
  const last = await server.deps.database
    .selectFrom('reconciliation')
    .select(['started_at', 'finished_at'])
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const tookMs = last.finished_at.getTime() - last.started_at.getTime();
  assert.ok(tookMs >= 25, `it says that it took ${tookMs} ms`);
});

test('a server reconciles by itself when the night has come, once', async (t) => {
  const nights = async () =>
    (await sql<{ count: number }>`select count(*)::int from reconciliation`.execute(server.deps.database))
      .rows[0]!.count;
  await change(sql`update schedule set due_at = now() - interval '1 minute' where name = 'reconcile'`);
  const before = await nights();
  const stops = [startReconciling(server.deps), startReconciling(server.deps)];
  t.after(() => Promise.all(stops.map((stop) => stop())));
  await until(async () => (await nights()) > before);
  assert.equal(await nights(), before + 1);
});
