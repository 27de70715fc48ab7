import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../keys.ts';
import { startHubspotEmulator } from './server.ts';

const FILES = '/files/2026-09/files';
const NOTES = '/crm/objects/2026-09/notes';

async function emulate(t: TestContext, dataDir = mkdtempSync(join(tmpdir(), 'hubspot-emulator-'))) {
  const emulator = await startHubspotEmulator({ host: '127.0.0.1', port: 0, dataDir });
  let closing: Promise<void> | undefined;
  const close = () => {
    closing ??= emulator.close();
    return closing;
  };
  t.after(close);
  const request = async (method: string, path: string, body?: object) => {
    const isForm = body instanceof FormData;
    const response = await fetch(emulator.url + path, {
      method,
      headers: {
        authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`,
        ...(body && !isForm && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
    // biome-ignore lint/suspicious/noExplicitAny: any answer of the server; each test asserts its form.
    return { status: response.status, body: (response.status === 204 ? null : await response.json()) as any };
  };
  return { request, dataDir, close };
}

const WHOLE = { folderPath: '/induct', options: '{"access":"PRIVATE"}' };
function form(fields: Record<string, string> = WHOLE, hasFile = true): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (hasFile) form.append('file', new File(['hello'], 'a.pdf', { type: 'application/pdf' }));
  return form;
}
const note = (properties: Record<string, string>, contactId = '101', associationTypeId = 202) => ({
  properties,
  associations: [
    { to: { id: contactId }, types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId }] },
  ],
});
const hs_timestamp = '2026-05-01T10:00:00.000Z';

test('a file is kept, found by its path, and a second one of its name gets a number', async (t) => {
  const { request } = await emulate(t);
  const first = await request('POST', FILES, form());
  assert.deepEqual(
    [first.status, first.body.path, first.body.access, first.body.size],
    [201, '/induct/a.pdf', 'PRIVATE', 5],
  );
  const stat = await request('GET', `${FILES}/stat/${encodeURIComponent('/induct/a.pdf')}`);
  assert.equal(stat.body.file.id, first.body.id);
  const second = await request('POST', FILES, form());
  assert.equal(second.body.path, '/induct/a-1.pdf');
  assert.notEqual(second.body.id, first.body.id);
  const nothing = await request('GET', `${FILES}/stat/${encodeURIComponent('/induct/b.pdf')}`);
  assert.equal(nothing.status, 404);
});

for (const [what, body, status] of [
  ['no file', form(WHOLE, false), 400],
  ['no folder', form({ options: WHOLE.options }), 400],
  ['no options', form({ folderPath: '/induct' }), 400],
  ['options that are no JSON', form({ ...WHOLE, options: 'PRIVATE' }), 400],
  ['an access that there is not', form({ ...WHOLE, options: '{"access":"SECRET"}' }), 400],
  ['an option that nobody knows', form({ ...WHOLE, options: '{"access":"PRIVATE","acess":1}' }), 400],
  ['a field that nobody knows', form({ ...WHOLE, folder: '1' }), 400],
  ['a name that is a path', form({ ...WHOLE, fileName: '../a.pdf' }), 400],
  ['JSON instead of a form', { ...WHOLE }, 415],
] as const)
  test(`an upload with ${what} is ${status}`, async (t) => {
    const { request } = await emulate(t);
    assert.equal((await request('POST', FILES, body)).status, status);
  });

test('a note holds a file and is about a contact, in one call, and outlives a restart', async (t) => {
  const first = await emulate(t);
  const { id } = (await first.request('POST', FILES, form())).body;
  const made = await first.request('POST', NOTES, note({ hs_timestamp, hs_attachment_ids: id }));
  assert.equal(made.status, 201);
  await first.close();
  const { request } = await emulate(t, first.dataDir);
  const contact = await request('GET', '/crm/objects/2026-09/contacts/101?associations=notes');
  assert.deepEqual(contact.body.associations.notes.results, [{ id: made.body.id, type: 'contact_to_note' }]);
  const read = await request('POST', `${NOTES}/batch/read`, {
    inputs: [{ id: made.body.id }],
    properties: ['hs_attachment_ids'],
    propertiesWithHistory: [],
  });
  assert.equal(read.body.results[0].properties.hs_attachment_ids, id);
});

for (const [what, body] of [
  ['no time', note({ hs_note_body: 'x' })],
  ['a property that there is not', note({ hs_timestamp, hs_color: 'red' })],
  ['a file that there is not', note({ hs_timestamp, hs_attachment_ids: '1' })],
  ['a contact that there is not', note({ hs_timestamp }, '999')],
  ['an association of another type', note({ hs_timestamp }, '101', 201)],
  ['a shape that is not published', { ...note({ hs_timestamp }), contact: '101' }],
] as const)
  test(`a note with ${what} is 400`, async (t) => {
    const { request } = await emulate(t);
    assert.equal((await request('POST', NOTES, body)).status, 400);
  });

test('a note is deleted without its file, and one that is not there is, too', async (t) => {
  const { request } = await emulate(t);
  const { body: file } = await request('POST', FILES, form());
  const { body: made } = await request('POST', NOTES, note({ hs_timestamp, hs_attachment_ids: file.id }));
  for (let turn = 0; turn < 2; turn++)
    assert.equal((await request('DELETE', `${NOTES}/${made.id}`)).status, 204);
  const read = { inputs: [{ id: made.id }], properties: [], propertiesWithHistory: [] };
  assert.deepEqual((await request('POST', `${NOTES}/batch/read`, read)).body.results, []);
  const stat = await request('GET', `${FILES}/stat/${encodeURIComponent(file.path)}`);
  assert.equal(stat.body.file.id, file.id);
});

test('what is not emulated of files and notes is 501', async (t) => {
  const { request } = await emulate(t);
  for (const [method, path] of [
    ['GET', `${FILES}/1`],
    ['DELETE', `${FILES}/1`],
    ['POST', '/files/v3/files'],
    ['GET', NOTES],
    ['GET', '/crm/objects/2026-09/contacts/101?associations=deals'],
  ] as const)
    assert.equal((await request(method, path)).status, 501, `${method} ${path}`);
});
