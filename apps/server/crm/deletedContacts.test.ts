import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { everything, membershipOnly } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  details,
  newMember,
  newOrder,
  openIntent,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { lookAtContacts } from './followContacts.ts';
import { LARGEST_PAGE } from './hubspot/client.ts';
import { pushDue } from './push.ts';
import { queueForHubspot } from './queuePersonsForHubspot.ts';
import { syncContacts } from './syncContacts.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { atCrm, person, sync, contactOf, ways } = hubspotPeople(server);
const profileOf = async (id: string) =>
  (
    await sql<{ profile: object }>`select profile from person where contact_id = ${id}`.execute(
      server.background,
    )
  ).rows[0]?.profile;
/** Buys a membership by a signed checkout link, and so without student details. `meanwhile` runs before the payment. */
async function boughtByLink(id: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<string> {
  const client = server.client();
  const started = await client.call('initiateCheckout', { body: checkoutLink(id) });
  assert.equal(started.status, 200);
  const uuid = started.data.joinSessionUuid;
  await meanwhile();
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  return uuid;
}
function checkoutLink(id: string) {
  const target = { kind: 'checkout', contactId: id, parameters: { mp: '1' } } as const;
  const signature = server.deps.links.sign(target, new Date(Date.now() + 86_400_000));
  return { hubspotContactId: id, mainProductId: 1, ...signature };
}

for (const [way, learn] of ways)
  test(`after ${way} nothing is known of a contact that was deleted in HubSpot, and its code opens an empty form`, async () => {
    await sync();
    const { id, code } = await person({ lastname: 'Lovelace', membership_status: 'member' });
    const client = server.client();
    assert.equal(
      (await client.call('checkEligibility', { body: { invitationCode: code } })).data.status,
      'failed',
      'a member, says HubSpot',
    );
    await atCrm('DELETE', `/${id}`);
    await learn(id);
    assert.deepEqual(await profileOf(id), {});
    const mirrored = server.deps.database.selectFrom('person').select('email').where('contact_id', '=', id);
    assert.deepEqual(await mirrored.execute(), [{ email: null }]);
    const uuid = await startJoin(client, code);
    const shown = (await client.call('getContact', { params: { uuid } })).data;
    assert.deepEqual([shown.firstName, shown.lastName, shown.email], [null, null, null]);
  });

test('members whose contact was deleted have one of their own, and staff see who can have none', async (t) => {
  const { id, code } = await person();
  const personalEmail = `${code.toLowerCase()}@members.example.com`;
  const byCode = await newMember(server, code, { personalEmail });
  const upgrade = await upgradeByLink(server, id);
  const bySchool = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: `school.${personalEmail}`,
  });
  const other = await person();
  const byLink = await boughtByLink(other.id);
  await deliver(server);
  const created = (await contactOf(bySchool.uuid)).own_contact!;
  for (const gone of [id, created, other.id]) await atCrm('DELETE', `/${gone}`);
  for (const gone of [id, created, other.id]) await server.deps.contacts.refresh(gone);
  await deliver(server);
  for (const [{ uuid }, amount] of [
    [byCode, '110.00'],
    [bySchool, '65.00'],
  ] as const) {
    const own = (await contactOf(uuid)).own_contact!;
    const told = await atHubspot(server, own, 'membership_status', 'amount_paid');
    assert.deepEqual([told.membership_status, told.amount_paid], ['member', amount]);
    assert.deepEqual(await noticesOf(server, uuid), []);
  }
  assert.deepEqual(await noticesOf(server, upgrade.uuid), [], 'it is of the new contact');
  const failed = await runCommand(t, server, 'contacts failed', []);
  assert.match(failed.out, new RegExp(`^${byLink} .*HubSpot has no contact of this join`, 'm'));
  assert.match(failed.out, /person merge JOIN CONTACT/);
});

test('a contact about which HubSpot has not answered does not count as deleted', async (t) => {
  await sync();
  const { id } = await person({ lastname: 'Unanswered' });
  await sync();
  const time = new Date().toISOString();
  const body = { results: [], startedAt: time, completedAt: time };
  const failure = { status: 'error', message: 'Internal error', category: 'INTERNAL_ERROR' };
  t.after(() => server.hubspotFault(null));
  for (const [status, answer] of [
    [207, { ...body, status: 'COMPLETE', numErrors: 1, errors: [{ ...failure, context: { ids: [id] } }] }],
    [200, { ...body, status: 'COMPLETE' }],
    [200, { ...body, status: 'CANCELED' }],
  ] as const) {
    await server.hubspotFault({
      kind: 'status',
      status,
      body: answer,
      path: '/crm/objects/*/contacts/batch/read',
    });
    const looked = await lookAtContacts({ ...server.deps, database: server.background }, [id]).then(
      () => true,
      () => false,
    );
    assert.equal(looked, answer.status === 'COMPLETE');
    await server.hubspotFault(null);
    assert.match(JSON.stringify(await profileOf(id)), /Unanswered/, answer.status);
  }
});

test('a sync learns of every deletion, however many there were', async () => {
  const people: { id: string; code: string }[] = [];
  while (people.length <= LARGEST_PAGE) people.push(await person());
  await sync();
  for (const { id } of people) await atCrm('DELETE', `/${id}`);
  await sync();
  const { rows } = await sql<{ left: number }>`
    select count(*)::int as left from person where contact_id = any(${people.map(({ id }) => id)}) and (profile <> '{}' or email is not null)`.execute(
    server.background,
  );
  assert.equal(rows[0]!.left, 0);
});

test('a sync learns in turn of contacts that were deleted for good, which HubSpot lists nowhere', async () => {
  const people: { id: string; code: string }[] = [];
  while (people.length <= LARGEST_PAGE) people.push(await person({ lastname: 'Lovelace' }));
  await sync();
  const gone = people.filter((_, index) => index === 0 || index === LARGEST_PAGE);
  const known = async () =>
    Promise.all(gone.map(async ({ id }) => JSON.stringify(await profileOf(id)).includes('Lovelace')));
  for (const { id: objectId } of gone) await atCrm('POST', '/gdpr-delete', { objectId });
  assert.deepEqual(await known(), [true, true]);
  const { n } = (await sql<{ n: number }>`select count(*)::int as n from person`.execute(server.background))
    .rows[0]!;
  const deps = { ...server.deps, database: server.background };
  for (let looked = 0; looked < n; looked += LARGEST_PAGE) await syncContacts(deps, { most: LARGEST_PAGE });
  assert.deepEqual(await known(), [false, false]);
  await atCrm('POST', '/gdpr-delete', { objectId: people[1]!.id });
  await sync();
  assert.deepEqual(await profileOf(people[1]!.id), {}, 'and begins anew at the end');
});

test('no link and no staff lead to a contact that was deleted', async (t) => {
  const { id } = await person();
  const { client, uuid } = await newOrder(server, 'LINCOLN2026');
  await payOrder(server, client, uuid);
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await atCrm('DELETE', `/${id}`);
  assert.equal((await server.client().call('initJoin', { params: { id }, body: {} })).status, 404);
  const { out } = await runCommand(t, server, 'person merge', [uuid, id]);
  assert.match(out, /knows no contact/);
});

test('a checkout link, which asks for no details, sells nothing to a contact that was deleted, though HubSpot is down', async () => {
  const { id } = await person();
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await atCrm('DELETE', `/${id}`);
  const press = () => server.client().call('initiateCheckout', { body: checkoutLink(id) });
  assert.equal((await press()).status, 404);
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const inOutage = await press();
  await server.hubspotFault(null);
  assert.equal(inOutage.status, 404);
});

for (const [when, learn] of [
  ['while they pay', (id: string) => server.deps.contacts.refresh(id)],
  ['before HubSpot is told', async () => 'nothing'],
] as const)
  test(`who has paid by a link, and whose contact is deleted ${when}, is told to staff, since nobody is left to be told to HubSpot`, async (t) => {
    const { id } = await person();
    const uuid = await boughtByLink(id, async () => {
      await atCrm('DELETE', `/${id}`);
      await learn(id);
    });
    await deliver(server);
    assert.match((await contactOf(uuid)).crm_refusal!, /has no contact of this join/);
    const failed = await runCommand(t, server, 'contacts failed', []);
    assert.match(failed.out, new RegExp(`${uuid}  contact ${id}  HubSpot has no contact`));
    await refundJoin(server.deps, uuid, membershipOnly);
    assert.equal((await runCommand(t, server, 'contacts retry', [uuid])).code, 0);
    await deliver(server);
    assert.deepEqual(
      { ...(await contactOf(uuid)), contact_id: null },
      { contact_id: null, own_contact: null, crm_refusal: null, due: false },
      'who holds nothing any more is nobody to be told',
    );
  });

test('who has paid by a link is a member in HubSpot once staff have restored the contact there and send the join again', async (t) => {
  const { id } = await person();
  const uuid = await boughtByLink(id);
  await sql`update person set deleted_at = now() where contact_id = ${id}`.execute(server.background);
  const deleted = { ...server.hubspot, readContacts: async () => new Map() };
  await pushDue({ ...server.deps, database: server.background, hubspot: deleted });
  assert.match((await contactOf(uuid)).crm_refusal!, /has no contact of this join/);
  const { out, code } = await runCommand(t, server, 'contacts retry', [uuid]);
  assert.deepEqual([code, out], [0, '1 will be sent again.\n']);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
});

test('a join whose contact staff have restored in HubSpot is that contact’s, and is linked to no other one', async (t) => {
  const [{ id }, other] = [await person(), await person()];
  const uuid = await boughtByLink(id);
  await deliver(server);
  // Simulates that the server knows that the contact was deleted in HubSpot, but not yet that it was restored there.
  await sql`update person set deleted_at = now(), profile = '{}' where contact_id = ${id}`.execute(
    server.background,
  );
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, other.id]);
  assert.deepEqual([code, /Both are contacts in HubSpot/.test(out)], [1, true], out);
  assert.equal((await contactOf(uuid)).contact_id, id);
});

test('a member whose contact staff have deleted in favour of another one with the same email is told with that one', async () => {
  const { id, code } = await person();
  const personalEmail = 'kept.one@example.com';
  const { uuid } = await newMember(server, code, { personalEmail });
  await deliver(server);
  await atCrm('DELETE', `/${id}`);
  const properties = { email: personalEmail, firstname: 'Jordan', membership_status: 'prospect' };
  const kept: string = (await atCrm('POST', '', { properties })).id;
  const status = async () => {
    await deliver(server);
    return (await atHubspot(server, kept, 'membership_status')).membership_status;
  };
  await queueForHubspot(server.background, uuid);
  assert.equal(await status(), 'member');
  assert.deepEqual(await noticesOf(server, uuid), []);
  assert.equal(
    (await server.client().call('checkEligibility', { body: { invitationCode: code } })).data.status,
    'failed',
    'their code is that of a member',
  );
  await refundJoin(server.deps, uuid, everything);
  assert.equal(await status(), 'former');
});

test('what somebody has bought by links to a contact that was deleted is all of the contact that staff link it to', async (t) => {
  const { id } = await person();
  const uuid = await boughtByLink(id);
  const upgrade = await upgradeByLink(server, id);
  await atCrm('DELETE', `/${id}`);
  await deliver(server);
  const { id: other } = await person();
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, other]);
  assert.equal(code, 0, out);
  await deliver(server);
  const told = await atHubspot(server, other, 'membership_status', 'upgrade_name', 'amount_paid');
  assert.deepEqual(
    [told.membership_status, told.upgrade_name, told.amount_paid],
    ['member', 'Distinguished Member upgrade', '110.00'],
  );
  for (const join of [uuid, upgrade.uuid]) {
    const { contact_id, crm_refusal } = await contactOf(join);
    const held = (await membershipsOf(server, join)).map((membership) => membership.contact_id);
    assert.deepEqual([contact_id, crm_refusal, held], [other, null, [other]]);
  }
});

test('a member whose invitation names a contact that HubSpot never had is linked to the one that they are', async (t) => {
  await sql`insert into person (contact_id, profile) values ('700700701', '{"firstName": "Jordan"}')`.execute(
    server.background,
  );
  await sql`insert into invitation (code, person_id) values ('MISTYPEDID', (select id from person where contact_id = '700700701'))`.execute(
    server.background,
  );
  const { uuid } = await newMember(server, 'MISTYPEDID', { personalEmail: 'mistyped.id@example.com' });
  const { id } = await person();
  const early = await runCommand(t, server, 'person merge', [uuid, id]);
  assert.match(early.out, /Both are contacts in HubSpot, 700700701 and/, 'HubSpot was not asked yet');
  await deliver(server);
  assert.match((await contactOf(uuid)).crm_refusal!, /does not know contact 700700701/);
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, id]);
  assert.equal(code, 0, out);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
});

test('of a contact that only an import has named, which HubSpot never had, what it told stays', async () => {
  const id = '700700700';
  await sql`insert into person (contact_id, profile) values (${id}, '{"firstName": "Ada"}')`.execute(
    server.background,
  );
  await server.deps.contacts.refresh(id);
  assert.deepEqual(await profileOf(id), { firstName: 'Ada' });
});

test('a join of a contact that was deleted gets a contact of its own, once, whose all is that was bought', async () => {
  const { id, code } = await person();
  const { client, uuid } = await newOrder(server, code, { personalEmail: 'was.deleted@example.com' });
  await payOrder(server, client, uuid);
  const upgrade = await upgradeByLink(server, id);
  await deliver(server);
  await atCrm('DELETE', `/${id}`);
  await queueForHubspot(server.background, uuid);
  await deliver(server);
  const held = await contactOf(uuid);
  assert.deepEqual([held.crm_refusal, held.due], [null, false]);
  const own = held.own_contact;
  assert.ok(own && own !== id, `${own}`);
  const now = await atHubspot(server, own, 'membership_status', 'city', 'amount_paid');
  assert.deepEqual([now.membership_status, now.amount_paid], ['member', '110.00']);
  assert.deepEqual(
    [...(await membershipsOf(server, uuid)), ...(await membershipsOf(server, upgrade.uuid))].map(
      (held) => held.contact_id,
    ),
    [own, own],
  );
  const bought = { hubspotContactId: own, mainProductId: 10 };
  assert.equal((await server.client().call('initiateCheckout', { body: bought })).status, 409);
  assert.equal(
    (await server.client().call('checkEligibility', { body: { invitationCode: code } })).data.status,
    'failed',
  );
  await queueForHubspot(server.background, uuid);
  await deliver(server);
  assert.equal((await contactOf(uuid)).own_contact, own);
});

test('a contact that a join created and somebody deleted is created again once their person has paid', async () => {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', { personalEmail: 'again@example.com' });
  await deliver(server);
  const first = (await contactOf(uuid)).own_contact!;
  await atCrm('DELETE', `/${first}`);
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'again@example.com', city: 'Waco' }),
  });
  await deliver(server);
  assert.equal(await server.hubspot.findByEmail('again@example.com'), null);
  assert.equal((await contactOf(uuid)).due, false);
  await payOrder(server, client, uuid);
  await deliver(server);
  const second = (await contactOf(uuid)).own_contact!;
  assert.notEqual(second, first);
  const told = await atHubspot(server, second, 'city', 'membership_status');
  assert.deepEqual([told.city, told.membership_status], ['Waco', 'member']);
});

test('nobody is created again whose membership has ended and whose contact was deleted', async () => {
  const { id, code } = await person();
  const invited = await paidJoin(server, server.client(), code, {
    personalEmail: `invited.${id}@former.example.com`,
  });
  const self = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: `self.${id}@former.example.com`,
  });
  await deliver(server);
  const created = (await contactOf(self.uuid)).own_contact!;
  for (const { uuid } of [invited, self]) await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  for (const gone of [id, created]) await atCrm('DELETE', `/${gone}`);
  for (const gone of [id, created]) await server.deps.contacts.refresh(gone);
  assert.equal(await deliver(server), 0);
});

test('a contact that was restored in HubSpot is shown again, and is told of what they buy', async () => {
  const { id, code } = await person();
  await server.deps.contacts.refresh(id);
  await sql`update person set deleted_at = now(), profile = '{}' where contact_id = ${id}`.execute(
    server.background,
  );
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  assert.match(JSON.stringify(await profileOf(id)), /Ada/);
  await newMember(server, code, { personalEmail: 'restored@example.com' });
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
});
