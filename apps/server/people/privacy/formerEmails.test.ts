import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../../tests/harness/changeSociety.ts';
import { deliver, newContact } from '../../../../tests/harness/deliver.ts';
import { dump } from '../../../../tests/harness/dump.ts';
import { identityOn } from '../../../../tests/harness/identity.ts';
import { placesIn } from '../../../../tests/harness/placesIn.ts';
import { askHubspot } from '../../../../tests/harness/providers.ts';
import { all, retentionOn } from '../../../../tests/harness/retention.ts';
import { staffNotices, writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';

/** Tests erasure, export and retention of persons who had other emails before, shared one, or were merged and separated again. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const { age, forgetAll, rowOf } = retentionOn(server);
const { invited, lettersTo, mail, paid, personOf, run } = identityOn(server);

const erase = (t: TestContext, email: string) => run(t, 'person erase', email, '--yes');
const isErased = async (uuid: string) => (await rowOf(uuid))?.erased_at !== null;

async function exported(t: TestContext, email: string): Promise<string> {
  const to = join(temporaryFolder(t), 'export');
  await run(t, 'person export', email, '--to', to);
  return readFileSync(join(to, 'data.json'), 'utf8');
}

test('the removal of a join that was left behind undoes no correction of the paid one', async (t) => {
  const typed = { personalEmail: 'left.typo@example.com', firstName: 'Sma' };
  const left = await orderingJoin(server.client(), 'HONOR101', typed);
  const { uuid } = await paid(typed, 'HONOR101');
  await run(t, 'person correct', uuid, '--email', 'left.right@example.com', '--first-name', 'Sam');
  await deliver(server);
  await mail();
  changeSociety(t, server, all);
  await age(left, 11);
  assert.equal((await forgetAll()).abandoned, 1);
  const { details } = await personOf(uuid);
  assert.deepEqual([details?.personalEmail, details?.firstName], ['left.right@example.com', 'Sam']);
});

test('of who was corrected by staff and by themselves, and merged, nothing is left, nor after a restore of before', async (t) => {
  const person = {
    personalEmail: 'quillfirst@example.com',
    firstName: 'Quillana',
    lastName: 'Quillo',
    schoolEmail: 'quillschool@example.org',
    address1: '1 Quill Street',
  };
  const first = await paid(person);
  const second = await paid({ ...person, lastName: "Quill'o" });
  const third = await paid({ ...person, personalEmail: 'quillother@example.com' });
  await mail();
  await deliver(server);
  const restore = await dump(server);
  const change = ['--email', 'quillsecond@example.com', '--last-name', 'Quillnew'];
  await run(t, 'person correct', first.uuid, ...change, '--resend');
  await deliver(server);
  const body = { email: 'quillthird@example.com' };
  const { status } = await first.client.call('correctEmail', { params: { uuid: first.uuid }, body });
  assert.equal(status, 200);
  await mail();
  for (const { uuid } of [second, third]) await run(t, 'person merge', uuid, first.uuid);
  await deliver(server);
  await server.client().call('sendPassLinks', { body: { email: 'quillsecond@example.com' } });
  assert.ok((await placesIn(server, ['quill'])).length > 20, 'it is everywhere before');
  await erase(t, 'quillsecond@example.com');
  assert.deepEqual(await placesIn(server, ['quill']), []);
  await restore();
  assert.ok((await placesIn(server, ['quill'])).length > 10, 'it is there again');
  await run(t, 'person erase', '--again');
  assert.deepEqual(await placesIn(server, ['quill']), []);
});

test('whom a code names is erased by the email that they first typed, with the one that it was corrected to', async (t) => {
  const { id, code } = await invited('by.code@example.com', { firstname: 'Code', lastname: 'Named' });
  const person = { personalEmail: 'dornfirst@example.com', firstName: 'Code', lastName: 'Named' };
  const { uuid } = await paid(person, code);
  await mail();
  await deliver(server);
  await run(t, 'person correct', uuid, '--email', 'dornsecond@example.com', '--resend');
  assert.equal((await lettersTo('dornsecond@example.com')).length, 1);
  await deliver(server);
  await deps.contacts.refresh(id);
  await erase(t, 'dornfirst@example.com');
  assert.equal(await isErased(uuid), true);
  assert.deepEqual(await placesIn(server, ['dornfirst', 'dornsecond']), []);
});

test('of two who shared an email until one was corrected, each is exported and erased without the other', async (t) => {
  const [shared, own] = ['shared.family@example.com', 'brantson@example.com'];
  const mother = await paid({ personalEmail: shared, firstName: 'Mothera', address1: '8 Mother Street' });
  const son = await paid({ personalEmail: shared, firstName: 'Brantley', address1: '5 Brant Street' });
  await mail();
  await deliver(server);
  await run(t, 'person correct', son.uuid, '--email', own);
  await deliver(server);
  await mail();
  const [ofSon, ofMother] = [await exported(t, own), await exported(t, shared)];
  assert.deepEqual([ofSon.includes(son.uuid), ofMother.includes(mother.uuid)], [true, true]);
  for (const theirs of [mother.uuid, 'Mothera', '8 Mother Street'])
    assert.ok(!ofSon.includes(theirs), theirs);
  for (const theirs of ['Brantley', '5 Brant Street', own]) assert.ok(!ofMother.includes(theirs), theirs);
  const shown = await run(t, 'person erase', shared, '--dry-run');
  assert.deepEqual([shown.includes(mother.uuid), shown.includes(son.uuid)], [true, false], shown);
  await erase(t, own);
  assert.deepEqual([await isErased(mother.uuid), await isErased(son.uuid)], [false, true]);
  const { data } = await mother.client.call('getWelcome', { params: { uuid: mother.uuid } });
  assert.equal(data.email, shared);
  const { rows } = await sql`
    select from letter where session_uuid = ${mother.uuid} and kind = 'confirmation' and sent_at is not null`.execute(
    database,
  );
  assert.equal(rows.length, 1);
  assert.deepEqual(await placesIn(server, ['brant']), []);
});

test('an email that staff gave to somebody by a slip gives its owner nothing of that person, and erases neither with the other', async (t) => {
  const theirs = 'slip.theirs@example.com';
  const owner = await paid({ personalEmail: theirs, firstName: 'Beate', lastName: 'Owner' });
  const [first, second] = [
    await paid({ personalEmail: 'slip.first@example.com', lastName: 'First', address1: '9 First Street' }),
    await paid({ personalEmail: 'slip.second@example.com', lastName: 'Second' }),
  ];
  for (const [{ uuid }, email] of [
    [first, 'slip.first.right@example.com'],
    [second, 'slip.second.right@example.com'],
  ] as const) {
    await run(t, 'person correct', uuid, '--email', theirs);
    await run(t, 'person correct', uuid, '--email', email);
  }
  const data = await exported(t, theirs);
  assert.deepEqual([data.includes(owner.uuid), data.includes('9 First Street')], [true, false]);
  const areErased = () => Promise.all([owner, first, second].map(({ uuid }) => isErased(uuid)));
  await erase(t, 'slip.first.right@example.com');
  assert.deepEqual(await areErased(), [false, true, false]);
  await erase(t, theirs);
  assert.deepEqual(await areErased(), [true, true, false]);
});

test('of two who were merged and parted one is erased without a trace, and the other stays', async (t) => {
  const alpha = await paid({ personalEmail: 'alpha@example.com', firstName: 'Alpha', lastName: 'Kept' });
  const beta = await paid({ personalEmail: 'velbeta@example.com', firstName: 'Velbeta', lastName: 'Velsix' });
  await deliver(server);
  await run(t, 'person merge', beta.uuid, alpha.uuid);
  await deliver(server);
  await mail();
  await run(t, 'person unmerge', beta.uuid);
  await deliver(server);
  await erase(t, 'velbeta@example.com');
  assert.deepEqual([await isErased(alpha.uuid), await isErased(beta.uuid)], [false, true]);
  assert.deepEqual(await placesIn(server, ['velbeta', 'velsix']), []);
});

test('an email with capital letters that ASCII does not have is found and erased in small ones', async (t) => {
  const { uuid } = await paid({ personalEmail: 'ÉRIC.six@example.com', firstName: 'Éric' });
  await erase(t, 'éric.six@example.com');
  assert.equal(await isErased(uuid), true);
  assert.deepEqual(await placesIn(server, ['éric']), []);
});

test('a contact whose name in HubSpot has a bar for a middle name is found and erased by its email', async (t) => {
  await invited('barred@example.com', { firstname: 'Bar', middlename: '|', lastname: 'Red' });
  await erase(t, 'barred@example.com');
  assert.deepEqual(await placesIn(server, ['barred']), []);
});

test('Stripe’s notes have nothing of who was corrected and erased, and no settling brings it back', async (t) => {
  const { uuid, intentId } = await paid({ personalEmail: 'wispfirst@example.com', firstName: 'Wispa' });
  await run(t, 'person correct', uuid, '--email', 'wispsecond@example.com');
  await erase(t, 'wispsecond@example.com');
  const { metadata } = await deps.payments.retrieveIntent(intentId);
  assert.doesNotMatch(JSON.stringify(metadata), /wisp/i);
  await run(t, 'settle', '--missing');
  assert.equal(await isErased(uuid), true);
  assert.deepEqual(await placesIn(server, ['wispfirst', 'wispsecond', 'wispa']), []);
});

test("a contact to whom somebody else's membership refers stays as an id, with nothing about its person", async (t) => {
  const email = 'named.elsewhere@example.com';
  const properties = { firstname: 'Wilhelmina', membership_status: 'member' };
  const id = await newContact(server, email, properties);
  await deps.contacts.refresh(id);
  const guardian = { personalEmail: 'guardian.of.named@example.com' };
  const { uuid } = await paidJoin(server, server.client(), undefined, guardian);
  await sql`update membership set person_id = (select id from person where contact_id = ${id}) where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  const mirrored = async () =>
    (
      await sql<{ profile: object; email: string | null; is_member: boolean }>`
        select profile, email, is_member from person where contact_id = ${id}`.execute(deps.database)
    ).rows;
  assert.match(JSON.stringify(await mirrored()), /Wilhelmina.*"is_member":true/);
  await erase(t, email);
  assert.deepEqual(await mirrored(), [{ profile: {}, email: null, is_member: false }]);
});

test('of a person whose contacts were merged in HubSpot no id is left', async (t) => {
  const email = 'merged.and.erased@example.com';
  const primaryObjectId = await newContact(server, email);
  const objectIdToMerge = await newContact(server, 'merged.before@example.com');
  for (const id of [primaryObjectId, objectIdToMerge]) await deps.contacts.refresh(id);
  const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', { primaryObjectId, objectIdToMerge });
  await deps.contacts.refresh(id);
  const ids = [primaryObjectId, objectIdToMerge, id];
  const left = async () =>
    (
      await deps.database
        .selectFrom('person')
        .select('contact_id as id')
        .where('contact_id', 'in', ids)
        .execute()
    ).length;
  assert.ok((await left()) > 1);
  await erase(t, email);
  assert.equal(await left(), 0);
});

test('a contact of another person stays in HubSpot where the email is an additional one of theirs', async (t) => {
  for (const isInMirror of [false, true]) {
    const [email, others] = [`additional.${isInMirror}@example.com`, `primary.${isInMirror}@example.com`];
    const primaryObjectId = await newContact(server, others);
    const objectIdToMerge = await newContact(server, email);
    if (isInMirror) await deps.contacts.refresh(objectIdToMerge);
    const { id } = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
      primaryObjectId,
      objectIdToMerge,
    });
    const { code, out } = await runCommand(t, server, 'person erase', [email, '--hubspot', '--yes']);
    assert.equal(code, 0, out);
    assert.match(out, /^At HubSpot: 0 contacts and 0 files\.$/m);
    assert.match(
      out,
      new RegExp(
        `^Stays: contact ${id}, which has another email in HubSpot, and theirs as an additional`,
        'm',
      ),
    );
    assert.equal((await server.hubspot.getContact(primaryObjectId, 5_000))?.id, id);
  }
});

test('a notice that has the name of an erased contact goes, though no join has that name', async (t) => {
  const email = 'noticed@example.com';
  const id = await newContact(server, email, { firstname: 'Thaddeus', lastname: 'Quillfeather' });
  await deps.contacts.refresh(id);
  await orderingJoin(server.client(), undefined, { personalEmail: email });
  for (const name of ['Thaddeus Quillfeather', 'Thaddea Quill']) await writeNotice(server, `${name} wrote.`);
  await erase(t, email);
  assert.deepEqual(await staffNotices(server, { kind: 'provider_trouble' }), ['Thaddea Quill wrote.']);
});
