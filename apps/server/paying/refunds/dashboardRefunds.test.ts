import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { asTold, chargeOf } from '../../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf, paymentRow } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { newMember, openIntent, orderingJoin, payByCard, payOrder } from '../../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge } from '../../../../tests/harness/upgrades.ts';
import { reconcile } from '../../books/reconcile.ts';
import { parcelOf } from '../../membership/orders.ts';
import { confirmPayment } from '../confirmPayment.ts';
import { followPayment } from './followPayment.ts';
import { paidOrders } from './paidOrders.ts';

const server = await sharedServer();

const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);
/** Store items of the catalogue: a framed certificate of $79.00 and a lapel pin of $12.00. The membership costs $65.00. */
const framedCertificate = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0032';
const lapelPin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** Returns an unused email, so that each join has a person of its own. */
const somebodyElse = () => ({ personalEmail: `${randomUUID()}@example.com` });

async function withItems(...items: string[]) {
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, somebodyElse());
  for (const productUuid of items)
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  return { client, ...(await payOrder(server, client, uuid)) };
}

/**
 * Refunds `cents`, or all that is left, in Stripe's dashboard. Then makes the server read the payment's refunds. Returns Stripe's
 * id of the refund.
 */
async function inDashboard(intentId: string, cents?: number): Promise<string> {
  const { body, status } = await server.stripe('POST', '/v1/refunds', {
    payment_intent: intentId,
    ...(cents && { amount: String(cents) }),
  });
  assert.equal(status, 200);
  await followPayment(server.deps, intentId);
  return body.id;
}
const standings = async (uuid: string) => (await membershipsOf(server, uuid)).map(({ standing }) => standing);
const differences = async () =>
  (await reconcile(server.deps, { graceMinutes: 0 })).differences.map(({ kind }) => kind);

/** Buys the upgrade of a paid join with the saved card. Returns its payment intent's id. */
async function upgraded(client: Client, uuid: string, intentId: string): Promise<string> {
  await charge(client, uuid, intentId);
  return (
    await server.deps.database
      .selectFrom('payment')
      .select('intent_id')
      .where('session_uuid', '=', uuid)
      .where('kind', '=', 'upgrade')
      .where('status', '=', 'succeeded')
      .executeTakeFirstOrThrow()
  ).intent_id;
}

test('a store item that is returned in the dashboard ends no membership, whatever it cost, and is not given back again', async (t) => {
  const { uuid, intentId } = await withItems(framedCertificate, lapelPin);
  await inDashboard(intentId, 7900);
  assert.deepEqual(await standings(uuid), ['active']);
  assert.deepEqual(await noticesOf(server, uuid), [
    `$79.00 of payment ${intentId} was refunded outside Induct, for Framed Certificate.`,
  ]);
  const { out } = await run(t, 'refund', uuid, '--items', 'all', '--dry-run');
  assert.match(out, /^\$65\.00 {2}Membership .*\n\$12\.00 {2}Lapel Pin .*\nFramed Certificate has already/);
  assert.deepEqual(await differences(), []);
});

test('a refund whose amount says nothing is set apart: nobody loses anything, staff are told, and say what it was for', async (t) => {
  const { uuid, intentId } = await withItems(framedCertificate, lapelPin);
  const refund = await inDashboard(intentId, 7000);
  assert.deepEqual(await standings(uuid), ['active']);
  assert.match(
    (await noticesOf(server, uuid)).join('\n'),
    /^\$70\.00 of payment pi_\w+ was refunded outside .* npm run operator -- refund assign [\da-f-]{36}$/,
  );
  const named = await run(t, 'reconcile');
  assert.equal(named.code, 1);
  const assign = /refund assign ([\da-f-]{36})$/m.exec(named.out)![1]!;

  const command = `npm run operator -- refund assign ${assign}`;
  assert.deepEqual(await run(t, 'refund assign', assign), {
    out: `$70.00 of ${intentId} was refunded outside Induct. It may have been for:
  Framed Certificate  $79.00
    ${command} --items 32
  Membership  $65.00 and Lapel Pin  $12.00
    ${command} --membership --items 30
  nothing that was bought: everybody keeps what they have
    ${command} --none
`,
    code: 0,
  });
  assert.deepEqual(await run(t, 'refund assign', assign, '--items', '30'), {
    out: '$70.00 went back; of that only $12.00 was paid and has not gone back.\n',
    code: 1,
  });
  assert.deepEqual(await run(t, 'refund assign', refund, '--none'), {
    out: `$70.00 of ${intentId} was for nothing that was bought.\n`,
    code: 0,
  });
  assert.deepEqual([await standings(uuid), await differences()], [['active'], []]);
  assert.equal((await run(t, 'refund assign', refund, '--membership', '--items', '30')).code, 0);
  assert.deepEqual(await standings(uuid), ['refunded']);
  // Staff correct their assignment. The membership is then held again.
  assert.equal((await run(t, 'refund assign', refund, '--items', '32')).code, 0);
  assert.deepEqual([await standings(uuid), await differences()], [['active'], []]);
});

test('refund assign refuses what it does not understand, and refunds that were made here', async (t) => {
  const { uuid, intentId } = await newMember(server);
  await run(t, 'refund', uuid);
  const { uuid: ours } = await server.deps.database
    .selectFrom('refund')
    .select('uuid')
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  for (const args of [
    [],
    ['x'],
    ['x', '--none'],
    [ours, '--none', '--membership'],
    [ours, '--items', 'pin'],
    [ours, '--items', 'all'],
    [ours, ours, '--none'],
  ])
    assert.equal((await run(t, 'refund assign', ...args)).code, 2, args.join(' '));
  for (const option of [[], ['--none']]) {
    const { code, out } = await run(t, 'refund assign', ours, ...option);
    assert.deepEqual([code, /was made here/.test(out)], [1, true], out);
  }
  for (const unknown of ['re_nobody', 'pyr_nobody', 'du_nobody', 'dp_nobody'])
    assert.match(
      (await run(t, 'refund assign', unknown, '--none')).out,
      new RegExp(`There is no refund ${unknown}`),
    );
});

test('refunds that together are the membership end it; one of them fails at the bank, and it is there again', async () => {
  const { uuid, intentId } = await withItems(lapelPin);
  const first = await inDashboard(intentId, 5000);
  assert.deepEqual(await standings(uuid), ['active']);
  await inDashboard(intentId, 1500);
  assert.deepEqual([await standings(uuid), await differences()], [['refunded'], []]);
  await server.stripeControl(`refunds/${first}/settle`, { status: 'failed' });
  await followPayment(server.deps, intentId);
  assert.deepEqual([await standings(uuid), await differences()], [['active'], ['refund_unassigned']]);
  const told = await noticesOf(server, uuid);
  assert.match(told.at(-2)!, /^\$15\.00 .* its amount does not say what for/);
  const failed = `The refund of $50.00 of payment ${intentId} failed: the money is with us again.`;
  assert.ok(told.includes(failed), 'no command makes it again');
  // A refund of all that is left always ends the membership.
  await inDashboard(intentId);
  assert.deepEqual([await standings(uuid), await differences()], [['refunded'], []]);
});

test('refunds that are heard of together are noted in the order in which they were made', async () => {
  const { intentId } = await withItems(lapelPin);
  for (const amount of ['1000', '3000', '3700'])
    await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, amount });
  await followPayment(server.deps, intentId);
  // Reverses the order of the refunds' ids, which must not matter.
  await sql`
    update refund set uuid = ('00000000-0000-4000-8000-' || lpad((10 - rank)::text, 12, '0'))::uuid
    from (select uuid as old, row_number() over (order by created_at) as rank from refund where intent_id = ${intentId}) as made
    where refund.uuid = old`.execute(server.deps.database);
  const [order] = await paidOrders(server.deps, server.deps.database, [intentId]);
  assert.deepEqual(
    order?.refunds.map(({ amountCents }) => amountCents),
    [1000, 3000, 3700],
  );
});

test('the whole of a payment, as Radar gives back what is fraud, ends the membership', async () => {
  const { uuid, intentId } = await withItems(framedCertificate);
  await server.stripe('POST', '/v1/refunds', { payment_intent: intentId, reason: 'fraudulent' });
  await followPayment(server.deps, intentId);
  assert.deepEqual([await standings(uuid), await differences()], [['refunded'], []]);
});

/**
 * Opens a dispute about a payment, or about a part of it (`amount`, cents), and lets the bank decide against us. Returns Stripe's
 * id of the dispute.
 */
async function loses(intentId: string, amount?: number): Promise<string> {
  const { id } = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId), amount });
  await followPayment(server.deps, intentId);
  await server.stripeControl(`disputes/${id}/close`, { status: 'lost' });
  await followPayment(server.deps, intentId);
  await followPayment(server.deps, intentId);
  return id;
}
const goodsIn = async (uuid: string) =>
  (await parcelOf(server.deps.database, server.deps.society, uuid))?.goods.map(({ state }) => state.is);

test('a dispute that is lost over a part of the payment takes what that amount was for, and nothing else', async () => {
  const { uuid, intentId } = await withItems(lapelPin);
  await loses(intentId, 1200);
  assert.deepEqual(
    [await standings(uuid), await goodsIn(uuid), await differences()],
    [['active'], ['ended'], []],
  );
  assert.deepEqual(await noticesOf(server, uuid), [
    `The membership paid for by ${intentId} is disputed: its payer's bank has taken money back.`,
    `$12.00 of payment ${intentId} was lost by a dispute, for Lapel Pin.`,
    `The membership paid for by ${intentId} is active again.`,
  ]);
  const { rows } = await sql<{ step: string }>`
    select step from join_event where session_uuid = ${uuid} and (step like 'dispute%' or step like 'refund%') order by id`.execute(
    server.deps.database,
  );
  assert.deepEqual(
    rows.map(({ step }) => step),
    ['dispute_open', 'dispute_lost'],
  );
});

for (const amount of [undefined, 7700])
  test(`of a payment that went back in part before, a lost dispute takes the rest alone, of ${amount ? 'all' : 'that'}`, async () => {
    const { uuid, intentId } = await withItems(lapelPin);
    await inDashboard(intentId, 1200);
    await loses(intentId, amount);
    assert.deepEqual(
      [await standings(uuid), await goodsIn(uuid), await differences()],
      [['charged_back'], ['ended'], []],
    );
    const told = (await noticesOf(server, uuid)).filter((text) => text.includes('was lost by a dispute'));
    assert.deepEqual(told, [`$65.00 of payment ${intentId} was lost by a dispute, for Membership.`]);
    const { refunded_cents } = await paymentRow(server, intentId);
    assert.equal(refunded_cents, 1200, 'as Stripe counts');
  });

test('a dispute that was prevented has taken what Stripe says that it took, maybe nothing', async () => {
  for (const [isInquiry, standing] of [
    [false, 'charged_back'],
    [true, 'active'],
  ] as const) {
    const { uuid, intentId } = await withItems();
    const { id } = await server.stripeControl('disputes', {
      charge: await chargeOf(server, intentId),
      isInquiry,
    });
    await server.stripeControl(`disputes/${id}/close`, { status: 'prevented' });
    await followPayment(server.deps, intentId);
    assert.deepEqual([await standings(uuid), await differences()], [[standing], []]);
  }
});

for (const [assigned, standing] of [
  ['--membership', 'charged_back'],
  ['--none', 'active'],
] as const)
  test(`a membership stays disputed while a lost dispute does not say what for, until staff say it: ${assigned}`, async (t) => {
    const { uuid, intentId } = await withItems(lapelPin);
    const dispute = await loses(intentId, 3000);
    assert.deepEqual(
      [await standings(uuid), await goodsIn(uuid), await differences()],
      [['disputed'], ['held'], ['refund_unassigned']],
    );
    assert.ok(!(await noticesOf(server, uuid)).some((text) => text.includes('is active again')));
    assert.equal((await run(t, 'refund assign', dispute, assigned)).code, 0);
    assert.deepEqual(
      [await standings(uuid), await goodsIn(uuid), await differences()],
      [[standing], ['open'], []],
    );
  });

test('a dispute that was lost before its amount was kept is named when it took only a part, and settled', async (t) => {
  const { uuid, intentId } = await withItems(lapelPin);
  await loses(intentId, 1200);
  await sql`delete from refund where intent_id = ${intentId}`.execute(server.deps.database);
  await sql`update membership set standing = 'charged_back' where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.deepEqual([await goodsIn(uuid), await differences()], [['ended'], ['dispute_amount']]);
  assert.equal((await run(t, 'settle', intentId)).code, 0);
  assert.deepEqual([await standings(uuid), await differences()], [['active'], []]);
});

test('a membership that ends in the dashboard or by a dispute leaves no upgrade behind unseen', async (t) => {
  for (const how of ['refund', 'dispute'] as const) {
    const { client, uuid, intentId } = await withItems();
    const upgrade = await upgraded(client, uuid, intentId);
    if (how === 'refund') await inDashboard(intentId);
    else {
      const dispute = await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
      await followPayment(server.deps, intentId);
      assert.deepEqual(await differences(), [], 'still held while the dispute is open');
      await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
      await followPayment(server.deps, intentId);
    }
    const repair = `npm run operator -- refund ${uuid} --no-membership --upgrade`;
    assert.ok((await noticesOf(server, uuid)).some((text) => text.endsWith(repair)));
    const found = (await reconcile(server.deps, { graceMinutes: 0 })).differences.map(asTold);
    assert.deepEqual(
      found.map(({ kind, subject, repair }) => [kind, subject, repair]),
      [['upgrade_alone', uuid, repair]],
    );
    // While the upgrade is disputed its money cannot be refunded, so `reconcile` must not list it.
    const upgradeIs = (standing: 'disputed' | 'active') =>
      sql`update membership set standing = ${standing} where payment_intent = ${upgrade}`.execute(
        server.deps.database,
      );
    await upgradeIs('disputed');
    assert.ok(!(await differences()).includes('upgrade_alone'));
    await upgradeIs('active');
    const { out, code } = await run(t, 'refund', uuid, '--no-membership', '--upgrade');
    assert.deepEqual([code, out.includes(upgrade)], [0, true]);
    assert.deepEqual(await differences(), []);
  }
});

test('a membership that is refunded with its upgrade tells staff of no upgrade left behind', async (t) => {
  const { client, uuid, intentId } = await withItems();
  await upgraded(client, uuid, intentId);
  assert.equal((await run(t, 'refund', uuid, '--upgrade')).code, 0);
  assert.deepEqual(
    (await noticesOf(server, uuid)).filter((text) => text.includes('--no-membership --upgrade')),
    [],
  );
});

test('an upgrade that was bought by a join of its own does not outlive the membership of its contact unseen', async () => {
  const { uuid, intentId } = await newMember(server, 'HONOR101');
  const other = await withItems();
  const upgrade = await upgraded(other.client, other.uuid, other.intentId);
  // Turns the upgrade into an upgrade by link, in a join of its own.
  await sql`
    with gone as (delete from membership where payment_intent = ${other.intentId})
    update membership set person_id = (select id from person where contact_id = '101') where payment_intent = ${upgrade}`.execute(
    server.deps.database,
  );
  await inDashboard(intentId);
  const told = [...(await noticesOf(server, other.uuid))].filter((text) =>
    /upgrade is still paid and held/.test(text),
  );
  assert.deepEqual([told.length, await standings(uuid)], [1, ['refunded']]);
});

test('an upgrade whose holder has joined anew is left behind no more', async () => {
  const { client, uuid, intentId } = await newMember(server, 'HONOR102');
  await upgraded(client, uuid, intentId);
  await inDashboard(intentId);
  const alone = async () =>
    (await reconcile(server.deps, { graceMinutes: 0 })).differences.flatMap(({ kind, subject }) =>
      subject === uuid ? [kind] : [],
    );
  assert.deepEqual(await alone(), ['upgrade_alone']);
  await newMember(server, 'HONOR102');
  assert.deepEqual(await alone(), []);
});

test('a refund of a payment that bought nothing is for none of its lines, whatever staff say', async (t) => {
  const client = server.client();
  const { id } = await openIntent(client, await orderingJoin(client, 'HONOR103'));
  await newMember(server, 'HONOR103');
  await payByCard(server, id);
  await server.stripeFault({ kind: 'status', status: 503, method: 'POST', path: '/v1/refunds', times: 3 });
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await server.stripeFault(null);
  const refund = await inDashboard(id, 1000);
  const { out, code } = await run(t, 'refund assign', refund, '--membership');
  assert.equal(code, 1);
  assert.match(out, new RegExp(`^Payment ${id} bought nothing that refund ${refund} could be for\\.$`, 'm'));
  const { lines } = await server.deps.database
    .selectFrom('refund')
    .select('lines')
    .where('stripe_id', '=', refund)
    .executeTakeFirstOrThrow();
  assert.equal(lines, null);
});
