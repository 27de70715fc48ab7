import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newContact } from '../../../../tests/harness/deliver.ts';
import {
  atStripe,
  chargeOf,
  differencesOf,
  everything,
  failRefund,
  membershipOnly,
  refundInDashboard,
  refundsOf,
  settleRefund,
  standingsOf,
  undergraduate,
} from '../../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { newMember, newOrder, openIntent, payByCard, payOrder } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../confirmPayment.ts';
import { followPayment } from './followPayment.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

/** The id of the lapel pin, a store item. */
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

test('staff are told of one person who has paid twice also when the first membership comes back after the second one was bought', async () => {
  const person = { personalEmail: 'comes.back@example.com' };
  const first = await newMember(server, 'LINCOLN2026', person);
  await refundJoin(server.deps, first.uuid, everything);
  const second = await newMember(server, 'LINCOLN2026', person);
  await failRefund(server, first.intentId);
  const standings = [...(await standingsOf(server, first.uuid)), ...(await standingsOf(server, second.uuid))];
  assert.deepEqual(
    standings.map(({ standing }) => standing),
    ['active', 'active'],
  );
  const notices = [...(await noticesOf(server, first.uuid)), ...(await noticesOf(server, second.uuid))];
  assert.ok(
    notices.some((text) => text.includes(first.uuid) && text.includes(second.uuid)),
    `$130.00 are kept of one name and email; the notices are ${JSON.stringify(notices)}`,
  );
});

test('staff are told of each refund that fails, also when it is given again and fails again on the same day', async () => {
  const { uuid, intentId } = await newMember(server, 'LINCOLN2026', { personalEmail: 'failed@example.com' });
  for (let time = 1; time <= 2; time++) {
    await refundJoin(server.deps, uuid, membershipOnly);
    assert.deepEqual(
      (await standingsOf(server, uuid)).map(({ standing }) => standing),
      ['refunded'],
    );
    await failRefund(server, intentId);
    assert.deepEqual(
      (await standingsOf(server, uuid)).map(({ standing }) => standing),
      ['active'],
    );
    const told = (await noticesOf(server, uuid)).filter((text) => /failed/.test(text));
    assert.equal(
      told.length,
      time,
      `after failure ${time}: ${JSON.stringify(await noticesOf(server, uuid))}`,
    );
  }
});

/**
 * Makes a paid join with a pin for $12.00 and refunds its membership. Then the same contact joins again. After that, the refund
 * fails.
 */
async function joinedAnew(code: string) {
  await newContact(server, `${code.toLowerCase()}@example.com`, { invitation_code: code });
  const person = { personalEmail: `${code.toLowerCase()}@example.com` };
  const { client, uuid } = await newOrder(server, code, person);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
  const { intentId } = await payOrder(server, client, uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  await newMember(server, code, person);
  await failRefund(server, intentId);
  return { uuid, intentId };
}

test('a failed refund of who has joined anew leads staff to give back the membership and not the pin', async (t) => {
  const { intentId } = await joinedAnew('ANEW1');
  const [difference] = await differencesOf(server, intentId);
  assert.equal(difference?.kind, 'paid_anew');
  assert.match(difference.text, /\$65\.00/, difference.text);
  const args = difference.repair.replace('npm run operator -- refund ', '').split(' ');
  await runCommand(t, server, 'refund', args);
  const { body } = await server.stripe('GET', `/v1/charges/${await chargeOf(server, intentId)}`);
  assert.equal((body as unknown as { amount_refunded: number }).amount_refunded, 6500, difference.repair);
  assert.deepEqual(await differencesOf(server, intentId), []);
});

test('a failed refund of who has joined anew, whose payment is disputed, names no command that repairs nothing', async (t) => {
  const { uuid, intentId } = await joinedAnew('ANEW2');
  await server.stripeControl('disputes', { charge: await chargeOf(server, intentId) });
  await followPayment(server.deps, intentId);
  for (const { text, repair } of await differencesOf(server, intentId)) {
    assert.match(repair, / settle /);
    await runCommand(t, server, 'settle', [intentId]);
    const after = await differencesOf(server, intentId);
    assert.ok(
      !after.some((one) => one.text === text),
      `${text} ${repair}; standing ${JSON.stringify(await standingsOf(server, uuid))}`,
    );
  }
});

for (const status of ['failed', 'canceled'] as const)
  test(`staff hear of a refund of a pin that was decided, was on its way, and is ${status} at Stripe`, async () => {
    const { uuid, intentId } = await undergraduate(server);
    await server.stripeControl('refunds', { answer: 'requires_action' });
    await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: 'all' });
    await server.stripeControl('refunds', { answer: 'succeeded' });
    assert.deepEqual(
      (await refundsOf(server, intentId)).map((refund) => refund.status),
      ['pending'],
    );
    await settleRefund(server, intentId, status);
    assert.deepEqual(
      (await refundsOf(server, intentId)).map((refund) => refund.status),
      [status],
    );
    const told = [
      ...(await noticesOf(server, uuid)),
      ...(await differencesOf(server, intentId)).map(({ text }) => text),
    ];
    const how = status === 'failed' ? 'failed' : 'was cancelled at Stripe';
    assert.ok(
      told.some((text) => text.includes('$12.00') && text.includes(` ${how}: the money is with us again`)),
      `the $12.00 never reached the payer; staff read ${JSON.stringify(told)}`,
    );
  });

test('staff are not told to decide a refund again that failed because the card is closed', async () => {
  const { uuid, intentId } = await undergraduate(server);
  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, items: 'all' });
  await failRefund(server, intentId, 'lost_or_stolen_card');
  assert.equal(
    (await noticesOf(server, uuid)).at(-1),
    `The refund of $12.00 of payment ${intentId} failed: the money is with us again. The card is closed, so a further refund to it would fail, too: ask the payer, and pay it back outside Stripe.`,
  );
});

test('of a join whose second payment came back from the bank, refund does not say that nothing was paid', async (t) => {
  const { uuid } = await newOrder(server, 'HONOR104');
  const { id } = await openIntent(server.client(), uuid);
  await newMember(server, 'HONOR104');
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await failRefund(server, id);
  assert.deepEqual(
    (await refundsOf(server, id)).map(({ status }) => status),
    ['failed'],
    'its $65.00 are with us',
  );
  assert.equal(
    (await noticesOf(server, uuid)).at(-1),
    `The refund of $65.00 of payment ${id} failed: the money is with us again. To decide it again: npm run operator -- refund ${id}`,
  );
  const { out } = await runCommand(t, server, 'refund', [uuid]);
  assert.doesNotMatch(out, /nothing was paid/);
});

/** Buys the undergraduate membership ($95.00) by a link to a contact. */
const membershipByLink = (contactId: string) => upgradeByLink(server, contactId, { productId: 3 });

test('whose refund less the processing fee failed after they had joined anew gets that again, and not the fee as well', async (t) => {
  const first = await membershipByLink('103');
  await refundJoin(server.deps, first.uuid, { ...membershipOnly, ineligible: true });
  assert.deepEqual(await atStripe(server, first.intentId), [9000], 'the fee of $5.00 is kept');
  await membershipByLink('103');
  await failRefund(server, first.intentId);

  const [difference, ...more] = await differencesOf(server, first.intentId);
  assert.deepEqual([difference?.kind, more], ['paid_anew', []]);
  const [, args] = /operator -- refund (.*)$/.exec(difference!.repair)!;
  const { code, out } = await runCommand(t, server, 'refund', args!.split(' '));
  assert.equal(code, 0, out);
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${first.intentId}`);
  const made = (body as unknown as { data: { amount: number; status: string }[] }).data;
  assert.deepEqual(
    made.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount),
    [9000],
    `reconcile said: ${difference!.text} ${difference!.repair}`,
  );
});

/** Finds the join's notice that contains `words`. Returns the arguments of the refund command at the end of that notice. */
async function refundArgs(uuid: string, words: string): Promise<string[]> {
  const notice = (await noticesOf(server, uuid)).find((text) => text.includes(words));
  return / -- refund (.*)$/.exec(notice ?? '')![1]!.split(' ');
}

for (const failing of [9000, 1700])
  test(`the command of a refund of ${failing} cents that failed gives it again beside another refund of the same membership`, async (t) => {
    const { uuid, intentId } = await undergraduate(server);
    await refundJoin(server.deps, uuid, { ...membershipOnly, ineligible: true });
    // Refunds all that is left: the fee ($5.00) and the pin ($12.00).
    await runCommand(t, server, 'refund', [intentId]);
    const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
    const made = (body as unknown as { data: { id: string; amount: number }[] }).data;
    assert.deepEqual(made.map(({ amount }) => amount).sort(), [1700, 9000]);
    const { id } = made.find(({ amount }) => amount === failing)!;
    await server.stripeControl(`refunds/${id}/settle`, { status: 'failed' });
    await followPayment(server.deps, intentId);
    const { code, out } = await runCommand(t, server, 'refund', await refundArgs(uuid, ' failed'));
    assert.equal(code, 0, out);
    assert.deepEqual(await atStripe(server, intentId), [failing, 1700, 9000]);
  });

test('the command of a dropped refund of the rest gives back what is still left beside the membership that went back before', async (t) => {
  const { uuid, intentId } = await undergraduate(server);
  await refundJoin(server.deps, uuid, { ...membershipOnly, ineligible: true });
  await server.stripeControl('refunds', { answer: 'refused' });
  await runCommand(t, server, 'refund', [intentId]);
  await server.stripeControl('refunds', { answer: 'succeeded' });
  await refundInDashboard(server, intentId, 100);
  const { code, out } = await runCommand(t, server, 'refund', await refundArgs(uuid, 'is not made'));
  assert.equal(code, 0, out);
  assert.deepEqual(await atStripe(server, intentId), [1600, 100, 9000]);
});
