import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { waiting } from '../../../tests/harness/locks.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import {
  chargeOf,
  differencesOf,
  everything,
  membershipOnly,
  standingsOf,
} from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { eraseJoins } from '../people/privacy/eraseJoins.ts';
import { forgetSent } from './deliveries.ts';
import { hubspotIsToHear, tellHubspot } from './hubspotIsToHear.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { database } = server.deps;
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

/** All joins of a test have the same email and so the same payer, who is a member while any of the joins' memberships is held. */
const person = (id: string) => ({ personalEmail: `several-${id}@example.com` });

/** Returns a contact's purchases and status according to HubSpot. */
async function boughtBy(id: string) {
  await deliver(server);
  const told = await atHubspot(
    server,
    id,
    'membership_status',
    'membership_name',
    'upgrade_name',
    'amount_paid',
  );
  return [told.membership_status, told.membership_name, told.upgrade_name || null, told.amount_paid];
}

/** Buys a membership by a checkout link to a contact. */
async function paidByLink(hubspotContactId: string) {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId } });
  const uuid = data.joinSessionUuid;
  await sql`update join_session set has_agreed_to_policies = true where uuid = ${uuid}`.execute(database);
  return payOrder(server, client, uuid);
}

/** Buys an upgrade by a link to a contact (upgrade by link). */
async function upgradeByLink(hubspotContactId: string): Promise<string> {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId, mainProductId: 10 } });
  const uuid = data.joinSessionUuid;
  await sql`update join_session set has_agreed_to_policies = true where uuid = ${uuid}`.execute(database);
  await payOrder(server, client, uuid);
  return uuid;
}

test('HubSpot has of a contact what all of their joins have bought, and when last, whichever of them changed last', async () => {
  const { uuid: base } = await paidJoin(server, server.client(), 'HONOR103', person('103'));
  assert.deepEqual(await boughtBy('103'), ['member', 'Membership', null, '65.00']);
  const upgrade = await upgradeByLink('103');
  const both = ['member', 'Membership', 'Distinguished Member upgrade', '110.00'];
  assert.deepEqual(await boughtBy('103'), both);
  const last = (await atHubspot(server, '103', 'paid_at')).paid_at;
  await tellHubspot(database, base);
  assert.deepEqual(await boughtBy('103'), both);
  assert.equal((await atHubspot(server, '103', 'paid_at')).paid_at, last);
  await refundJoin(server.deps, upgrade, everything);
  assert.deepEqual(await boughtBy('103'), ['member', 'Membership', null, '65.00']);
});

test('of a membership that was refunded and one that was bought anew HubSpot has the one that is held', async () => {
  const { uuid: first } = await paidJoin(server, server.client(), 'HONOR104', person('104'));
  await refundJoin(server.deps, first, everything);
  assert.deepEqual(await boughtBy('104'), ['former', 'Membership', null, '0.00']);
  const client = server.client();
  const second = await orderingJoin(client, 'HONOR104', person('104'));
  await client.call('setMembership', { params: { uuid: second }, body: { membershipId: 2 } });
  await payOrder(server, client, second);
  const anew = ['member', 'Membership with Honor Cord', null, '89.00'];
  assert.deepEqual(await boughtBy('104'), anew);
  await tellHubspot(database, first);
  assert.deepEqual(await boughtBy('104'), anew);
});

test('whose refund fails after they had joined anew and were refunded again is a member in HubSpot, as they are here', async () => {
  const id = await newContact(server, 'back.again@example.com', { invitation_code: 'BACKAGAIN' });
  await server.deps.contacts.refresh(id);
  const statusNow = async () => (await boughtBy(id))[0];
  const joinAs = async (personalEmail: string, membershipId = 1) => {
    const client = server.client();
    const uuid = await orderingJoin(client, 'BACKAGAIN', { personalEmail });
    await client.call('setMembership', { params: { uuid }, body: { membershipId } });
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
    return payOrder(server, client, uuid);
  };
  const first = await joinAs('back.again@example.com');
  assert.equal(await statusNow(), 'member');
  await refundJoin(server.deps, first.uuid, membershipOnly);
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${first.intentId}`);
  const [refund] = (body as unknown as { data: [{ id: string }] }).data;
  assert.equal(await statusNow(), 'former');

  // The second join has another email and therefore another payer, so its membership does not keep the first payer's status
  // `member`.
  const second = await joinAs('back.again@school.example', 2);
  assert.equal(await statusNow(), 'member');
  // The refund makes the first join due to be sent again while the second join holds its membership.
  await refundJoin(server.deps, first.uuid, { ...membershipOnly, membership: false, items: 'all' });
  assert.equal(await statusNow(), 'member');
  await refundJoin(server.deps, second.uuid, everything);
  assert.equal(await statusNow(), 'former');

  await server.stripeControl(`refunds/${refund.id}/settle`, { status: 'failed' });
  await followPayment(server.deps, first.intentId);
  assert.deepEqual(await standingsOf(server, first.uuid), [{ type: 'membership', standing: 'active' }]);
  assert.deepEqual((await boughtBy(id)).slice(0, 2), ['member', 'Membership']);
});

test('a join that is begun and left says nothing of what its contact has bought before', async () => {
  const { uuid } = await paidJoin(server, server.client(), 'HONOR102', person('102'));
  const before = await boughtBy('102');
  await sql`insert into join_session (origin, programme, person_id) select origin, programme, person_id from join_session where uuid = ${uuid}`.execute(
    database,
  );
  await tellHubspot(database, uuid);
  assert.deepEqual(await boughtBy('102'), before);
});

test('a join that was begun and left empties nothing of what its contact has bought, also when the paid join is erased', async () => {
  const id = await newContact(server, 'erased.beside@example.com');
  const { data } = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
  const { uuid } = await paidByLink(id);
  await sql`
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, review, reviewed_at)
    values (${randomUUID()}, 'transcript', ${uuid}, 'a.pdf', 'application/pdf', 1, '', 'erased-beside', 'accepted', now())`.execute(
    database,
  );
  const told = async () => {
    await tellHubspot(database, data.joinSessionUuid);
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
  const { uuid } = await paidJoin(server, server.client(), 'HONOR101', person('101'));
  await refundJoin(server.deps, uuid, everything);
  assert.equal((await boughtBy('101'))[0], 'former');
  await editAtHubspot(server, '101', { membership_status: 'member' });
  await server.deps.contacts.refresh('101');
  const upgrade = await upgradeByLink('101');
  assert.deepEqual(await differencesOf(server, upgrade), [], 'the upgrade has a base');
  assert.deepEqual(await boughtBy('101'), ['member', 'Membership', 'Distinguished Member upgrade', '45.00']);
  await tellHubspot(database, uuid);
  assert.equal((await boughtBy('101'))[0], 'member');
  assert.deepEqual(
    await noticesOf(server, upgrade),
    [],
    'who buys an upgrade is a member already, and pays nothing twice',
  );
});

test('an upgrade by link, which says nothing of the status, empties none that the membership has told', async () => {
  const id = await newContact(server, 'status.of.membership@example.com');
  const { uuid } = await paidByLink(id);
  await boughtBy(id);
  const upgrade = await upgradeByLink(id);
  await boughtBy(id);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.equal((await boughtBy(id))[0], 'former');
  await tellHubspot(database, upgrade);
  assert.equal((await boughtBy(id))[0], 'former');
});

test('a sibling with the same email whose school join came first and is refunded makes the contact no former member', async () => {
  const personalEmail = 'siblings@example.com';
  const id = await newContact(server, personalEmail);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: id } });
  const own = data.joinSessionUuid;
  const intent = await openIntent(client, own);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid: own }, body })).status, 200);
  const other = { personalEmail, firstName: 'Alex' };
  const { uuid: school } = await paidJoin(server, server.client(), 'LINCOLN2026', other);
  const member = ['member', 'Membership', null, '65.00'];
  assert.deepEqual(await boughtBy(id), member);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  assert.deepEqual(await boughtBy(id), member);
  await refundJoin(server.deps, school, everything);
  assert.deepEqual(await boughtBy(id), member);
});

test("what a sibling gave and bought under the contact's email is not said of it any more when it went back", async () => {
  const personalEmail = 'sibling.donation@example.com';
  const id = await newContact(server, personalEmail);
  const client = server.client();
  const own = (await client.call('initiateCheckout', { body: { hubspotContactId: id } })).data
    .joinSessionUuid;
  const other = server.client();
  const uuid = await orderingJoin(other, 'LINCOLN2026', { personalEmail, firstName: 'Alex' });
  await other.call('setCustomDonation', { params: { uuid }, body: { amount: '500.00' } });
  await other.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
  const intent = await openIntent(client, own);
  await payOrder(server, other, uuid);
  const given = async () => {
    await deliver(server);
    const told = await atHubspot(
      server,
      id,
      'membership_name',
      'amount_paid',
      'donation_amount',
      'store_items',
    );
    return [told.membership_name, told.amount_paid, told.donation_amount || null, told.store_items || null];
  };
  assert.deepEqual(await given(), ['Membership', '577.00', '500.00', 'Lapel Pin']);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  await deliver(server);
  await refundJoin(server.deps, uuid, everything);
  assert.deepEqual(await given(), ['Membership', '65.00', '0.00', null]);
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
  const paid = await begin();
  const intent = await openIntent(server.client(), paid);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  assert.equal(await stage(), 'paid');
  await tellHubspot(database, left);
  assert.equal(await stage(), 'paid');
  await refundJoin(server.deps, paid, everything);
  await stage();
  await tellHubspot(database, await begin());
  assert.equal(await stage(), 'ordering');
});

test('what was bought by links to the contact that a join had created goes along when it is linked to another one', async (t) => {
  const personalEmail = 'left.with.upgrade@example.com';
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(personalEmail))!;
  await server.deps.contacts.refresh(id);
  await upgradeByLink(id);
  assert.equal((await boughtBy(id))[3], '110.00');
  const other = await newContact(server, 'right.with.upgrade@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, other])).code, 0);
  assert.deepEqual(await boughtBy(id), [null, null, null, null]);
  assert.deepEqual(await boughtBy(other), ['member', 'Membership', 'Distinguished Member upgrade', '110.00']);
});

test('a contact that a join leaves for another is told again of the membership that it bought and gave back before', async (t) => {
  const personalEmail = 'left.as.former@example.com';
  const id = await newContact(server, personalEmail);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: id } });
  const own = data.joinSessionUuid;
  await sql`update join_session set has_agreed_to_policies = true where uuid = ${own}`.execute(database);
  await payOrder(server, client, own);
  assert.equal((await boughtBy(id))[0], 'member');
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail,
    firstName: 'Alex',
  });
  await deliver(server);
  await refundJoin(server.deps, own, everything);
  await deliver(server);
  const other = await newContact(server, 'right.of.former@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, other])).code, 0);
  assert.deepEqual(await boughtBy(id), ['former', 'Membership', null, '0.00']);
});

/**
 * Makes two paid joins by a school's code, both with the email of the same existing contact (`shared`), as of two siblings. The second
 * join also donates $10, and has made a contact of its own (`made`).
 */
async function siblings(email: string) {
  const shared = await newContact(server, email);
  const { uuid: first } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: email,
    firstName: 'Alex',
  });
  await deliver(server);
  const client = server.client();
  const second = await orderingJoin(client, 'LINCOLN2026', { personalEmail: email, firstName: 'Sam' });
  await client.call('setCustomDonation', { params: { uuid: second }, body: { amount: '10.00' } });
  await payOrder(server, client, second);
  await deliver(server);
  const { contact_id } = await database
    .selectFrom('join_session')
    .innerJoin('person', 'person.id', 'person_id')
    .select('contact_id')
    .where('uuid', '=', second)
    .executeTakeFirstOrThrow();
  return { shared, made: contact_id!, first, second, own: await newContact(server, `own.${email}`) };
}

test("a sibling's purchase is told at a contact of the sibling's own, and ends there with their membership", async () => {
  const { shared, made, second } = await siblings('place.of.another@example.com');
  const first = ['member', 'Membership', null, '65.00'];
  assert.deepEqual(await boughtBy(shared), first);
  assert.deepEqual(await boughtBy(made), ['member', 'Membership', null, '75.00']);
  await refundJoin(server.deps, second, everything);
  assert.deepEqual(await boughtBy(made), ['former', 'Membership', null, '0.00']);
  assert.deepEqual(await boughtBy(shared), first);
});

test('siblings are linked to other contacts one after the other, and the second one to that of the first', async (t) => {
  const { shared, made, first, second, own } = await siblings('one.after.the.other@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [first, own])).code, 0);
  assert.deepEqual(await boughtBy(shared), [null, null, null, null]);
  const { code, out } = await runCommand(t, server, 'person merge', [second, shared]);
  assert.equal(code, 0, out);
  assert.deepEqual(await boughtBy(shared), ['member', 'Membership', null, '75.00']);
  assert.deepEqual(await boughtBy(own), ['member', 'Membership', null, '65.00']);
  assert.deepEqual(await boughtBy(made), [null, null, null, null]);
});

test('siblings are linked to contacts of their own at once', async () => {
  const { first, second, own } = await siblings('both.at.once@example.com');
  const other = await newContact(server, 'another.own@example.com');
  for (const id of [own, other]) await server.deps.contacts.refresh(id);
  const link = (uuid: string, id: string) => mergeNow(server, uuid, id);
  await Promise.all([link(first, own), link(second, other)]);
  assert.deepEqual(await boughtBy(own), ['member', 'Membership', null, '65.00']);
  assert.deepEqual(await boughtBy(other), ['member', 'Membership', null, '75.00']);
});

for (const when of ['before', 'after'] as const)
  test(`a join that is linked while HubSpot is told of it (${when} HubSpot has written) is told to its new contact alone`, async (t) => {
    const email = `linked.${when}.it.is.told@example.com`;
    const id = await newContact(server, email);
    const other = await newContact(server, `right.${email}`);
    const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail: email });
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
  const paid = await paidByLink(disputed);
  await paidByLink(other);
  const charge = await chargeOf(server, paid.intentId);
  const dispute = await server.stripeControl('disputes', { charge, amount: 3000 });
  await server.stripeControl(`disputes/${dispute.id}/close`, { status: 'lost' });
  await followPayment(server.deps, paid.intentId);
  assert.equal((await boughtBy(disputed))[3], '35.00');
  const ofOther = sql`(select id from person where contact_id = ${other})`;
  await forgetSent(database, ofOther);
  await hubspotIsToHear(database, ofOther);
  assert.equal((await boughtBy(other))[3], '65.00');
  // The bank now decides the dispute for us, so Stripe returns the money.
  const { payments } = server.deps;
  const moneyBack = async () => ({ refunds: [], dispute: null, lost: [] });
  await followPayment({ ...server.deps, payments: { ...payments, moneyBack } }, paid.intentId);
  assert.equal((await boughtBy(disputed))[3], '65.00');
});
