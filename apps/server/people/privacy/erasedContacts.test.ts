import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../../tests/harness/providers.ts';
import { toldStaff, writeNotice } from '../../../../tests/harness/rows.ts';
import { runCommand } from '../../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin } from '../../../../tests/harness/steps.ts';
import { sharedServer } from '../../../../tests/harness/testServer.ts';

/** Tests what an erasure leaves of the contacts in the mirror. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;

async function erase(t: TestContext, email: string): Promise<void> {
  const { code, out } = await runCommand(t, server, 'person erase', [email, '--yes']);
  assert.equal(code, 0, out);
}

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
  assert.deepEqual(await toldStaff(server, { kind: 'provider_trouble' }), ['Thaddea Quill wrote.']);
});
