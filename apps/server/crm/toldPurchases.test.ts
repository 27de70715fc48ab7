import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { atHubspot, deliver, deliveryOf, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { chargeOf, differencesOf, everything, lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  newMember,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { membershipByLink, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { eraseJoins } from '../people/privacy/eraseJoins.ts';
import { forgetSent } from './deliveries.ts';
import { diffOf } from './diffJoin.ts';
import { queueForHubspot, queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

/** Tests what is sent to HubSpot about purchases: by several joins of one person, and after refunds. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { database } = server.deps;
const { atContact, contactOf, invited, paid, pay, refund, statusAt, statusOf } = identityOn(server);

const stole = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0031';
const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';

/** Sends everything due to HubSpot, and returns a contact's status and purchases there. */
async function boughtBy(id: string) {
  await deliver(server);
  return atContact(id, ['membership_status', 'membership_name', 'upgrade_name', 'amount_paid']);
}

test('who pays by a school code while they pay by a code of their own is a member until both went back', async () => {
  const personalEmail = 'both.codes@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', invitation_code: 'BOTHCODES' });
  const client = server.client();
  const own = await orderingJoin(client, 'BOTHCODES', { personalEmail });
  const intent = await openIntent(client, own);
  assert.equal((await beginPayment(client, own, intent.revision)).status, 200);
  const school = await pay({ personalEmail });
  assert.deepEqual([await contactOf(school), await statusAt(id)], [id, 'member']);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  await deliver(server);
  await refund(own);
  assert.equal(await statusAt(id), 'member');
  await refund(school);
  assert.equal(await statusAt(id), 'former');
});

test('a join whose money went back before HubSpot was told of it leaves the status that staff gave', async () => {
  const personalEmail = 'a6@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'prospect' });
  const { uuid } = await paid({ personalEmail });
  await refund(uuid);
  assert.deepEqual([await contactOf(uuid), await statusAt(id)], [id, 'prospect']);
  assert.doesNotMatch((await noticesOf(server, uuid)).join(), new RegExp(id));
});

test("who joined by a school's code, was refunded and has joined anew is a member of the same contact until that went back, and has not paid twice", async () => {
  const personalEmail = 'anew@example.com';
  const first = await pay({ personalEmail });
  await refund(first);
  assert.equal(await statusOf(first), 'former');
  const second = await pay({ personalEmail });
  assert.equal(await contactOf(second), await contactOf(first));
  assert.deepEqual([await statusOf(first), await noticesOf(server, second)], ['member', []]);
  await refund(second);
  assert.equal(await statusOf(first), 'former');
});

test('what somebody likely the same gave stays said of a contact that buys by itself since, and nothing is left to write', async () => {
  const personalEmail = 'told@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Jordan', membership_status: 'member' });
  const uuid = await pay({ personalEmail }, donation25);
  await upgradeByLink(server, id);
  await deliver(server);
  const told = ['membership_status', 'membership_name', 'upgrade_name', 'donation_amount'];
  assert.deepEqual(await atContact(id, told), [
    'member',
    'Membership',
    'Distinguished Member upgrade',
    '25.00',
  ]);
  const diff = await diffOf({ ...server.deps, database: server.background }, uuid);
  assert.deepEqual(diff, { contactId: id, changes: [] });
});

test('what one who paid twice gets back leaves what they have bought again', async () => {
  const personalEmail = 'pins@example.com';
  const id = await newContact(server, personalEmail);
  const first = await pay({ personalEmail }, lapelPin);
  await pay({ personalEmail }, lapelPin);
  const told = ['store_items', 'amount_paid', 'membership_status'];
  assert.deepEqual(await atContact(id, told), ['Lapel Pin; Lapel Pin', '154.00', 'member']);
  await refundJoin(server.deps, first, {
    membership: false,
    ineligible: false,
    upgrade: false,
    items: 'all',
  });
  await deliver(server);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '142.00', 'member']);
  await refund(first);
  assert.deepEqual(await atContact(id, told), ['Lapel Pin', '77.00', 'member']);
});

test('a refund and a merge of the same person’s contact do not kill one another', async (t) => {
  // The order in which the joins are locked is that of their uuids, which are random.
  for (let turn = 0; turn < 4; turn++) {
    const personalEmail = `lock${turn}@example.com`;
    const code = `LOCK${turn}`;
    const id = await newContact(server, personalEmail, { invitation_code: code });
    const other = await newContact(server, `lock${turn}.other@example.com`);
    const first = await newMember(server, code, { personalEmail });
    await refundJoin(server.deps, first.uuid, everything);
    await deliver(server);
    const second = await newMember(server, code, { personalEmail });
    await deliver(server);
    const [low] = [first.uuid, second.uuid].sort();
    const holder = await lockHolder(t, server);
    await holder.query('select from join_session where uuid = $1 for update', [low]);
    const refunding = refundJoin(
      { ...server.deps, database: server.background },
      second.uuid,
      everything,
    ).then(
      () => 'refunded',
      (error: Error) => error.message,
    );
    await waiting(holder, 1);
    const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
      primaryObjectId: other,
      objectIdToMerge: id,
    });
    const merging = server.deps.contacts.refresh(merged.id).catch((error: Error) => error.message);
    await waiting(holder, 2);
    await holder.query('commit');
    assert.deepEqual([await refunding, await merging], ['refunded', 'known'], `turn ${turn}`);
  }
});

test('the upgrade that is still held makes nobody a member whose membership has ended', async () => {
  const { client, uuid, intentId } = await newMember(server, 'HONOR101');
  const body = { paymentIntent: intentId };
  assert.equal(
    (await client.call('createUpgradeCharge', { params: { uuid }, body })).data.status,
    'succeeded',
  );
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name']), [
    'member',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, { ...everything, ineligible: true, upgrade: false, items: 'none' });
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'membership_name', 'upgrade_name']), [
    'former',
    'Membership',
    'Distinguished Member upgrade',
  ]);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.deepEqual(await atContact('101', ['membership_status', 'upgrade_name', 'amount_paid']), [
    'former',
    null,
    '0.00',
  ]);
});

test('donations and store items are told by themselves, less what went back', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR102');
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 2 } });
  for (const productUuid of [donation25, lapelPin, stole])
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid } });
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: 12.5 } });
  await payOrder(server, client, uuid);
  await deliver(server);
  const told = ['donation_amount', 'store_items', 'amount_paid'];
  assert.deepEqual(await atContact('102', told), ['37.50', 'Lapel Pin; Honor Stole', '176.50']);

  const items = { membership: false, ineligible: false, upgrade: false } as const;
  await refundJoin(server.deps, uuid, { ...items, items: [21, 30] });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['12.50', 'Honor Stole', '139.50']);
  await refundJoin(server.deps, uuid, { ...items, items: 'all' });
  await deliver(server);
  assert.deepEqual(await atContact('102', told), ['0.00', null, '89.00']);
  assert.deepEqual(await atContact('102', ['membership_status']), ['member']);
});

test('HubSpot has of a contact what all of their joins have bought, and when last, whichever of them changed last', async () => {
  const { id, code } = await invited('several@example.com');
  const { uuid: base } = await paid({ personalEmail: 'several@example.com' }, code);
  assert.deepEqual(await boughtBy(id), ['member', 'Membership', null, '65.00']);
  const upgrade = await upgradeByLink(server, id);
  const both = ['member', 'Membership', 'Distinguished Member upgrade', '110.00'];
  assert.deepEqual(await boughtBy(id), both);
  const last = await atContact(id, ['paid_at']);
  await queueForHubspot(database, base);
  assert.deepEqual(await boughtBy(id), both);
  assert.deepEqual(await atContact(id, ['paid_at']), last);
  await refundJoin(server.deps, upgrade.uuid, everything);
  assert.deepEqual(await boughtBy(id), ['member', 'Membership', null, '65.00']);
});

test('of a membership that was refunded and one that was bought anew HubSpot has the one that is held', async () => {
  const person = { personalEmail: 'bought.anew@example.com' };
  const { uuid: first } = await newMember(server, 'HONOR104', person);
  await refundJoin(server.deps, first, everything);
  assert.deepEqual(await boughtBy('104'), ['former', 'Membership', null, '0.00']);
  const client = server.client();
  const second = await orderingJoin(client, 'HONOR104', person);
  await client.call('setMembership', { params: { uuid: second }, body: { membershipId: 2 } });
  await payOrder(server, client, second);
  const anew = ['member', 'Membership with Honor Cord', null, '89.00'];
  assert.deepEqual(await boughtBy('104'), anew);
  await queueForHubspot(database, first);
  assert.deepEqual(await boughtBy('104'), anew);
});

test('a join that was begun and left empties nothing of what its contact has bought, also when the paid join is erased', async () => {
  const id = await newContact(server, 'erased.beside@example.com');
  const { data } = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
  const { uuid } = await membershipByLink(server, id);
  await sql`
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, review, reviewed_at)
    values (${randomUUID()}, 'transcript', ${uuid}, 'a.pdf', 'application/pdf', 1, '', 'erased-beside', 'accepted', now())`.execute(
    database,
  );
  const told = async () => {
    await queueForHubspot(database, data.joinSessionUuid);
    const [status, name, , amount] = await boughtBy(id);
    const { transcript_received_at } = await atHubspot(server, id, 'transcript_received_at');
    return [status, name, amount, Boolean(transcript_received_at)];
  };
  const bought = ['member', 'Membership', '65.00', true];
  assert.deepEqual(await told(), bought);
  await database.transaction().execute((trx) => eraseJoins(trx, server.deps, [uuid]));
  assert.deepEqual(await told(), bought);
});

test('whom staff have made a member in HubSpot after a refund stays one when they buy an upgrade by a link', async () => {
  const { id, code } = await invited('by.their.word@example.com');
  const { uuid } = await paid({ personalEmail: 'by.their.word@example.com' }, code);
  await refundJoin(server.deps, uuid, everything);
  assert.equal((await boughtBy(id))[0], 'former');
  await editAtHubspot(server, id, { membership_status: 'member' });
  await server.deps.contacts.refresh(id);
  const upgrade = await upgradeByLink(server, id);
  assert.deepEqual(await differencesOf(server, upgrade.uuid), [], 'the upgrade has a base');
  assert.deepEqual(await boughtBy(id), ['member', 'Membership', 'Distinguished Member upgrade', '45.00']);
  await queueForHubspot(database, uuid);
  assert.equal((await boughtBy(id))[0], 'member');
  assert.deepEqual(
    await noticesOf(server, upgrade.uuid),
    [],
    'who buys an upgrade is a member already, and pays nothing twice',
  );
});

test('a member whose other join was left behind is at the stage of a member, and at that of a new join once refunded', async () => {
  const id = await newContact(server, 'left.behind@example.com');
  const begin = async () =>
    (await server.client().call('initiateCheckout', { body: { hubspotContactId: id } })).data.joinSessionUuid;
  const stage = async () => {
    await deliver(server);
    return (await atHubspot(server, id, 'join_stage')).join_stage;
  };
  const left = await begin();
  const { uuid: paid } = await membershipByLink(server, id);
  assert.equal(await stage(), 'paid');
  await queueForHubspot(database, left);
  assert.equal(await stage(), 'paid');
  await refundJoin(server.deps, paid, everything);
  await stage();
  await queueForHubspot(database, await begin());
  assert.equal(await stage(), 'ordering');
});

test('a contact that a join leaves for another is told again of the membership that it bought and gave back before', async (t) => {
  const personalEmail = 'left.as.former@example.com';
  const id = await newContact(server, personalEmail);
  const { uuid: own } = await membershipByLink(server, id);
  assert.equal((await boughtBy(id))[0], 'member');
  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail, firstName: 'Alex' });
  await deliver(server);
  await refundJoin(server.deps, own, everything);
  await deliver(server);
  const other = await newContact(server, 'right.of.former@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, other])).code, 0);
  assert.deepEqual(await boughtBy(id), ['former', 'Membership', null, '0.00']);
});

test('siblings with the email of one contact are linked to contacts of their own at once', async () => {
  const personalEmail = 'both.at.once@example.com';
  await newContact(server, personalEmail);
  const first = await pay({ personalEmail, firstName: 'Alex' });
  const second = await pay({ personalEmail, firstName: 'Sam' }, donation25);
  const owns = [
    await newContact(server, 'one.own@example.com'),
    await newContact(server, 'other@example.com'),
  ];
  for (const id of owns) await server.deps.contacts.refresh(id);
  await Promise.all([mergeNow(server, first, owns[0]!), mergeNow(server, second, owns[1]!)]);
  assert.deepEqual(await boughtBy(owns[0]!), ['member', 'Membership', null, '65.00']);
  assert.deepEqual(await boughtBy(owns[1]!), ['member', 'Membership', null, '90.00']);
});

for (const when of ['before', 'after'] as const)
  test(`a join that is linked while HubSpot is told of it (${when} HubSpot has written) is told to its new contact alone`, async (t) => {
    const email = `linked.${when}.it.is.told@example.com`;
    const id = await newContact(server, email);
    const other = await newContact(server, `right.${email}`);
    const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail: email });
    const reached = Promise.withResolvers<void>();
    const linked = Promise.withResolvers<void>();
    const update = server.hubspot.updateContacts;
    const held = t.mock.method(
      server.hubspot,
      'updateContacts',
      async (...given: Parameters<typeof update>) => {
        held.mock.restore();
        const answer = when === 'after' ? await update(...given) : null;
        reached.resolve();
        await linked.promise;
        return answer ?? update(...given);
      },
    );
    const pushing = deliver(server);
    await reached.promise;
    const linking = runCommand(t, server, 'person merge', [uuid, other]);
    await Promise.race([linking, waiting(server.background, 1)]);
    linked.resolve();
    await pushing;
    assert.equal((await linking).code, 0);
    assert.deepEqual(await boughtBy(other), ['member', 'Membership', null, '65.00']);
    assert.deepEqual(await boughtBy(id), [null, null, null, null]);
  });

test('what a lost dispute took is no part of what its payer paid, and takes nothing from anybody else', async () => {
  const [disputed, other] = [
    await newContact(server, 'several-disputed@example.com'),
    await newContact(server, 'several-other@example.com'),
  ];
  const paid = await membershipByLink(server, disputed);
  await membershipByLink(server, other);
  const charge = await chargeOf(server, paid.intentId);
  const dispute = await server.stripeControl('disputes', { charge, amount: 3000 });
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, paid.intentId);
  assert.equal((await boughtBy(disputed))[3], '35.00');
  const ofOther = sql`(select id from person where contact_id = ${other})`;
  await forgetSent(database, ofOther);
  await queuePersonsForHubspot(database, ofOther);
  assert.equal((await boughtBy(other))[3], '65.00');
  // The bank now decides the dispute for us, so Stripe returns the money.
  const { payments } = server.deps;
  const moneyBack = async () => ({ refunds: [], dispute: null, lost: [] });
  await followPayment({ ...server.deps, payments: { ...payments, moneyBack } }, paid.intentId);
  assert.equal((await boughtBy(disputed))[3], '65.00');
});

test('a HubSpot without the properties that came later is told the rest, and of these once they are there', async (t) => {
  // The server reads HubSpot's list of properties every ten minutes.
  let aheadMs = 11 * 60_000;
  t.mock.method(server.deps, 'now', () => new Date(Date.now() + aheadMs));
  const properties = `${server.hubspotUrl}/crm/properties/2026-09/contacts`;
  const headers = { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' };
  for (const name of ['upgrade_name', 'donation_amount', 'store_items']) {
    assert.equal((await fetch(`${properties}/${name}`, { method: 'DELETE', headers })).status, 204);
  }
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR103');
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'sam@example.com' }),
  });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  await payOrder(server, client, uuid);
  await deliver(server);
  const { refusal, sent } = await deliveryOf(server, uuid);
  assert.deepEqual([refusal, sent.membershipStatus, sent.items], [null, 'member', undefined]);
  const { membership_status, amount_paid } = await atHubspot(
    server,
    '103',
    'membership_status',
    'amount_paid',
  );
  assert.deepEqual([membership_status, amount_paid], ['member', '77.00']);

  const body = JSON.stringify({
    name: 'store_items',
    label: 'Store items',
    type: 'string',
    fieldType: 'text',
    groupName: 'contactinformation',
  });
  assert.equal((await fetch(properties, { method: 'POST', headers, body })).status, 201);
  aheadMs *= 2;
  await queueForHubspot(server.deps.database, uuid);
  await deliver(server);
  assert.equal((await atHubspot(server, '103', 'store_items')).store_items, 'Lapel Pin');
});
