import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { atHubspot, deliver, editAtHubspot } from '../../../tests/harness/deliver.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { proveByCode } from '../../../tests/harness/joinCalls.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDueLinks } from '../joining/pass/sendLinks.ts';

/** Tests that strangers who type a person's email and name change nothing that the person notices. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const { sync } = hubspotPeople(server);
const {
  beginByCode,
  contactOf,
  invited,
  mail,
  nominated,
  paid,
  paidNomination,
  personOf,
  refund,
  run,
  statusAt,
} = identityOn(server);

const vic = (personalEmail: string) => ({ personalEmail, firstName: 'Vic', lastName: 'Tim' });
/** Returns the id of the person of a join. */
const idOf = async (uuid: string) => (await personOf(uuid)).id;
const invitedVic = (email: string) => invited(email, { firstname: 'Vic', lastname: 'Tim' });

/**
 * A stranger begins a join with an email, which creates a contact. Then staff edit the contact in HubSpot to be the email's
 * owner, and invite the owner.
 */
async function inContactOfStranger(email: string, code: string, begin: typeof nominated = nominated) {
  const stranger = await begin({ personalEmail: email, firstName: 'Eve', lastName: 'Stranger' });
  await deliver(server);
  const id = await contactOf(stranger.uuid);
  await editAtHubspot(server, id, { invitation_code: code, firstname: 'Vic', lastname: 'Tim' });
  await deps.contacts.refresh(id);
  return { stranger, id };
}

for (const [what, names, arePaid] of [
  ['open joins of many others', ['Ann', 'Ben', 'Cleo', 'Dan'], false],
  ['an open join in the same name', ['vic'], false],
  ['a paid join in the same name', ['Vic'], true],
] as const)
  test(`who asks for their link gets it, beside ${what} with their email`, async () => {
    const email = `links.${names.length}.${arePaid}@example.com`;
    const { code } = await invitedVic(email);
    const client = server.client();
    const uuid = await orderingJoin(client, code, vic(email));
    if (arePaid) await payOrder(server, client, uuid);
    for (const firstName of names) await (arePaid ? paidNomination : nominated)({ ...vic(email), firstName });
    await client.call('sendPassLinks', { body: { email } });
    await sendDueLinks(deps);
    const { rows } = await sql`
      select from letter where kind = 'link' and email = ${email} and session_uuid = ${uuid}`.execute(
      database,
    );
    assert.equal(rows.length, 1);
  });

for (const isPaid of [false, true])
  test(`who left a proven join is reminded of it, beside a newer ${isPaid ? 'paid' : 'open'} self-nomination with their email`, async (t) => {
    changeSociety(t, server, (source) => source.replace('minors: true', 'minors: false'));
    const email = `reminded.${isPaid}@example.com`;
    const { code } = await invitedVic(email);
    const uuid = await orderingJoin(server.client(), code, vic(email));
    await (isPaid ? paidNomination : nominated)({ personalEmail: email, firstName: 'Eve' });
    await sql`
      update join_session set updated_at = now() - interval '2 hours', created_at = created_at - interval '3 hours'
      where uuid = ${uuid}`.execute(database);
    await sql`
      update letter set next_try_at = now(), due_at = now() - interval '1 minute'
      where session_uuid = ${uuid} and kind = 'reminder-hour'`.execute(database);
    await mail();
    const { rows } = await sql`
      select from letter where session_uuid = ${uuid} and kind = 'reminder-hour' and sent_at is not null`.execute(
      database,
    );
    assert.equal(rows.length, 1);
  });

test('who is proven hears that a payment failed, beside a stranger who has paid in their name', async () => {
  const email = 'failed@example.com';
  const { code } = await invitedVic(email);
  const uuid = await orderingJoin(server.client(), code, vic(email));
  await paidNomination(vic(email));
  await sql`insert into letter (kind, session_uuid, occasion) values ('payment-failed', ${uuid}, 'pi_none')`.execute(
    database,
  );
  await mail();
  const { rows } = await sql`
    select from letter where session_uuid = ${uuid} and kind = 'payment-failed' and sent_at is not null`.execute(
    database,
  );
  assert.equal(rows.length, 1);
});

test('a stranger whose open join made a contact overwrites nothing of the owner who has joined with it', async () => {
  const email = 'owned@example.com';
  const { stranger, id } = await inContactOfStranger(email, 'OWNEDBYVIC');
  const client = server.client();
  const uuid = await startJoin(client, 'OWNEDBYVIC');
  assert.equal((await client.call('getContact', { params: { uuid } })).data.firstName, 'Vic');
  await paid({ ...vic(email), address1: '1 Own Street' }, 'OWNEDBYVIC');
  await deliver(server);
  const again = await stranger.client.call('submitDetails', {
    params: { uuid: stranger.uuid },
    body: details({ personalEmail: 'evil@example.com', firstName: 'Eve', address1: '7 Evil Street' }),
  });
  assert.equal(again.status, 200);
  await deliver(server);
  const there = await atHubspot(server, id, 'firstname', 'address', 'email', 'membership_status');
  assert.deepEqual(
    [there.firstname, there.address, there.email, there.membership_status],
    ['Vic', '1 Own Street', email, 'member'],
  );
});

test('a stranger whose open join made a contact is shown nothing that HubSpot or a correction says of its owner', async (t) => {
  const email = 'shown@example.com';
  const { stranger, id } = await inContactOfStranger(email, 'SHOWNTOVIC');
  const isSecretShown = async () => {
    const { status, body } = await stranger.client.call('getContact', { params: { uuid: stranger.uuid } });
    assert.equal(status, 200);
    return /secret/i.test(JSON.stringify(body));
  };
  await editAtHubspot(server, id, { school_name: 'Secret School' });
  await deps.contacts.refresh(id);
  assert.equal(await isSecretShown(), false);
  const { uuid } = await paid(vic(email), 'SHOWNTOVIC');
  await deliver(server);
  await run(t, 'person correct', uuid, '--email', 'secret@example.com', '--address', '7 Secret Street');
  assert.equal(await isSecretShown(), false);
});

test('a stranger whose paid join made a contact keeps its owner from nothing, and each has what they bought', async () => {
  const email = 'paid.first@example.com';
  const { stranger, id } = await inContactOfStranger(email, 'PAIDFIRSTVIC', paidNomination);
  const client = server.client();
  const body = { invitationCode: 'PAIDFIRSTVIC', isTOLA: true };
  assert.equal((await client.call('checkEligibility', { body })).data.status, 'success');
  const link = deps.links.sign({ kind: 'init', contactId: id, parameters: {} }, new Date(Date.now() + 1e8));
  const linked = await server.client().call('initJoin', { params: { id }, body: link });
  assert.equal(linked.status, 200);
  const uuid = await orderingJoin(client, 'PAIDFIRSTVIC', vic(email));
  await payOrder(server, client, uuid);
  assert.deepEqual(await heldBy(uuid, stranger.uuid), [true, true]);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'firstname')).firstname, 'Vic');
  assert.equal(await beginByCode(id, 'PAIDFIRSTVIC'), 409);
  const bought = (await stranger.client.call('getWelcome', { params: { uuid: stranger.uuid } })).data;
  assert.equal(bought.firstName, 'Eve');
  await refund(stranger.uuid);
  assert.equal(await statusAt(id), 'member');
  assert.deepEqual(await heldBy(uuid, stranger.uuid), [true, false]);
  await refund(uuid);
  assert.equal(await statusAt(id), 'former');
});

test('a checkout link sells a membership to the owner of a contact that a paid stranger made, and an upgrade of theirs to a member', async () => {
  const email = 'paid.checkout@example.com';
  const { stranger, id } = await inContactOfStranger(email, 'PAIDCHECKOUT', paidNomination);
  const checkout = (mainProductId: number) =>
    server.client().call('initiateCheckout', { body: { hubspotContactId: id, mainProductId } });
  assert.equal((await checkout(10)).status, 200);
  assert.deepEqual(await heldBy(stranger.uuid), [true]);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', {
    body: { hubspotContactId: id, mainProductId: 1 },
  });
  await payOrder(server, client, data.joinSessionUuid);
  assert.deepEqual(await heldBy(data.joinSessionUuid, stranger.uuid), [true, true]);
});

test('who has paid, proves to be the joiner and comes by a code that their contact got later is a member', async () => {
  const email = 'paid.proven@example.com';
  const { stranger, id } = await inContactOfStranger(email, 'PAIDPROVEN', paidNomination);
  assert.equal(await proveByCode(server, stranger.client, stranger.uuid), 200);
  assert.equal(await beginByCode(id, 'PAIDPROVEN'), 409);
});

test('a stranger’s payment that is under way does not hold up the owner of the contact that it made', async () => {
  const email = 'held.up@example.com';
  const { stranger } = await inContactOfStranger(email, 'HELDUPVIC');
  const client = server.client();
  const uuid = await orderingJoin(client, 'HELDUPVIC', vic(email));
  const [own, theirs] = [await openIntent(client, uuid), await openIntent(stranger.client, stranger.uuid)];
  assert.equal((await beginPayment(stranger.client, stranger.uuid, theirs.revision)).status, 200);
  assert.equal((await beginPayment(client, uuid, own.revision)).status, 200);
});

/** Returns, for each join, whether its membership is held by the join's person. */
async function heldBy(...uuids: string[]): Promise<boolean[]> {
  const { rows } = await sql<{ uuid: string }>`
    select uuid from join_session join membership on session_uuid = uuid and membership.person_id = join_session.person_id
    where is_held`.execute(database);
  return uuids.map((uuid) => rows.some((row) => row.uuid === uuid));
}

/**
 * Returns all answers and letters to the owner of an invite code, and the owner's data in HubSpot: while they join, while a
 * stranger pays with their name and email before them or after them, and while the two are refunded, the stranger first.
 */
async function courseOf(comes: 'before' | 'after' | 'never'): Promise<unknown[]> {
  const email = `course.${comes}.${crypto.randomUUID()}@example.com`;
  const { id, code } = await invitedVic(email);
  const seen: unknown[] = [];
  const see = (name: string, { status, body }: { status: number; body: unknown }) =>
    seen.push([name, status, body]);
  const atContact = async (when: string) => {
    await deliver(server);
    const { hs_object_id, lastmodifieddate, createdate, ...rest } = await atHubspot(
      server,
      id,
      ...['membership_status', 'membership_name', 'amount_paid', 'join_stage', 'store_items'],
      ...['firstname', 'address', 'email', 'personal_email'],
    );
    seen.push([when, rest]);
  };
  let stranger: Awaited<ReturnType<typeof paidNomination>> | undefined;
  const come = async () => {
    stranger = await paidNomination({ ...vic(email), address1: '7 Evil Street' });
    await deliver(server);
    await sync();
    await deps.contacts.refresh(id);
  };
  if (comes === 'before') await come();
  const client = server.client();
  const check = () => client.call('checkEligibility', { body: { invitationCode: code, isTOLA: true } });
  see('code', await check());
  const link = deps.links.sign(
    { kind: 'checkout', contactId: id, parameters: {} },
    new Date(Date.now() + 86_400_000),
  );
  const checkout = { hubspotContactId: id, ...link };
  see('checkout link', await server.client().call('initiateCheckout', { body: checkout }));
  see('link', await server.client().call('initJoin', { params: { id }, body: {} }));
  const params = { uuid: await startJoin(client, code) };
  see('contact', await client.call('getContact', { params }));
  see('details', await client.call('submitDetails', { params, body: details(vic(email)) }));
  see('membership', await client.call('setMembership', { params, body: { membershipId: 1 } }));
  const intent = await openIntent(client, params.uuid);
  see('payment', await beginPayment(client, params.uuid, intent.revision));
  await payByCard(server, intent.id);
  see('paid', await reportPayment(client, params.uuid, intent));
  await atContact('paid');
  see('upgrade', await client.call('getUpgradeDetails', { params }));
  see('welcome', await client.call('getWelcome', { params }));
  if (comes === 'after') await come();
  await atContact('beside');
  see('welcome beside', await client.call('getWelcome', { params }));
  if (stranger) await refund(stranger.uuid);
  await atContact('the stranger refunded');
  await sync();
  await atContact('synced');
  await mail();
  const { rows } = await sql`
    select kind, sent_at is not null as sent from letter where session_uuid = ${params.uuid} order by kind`.execute(
    database,
  );
  seen.push(rows);
  await refund(params.uuid);
  await atContact('refunded');
  await deps.contacts.refresh(id);
  see('code again', await check());
  const text = JSON.stringify(seen)
    .replaceAll(email, 'EMAIL')
    .replaceAll(code, 'CODE')
    .replaceAll(`"${id}"`, '"ID"')
    .replace(/[\da-f]{8}-[\da-f-]{27}/g, 'UUID')
    .replace(/\b[\dA-HJKMNP-TV-Z]{4}-[\dA-HJKMNP-TV-Z]{4}\b/g, 'NUMBER')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/pi_\w+/g, 'INTENT')
    .replace(/[\w-]{40,}/g, 'TOKEN');
  return JSON.parse(text);
}

test('who joins by a code notices nothing of a stranger who pays with their name and email before or after them', async () => {
  const alone = await courseOf('never');
  for (const comes of ['before', 'after'] as const) assert.deepEqual(await courseOf(comes), alone, comes);
});

test('a stranger who corrects the email that they paid with, while HubSpot is down, leaves its owner free to join', async () => {
  const email = 'corrected@example.com';
  const { id, code } = await invitedVic(email);
  const { client, uuid } = await paidNomination({ personalEmail: email, firstName: 'Vic' });
  await deliver(server);
  await server.hubspotFault({ kind: 'status', status: 503, times: 20 });
  const change = { params: { uuid }, body: { email: 'corrected.own@example.com' } };
  assert.equal((await client.call('correctEmail', change)).status, 200);
  await server.hubspotFault(null);
  await deliver(server);
  await sync();
  await deps.contacts.refresh(id);
  assert.equal(await beginByCode(id, code), 200);
});

test('a stranger who began before the contact was made, and typed all that its owner did, does not become the contact', async () => {
  const email = 'made.later@example.com';
  const stranger = await paidNomination(vic(email));
  await sql`update crm_delivery set refusal = 'not yet' where person_id = ${await idOf(stranger.uuid)}`.execute(
    database,
  );
  // Meanwhile staff create the contact in HubSpot, and invite the owner.
  const { id, code } = await invitedVic(email);
  const { uuid } = await paid(vic(email), code);
  const owner = await idOf(uuid);
  await deliver(server);
  // The code was imported, and the server died before it recorded what it had written into the contact.
  await sql`update person set fetched_at = null where id = ${owner}`.execute(database);
  await sql`
    update crm_delivery set refusal = null, due_at = now(), due_since = now(), sent = '{}'
    where person_id in (${owner}, ${await idOf(stranger.uuid)})`.execute(database);
  await deliver(server);
  const { rows } = await sql`
    select contact_id, found_contact_id, made_contact from person where id in (${owner}, ${await idOf(stranger.uuid)}) order by id`.execute(
    database,
  );
  assert.deepEqual(rows, [
    { contact_id: null, found_contact_id: id, made_contact: false },
    { contact_id: id, found_contact_id: null, made_contact: false },
  ]);
  assert.equal(await idOf(uuid), owner);
  assert.equal(await statusAt(id), 'member');
});
