import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { deliver, newContact } from '../../../../tests/harness/deliver.ts';
import { atStripe, standingsOf } from '../../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
} from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { catchUpOnEvents } from '../../books/catchUp.ts';
import { sweepPayments, sweepRefunds } from '../../books/sweep.ts';
import { confirmPayment } from '../confirmPayment.ts';

/** Tests refunds and disputes that are made at Stripe before the server has confirmed their payment. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('all of a payment that bought nothing goes back, also if a part went back in the dashboard before', async () => {
  const personalEmail = 'left@example.com';
  await newContact(server, personalEmail, { invitation_code: 'LEFT1' });
  const [one, two] = [server.client(), server.client()];
  const first = await orderingJoin(one, 'LEFT1', { personalEmail });
  const second = await orderingJoin(two, 'LEFT1', { personalEmail });
  const late = await openIntent(two, second);
  await payOrder(server, one, first);
  await payByCard(server, late.id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: late.id, amount: '2000' });
  assert.equal(await confirmPayment(server.deps, late.id), 'refunded');
  const back = (await atStripe(server, late.id)).reduce((sum, cents) => sum + cents, 0);
  assert.equal(back, 6500, JSON.stringify(await noticesOf(server, second)));
});
test('what went back in the dashboard before its payment was confirmed ends the membership, even if Stripe fails once', async () => {
  const { database } = server.deps;
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'before@example.com' });
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intent.id });
  const background = async () => {
    await sql`update schedule set due_at = now() - interval '1 second'`.execute(database);
    await sql`update payment set checked_at = now() - interval '1 hour', looked_at = null`.execute(database);
    await sql`update refund set next_try_at = now()`.execute(database);
    await sql`update event_retry set next_try_at = now()`.execute(database);
    await catchUpOnEvents(server.deps);
    await sweepRefunds(server.deps);
    await sweepPayments(server.deps);
  };
  await server.stripeFault({ kind: 'status', status: 500, method: 'GET', path: '/v1/refunds', times: 3 });
  await background();
  await server.stripeFault(null);
  for (let turn = 0; turn < 3; turn++) await background();
  await deliver(server);
  assert.deepEqual(
    (await standingsOf(server, uuid)).map(({ standing }) => standing),
    ['refunded'],
  );
});

test('the refund of a payment that nobody has reported yet is planned, and not said to be of nothing', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  await payByCard(server, intent.id);
  const { out } = await runCommand(t, server, 'refund', [uuid, '--dry-run']);
  assert.match(out, /\$65\.00 {2}Membership/);
});

test('a refund of what was not bought does not say that nothing is left of the join', async (t) => {
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'left.over@example.com',
  });
  const { out } = await runCommand(t, server, 'refund', [uuid, '--no-membership', '--upgrade']);
  assert.doesNotMatch(out, /nothing is left/, out);
});
