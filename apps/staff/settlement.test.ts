import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { dump } from '../../tests/harness/dump.ts';
import { everything, membershipOnly, standingsOf, undergraduate } from '../../tests/harness/refunds.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { openIntent, orderingJoin, paidJoin, payByCard, payOrder } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { shipOrder } from '../server/membership/shipOrder.ts';
import { refundJoin } from '../server/paying/refunds/refundJoin.ts';
import { RefundRefused } from '../server/providers/stripe/failures.ts';

const server = await sharedServer();

const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);

test('refund says line by line what goes back, tries without doing, and says when nothing is left', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  assert.deepEqual(await run(t, 'refund', uuid, '--dry-run'), {
    out: `$65.00  Membership  (${intentId})
To the card: Visa ending 4242.
The membership ends: Membership.
A letter tells the payer of the refund once Stripe has made it.
$65.00 would go back.
`,
    code: 0,
  });
  assert.equal((await run(t, 'refund', uuid)).out, `$65.00  Membership  (${intentId})\n$65.00 goes back.\n`);
  assert.equal(
    (await run(t, 'refund', uuid, '--upgrade')).out,
    'Membership has already been refunded.\nThis join has no upgrade that was paid for.\n$0.00 goes back: nothing of what was asked for is left to refund.\n',
  );
  assert.equal((await run(t, 'refund', intentId)).out, `All of ${intentId} has already gone back.\n`);
});

test('the trial of a refund says what is kept, what ends and what was sent', async (t) => {
  const { uuid } = await undergraduate(server);
  await shipOrder({ ...server.deps, actor: 'staff' }, uuid, { items: null, note: null });
  const { out } = await run(t, 'refund', uuid, '--ineligible', '--items', 'all', '--dry-run');
  for (const line of [
    /^\$90\.00 {2}Membership/m,
    /^Kept: \$5\.00 of Membership[^\n]*, the processing fee, because its payer was not eligible\.$/m,
    /^The membership ends: Membership/m,
    /^Sent already, on \d{4}-\d\d-\d\d: Lapel Pin\.$/m,
    /^\$102\.00 would go back\.$/m,
  ])
    assert.match(out, line);
});

test('what has changed since it was shown is not given back', async () => {
  const { uuid } = await undergraduate(server);
  const seen = await refundJoin(server.deps, uuid, everything, { isTrial: true });
  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: 'all' });
  await assert.rejects(refundJoin(server.deps, uuid, everything, { seen }), /changed since it was shown/);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
});

test('a refund that names an item which the join does not have refunds nothing', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  for (const more of [[], ['--dry-run']])
    assert.deepEqual(await run(t, 'refund', uuid, '--items', '999,1', ...more), {
      out: 'This join has no donation or store item with the id 999 or 1. Nothing was refunded.\n',
      code: 1,
    });
  assert.equal((await run(t, 'refund', uuid)).out, `$65.00  Membership  (${intentId})\n$65.00 goes back.\n`);
});

test('settle --missing says that it has taken in refunds, even if no payment was missing', async (t) => {
  const { intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId });
  const { out } = await run(t, 'settle', '--missing');
  assert.match(out, /^0 payments were not in this database/);
  assert.match(
    out,
    /\nThe refunds and disputes of [1-9]\d* payments? that this database has were read from Stripe again\.\n/,
  );
});

test('refund refuses what it does not understand, in a sentence', async (t) => {
  const unpaid = await orderingJoin(server.client());
  for (const args of [
    ['pi_1', '--upgrade'],
    ['pi_1', '--no-membership'],
    ['pi_1', '--items', 'all', '--dry-run'],
  ]) {
    const { out, code } = await run(t, 'refund', ...args);
    assert.deepEqual([code, out.includes('Usage: npm run operator -- refund JOIN ')], [2, true]);
  }
  assert.deepEqual(await run(t, 'refund', unpaid), {
    out: `Join ${unpaid} is ordering: nothing was paid.\n`,
    code: 1,
  });
  const { id } = await openIntent(server.client(), unpaid);
  assert.deepEqual(await run(t, 'refund', id), {
    out: `Payment ${id} is requires_payment_method: nothing was received.\n`,
    code: 1,
  });
  const unknown = await run(t, 'refund', 'pi_unknown');
  assert.deepEqual([unknown.code, /No such payment_intent/.test(unknown.out)], [1, true]);
});

test('settle and refund say what Stripe does not make yet', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'refused' });
  const waits = /^\$65\.00 stays due, and is tried again: Insufficient funds/m;
  assert.match((await run(t, 'refund', uuid)).out, waits);
  for (const subject of [uuid, intentId]) {
    const { out, code } = await run(t, 'settle', subject);
    assert.deepEqual([code, waits.test(out), out.includes('settled')], [1, true, false]);
  }
  const { out } = await run(t, 'refund', intentId);
  assert.deepEqual([waits.test(out), out.includes('gone back')], [true, false]);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  assert.deepEqual(await run(t, 'settle', uuid), { out: `${uuid} is settled.\n`, code: 0 });
});

test('a dry run of refunding a payment tells what would go back, and gives nothing back', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  assert.deepEqual(await run(t, 'refund', intentId, '--dry-run'), {
    out: `To the card: Visa ending 4242.
The membership ends: Membership.
A letter tells the payer of the refund once Stripe has made it.
$65.00 of ${intentId} would go back.
`,
    code: 0,
  });
  const { refunds, held } = await sql<{ refunds: number; held: boolean }>`
    select (select count(*)::int from refund where intent_id = ${intentId}) as refunds,
      exists (select from membership where session_uuid = ${uuid} and is_held) as held`
    .execute(server.deps.database)
    .then(({ rows }) => rows[0]!);
  assert.deepEqual([refunds, held], [0, true]);
  assert.equal((await run(t, 'refund', intentId)).out, `$65.00 of ${intentId} goes back.\n`);
  assert.equal(
    (await run(t, 'refund', intentId, '--dry-run')).out,
    `All of ${intentId} has already gone back.\n`,
  );
});

/** Returns all data of a join that a refund changes: its state, its payments with their refunds, its memberships and letters. */
const writtenOf = async (uuid: string) =>
  (
    await sql`
      select state,
        array(select (intent_id, status, refunded_cents)::text from payment where session_uuid = join_session.uuid order by intent_id) as payments,
        array(select (refund.uuid, refund.status)::text from refund join payment using (intent_id) where session_uuid = join_session.uuid) as refunds,
        array(select standing::text from membership where session_uuid = join_session.uuid) as standings,
        array(select kind::text from letter where session_uuid = join_session.uuid order by 1) as letters
      from join_session where uuid = ${uuid}`.execute(server.deps.database)
  ).rows[0];

test('a dry run of refunding a payment writes nothing, whatever is known of the payment here', async (t) => {
  const dryRun = async (intentId: string) => last(await run(t, 'refund', intentId, '--dry-run'));
  const would = (intentId: string, amount = '$65.00') => ({
    out: `${amount} of ${intentId} would go back.\n`,
    code: 0,
  });
  const last = ({ out, code }: { out: string; code: number }) => ({
    out: `${out.trimEnd().split('\n').at(-1)}\n`,
    code,
  });
  const client = server.client();
  const unconfirmed = await orderingJoin(client);
  const { id } = await openIntent(client, unconfirmed);
  await payByCard(server, id);
  const before = await writtenOf(unconfirmed);
  assert.deepEqual(await dryRun(id), would(id));
  assert.deepEqual(await writtenOf(unconfirmed), before);

  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeControl('refunds', { answer: 'refused' });
  await run(t, 'refund', uuid);
  const waiting = await writtenOf(uuid);
  assert.deepEqual(await dryRun(intentId), would(intentId), 'what Stripe has not sent has not gone back');
  assert.deepEqual(await writtenOf(uuid), waiting);
  await server.stripeControl('refunds', { answer: 'succeeded' });

  await server.stripe('POST', '/v1/refunds', { payment_intent: id, amount: '1000' });
  assert.deepEqual(await dryRun(id), would(id, '$55.00'), 'less what was refunded in the dashboard');
  assert.deepEqual(await writtenOf(unconfirmed), before);
});

test('after the dry run of a payment whose order a restore has lost, the payment can still be settled', async (t) => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'lost.order@example.com' });
  const restore = await dump(server);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: '10.00' } });
  const { intentId } = await payOrder(server, client, uuid);
  await restore();
  const tried = await run(t, 'refund', intentId, '--dry-run');
  assert.equal(tried.code, 0);
  assert.match(tried.out, /\$75\.00 of pi_\w+ would go back\.\n$/);
  assert.equal((await run(t, 'settle', intentId)).code, 0);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership', standing: 'active' }]);
});

/** Makes Stripe refuse refunds of the intent `onlyOf` permanently, as if a dispute had been opened just before. */
function refuseForGood(t: TestContext, onlyOf: string) {
  const { refund } = server.deps.payments;
  return t.mock.method(server.deps.payments, 'refund', async (given: Parameters<typeof refund>[0]) => {
    if (given.intentId !== onlyOf) return refund.call(server.deps.payments, given);
    throw new RefundRefused('Charge ch_1 has been charged back; cannot issue a refund.', {
      isFinal: true,
      cause: null,
    });
  });
}

test('refund says what Stripe took, why it refuses the rest for good, and ends with 1', async (t) => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, 'LINCOLN2026');
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: intentId } });
  const refused = refuseForGood(t, intentId);
  const why = `Stripe refuses to refund payment ${intentId} by $65.00: Charge ch_1 has been charged back; cannot issue a refund.`;
  const both = await run(t, 'refund', uuid, '--upgrade');
  assert.deepEqual(both.out.trim().split('\n').slice(2), [why, '$45.00 of $110.00 goes back.']);
  assert.equal(both.code, 1);
  assert.deepEqual(await run(t, 'refund', intentId), { out: `${why}\n`, code: 1 });
  refused.mock.restore();
  assert.deepEqual(await run(t, 'refund', intentId), {
    out: `$65.00 of ${intentId} goes back.\n`,
    code: 0,
  });
});

test('a final rejection whose refund Stripe refuses for good ends with 1', async (t) => {
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await sql`
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key)
    values (gen_random_uuid(), 'transcript', ${uuid}, 'a.pdf', 'application/pdf', 1, '\\x00', gen_random_uuid()::text)`.execute(
    server.deps.database,
  );
  const refused = refuseForGood(t, intentId);
  const { out, code } = await run(t, 'documents reject', uuid, '--reason', 'outdated', '--final');
  refused.mock.restore();
  assert.equal(code, 1);
  assert.match(
    out,
    /^Stripe refuses to refund payment pi_\w+ by \$65\.00: .*\n\$0\.00 of \$65\.00 goes back\.$/m,
  );
});

test('settle says that Stripe refuses for good to give a second payment back, and ends with 1', async (t) => {
  const client = server.client();
  const { id } = await openIntent(client, await orderingJoin(client, 'HONOR102'));
  await paidJoin(server, server.client(), 'HONOR102');
  await payByCard(server, id);
  const refused = refuseForGood(t, id);
  const { out, code } = await run(t, 'settle', id);
  assert.deepEqual(
    [code, out],
    [
      1,
      `Stripe refuses to refund payment ${id} by $65.00: Charge ch_1 has been charged back; cannot issue a refund.\n`,
    ],
  );
  refused.mock.restore();
});

test('a refund that waits, and that money given back in the dashboard replaces, is told as dropped', async (t) => {
  const waiting = async () => {
    const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026');
    await server.stripeControl('refunds', { answer: 'refused' });
    await run(t, 'refund', uuid);
    await server.stripeControl('refunds', { answer: 'succeeded' });
    await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount: '1000' });
    const dropped = `The refund of $65.00 of payment ${intentId} is dropped: money of that payment has gone back outside Induct.\n`;
    return { intentId, dropped };
  };
  const settled = await waiting();
  assert.deepEqual(await run(t, 'settle', settled.intentId), { out: settled.dropped, code: 1 });
  const { intentId, dropped } = await waiting();
  const out = `${dropped}$55.00 of ${intentId} goes back.\n`;
  assert.deepEqual(await run(t, 'refund', intentId), { out, code: 0 });
});

test('a refund for which Stripe does not answer is told as decided', async (t) => {
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026');
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 3 });
  const { out, code } = await run(t, 'refund', uuid);
  await server.stripeFault(null);
  assert.deepEqual(
    [code, out],
    [
      1,
      'Stripe does not answer. What was decided and is not made yet stays due, and is tried again. See: npm run operator -- reconcile\n',
    ],
  );
});

test('settle says that a payment is nowhere, of another app, or still with its bank', async (t) => {
  assert.deepEqual(await run(t, 'settle', 'pi_unknown'), {
    out: 'Neither Stripe nor this database knows a payment pi_unknown.\n',
    code: 1,
  });
  const form = { amount: '4200', currency: 'usd', 'allowed_payment_method_types[0]': 'card' };
  const { body } = await server.stripe('POST', '/v1/payment_intents', form);
  const foreign = { out: `Payment ${body.id} is not one of this installation.\n`, code: 1 };
  assert.deepEqual(await run(t, 'settle', body.id), foreign);
  await payByCard(server, body.id);
  assert.deepEqual(await run(t, 'settle', body.id), foreign);

  const { id } = await openIntent(server.client(), await orderingJoin(server.client()));
  await server.stripeControl('processing', { hold: true });
  await payByCard(server, id);
  await server.stripeControl('processing', { hold: false });
  assert.deepEqual(await run(t, 'settle', id), {
    out: `The bank is still deciding on payment ${id}.\n`,
    code: 1,
  });
});
