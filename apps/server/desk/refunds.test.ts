import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import {
  atStripe,
  paidElsewhere,
  refundInDashboard,
  standingsOf,
  undergraduate,
} from '../../../tests/harness/refunds.ts';
import { newMember, newOrder, openIntent, payByCard, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const robin = await desk.signedIn('staff');
const [kim, lee] = [await desk.signedIn('finance'), await desk.signedIn('finance')];
const { idOf, somebody, orderedPin, personAt } = deskPeopleOn(server);

const membership = { join: 1, membership: true, ineligible: false, upgrade: false, items: [] };
const paramsOf = async (uuid: string) => ({ id: String(await idOf(uuid)) });
const standingOf = async (uuid: string) => (await standingsOf(server, uuid)).map(({ standing }) => standing);
async function refundIdOf(intentId: string): Promise<string> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid from refund where intent_id = ${intentId} order by created_at desc limit 1`.execute(database);
  return rows[0]!.uuid;
}

test('a refund is shown with all that it does, is made once, and is told once', async () => {
  const { uuid, intentId } = await undergraduate(server);
  const params = await paramsOf(uuid);
  assert.equal((await robin.act('refundJoin', { params, body: membership })).status, 403);
  const trial = await kim.call('refundJoin', { params, body: { ...membership, trial: true } });
  assert.deepEqual(
    [trial.data.verb, trial.data.lines],
    [
      'Refund $95.00',
      [
        '$95.00 of Membership to Visa ending in 4242.',
        'The membership ends: Membership.',
        'A letter tells the payer of the refund once Stripe has made it.',
      ],
    ],
  );
  assert.deepEqual(await atStripe(server, intentId), [], 'a trial gives nothing back');
  const { seen } = trial.data;
  const presses = await Promise.all(
    [kim, lee, kim].map((browser) => browser.call('refundJoin', { params, body: { ...membership, seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409, 409]);
  assert.deepEqual(presses.find(({ status }) => status === 200)!.data.lines, ['Made: $95.00.']);
  assert.deepEqual(await atStripe(server, intentId), [9500]);
  assert.deepEqual(await standingOf(uuid), ['refunded']);
  const { story, joins } = await personAt(kim, Number(params.id));
  const byStaff = story.filter(({ isStaff, text }) => isStaff && !text.includes('(refused)'));
  assert.deepEqual(
    byStaff.map(({ text }) => text),
    [
      `Refund of $95.00 of ${intentId} decided (requested).`,
      'The membership has ended: refunded.',
      `$95.00 of ${intentId} refunded (requested).`,
    ],
  );
  assert.equal(joins[0]!.payments[0]!.refunds[0]!.isElsewhere, false);
});

test('what is ticked goes back, and the fee of who was not eligible is kept', async () => {
  const { uuid, intentId } = await undergraduate(server);
  const params = await paramsOf(uuid);
  const body = { ...membership, ineligible: true, items: [30] };
  const { data } = await kim.call('refundJoin', { params, body: { ...body, trial: true } });
  assert.equal(data.verb, 'Refund $102.00');
  assert.deepEqual(data.lines.slice(0, 5), [
    '$90.00 of Membership to Visa ending in 4242.',
    '$12.00 of Lapel Pin to Visa ending in 4242.',
    'Kept: $5.00 of Membership, the processing fee, because its payer was not eligible.',
    'The membership ends: Membership.',
    'Not sent any more: Lapel Pin.',
  ]);
  const other = await kim.call('refundJoin', { params, body: { ...membership, seen: data.seen } });
  assert.deepEqual(
    [other.status, other.shown?.verb],
    [409, 'Refund $95.00'],
    'other ticks are not what was shown',
  );
  assert.equal((await kim.act('refundJoin', { params, body })).status, 200);
  assert.deepEqual(await atStripe(server, intentId), [10200]);
  const again = await kim.act('refundJoin', { params, body });
  assert.deepEqual(
    [again.status, again.message],
    [409, 'Membership has already been refunded. Lapel Pin has already been refunded.'],
  );
  const nothing = await kim.act('refundJoin', { params, body: { ...membership, membership: false } });
  assert.equal(nothing.message, 'Nothing is ticked that could go back.');
});

test('of several joins of a person that with the number is refunded, and no other', async () => {
  const person = somebody();
  const first = await newMember(server, 'LINCOLN2026', person);
  const { client, uuid } = await orderedPin();
  const second = await payOrder(server, client, uuid);
  await sql`update join_session set person_id = ${await idOf(first.uuid)} where uuid = ${uuid}`.execute(
    database,
  );
  const params = await paramsOf(first.uuid);
  const body = { ...membership, join: 2, membership: false, items: [30] };
  assert.equal((await kim.act('refundJoin', { params, body })).status, 200);
  assert.deepEqual(
    [await atStripe(server, first.intentId), await atStripe(server, second.intentId)],
    [[], [1200]],
  );
  assert.equal((await kim.act('refundJoin', { params, body: { ...body, join: 3 } })).status, 404);
  for (const join of [0, -1, 1.5, 'x'])
    assert.equal((await kim.act('refundJoin', { params, body: { ...body, join } })).status, 400);
});

test('a refund that waits, is refused or gets no answer says so with Stripe’s words', async (t) => {
  t.after(() =>
    Promise.all([server.stripeControl('refunds', { answer: 'succeeded' }), server.stripeFault(null)]),
  );
  const linesOf = async () => {
    const { uuid } = await newMember(server, 'LINCOLN2026', somebody());
    return (await kim.act('refundJoin', { params: await paramsOf(uuid), body: membership })).data.lines;
  };
  await server.stripeControl('refunds', { answer: 'refused' });
  assert.deepEqual(await linesOf(), [
    'Waits: $65.00.',
    '$65.00 stays due, and is tried again: Insufficient funds in your Stripe balance to refund this amount.',
  ]);
  await server.stripeControl('refunds', { answer: 'pending' });
  assert.deepEqual([(await linesOf())[0]], ['Waits: $65.00.']);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await server.stripeFault({ kind: 'status', status: 500, method: 'POST', path: '/v1/refunds', times: 50 });
  assert.deepEqual(await linesOf(), [
    'Waits: Stripe does not answer. What was decided and is not made yet stays due, and is tried again.',
  ]);
});

test('a payment that bought nothing goes back once, whoever presses', async () => {
  const intentId = await paidElsewhere(server);
  const params = { id: intentId };
  assert.equal((await robin.act('refundPayment', { params })).status, 403);
  const { data } = await kim.call('refundPayment', { params, body: { trial: true } });
  assert.deepEqual(
    [data.verb, data.lines[0]],
    ['Refund $65.00', `$65.00 of payment ${intentId} to the card with which ${intentId} was paid.`],
  );
  const presses = await Promise.all(
    [kim, lee].map((browser) => browser.call('refundPayment', { params, body: { seen: data.seen } })),
  );
  assert.ok(presses.some(({ status }) => status === 200));
  assert.deepEqual(await atStripe(server, intentId), [6500]);
  const again = await kim.act('refundPayment', { params });
  assert.deepEqual([again.status, again.message], [409, `All of payment ${intentId} has already gone back.`]);
});

test('a payment of a join that two refund at once goes back once, and the other looks again', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026', somebody());
  const params = { id: intentId };
  const { data } = await kim.call('refundPayment', { params, body: { trial: true } });
  const presses = await Promise.all(
    [kim, lee].map((browser) => browser.call('refundPayment', { params, body: { seen: data.seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  assert.deepEqual([await atStripe(server, intentId), await standingOf(uuid)], [[6500], ['refunded']]);
});

test('a refund made outside Induct is said to be for something, and two who differ are told', async () => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', somebody());
  const productUuid = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  const { intentId } = await payOrder(server, client, uuid);
  await refundInDashboard(server, intentId, 1000);
  const params = { id: await refundIdOf(intentId) };
  assert.equal((await robin.call('getAssignments', { params })).status, 403);
  const { data } = await kim.call('getAssignments', { params });
  assert.equal(data.what, `$10.00 of ${intentId} was refunded outside Induct.`);
  assert.deepEqual(
    data.choices.map(({ names }: { names: string }) => names),
    ['Membership  $65.00', 'Lapel Pin  $12.00'],
  );
  const [forMembership, forPin] = data.choices.map(({ names: _, ...each }: { names: string }) => ({
    for: each,
  }));
  const trial = await kim.call('assignRefund', { params, body: { ...forMembership, trial: true } });
  assert.deepEqual(
    [trial.data.verb, trial.data.lines],
    ['Assign $10.00', [data.what, '$10.00 was for Membership.', 'Ends: Membership.']],
  );
  assert.equal((await lee.act('assignRefund', { params, body: forPin })).status, 200);
  const late = await kim.call('assignRefund', { params, body: { ...forMembership, seen: trial.data.seen } });
  assert.equal(late.status, 409);
  assert.ok(late.shown!.lines.includes('Until now it was for Lapel Pin.'));
  assert.deepEqual(await standingOf(uuid), ['active']);
  const none = await kim.act('assignRefund', { params, body: { for: null } });
  assert.equal(none.status, 200);
  const [refund] = (await personAt(robin, await idOf(uuid))).joins[0]!.payments[0]!.refunds;
  assert.deepEqual([refund!.id, refund!.isElsewhere], [params.id, true]);
  const unknown = await kim.act('assignRefund', {
    params: { id: '00000000-0000-4000-8000-000000000000' },
    body: { for: null },
  });
  assert.equal(unknown.status, 409);
});

test('a payment that Stripe has and nobody reported is settled', async () => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', somebody());
  const { id: intentId } = await openIntent(client, uuid);
  await payByCard(server, intentId);
  const params = await paramsOf(uuid);
  assert.equal((await robin.act('settleJoin', { params, body: { join: 1 } })).status, 403);
  const { data } = await kim.call('settleJoin', { params, body: { join: 1, trial: true } });
  assert.deepEqual(
    [data.verb, data.lines[0]],
    ['Settle', `Payment ${intentId} of $65.00: open here, succeeded at Stripe.`],
  );
  const done = await kim.act('settleJoin', { params, body: { join: 1 } });
  assert.deepEqual([done.status, done.data.lines], [200, []]);
  assert.deepEqual(await standingOf(uuid), ['active']);
  const late = await kim.call('settleJoin', { params, body: { join: 1, seen: data.seen } });
  assert.deepEqual(
    [late.status, late.shown!.lines[0]],
    [409, `Payment ${intentId} of $65.00: succeeded here, succeeded at Stripe.`],
  );
});

test('a request for money back waits at the person, and is declined once, by whoever moves money', async () => {
  const { client, uuid } = await undergraduate(server);
  const params = await paramsOf(uuid);
  const { total } = (await client.call('getRefundRequest', { params: { uuid } })).data;
  await client.call('requestRefund', { params: { uuid }, body: { total } });
  const asked = async () => (await personAt(kim, Number(params.id))).joins[0]!.refundAsked;
  const { amountCents, types, items } = (await asked())!;
  assert.deepEqual(
    [amountCents, types, items],
    [total, ['membership'], [30]],
    'all that the member was shown',
  );
  const waiting = await kim.call('getWaiting', { query: { queue: 'refundsAsked' } });
  assert.ok(waiting.data.rows.some(({ id }: { id: number }) => String(id) === params.id));
  const body = { join: 1, sentence: 'The stole was sent.' };
  assert.equal((await robin.act('declineRefund', { params, body })).status, 403);
  const trial = await kim.call('declineRefund', { params, body: { ...body, trial: true } });
  assert.match(trial.data.lines[1]!, /“The stole was sent\.”/);
  const { seen } = trial.data;
  const presses = await Promise.all(
    [kim, lee].map((browser) => browser.call('declineRefund', { params, body: { ...body, seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  assert.equal(await asked(), null);
  const { story } = await personAt(kim, Number(params.id));
  assert.equal(story.filter(({ text }) => text.includes('was declined')).length, 1);
});
