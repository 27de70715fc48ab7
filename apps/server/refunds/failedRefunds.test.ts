import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newContact } from '../../../tests/harness/deliver.ts';
import {
  chargeOf,
  differencesOf,
  everything,
  failRefund,
  membershipOnly,
  standingsOf,
} from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { settleCommand } from '../settlement/commands.ts';
import { refundCommand } from '../settlement/refundCommands.ts';
import { followPayment } from './followPayment.ts';
import { refundJoin } from './refundJoin.ts';

/** Refunds that the bank returns later: the money is back with us. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

test('staff are told of one person who has paid twice also when the first membership comes back after the second one was bought', async () => {
  const person = { personalEmail: 'comes.back@example.com' };
  const first = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await refundJoin(server.deps, first.uuid, everything);
  const second = await paidJoin(server, server.client(), 'LINCOLN2026', person);
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
  const { uuid, intentId } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'failed@example.com',
  });
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

/** Makes a paid join with a pin of $12.00 and refunds its membership. Its contact joins anew, and then the refund fails. */
async function joinedAnew(code: string) {
  await newContact(server, `${code.toLowerCase()}@example.com`, { invitation_code: code });
  const person = { personalEmail: `${code.toLowerCase()}@example.com` };
  const client = server.client();
  const uuid = await orderingJoin(client, code, person);
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
  const { intentId } = await payOrder(server, client, uuid);
  await refundJoin(server.deps, uuid, membershipOnly);
  await paidJoin(server, server.client(), code, person);
  await failRefund(server, intentId);
  return { uuid, intentId };
}

test('a failed refund of who has joined anew leads staff to give back the membership and not the pin', async (t) => {
  const { intentId } = await joinedAnew('ANEW1');
  const [difference] = await differencesOf(server, intentId);
  assert.equal(difference?.kind, 'paid_anew');
  assert.match(difference.text, /\$65\.00/, difference.text);
  const args = difference.repair.replace('npm run operator -- refund ', '').split(' ');
  await runCommand(t, server, refundCommand, args);
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
    await runCommand(t, server, settleCommand, [intentId]);
    const after = await differencesOf(server, intentId);
    assert.ok(
      !after.some((one) => one.text === text),
      `${text} ${repair}; standing ${JSON.stringify(await standingsOf(server, uuid))}`,
    );
  }
});
