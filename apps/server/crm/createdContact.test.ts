import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf } from '#contract/calls.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { differencesOf, everything, membershipOnly, standingsOf } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, openIntent, payByCard, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { followPayment } from '../paying/refunds/followPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { tellHubspot } from './hubspotIsToHear.ts';

/** The joins of these tests began without an invitation or link and created a contact in HubSpot: their proven contact. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { database } = server.deps;

/** Starts a self-nomination and makes an order. */
async function selfNominated(personalEmail: string, { isTOLA = true, firstName = 'Jordan' } = {}) {
  const client = server.client();
  const body = { hasConfirmedEligibility: true, isTOLA } as const;
  const { uuid } = (await client.call('initiateSelfNomination', { body })).data;
  const params = { uuid };
  await client.call('submitDetails', { params, body: details({ personalEmail, firstName }) });
  await client.call('setMembership', { params, body: { membershipId: isTOLA ? 1 : 3 } });
  return { client, uuid };
}

/** Makes a self-nominated member. `id` in the result is the contact that the join created. */
async function member(personalEmail: string, given: { isTOLA?: boolean } = {}) {
  const { client, uuid } = await selfNominated(personalEmail, given);
  const { intentId } = await payOrder(server, client, uuid);
  return { client, uuid, intentId, id: await createdContact(uuid) };
}

async function createdContact(uuid: string): Promise<string> {
  await deliver(server);
  const { id, isOwn } = await database
    .selectFrom('join_session')
    .innerJoin('person', 'person.id', 'person_id')
    .select(['contact_id as id', 'made_contact as isOwn'])
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.equal(isOwn, true);
  return id!;
}

const contactsOf = async (uuid: string) =>
  (await membershipsOf(server, uuid)).map(({ contact_id }) => contact_id);
const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

/** Opens a signed checkout link to a contact, which works even while HubSpot is down. */
function followLink(contactId: string, client = server.client()) {
  const { exp, sig } = server.deps.links.sign(
    { kind: 'checkout', contactId, parameters: {} },
    new Date(Date.now() + 1e8),
  );
  return client.call('initiateCheckout', { body: { hubspotContactId: contactId, exp, sig } });
}

test('the membership of a self-nomination whose joiner is proven is not sold again by a link to the contact that it created, though HubSpot is down', async () => {
  const { client, uuid, id } = await member('created.down@example.com');
  assert.equal(await proveByCode(server, client, uuid), 200);
  await server.hubspotFault({ kind: 'status', status: 503 });
  try {
    assert.equal((await followLink(id)).status, 409);
  } finally {
    await server.hubspotFault(null);
  }
});

test('an upgrade that was bought in the join is not sold again by a link to the contact that it created', async () => {
  const { client, uuid, intentId, id } = await member('created.upgraded@example.com');
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  assert.deepEqual(await contactsOf(uuid), [id, id], 'also what was bought when the contact was there');
  const body = { hubspotContactId: id, mainProductId: 10 };
  assert.equal((await server.client().call('initiateCheckout', { body })).status, 409);
});

test('a join whose created contact has joined by a link meanwhile is of a person of its own, and its payment is told to staff', async () => {
  const { client, uuid } = await selfNominated('created.meanwhile@example.com');
  const id = await createdContact(uuid);
  const intent = await openIntent(client, uuid);
  const browser = server.client();
  const linked = (await browser.call('initiateCheckout', { body: { hubspotContactId: id } })).data;
  const by = await openIntent(browser, linked.joinSessionUuid);
  await payByCard(server, by.id);
  assert.equal(await confirmPayment(server.deps, by.id), 'succeeded');
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  assert.match(
    (await noticesOf(server, uuid)).join(),
    new RegExp(`as join ${linked.joinSessionUuid}\\. If it is one`),
  );
});

test('a sibling with the same email who paid first keeps nobody from paying whose join created the contact, nor ends them', async () => {
  const email = 'created.siblings@example.com';
  const alex = await selfNominated(email, { firstName: 'Alex' });
  const id = await createdContact(alex.uuid);
  const sam = await selfNominated(email, { firstName: 'Sam' });
  await payOrder(server, sam.client, sam.uuid);
  await deliver(server);
  await server.deps.contacts.refresh(id);
  await payOrder(server, alex.client, alex.uuid);
  await deliver(server);
  await refundJoin(server.deps, sam.uuid, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
  const [beside] = await contactsOf(sam.uuid);
  assert.deepEqual([await contactsOf(alex.uuid), await statusOf(beside!)], [[id], 'former']);
});

test('the final rejection of a self-nomination gives back the upgrade that a link sold to the contact that it created', async (t) => {
  const { client, uuid, id } = await member('created.rejected@example.com', { isTOLA: false });
  const upgrade = await upgradeByLink(server, id, { productId: 11 });
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  const args = [upgrade.uuid, '--reason', 'below-requirement', '--final'];
  assert.equal((await runCommand(t, server, 'documents reject', args)).code, 0);
  for (const each of [uuid, upgrade.uuid])
    assert.deepEqual(
      (await standingsOf(server, each)).map(({ standing }) => standing),
      ['refunded'],
    );
});

test('when a self-nomination is refunded, staff are told of the upgrade that a link sold, and nothing of it is to be sent', async (t) => {
  const { uuid, id } = await member('created.refunded@example.com');
  const upgrade = await upgradeByLink(server, id);
  await refundJoin(server.deps, uuid, membershipOnly);
  assert.match((await noticesOf(server, upgrade.uuid)).join(), /upgrade is still paid and held/);
  assert.equal((await differencesOf(server, upgrade.uuid)).length, 1);
  const { out } = await runCommand(t, server, 'orders list', ['--all']);
  assert.match(out.slice(out.indexOf(upgrade.uuid)), /held: the membership that it upgrades has ended/);
});

test('staff are told when the refund of a self-nomination fails after its contact has joined anew', async () => {
  const { client, uuid, intentId, id } = await member('created.anew@example.com');
  assert.equal(await proveByCode(server, client, uuid), 200);
  await refundJoin(server.deps, uuid, membershipOnly);
  await deliver(server);
  const browser = server.client();
  const linked = (await browser.call('initiateCheckout', { body: { hubspotContactId: id } })).data;
  const intent = await openIntent(browser, linked.joinSessionUuid);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${intentId}`);
  const [refund] = (body as unknown as { data: { id: string }[] }).data;
  await server.stripeControl(`refunds/${refund!.id}/settle`, { status: 'failed' });
  await followPayment(server.deps, intentId);
  assert.match((await noticesOf(server, uuid)).join(), /has joined anew meanwhile/);
});

test('an upgrade that a link sold to a created contact has the certificate of the self-nomination', async () => {
  const { id } = await member('created.certified@example.com');
  const { client, uuid, intentId } = await upgradeByLink(server, id);
  const body = { paymentIntent: intentId, paymentIntentClientSecret: '', redirectStatus: 'succeeded' };
  await client.call('postPayment', { params: { uuid }, body });
  await proveByCode(server, client, uuid);
  assert.equal((await client.fetch(`/api/public/join-session/${uuid}/certificate.pdf`)).status, 200);
});

test('of two merged contacts of which a self-nomination created one, HubSpot says member while either membership is held', async () => {
  const email = 'created.twin@example.com';
  const present = await newContact(server, 'invited.twin@example.com');
  const browser = server.client();
  const linked = (await browser.call('initiateCheckout', { body: { hubspotContactId: present } })).data;
  const intent = await openIntent(browser, linked.joinSessionUuid);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  const self = await member(email);
  const merge = { primaryObjectId: present, objectIdToMerge: self.id };
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', merge);
  await server.deps.contacts.refresh(self.id);
  assert.match((await noticesOf(server, self.uuid)).join(), /both hold a membership/);
  await deliver(server);
  await refundJoin(server.deps, linked.joinSessionUuid, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
  assert.deepEqual(await contactsOf(self.uuid), [id]);
});

test('staff link a self-nomination to the contact that it created, or to another one, whose its membership then is', async (t) => {
  const own = await member('created.linked@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [own.uuid, own.id])).code, 0);
  const moved = await member('created.moved@example.com');
  const other = await newContact(server, 'created.right@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [moved.uuid, other])).code, 0);
  assert.deepEqual([await contactsOf(own.uuid), await contactsOf(moved.uuid)], [[own.id], [other]]);
});

test('a created contact that was deleted leads nowhere, and the one that is made instead holds the membership and its upgrade by link', async () => {
  const { uuid, id } = await member('created.deleted@example.com');
  const upgrade = await upgradeByLink(server, id);
  await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
  assert.equal(
    (await server.client().call('initiateCheckout', { body: { hubspotContactId: id } })).status,
    404,
  );
  await tellHubspot(database, uuid);
  await deliver(server);
  const anew = await createdContact(uuid);
  assert.notEqual(anew, id);
  assert.deepEqual([await contactsOf(uuid), await contactsOf(upgrade.uuid)], [[anew], [anew]]);
});

test('an upgrade that a link sold to a created contact goes along when staff link its join to another one', async (t) => {
  const { client, uuid, intentId, id } = await member('created.with.upgrade@example.com');
  const upgrade = await upgradeByLink(server, id);
  await deliver(server);
  const other = await newContact(server, 'created.with.upgrade.right@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, other])).code, 0);
  assert.deepEqual([await contactsOf(uuid), await contactsOf(upgrade.uuid)], [[other], [other]]);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.deepEqual(await contactsOf(upgrade.uuid), [other]);
});

test('staff who join two persons that hold the same are told how to give one back', async (t) => {
  const { uuid, id } = await member('created.both@example.com');
  const upgrade = await upgradeByLink(server, id);
  const other = await member('created.both.right@example.com');
  await upgradeByLink(server, other.id);
  await refundJoin(server.deps, other.uuid, membershipOnly);
  await deliver(server);
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, other.id]);
  assert.equal(code, 0);
  assert.match(
    out,
    new RegExp(`Both hold one, .*: npm run operator -- refund ${upgrade.uuid} --no-membership --upgrade`),
  );
  assert.deepEqual(await contactsOf(uuid), [other.id]);
});

test('an email that its joiner corrects is corrected in the contact that the join created; if HubSpot knows another by it, staff are told', async (t) => {
  for (const isTaken of [false, true]) {
    const [slip, right] = [`slip.${isTaken}@example.com`, `corrected.${isTaken}@example.com`];
    const { client, uuid } = await selfNominated(slip);
    const id = await createdContact(uuid);
    const other = isTaken ? await newContact(server, right) : null;
    await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
    assert.match(
      (await runCommand(t, server, 'contacts diff', [uuid])).out,
      new RegExp(`\n  email: ${slip} → ${right}\n`),
    );
    await payOrder(server, client, uuid);
    assert.equal(await createdContact(uuid), id);
    const now = await atHubspot(server, id, 'email', 'personal_email', 'membership_status');
    assert.deepEqual(
      [now.email, now.personal_email, now.membership_status],
      [isTaken ? slip : right, right, 'member'],
    );
    assert.deepEqual(
      await noticesOf(server, uuid),
      isTaken
        ? [
            `The email of join ${uuid} was corrected, and HubSpot knows contact ${other} by it. All else of the join is in contact ${id}: if it is one person, merge the two in HubSpot.`,
          ]
        : [],
    );
  }
});
