import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { askHubspot, control } from '../../../tests/harness/providers.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import type { HubspotClient } from '../crm/hubspot/client.ts';
import { correctPerson, previewCorrection } from '../people/correctPerson.ts';
import { keepApart } from '../people/mergePersons.ts';
import { applyRetention } from '../people/privacy/retention.ts';
import { readFigures } from '../running/gauges.ts';
import { attachDue } from './attachDocuments.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps, hubspot } = server;
const { contactOf, invited, paid, personOf } = identityOn(server);
beforeEachIn(import.meta.filename, async () => {
  await server.hubspotFault(null);
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: null });
  await sql`update document set crm_refusal = 'of another test' where crm_next_try_at is not null`.execute(
    server.deps.database,
  );
});

/** Returns the file and the note that HubSpot has of a document. */
async function held(id: string) {
  const { files, notes } = await control<{
    files: { id: string; path: string; access: string; bytes: string }[];
    notes: { contactIds: string[]; properties: Record<string, string> }[];
  }>(server.hubspotUrl, 'GET', 'attachments');
  const own = files.filter(({ path }) => path.includes(id));
  return {
    files: own,
    notes: notes.filter(({ properties }) => own.some((file) => file.id === properties.hs_attachment_ids)),
  };
}

/**
 * Makes a paid join with a transcript. With `contactId`, the database has recorded that the join was sent to that contact.
 * Otherwise HubSpot has no contact for the join yet.
 */
async function uploaded(
  name = 'transcript.pdf',
  contactId: string | null = null,
): Promise<{ uuid: string; id: string }> {
  const client = server.client();
  const { uuid } = await paidJoin(server, client);
  if (contactId !== null) await server.deps.contacts.refresh(contactId);
  await sql`update join_session set person_id = coalesce((select id from person where contact_id = ${contactId}), person_id) where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  const answer = await postPdf(client, pathOf('uploadTranscript', { uuid }), { name });
  assert.equal(answer.status, 200);
  const { id } = await server.deps.database
    .selectFrom('document')
    .select('id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return { uuid, id };
}

/**
 * Makes all documents due, refills the budget of calls to HubSpot, and attaches the documents. Returns how many {@link attachDue}
 * took.
 */
async function attach(client: Partial<HubspotClient> = {}): Promise<number> {
  await sql`update document set crm_next_try_at = now() where crm_next_try_at is not null`.execute(
    server.deps.database,
  );
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.deps.database,
  );
  return attachDue(deps, { ...hubspot, ...client });
}

/** Makes retention remove the files of these documents: backdates the decisions of staff on them by two days. */
async function removeFiles(t: TestContext, documents: readonly { id: string }[]): Promise<void> {
  const ids = documents.map(({ id }) => id);
  await sql`update document set reviewed_at = now() - interval '2 days' where id = any(${ids}::uuid[])`.execute(
    server.deps.database,
  );
  changeSociety(t, server, (source) => `${source}\nretention:\n  documentsDays: 1\n`);
  assert.equal((await applyRetention(server.deps)).documents, ids.length);
}

async function onceAttached(id: string, contactId: string): Promise<void> {
  const { files, notes } = await held(id);
  assert.equal(files.length, 1, 'one file');
  assert.equal(notes.length, 1, 'one note');
  assert.deepEqual(notes[0]!.contactIds, [contactId]);
  assert.equal(files[0]!.access, 'PRIVATE');
  assert.ok(Buffer.from(files[0]!.bytes, 'base64').equals(pdf()), 'byte for byte');
}

test('a transcript reaches its contact in HubSpot: privately, byte for byte, with a note, once', async () => {
  const { id } = await uploaded('Rivera <final> & signed.pdf', '101');
  assert.equal(await attach(), 1);
  await onceAttached(id, '101');
  const { files, notes } = await held(id);
  assert.equal(files[0]!.path, `/induct/jordan-rivera-transcript-${id}.pdf`);
  assert.equal(
    notes[0]!.properties.hs_note_body,
    'Transcript from Jordan Rivera: Rivera &#60;final&#62; &#38; signed.pdf',
  );
  assert.equal(await attach(), 0, 'what was attached is not sent again');
});

test('of more documents than one round attaches, those that have waited longest come first', async () => {
  const { id } = await uploaded('first.pdf', '101');
  await sql`
    insert into document select (jsonb_populate_record(null::document, to_jsonb(document) || jsonb_build_object('id', gen_random_uuid(), 'storage_key', gen_random_uuid()))).*
    from document, generate_series(1, 5) where id = ${id}`.execute(server.deps.database);
  await sql`update document set crm_next_try_at = now() - make_interval(mins => case when id = ${id} then 60 else 1 end) where name = 'first.pdf'`.execute(
    server.deps.database,
  );
  await server.hubspotFault({ kind: 'cut', times: 1_000 });
  assert.equal(await attachDue(server.deps, server.hubspot), 5);
  const { rows } = await sql<{ id: string }>`
    select id from document where crm_refusal is null and crm_next_try_at <= now()`.execute(
    server.deps.database,
  );
  assert.deepEqual([rows.length, rows.some((row) => row.id === id)], [1, false]);
  await sql`delete from document where name = 'first.pdf'`.execute(server.deps.database);
});

test('a resume reaches its contact too', async () => {
  await postPdf(server.client(), pathOf('uploadResume'), { contactId: '102', name: 'resume.pdf' });
  assert.equal(await attach(), 1);
  const { id } = await server.deps.database
    .selectFrom('document')
    .select('id')
    .where('person_id', '=', personId('102'))
    .executeTakeFirstOrThrow();
  await onceAttached(id, '102');
  const { notes } = await held(id);
  assert.equal(notes[0]!.properties.hs_note_body, 'Resume: resume.pdf');
});

test('a document waits for the contact that its join creates', async () => {
  const { uuid, id } = await uploaded();
  assert.equal(await attach(), 0);
  await deliver(server);
  assert.equal(await attach(), 1);
  await onceAttached(id, await contactOf(uuid));
});

const FILES = '/files/2026-09/files';
const NOTES = '/crm/objects/2026-09/notes';
for (const [when, fault] of [
  ['down', { kind: 'cut' }],
  ['answering 500', { kind: 'status', status: 500 }],
  ['limiting', { kind: 'status', status: 429, headers: { 'retry-after': '1' } }],
  ['gone after it took the file', { kind: 'cut_after', method: 'POST', path: FILES }],
  ['failing after it took the file', { kind: 'status_after', method: 'POST', path: FILES }],
  ['down between the file and the note', { kind: 'cut', method: 'POST', path: NOTES }],
  ['gone after it took the note', { kind: 'cut_after', method: 'POST', path: NOTES }],
  ['failing after it took the note', { kind: 'status_after', method: 'POST', path: NOTES }],
] as const)
  test(`while HubSpot is ${when}, a document waits, and is attached once when it is back`, async () => {
    const { id } = await uploaded('transcript.pdf', '103');
    await server.hubspotFault(fault);
    assert.equal(await attach(), 1);
    assert.equal((await held(id)).notes.length, when.endsWith('took the note') ? 1 : 0);
    assert.equal(await attach(), 1);
    await onceAttached(id, '103');
    assert.equal(await attach(), 0);
  });

test('a note whose answer was lost is found beside a hundred older ones', async () => {
  const { id: first } = await uploaded('transcript.pdf', '104');
  await attach();
  const [file] = (await held(first)).files;
  const { id } = await uploaded('transcript.pdf', '104');
  const older = { contactId: '104', fileId: file!.id, html: 'older', at: new Date() };
  for (let count = 0; count < 100; count++) await server.hubspot.createNote(older);
  await server.hubspotFault({ kind: 'cut_after', method: 'POST', path: NOTES });
  assert.equal(await attach(), 1);
  assert.equal(await attach(), 1);
  await onceAttached(id, '104');
});

/**
 * Each case simulates a process that dies after a call to HubSpot and before it writes the result of that call into this column.
 */
for (const [where, column] of [
  ['the file', 'crm_file_id'],
  ['the note', 'crm_note_id'],
] as const)
  test(`a process killed between ${where} and noting it neither loses nor doubles it`, async () => {
    const { id } = await uploaded('transcript.pdf', '104');
    await attach();
    await onceAttached(id, '104');
    // Sets the row to its state after the process was killed: without the id from HubSpot.
    const fileId = column === 'crm_file_id' ? sql`null` : sql`crm_file_id`;
    await sql`update document set crm_note_id = null, crm_file_id = ${fileId}, crm_next_try_at = now() where id = ${id}`.execute(
      server.deps.database,
    );
    assert.equal(await attach(), 1);
    await onceAttached(id, '104');
  });

test('two processes attach a document once', async () => {
  const { id } = await uploaded('transcript.pdf', '101');
  await sql`update document set crm_next_try_at = now() where crm_next_try_at is not null`.execute(
    server.deps.database,
  );
  const taken = await Promise.all([
    attachDue(server.deps, server.hubspot),
    attachDue(server.deps, server.hubspot),
  ]);
  assert.deepEqual(taken.toSorted(), [0, 1]);
  await onceAttached(id, '101');
});

test('what HubSpot refuses is shown with its reason, holds up nothing else, and is sent again when staff say so', async (t) => {
  const { uuid, id } = await uploaded('transcript.pdf', '101');
  await postPdf(server.client(), pathOf('uploadResume'), { contactId: '103', name: 'resume.pdf' });
  await server.hubspotFault({
    kind: 'status',
    status: 413,
    path: FILES,
    body: { message: 'Too large.' },
    times: 2,
  });
  assert.equal(await attach(), 2);
  assert.equal(await attach(), 0, 'both are set aside');
  await deliver(server);
  const { out } = await runCommand(t, server, 'contacts failed', []);
  assert.match(out, new RegExp(`${uuid}  .*document ${id}.*Too large`));
  assert.match(out, /^resume of contact 103 {2}document .*Too large/m);
  assert.match((await runCommand(t, server, 'contacts status', [])).out, /refused/);
  assert.equal((await runCommand(t, server, 'contacts retry', [uuid])).code, 0);
  assert.equal(await attach(), 1);
  await onceAttached(id, '101');
  assert.equal((await runCommand(t, server, 'contacts retry', ['all'])).code, 0);
  assert.equal(await attach(), 1, 'the resume');
});

test('while the key may not upload files, a document waits, and is attached without a hand when it may', async () => {
  const { id } = await uploaded('transcript.pdf', '101');
  await control(server.hubspotUrl, 'POST', 'scopes', {
    scopes: ['crm.objects.contacts.read', 'crm.objects.contacts.write'],
  });
  assert.equal(await attach(), 1);
  assert.equal(await attach(), 1);
  await control(server.hubspotUrl, 'POST', 'scopes', { scopes: null });
  assert.equal(await attach(), 1);
  await onceAttached(id, '101');
});

test('a document of a join whose contact was deleted is attached to the one that the join got instead', async () => {
  const { uuid, id } = await uploaded('transcript.pdf', '104');
  await sql`update person set deleted_at = now() where contact_id = '104'`.execute(server.deps.database);
  assert.equal(await attach(), 0, 'it waits for that one');
  await sql`update join_session set person_id = (select id from person where contact_id = '103') where uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.equal(await attach(), 1);
  await onceAttached(id, '103');
  await sql`update person set deleted_at = null where contact_id = '104'`.execute(server.deps.database);
});

test('what retention has removed before it was attached is neither refused nor due, and staff cannot have it sent again', async (t) => {
  await server.hubspotFault({ kind: 'status', status: 413, path: FILES, body: { message: 'Too large.' } });
  const tooLarge = await uploaded('transcript.pdf', '101');
  assert.equal(await attach(), 1);
  await server.hubspotFault(null);
  await runCommand(t, server, 'documents accept', [tooLarge.uuid]);
  const rejected = await uploaded('transcript.pdf', '102');
  await runCommand(t, server, 'documents reject', [rejected.uuid, '--reason', 'unreadable']);
  const unsent = await uploaded('transcript.pdf', '103');
  await runCommand(t, server, 'documents accept', [unsent.uuid]);
  const removed = [tooLarge, rejected, unsent];
  await removeFiles(t, removed);

  const { out } = await runCommand(t, server, 'contacts failed', []);
  for (const { uuid } of removed) {
    assert.doesNotMatch(out, new RegExp(uuid));
    // This command makes the join due again. It must not make the document due.
    await runCommand(t, server, 'contacts retry', [uuid]);
  }
  const errors = t.mock.method(server.deps.log, 'error');
  assert.deepEqual([await attach(), errors.mock.callCount()], [0, 0]);
  assert.match((await runCommand(t, server, 'contacts status', [])).out, /^0 documents to be attached/m);
  const queue = (await readFigures(server.deps)).find(({ name }) => name === 'documents')!;
  assert.equal(queue.value, 0);
});

test('a note that HubSpot refused for a file that it has can be sent again after the file was removed here', async (t) => {
  const { uuid, id } = await uploaded('transcript.pdf', '101');
  await server.hubspotFault({
    kind: 'status',
    status: 400,
    path: NOTES,
    body: { message: 'No notes.' },
  });
  assert.equal(await attach(), 1);
  await server.hubspotFault(null);
  await runCommand(t, server, 'documents accept', [uuid]);
  await removeFiles(t, [{ id }]);
  assert.match((await runCommand(t, server, 'contacts failed', [])).out, new RegExp(`${uuid}  .*No notes`));
  assert.equal((await runCommand(t, server, 'contacts retry', [uuid])).code, 0);
  assert.match((await runCommand(t, server, 'contacts status', [])).out, /^1 documents to be attached/m);
  assert.equal(await attach(), 1);
  await onceAttached(id, '101');
});

test('a document that was rejected before it was sent is not sent', async (t) => {
  const { uuid, id } = await uploaded('transcript.pdf', '101');
  await runCommand(t, server, 'documents reject', [uuid, '--reason', 'unreadable']);
  assert.equal(await attach(), 0);
  assert.deepEqual(await held(id), { files: [], notes: [] });
});

test('where the society says so, documents stay in our storage alone', async (t) => {
  const { id } = await uploaded('transcript.pdf', '101');
  const { crm } = server.deps.society;
  crm.attachDocuments = false;
  t.after(() => (crm.attachDocuments = true));
  assert.equal(await attach(), 0);
  assert.deepEqual(await held(id), { files: [], notes: [] });
});

test('a document that the storage cannot give waits, and the others go on', async (t) => {
  const first = await uploaded('first.pdf', '101');
  const second = await uploaded('second.pdf', '102');
  const { read } = server.deps.storage;
  let reads = 0;
  const mock = t.mock.method(server.deps.storage, 'read', async (key: string) => {
    reads += 1;
    if (reads === 1) throw new Error('EIO');
    return read(key);
  });
  assert.equal(await attach(), 2);
  const notes = async () => [first.id, second.id].map(async (id) => (await held(id)).notes.length);
  assert.deepEqual((await Promise.all(await notes())).toSorted(), [0, 1]);
  mock.mock.restore();
  assert.equal(await attach(), 1);
  await onceAttached(first.id, '101');
  await onceAttached(second.id, '102');
});

/**
 * Makes a paid join whose transcript is attached to the contact with the same email (`left`). `own` is another contact, to which
 * staff may link the join.
 */
async function atContactOfSameEmail(email: string): Promise<{ uuid: string; left: string; own: string }> {
  const left = await newContact(server, email);
  const own = await newContact(server, `own.${email}`);
  const client = server.client();
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail: email });
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  await deliver(server);
  await attach();
  return { uuid, left, own };
}

test('a transcript is at the contact that its join is linked to, and no more at the one before, also after a lost answer or without its file here', async (t) => {
  for (const before of ['nothing', 'retention']) {
    const { uuid, left, own } = await atContactOfSameEmail(`transcript.linked.${before}@example.com`);
    if (before === 'retention') {
      const { rows } = await sql<{ id: string }>`
        update document set review = 'accepted' where session_uuid = ${uuid} returning id`.execute(
        server.deps.database,
      );
      await removeFiles(t, rows);
    }
    const linked = await runCommand(t, server, 'person merge', [uuid, own]);
    assert.equal(linked.code, 0, linked.out);
    await deliver(server);
    if (before === 'nothing') {
      await server.hubspotFault({ kind: 'cut_after', method: 'DELETE', path: NOTES });
      assert.equal(await attach(), 1, 'it is tried again');
    }
    await attach();
    const { notes } = await control<{ notes: { contactIds: string[] }[] }>(
      server.hubspotUrl,
      'GET',
      'attachments',
    );
    const notesOf = (id: string) => notes.filter(({ contactIds }) => contactIds.includes(id)).length;
    assert.deepEqual([notesOf(left), notesOf(own)], [0, 1]);
  }
});

test('a transcript whose contact was deleted is attached to the one that its join has instead', async () => {
  const client = server.client();
  const personalEmail = 'transcript.contact.deleted@example.com';
  const { uuid } = await paidJoin(server, client, 'LINCOLN2026', { personalEmail });
  await postPdf(client, pathOf('uploadTranscript', { uuid }));
  const attached = async () => {
    await deliver(server);
    await attach();
    const { id, contact_id } = await server.deps.database
      .selectFrom('document')
      .innerJoin('join_session', 'uuid', 'session_uuid')
      .innerJoin('person', 'person.id', 'join_session.person_id')
      .select(['document.id', 'contact_id'])
      .where('session_uuid', '=', uuid)
      .executeTakeFirstOrThrow();
    return { id, contactId: contact_id! };
  };
  const { contactId: gone } = await attached();
  await askHubspot(server.hubspotUrl, 'DELETE', `/${gone}`);
  await server.deps.contacts.refresh(gone);
  const { id, contactId } = await attached();
  assert.notEqual(contactId, gone);
  const { notes } = await held(id);
  assert.ok(notes.some(({ contactIds }) => contactIds.includes(contactId)));
});

/** Returns the contacts of the notes that HubSpot has of a join's transcript. */
async function notesOf(uuid: string): Promise<string[]> {
  const { id } = await deps.database
    .selectFrom('document')
    .select('id')
    .where('session_uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  return (await held(id)).notes.flatMap(({ contactIds }) => contactIds);
}

/** Makes a paid join with a transcript, and sends only the join to HubSpot. */
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
