import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { deliver, editAtHubspot } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { control } from '../../../tests/harness/providers.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import type { HubspotClient } from '../crm/hubspot/client.ts';
import { correctPerson, previewCorrection } from '../people/correctPerson.ts';
import { keepApart } from '../people/mergePersons.ts';
import { attachDue } from './attachDocuments.ts';

/** Tests that the note with a transcript is at the contact of its person alone, whoever leaves a contact and why. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps, hubspot } = server;
const { contactOf, invited, paid, personOf } = identityOn(server);

/** Returns the contacts of the notes that HubSpot has of a join's transcript. */
async function notesOf(uuid: string): Promise<string[]> {
  const { id } = await deps.database
    .selectFrom('document')
    .select('id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  const { files, notes } = await control<{
    files: { id: string; path: string }[];
    notes: { contactIds: string[]; properties: Record<string, string> }[];
  }>(server.hubspotUrl, 'GET', 'attachments');
  const own = files.filter(({ path }) => path.includes(id));
  return notes.flatMap(({ contactIds, properties }) =>
    own.some((file) => file.id === properties.hs_attachment_ids) ? contactIds : [],
  );
}

async function attach(client: Partial<HubspotClient> = {}): Promise<void> {
  await sql`update document set crm_next_try_at = now() where crm_next_try_at is not null`.execute(
    deps.database,
  );
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    deps.database,
  );
  await attachDue(deps, { ...hubspot, ...client });
}

/** Makes a paid join with a transcript; HubSpot is told of the join alone. */
async function withTranscript(personalEmail: string): Promise<string> {
  const { client, uuid } = await paid({ personalEmail });
  await deliver(server);
  assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }))).status, 200);
  return uuid;
}

async function correctEmail(uuid: string, personalEmail: string): Promise<void> {
  const { id } = await personOf(uuid);
  const seen = await previewCorrection(deps, id, { personalEmail });
  await correctPerson(deps, id, { personalEmail }, { seen, resends: false });
}

/** Asserts that a join has left a contact, and that its transcript has one note, at the contact that it has now. */
async function hasMoved(uuid: string, from: string): Promise<void> {
  await deliver(server);
  await attach();
  const present = await contactOf(uuid);
  assert.notEqual(present, from);
  assert.deepEqual(await notesOf(uuid), [present]);
}

const named = { firstname: 'Jordan', lastname: 'Rivera' };

test('who is kept apart from the person of the contact takes the note along', async () => {
  const { id } = await invited('notes.apart@example.com', named);
  const uuid = await withTranscript('notes.apart@example.com');
  await attach();
  assert.deepEqual(await notesOf(uuid), [id]);
  const owner = await deps.database
    .selectFrom('person')
    .select('id')
    .where('contact_id', '=', id)
    .executeTakeFirstOrThrow();
  await keepApart(deps, (await personOf(uuid)).id, owner.id);
  await hasMoved(uuid, id);
});

test('who is attached to a contact whose email is corrected takes the note along', async () => {
  const first = await paid({ personalEmail: 'notes.maker@example.com' });
  await deliver(server);
  const uuid = await withTranscript('notes.maker@example.com');
  const made = await contactOf(first.uuid);
  await attach();
  assert.deepEqual(await notesOf(uuid), [made]);
  await correctEmail(first.uuid, 'notes.maker.right@example.com');
  await hasMoved(uuid, made);
});

test('who is parted from the contact that their join made, since a link names it, takes the note along', async () => {
  const uuid = await withTranscript('notes.parted@example.com');
  const made = await contactOf(uuid);
  await attach();
  await editAtHubspot(server, made, { firstname: 'Owner' });
  const body = { hubspotContactId: made };
  assert.equal((await server.client().call('initiateCheckout', { body })).status, 200);
  await hasMoved(uuid, made);
});

test('an email that is corrected while the file is uploaded leaves no note at the former contact', async () => {
  const { id } = await invited('notes.upload@example.com', named);
  const uuid = await withTranscript('notes.upload@example.com');
  await attach({
    async uploadFile(file) {
      const fileId = await hubspot.uploadFile(file);
      await correctEmail(uuid, 'notes.upload.right@example.com');
      return fileId;
    },
  });
  await hasMoved(uuid, id);
});

test('an email that is corrected while one server makes the note, and another attaches it anew, leaves one note', async () => {
  const { id } = await invited('notes.two@example.com', named);
  const uuid = await withTranscript('notes.two@example.com');
  await attach({
    async createNote(note) {
      const noteId = await hubspot.createNote(note);
      await correctEmail(uuid, 'notes.two.right@example.com');
      await deliver(server);
      await attach();
      return noteId;
    },
  });
  await hasMoved(uuid, id);
});
