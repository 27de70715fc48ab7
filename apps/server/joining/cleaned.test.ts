import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { HUBSPOT_ACCESS_TOKEN } from '../../../emulators/keys.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { details, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { sendDueLinks } from './pass/sendLinks.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps } = server;

const EMAIL = 'cleaned@example.com';
const WRAPPED = '\u202aCleaned \u200b<mailto:clea\u00adned@exam\u200bple.com>;\u202c';

test('what nobody sees is taken off in every call, so that the joiner is found, written to, exported and erased', async (t) => {
  const client = server.client();
  const uuid = await startJoin(client, ' LINCOLN\u200b2026\ufeff');
  const person = { firstName: 'Zo\u200be\u0308', lastName: 'Clea\u00adned\u00a0', personalEmail: WRAPPED };
  const saved = await client.call('submitDetails', { params: { uuid }, body: details(person) });
  assert.equal(saved.status, 200);
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([data.firstName, data.lastName, data.personalEmail], ['Zoë', 'Cleaned', EMAIL]);

  for (const text of [EMAIL, WRAPPED, 'Clean\u200bed'])
    assert.match((await runCommand(t, server, 'find', [text])).out, new RegExp(`^${uuid}`, 'm'), text);

  assert.equal((await client.call('sendPassLinks', { body: { email: WRAPPED } })).status, 200);
  await sendDueLinks(deps);
  const { email } = await deps.database
    .selectFrom('letter')
    .select('email')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'link')
    .executeTakeFirstOrThrow();
  assert.equal(email, EMAIL);

  const folder = join(mkdtempSync(join(tmpdir(), 'induct-cleaned-')), 'export');
  const exported = await runCommand(t, server, 'person export', [WRAPPED, '--to', folder]);
  assert.equal(exported.code, 0, exported.out);
  assert.ok(readFileSync(join(folder, 'data.json'), 'utf8').includes(uuid));
  const erased = await runCommand(t, server, 'person erase', [WRAPPED, '--yes']);
  assert.equal(erased.code, 0, erased.out);
  assert.equal((await runCommand(t, server, 'find', [EMAIL])).code, 1);
});

test('a name or ZIP code that nobody sees is missing', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'LINCOLN2026');
  const body = details({ firstName: '\u200b\u2060', zipcode: '\u3164\0' });
  const { status, errors } = await client.call('submitDetails', { params: { uuid }, body });
  assert.equal(status, 400);
  assert.deepEqual(errors, { firstName: 'First name is required.', zipcode: 'Zipcode is required.' });
});

async function addContact(properties: Record<string, string>): Promise<void> {
  const response = await fetch(`${server.hubspotUrl}/crm/objects/2026-09/contacts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${HUBSPOT_ACCESS_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ properties }),
  });
  assert.equal(response.status, 201);
}

test('what HubSpot has of a contact is cleaned, too, its code included', async () => {
  await addContact({
    email: 'unseen@example.com',
    firstname: 'A\u200bda\u00a0 Maria',
    personal_email: '<mailto:unseen@example.com>',
    invitation_code: 'UNSEEN1',
  });
  const client = server.client();
  const uuid = await startJoin(client, 'UNSEEN\u200b1');
  const { data } = await client.call('getContact', { params: { uuid } });
  assert.deepEqual([data.firstName, data.personalEmail], ['Ada Maria', 'unseen@example.com']);
});

test("a contact's country is told by the list's name, and as it is when the list has no such country", async () => {
  for (const [told, country] of [
    ['South Korea', 'Korea, Republic of'],
    ['England', 'United Kingdom'],
    ['US', 'US'],
    ['Atlantis', 'Atlantis'],
  ] as const) {
    const code = `FROM${told.replace(' ', '')}`.toUpperCase();
    await addContact({ email: `${code}@example.com`.toLowerCase(), country: told, invitation_code: code });
    const client = server.client();
    const uuid = await startJoin(client, code);
    assert.equal((await client.call('getContact', { params: { uuid } })).data.country, country);
  }
});
