import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atStripe, differencesOf, failRefund, membershipOnly } from '../../../tests/harness/refunds.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { refundCommand } from './refundCommands.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

/** Buys the undergraduates' membership, of $95.00, by a link to a contact. */
const membershipByLink = (contactId: string) => upgradeByLink(server, contactId, { productId: 3 });

test('whose refund less the processing fee failed after they had joined anew gets that again, and not the fee as well', async (t) => {
  const first = await membershipByLink('104');
  await refundJoin(server.deps, first.uuid, { ...membershipOnly, ineligible: true });
  assert.deepEqual(await atStripe(server, first.intentId), [9000], 'the fee of $5.00 is kept');
  await membershipByLink('104');
  await failRefund(server, first.intentId);

  const [difference, ...more] = await differencesOf(server, first.intentId);
  assert.deepEqual([difference?.kind, more], ['paid_anew', []]);
  const [, args] = /operator -- refund (.*)$/.exec(difference!.repair)!;
  const { code, out } = await runCommand(t, server, refundCommand, args!.split(' '));
  assert.equal(code, 0, out);
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${first.intentId}`);
  const made = (body as unknown as { data: { amount: number; status: string }[] }).data;
  assert.deepEqual(
    made.filter(({ status }) => status === 'succeeded').map(({ amount }) => amount),
    [9000],
    `reconcile said: ${difference!.text} ${difference!.repair}`,
  );
});
