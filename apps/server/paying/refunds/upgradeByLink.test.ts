import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { atHubspot, deliver, newContact } from '../../../../tests/harness/deliver.ts';
import { proveByCode } from '../../../../tests/harness/joinCalls.ts';
import { personId } from '../../../../tests/harness/personId.ts';
import { atStripe, everything, refundInDashboard, standingsOf } from '../../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { newMember, openIntent, payByCard } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { reconcile } from '../../books/reconcile.ts';
import { confirmPayment } from '../confirmPayment.ts';
import { refundJoin } from './refundJoin.ts';

const server = await sharedServer();

/** Tests that an upgrade by link counts as an upgrade, although it has a join of its own and a payment of the kind `join`. */

const run = (t: TestContext, command: string, ...args: string[]) => runCommand(t, server, command, args);
/** The product number of the upgrade of the undergraduate programme, which has a processing fee. */
const UNDERGRADUATE_UPGRADE = 11;
const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

test('an upgrade by link goes back whole, by --upgrade and not as a membership', async (t) => {
  await newMember(server, 'HONOR101');
  const { uuid, intentId } = await upgradeByLink(server, '101', {
    productId: UNDERGRADUATE_UPGRADE,
    items: [PIN],
  });
  const without = await run(t, 'refund', uuid, '--ineligible');
  assert.equal(
    without.out,
    'This join bought an upgrade and no membership: Distinguished Member upgrade, $55.00. It goes back only if it is asked for.\n$0.00 goes back: nothing of what was asked for is left to refund.\n',
  );
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership_upgrade', standing: 'active' }]);
  const asked = await run(t, 'refund', uuid, '--ineligible', '--upgrade');
  assert.equal(
    asked.out,
    `$55.00  Distinguished Member upgrade  (${intentId})\n$55.00 goes back.\n`,
    'no fee is kept of it, and the pin stays',
  );
  assert.deepEqual(await atStripe(server, intentId), [5500]);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership_upgrade', standing: 'refunded' }]);
  assert.deepEqual(await noticesOf(server, uuid), [], 'staff know what they have decided');
});

test('a refund of an upgrade by link from the dashboard is read without a fee, and assigned to the upgrade', async (t) => {
  await newMember(server, 'HONOR102');
  const { uuid, intentId } = await upgradeByLink(server, '102', { productId: UNDERGRADUATE_UPGRADE });
  // $50.00 is the price of the upgrade less the processing fee of $5.00.
  const refund = await refundInDashboard(server, intentId, 5000);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership_upgrade', standing: 'active' }]);
  const asMembership = await run(t, 'refund assign', refund, '--membership');
  assert.deepEqual(
    [asMembership.code, asMembership.out],
    [1, 'Nothing of that is in this payment, or it has gone back already.\n'],
  );
  assert.equal((await run(t, 'refund assign', refund, '--upgrade')).code, 0);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership_upgrade', standing: 'refunded' }]);
});

test('a second payment for an upgrade by link is told as one for an upgrade', async () => {
  await newMember(server, 'HONOR103');
  const client = server.client();
  const body = { hubspotContactId: '103', mainProductId: 10 };
  const uuid = (await client.call('initiateCheckout', { body })).data.joinSessionUuid;
  const { id } = await openIntent(client, uuid);
  const sold = await upgradeByLink(server, '103');
  await payByCard(server, id);
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await proveByCode(server, sold.client, sold.uuid);
  const { refunded } = (await sold.client.call('getWelcome', { params: { uuid: sold.uuid } })).data;
  assert.deepEqual(refunded, [
    { kind: 'upgrade', why: 'held', amount: 4500, isReturned: true, isWithStaff: false },
  ]);
});

test('who is a member by hand in HubSpot stays one when an upgrade by link goes back', async () => {
  const id = await newContact(server, 'member.by.hand@example.com', { membership_status: 'member' });
  await server.deps.contacts.refresh(id);
  const { uuid } = await upgradeByLink(server, id);
  await refundJoin(server.deps, uuid, everything);
  assert.deepEqual(await standingsOf(server, uuid), [{ type: 'membership_upgrade', standing: 'refunded' }]);
  // While HubSpot is down, only the mirror decides whether the contact is a member.
  await server.hubspotFault({ kind: 'cut', times: 1_000 });
  const again = await upgradeByLink(server, id);
  await server.hubspotFault(null);
  assert.deepEqual(await standingsOf(server, again.uuid), [
    { type: 'membership_upgrade', standing: 'active' },
  ]);
});

test('a contact whom a school join has made a member in HubSpot is sold no upgrade by a link, which is for members', async () => {
  const personalEmail = 'school.then.link@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', lastname: 'Rivera' });
  await newMember(server, 'LINCOLN2026', { personalEmail });
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
  await server.deps.contacts.refresh(id);
  const body = { hubspotContactId: id, mainProductId: 10 };
  const { status, message } = await server.client().call('initiateCheckout', { body });
  assert.deepEqual([status, /for members only/.test(message ?? '')], [409, true]);
});

test('an upgrade that a link sold stays on a membership of its contact when a school join with the same email goes back', async () => {
  const personalEmail = 'school.beside.own@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', lastname: 'Rivera' });
  await server.deps.contacts.refresh(id);
  const { database } = server.deps;
  await database
    .insertInto('invitation')
    .values({ code: 'OWNBASE', person_id: personId(id) })
    .execute();
  const own = await newMember(server, 'OWNBASE', { personalEmail });
  await deliver(server);
  const school = await newMember(server, 'LINCOLN2026', { personalEmail });
  await deliver(server);
  const upgrade = await upgradeByLink(server, id);
  await refundJoin(server.deps, school.uuid, everything);
  assert.deepEqual(await standingsOf(server, own.uuid), [{ type: 'membership', standing: 'active' }]);
  assert.ok(!(await noticesOf(server, upgrade.uuid)).some((text) => /upgrade is still paid/.test(text)));
  const { differences } = await reconcile(server.deps, { graceMinutes: 0 });
  assert.deepEqual(
    differences.filter(({ subject }) => subject === upgrade.uuid),
    [],
  );
});
