import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathOf } from '#contract/calls.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import { differencesOf, failRefund, membershipOnly, standingsOf } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, openIntent, payByCard, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, membershipByLink, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';

/** The joins of these tests began without an invitation or link, and created a contact in HubSpot that counts as their own. */
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
  const linked = await membershipByLink(server, id);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal(await confirmPayment(server.deps, intent.id), 'succeeded');
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`as join ${linked.uuid}\\. If it is one`));
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
  await membershipByLink(server, id);
  await failRefund(server, intentId);
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

test('an upgrade that a link sold to a created contact goes along when staff link its join to another one', async (t) => {
  const { client, uuid, intentId, id } = await member('created.with.upgrade@example.com');
  const upgrade = await upgradeByLink(server, id);
  await deliver(server);
  const other = await newContact(server, 'created.with.upgrade.right@example.com');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, other])).code, 0);
  assert.deepEqual([await contactsOf(uuid), await contactsOf(upgrade.uuid)], [[other], [other]]);
  assert.equal((await charge(client, uuid, intentId)).status, 409);
  assert.deepEqual(await contactsOf(upgrade.uuid), [other]);
  await deliver(server);
  const told = ['membership_status', 'upgrade_name', 'amount_paid'];
  const [left, joined] = [await atHubspot(server, id, ...told), await atHubspot(server, other, ...told)];
  assert.deepEqual(
    told.map((name) => [left[name] || null, joined[name]]),
    [
      [null, 'member'],
      [null, 'Distinguished Member upgrade'],
      [null, '110.00'],
    ],
  );
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
