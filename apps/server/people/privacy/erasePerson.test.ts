import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { deliver, editAtHubspot, newContact } from '../../../../tests/harness/deliver.ts';
import { control } from '../../../../tests/harness/providers.ts';
import { erasedRows, staffNotices, writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payOrder,
} from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { postPdf } from '../../../../tests/harness/uploads.ts';
import { attachDue } from '../../documents/attachDocuments.ts';
import { sendDueLinks } from '../../joining/pass/sendLinks.ts';
import { sendDue } from '../../letters/sendLetters.ts';
import { cancelIntent } from '../../paying/cancelIntent.ts';
import { findPerson } from './findPerson.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

const erase = (t: TestContext, ...args: string[]) => runCommand(t, server, 'person erase', args);

test('an erased join that was not paid is gone as a row, and its intent can be paid no more', async (t) => {
  const client = server.client();
  const email = 'left@example.com';
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const intent = await openIntent(client, uuid);
  assert.equal((await erase(t, email, '--yes')).code, 0);
  assert.deepEqual(await erasedRows(server, uuid), []);
  assert.equal((await deps.payments.retrieveIntent(intent.id)).status, 'canceled');
  const unknown = await client.call('getCheckoutDetails', { params: { uuid } });
  assert.equal(unknown.status, 404);
});

test('nothing is erased of a person while money is under way, and all once it is not, though a dispute was lost', async (t) => {
  const client = server.client();
  const email = 'paying@example.com';
  const other = await orderingJoin(server.client(), undefined, { personalEmail: email });
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const intent = await openIntent(client, uuid);
  await beginPayment(client, uuid, intent.revision);
  const refusedWith = async (sentence: string) => {
    const { code, out } = await erase(t, email, '--yes');
    assert.deepEqual([code, out], [1, `Join ${uuid} is not erased: ${sentence}.\n`]);
    assert.equal((await erasedRows(server, other)).length, 1, 'nor any other join of theirs');
  };
  await refusedWith('it is being paid at this moment');
  await sql`update join_session set state = 'ordering', paying_since = null where uuid = ${uuid}`.execute(
    deps.database,
  );
  const { intentId } = await payOrder(server, client, uuid);
  await sql`insert into refund (intent_id, amount_cents, reason, status) values (${intentId}, 500, 'requested', 'due')`.execute(
    deps.database,
  );
  await refusedWith('a refund of it is not made yet');
  await sql`update refund set status = 'pending' where intent_id = ${intentId}`.execute(deps.database);
  await refusedWith('a refund of it is not made yet');
  await sql`update refund set status = 'succeeded' where intent_id = ${intentId}`.execute(deps.database);
  await sql`update join_session set intent_changing_since = now() - interval '4 minutes' where uuid = ${uuid}`.execute(
    deps.database,
  );
  await refusedWith('it is being paid at this moment');
  await sql`update join_session set intent_changing_since = now() - interval '6 minutes' where uuid = ${uuid}`.execute(
    deps.database,
  );
  await sql`update payment set dispute = 'open' where intent_id = ${intentId}`.execute(deps.database);
  await refusedWith('a payment of it is disputed');
  await sql`update payment set dispute = 'lost' where intent_id = ${intentId}`.execute(deps.database);
  await sql`insert into event_retry (id, event, next_try_at) values ('evt_x', ${JSON.stringify({ intentId })}, now())`.execute(
    deps.database,
  );
  await refusedWith('an event of Stripe about it was not acted on yet');
  await sql`delete from event_retry`.execute(deps.database);
  const { code, out } = await erase(t, email, '--yes');
  assert.equal(code, 0, out);
  assert.match(out, /Stays: \d+ rows of payments/);
});

test('money stays without its person, though it bought nothing, went back, or was none after all', async (t) => {
  const client = server.client();
  const email = 'nothing.bought@example.com';
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const { id } = await openIntent(client, uuid);
  const money = async () =>
    (
      await sql<{ tables: string[] }>`
        select array(select 'payment' from payment where session_uuid = ${uuid}
          union all select 'refund' from refund join payment using (intent_id) where session_uuid = ${uuid}
          union all select 'membership' from membership where session_uuid = ${uuid}) as tables`.execute(
        deps.database,
      )
    ).rows[0]!.tables;
  // Brings the join, one after the other, into three cases in which its row must be kept: a duplicate payment; a refund of a
  // payment that no longer counts as paid; a void membership.
  const statements = [
    sql`update payment set status = 'duplicate' where intent_id = ${id}`,
    sql`with gone as (update payment set status = 'canceled' where intent_id = ${id})
      insert into refund (intent_id, amount_cents, reason, status) values (${id}, 6500, 'requested', 'succeeded')`,
    sql`with gone as (delete from refund where intent_id = ${id})
      insert into membership (session_uuid, product_id, type, payment_intent, standing) values (${uuid}, 1, 'membership', ${id}, 'void')`,
  ];
  const stayed: string[][] = [];
  for (const statement of statements) {
    await statement.execute(deps.database);
    await sql`with own as (insert into person (profile) values ('{}') returning id)
      update join_session set erased_at = null, person_id = own.id from own where uuid = ${uuid}`.execute(
      deps.database,
    );
    await sql`update payment set receipt_email = ${email} where session_uuid = ${uuid}`.execute(
      deps.database,
    );
    const { code, out } = await erase(t, email, '--yes');
    assert.equal(code, 0, out);
    assert.ok((await erasedRows(server, uuid))[0]!.erased_at);
    stayed.push(await money());
  }
  assert.deepEqual(stayed, [['payment'], ['payment', 'refund'], ['payment', 'membership']]);
});

test('what began with a join since its erasure was prepared keeps it', async (t) => {
  const client = server.client();
  const email = 'meanwhile@example.com';
  const uuid = await orderingJoin(client, undefined, { personalEmail: email });
  const { writeNotes } = deps.payments;
  await openIntent(client, uuid);
  const forgets = t.mock.method(
    deps.payments,
    'writeNotes',
    async (...given: Parameters<typeof writeNotes>) => {
      forgets.mock.restore();
      await writeNotes.apply(deps.payments, given);
      await openIntent(client, uuid);
    },
  );
  const { code, out } = await erase(t, email, '--yes');
  assert.deepEqual(
    [code, out.includes(`Join ${uuid} is not erased: a payment of it is open.`)],
    [1, true],
    out,
  );
  const { rows } = await sql<{ status: string }>`
    select status from payment where session_uuid = ${uuid} order by attempt`.execute(deps.database);
  assert.deepEqual(
    rows.map(({ status }) => status),
    ['canceled', 'open'],
  );
});

test('a join that a person began by a code of theirs is theirs, whatever email was given in it', async (t) => {
  const id = await newContact(server, 'by.code@example.com');
  await deps.contacts.refresh(id);
  const uuid = await orderingJoin(server.client(), undefined, { personalEmail: 'given@example.com' });
  await sql`update join_session set person_id = (select id from person where contact_id = ${id}) where uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.equal((await erase(t, 'by.code@example.com', '--yes')).code, 0);
  assert.deepEqual(await erasedRows(server, uuid), []);
});

test('a contact of another email stays when a join names it, and is told', async (t) => {
  const email = 'guardian@example.com';
  const uuid = await orderingJoin(server.client(), 'HONOR101', { personalEmail: email });
  const { out } = await erase(t, email, '--yes');
  assert.match(out, /stays: contact 101, which a join names/);
  assert.deepEqual(await erasedRows(server, uuid), []);
  const { rows } = await sql<{ email: string }>`select email from person where contact_id = '101'`.execute(
    deps.database,
  );
  assert.ok(rows[0]!.email.length > 0);
});

test('a contact that HubSpot knows by the email is theirs, though the mirror has not heard of it', async (t) => {
  const email = 'typed.by.the.invited@example.com';
  const { uuid } = await paidJoin(server, server.client(), 'HONOR104', { personalEmail: email });
  await deliver(server);
  const mirrored = () =>
    sql<{ profile: object }>`select profile from person where contact_id = '104'`
      .execute(deps.database)
      .then(({ rows }) => JSON.stringify(rows[0]!.profile));
  assert.ok(!(await mirrored()).includes(email));

  await server.hubspotFault({ kind: 'status', status: 503, times: 100 });
  const away = await erase(t, email, '--dry-run');
  await server.hubspotFault(null);
  assert.match(
    away.out,
    /stays: contact 104.*\nHubSpot could not be asked whether it knows contact 104 by this email/,
  );

  const { code, out } = await erase(t, email, '--yes', '--hubspot');
  assert.equal(code, 0, out);
  assert.match(out, /^contact 104, at HubSpot too$/m);
  assert.doesNotMatch(out, /Stays: contact 104/);
  assert.equal(await server.hubspot.getContact('104', 5_000), null);
  assert.ok((await erasedRows(server, uuid))[0]!.erased_at);
});

test('when HubSpot does not let us, nothing is erased and a sentence says what to do', async (t) => {
  const email = 'refused@example.com';
  const uuid = await orderingJoin(server.client(), undefined, { personalEmail: email });
  const id = await newContact(server, email);
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: ['crm.objects.contacts.read', 'files'] });
  t.after(() =>
    control(server.hubspotUrl, 'POST', 'scopes', {
      scopes: ['crm.objects.contacts.read', 'crm.objects.contacts.write', 'files'],
    }),
  );
  const { code, out } = await erase(t, email, '--yes', '--hubspot');
  assert.equal(code, 1);
  assert.ok(await server.hubspot.getContact(id, 5_000));
  assert.match(out, /HubSpot does not let this token delete .* Nothing was erased here/);
  assert.equal((await erasedRows(server, uuid)).length, 1);
});

/** Makes a paid join whose contact in HubSpot has an accepted transcript attached. */
async function attached(email: string): Promise<{ uuid: string; contact: string; file: string }> {
  const client = server.client();
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: email });
  await postPdf(client, `/api/public/join-session/${uuid}/upload-transcript`);
  await sql`update document set review = 'accepted', reviewed_at = now() where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  await deliver(server);
  await attachDue(deps, server.hubspot);
  const { rows } = await sql<{ contact: string; file: string }>`
    select contact_id as contact, crm_file_id as file
    from document join join_session on session_uuid = join_session.uuid join person on person.id = join_session.person_id where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  return { uuid, ...rows[0]! };
}
const filesThere = async () =>
  (await control<{ files: { id: string }[] }>(server.hubspotUrl, 'GET', 'attachments')).files.map(
    ({ id }) => id,
  );

test('whom HubSpot was not told of is erased there when it is asked for later, by ids alone', async (t) => {
  const email = 'later@example.com';
  const { contact, file } = await attached(email);
  const first = await erase(t, email, '--yes');
  assert.match(first.out, /Stays: the ids of 1 contact and 1 file at HubSpot, until the same command/);
  // The contact's email was changed in HubSpot, so the contact is found only by its stored id.
  await editAtHubspot(server, contact, { email: 'changed@example.com' });
  const told = await erase(t, email, '--yes');
  assert.match(
    told.out,
    /^Erased already, .* Nothing is left of them here\.\nHubSpot may still have 1 contact and 1 file of theirs/,
  );
  assert.deepEqual([told.code, (await filesThere()).includes(file)], [0, true]);
  const { code, out } = await erase(t, email, '--yes', '--hubspot');
  assert.match(out, /At HubSpot: 1 contact and 1 file\./);
  assert.equal(code, 0);
  assert.equal(await server.hubspot.getContact(contact, 5_000), null);
  assert.ok(!(await filesThere()).includes(file));
  assert.doesNotMatch((await erase(t, email, '--yes')).out, /HubSpot may still/);
});

test('a notice about somebody whose email and name contain those of the erased stays, and is not exported', async (t) => {
  const notices = ['Ann Lee <ann@example.com> paid twice.', 'Joann Leeds <joann@example.com.au> paid twice.'];
  const written = () => staffNotices(server, { kind: 'provider_trouble' });
  for (const notice of notices) await writeNotice(server, notice);
  const person = { firstName: 'Ann', lastName: 'Lee', personalEmail: 'ann@example.com' };
  await orderingJoin(server.client(), undefined, person);
  const to = temporaryFolder(t);
  await runCommand(t, server, 'person export', [person.personalEmail, '--to', to]);
  assert.doesNotMatch(readFileSync(join(to, 'data.json'), 'utf8'), /Leeds/);
  assert.equal((await erase(t, person.personalEmail, '--yes')).code, 0);
  assert.deepEqual(
    (await written()).filter((text) => notices.includes(text)),
    [notices[1]],
  );
});

test('what is no email, and options that contradict each other, are not understood', async (t) => {
  for (const args of [
    [],
    ['nobody'],
    ['a@example.com', '--yes', '--dry-run'],
    ['a@example.com', 'b@example.com'],
  ])
    assert.equal((await erase(t, ...args)).code, 2, args.join(' '));
  assert.deepEqual(await erase(t, 'never.seen@example.com', '--yes'), {
    code: 1,
    out: 'Induct has nothing of this email.\n',
  });
});

test('a contact that a join only shared an email with stays when the join is erased by its corrected one', async (t) => {
  const [shared, own] = ['shared.before@example.com', 'corrected.since@example.com'];
  const id = await newContact(server, shared);
  await deps.contacts.refresh(id);
  const client = server.client();
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: shared });
  await deliver(server);
  const { rows } = await sql<{ id: string }>`
    with corrected as (
      update join_session set details = jsonb_set(details, '{personalEmail}', to_jsonb(${own}::text)) where uuid = ${uuid} returning person_id, details)
    update person set details = corrected.details from corrected where person.id = person_id returning found_contact_id as id`.execute(
    deps.database,
  );
  assert.equal(rows[0]!.id, id);
  assert.deepEqual((await findPerson(deps, own)).contacts, []);
  assert.equal((await erase(t, own, '--yes')).code, 0);
  assert.deepEqual((await findPerson(deps, shared)).contacts, [id]);
});

test('contacts with another email that the joins of an email name are told as staying: they alone, in their order', async () => {
  const email = 'of.several.contacts@example.com';
  const beginBy = async (id: string | null, personalEmail: string) => {
    const client = server.client();
    const { uuid } = id
      ? (await client.call('initJoin', { params: { id }, body: {} })).data
      : (await client.call('initiateSchoolJoin', { body: { invitationCode: 'LINCOLN2026' } })).data;
    assert.equal(
      (await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) })).status,
      200,
    );
    return uuid;
  };
  const other = 'of.another@example.com';
  const [mine, theirs] = [await newContact(server, email), await newContact(server, other)];
  const first = await newContact(server, 'first.named@example.com');
  const second = await newContact(server, 'second.named@example.com');
  const joins = [
    await beginBy(second, email),
    await beginBy(first, email),
    await beginBy(mine, email),
    await beginBy(null, email),
  ];
  await beginBy(theirs, other);
  const found = await findPerson(deps, email);
  assert.deepEqual(found.joins, joins.toSorted());
  assert.deepEqual([found.contacts, found.others], [[mine], [first, second]]);
});

test('who owns an email that somebody mistyped, and corrected, is given and ends nothing of that person', async (t) => {
  const [slip, right] = ['jordan.riviera@example.com', 'jordan.rivera.own@example.com'];
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, { personalEmail: 'Jordan.Riviera@Example.com' });
  const { id } = await openIntent(client, uuid);
  assert.ok(await cancelIntent(deps, id));
  await client.call('sendPassLinks', { body: { email: slip } });
  await sendDueLinks(deps);
  while (await sendDue(deps, deps.config.mail!));
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  await payOrder(server, client, uuid);

  const to = temporaryFolder(t);
  const { code, out } = await runCommand(t, server, 'person export', [slip, '--to', to]);
  assert.deepEqual([code, /Not in it: joins that have another email/.test(out)], [0, true]);
  const data = readFileSync(join(to, 'data.json'), 'utf8');
  for (const other of ['12 Oak Street', right, uuid, '4242']) assert.ok(!data.includes(other), other);
  assert.ok(data.includes('"Other letters to this email"'));

  const erased = await erase(t, slip, '--yes');
  assert.equal(erased.code, 0, erased.out);
  assert.match(erased.out, /Gone: the email itself, in .* of joins that have another one/);
  assert.equal((await client.call('getWelcome', { params: { uuid } })).data.firstName, 'Jordan');
  const { rows } = await sql`
    select from letter where lower(email) = ${slip}
    union all select from payment where lower(receipt_email) = ${slip}`.execute(deps.database);
  assert.equal(rows.length, 0);
  assert.match((await erase(t, slip)).out, /Nothing is left of them here/);
});

test('a letter that waits for an erased email goes to nobody, though its join has another email', async (t) => {
  const [slip, right] = ['robin.lea@example.com', 'robin.lee.own@example.com'];
  const client = server.client();
  const uuid = await orderingJoin(client, undefined, { personalEmail: slip });
  await client.call('sendPassLinks', { body: { email: slip } });
  await sendDueLinks(deps);
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  assert.equal((await erase(t, slip, '--yes')).code, 0);
  while (await sendDue(deps, deps.config.mail!));
  assert.deepEqual(
    (await server.letters()).filter(({ to }) => [slip, right].some((email) => to.includes(email))),
    [],
  );
});

test('the join of a payment that bought nothing is of the email that paid, though its joiner has given another one since', async () => {
  const client = server.client();
  const [paid, given] = ['paid.for.nothing@example.com', 'given.since@example.com'];
  const uuid = await orderingJoin(client, undefined, { personalEmail: paid });
  const { id } = await openIntent(client, uuid);
  await sql`update payment set status = 'duplicate' where intent_id = ${id}`.execute(deps.database);
  const body = details({ personalEmail: given });
  assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
  for (const email of [paid, given]) assert.deepEqual((await findPerson(deps, email)).joins, [uuid], email);
});

test('who corrected a mistyped email stays in HubSpot when its owner is erased there, with what a link has sold them', async (t) => {
  const [slip, right] = ['jordan.slip@example.com', 'jordan.corrected@example.com'];
  const client = server.client();
  const { uuid } = (
    await client.call('initiateSelfNomination', { body: { hasConfirmedEligibility: true, isTOLA: true } })
  ).data;
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: slip }) });
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(slip))!;
  await deps.contacts.refresh(id);
  await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail: right }) });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  await payOrder(server, client, uuid);
  // HubSpot and the mirror still have the mistyped email, though the joiner has corrected it.
  assert.equal((await server.hubspot.findByEmail(slip))?.id, id);
  const { joins, contacts } = await findPerson(deps, slip);
  assert.deepEqual([joins, contacts], [[], []]);
  assert.equal((await erase(t, slip, '--hubspot', '--yes')).code, 0);
  assert.equal((await server.hubspot.findByEmail(slip))?.id, id, 'not erased there');
  await deliver(server);
  const upgrade = await upgradeByLink(server, id);
  assert.deepEqual((await findPerson(deps, slip)).joins, []);
  assert.deepEqual((await findPerson(deps, right)).joins.toSorted(), [uuid, upgrade.uuid].toSorted());
  assert.equal((await server.hubspot.findByEmail(right))?.id, id);
});
