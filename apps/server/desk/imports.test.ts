import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { MOST_FILE_BYTES } from '#contract/deskLimits.ts';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { beginImport, receiveFile, TOO_LARGE } from '../joining/invitations/imports.ts';
import { workOnImports } from '../joining/invitations/workOnImports.ts';
import { NO_IMPORT } from './importRoutes.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');

const HEADER = 'code,contactId,firstName,lastName,email,school';

/** Uploads a file, and does the background work on it. Returns the number of the import. */
async function upload(lines: readonly string[], campaign?: string): Promise<number> {
  const { data, status, message } = await browser.call('uploadInvitations', {
    query: { name: 'spring.csv', ...(campaign !== undefined && { campaign }) },
    csv: lines.join('\n'),
  });
  assert.equal(status, 200, message!);
  await work();
  return data.id;
}
async function work(): Promise<void> {
  while (await workOnImports(deps));
}
const importOf = async (id: number): Promise<DeskData<'getImport'>> =>
  (await browser.call('getImport', { params: { id: String(id) } })).data;
const take = (id: number) => browser.act('importInvitations', { params: { id: String(id) } });
async function stored(prefix: string) {
  const { rows } = await sql<{ code: string; campaign: string | null }>`
    select code, campaign from invitation where code like ${`${prefix}%`} order by code`.execute(database);
  return rows.map(({ code, campaign }) => `${code} ${campaign}`);
}
async function keptParts(id: number): Promise<string[]> {
  const { rows } = await sql<{ kind: string }>`
    select distinct kind from invitation_import_part where import_id = ${id} order by kind`.execute(database);
  return rows.map(({ kind }) => kind);
}

test('a file is checked, which writes nothing, and then imported', async () => {
  const id = await upload(
    [
      HEADER,
      'UPA234567,8101,Maria,Lopez,maria@example.com,',
      'UPB234567,8102,Jo,Ng,not-an-email,',
      'UPC234567,,,,,Elm School',
      'UPD1,8103,"Ann, B",Lee,,',
    ],
    'Spring 2027',
  );
  const checked = await importOf(id);
  assert.deepEqual(
    { ...checked, at: '' },
    {
      id,
      kind: 'upload',
      state: 'checked',
      staff: 'Person 1',
      fileName: 'spring.csv',
      campaign: 'Spring 2027',
      at: '',
      share: 1,
      made: null,
      added: 3,
      changed: 0,
      unchanged: 0,
      refused: 1,
      refusals: [{ line: 3, text: '"not-an-email" is not an email address.' }],
      doubts: ['personal codes of fewer than 8 characters: 1, such as on line 5. Anyone can guess them.'],
      failure: null,
      isEmptied: false,
    },
  );
  assert.deepEqual(await stored('UP'), []);
  const params = { id: String(id) };
  const refused = await browser.call('getRefusedLines', { params });
  assert.equal(
    (refused.data as string).replace('\ufeff', ''),
    `${HEADER}\r\nUPB234567,8102,Jo,Ng,not-an-email,\r\n`,
  );
  const trial = await browser.call('importInvitations', { params, body: { trial: true } });
  assert.equal(trial.data.verb, 'Import 3 invitations');
  assert.equal((await take(id)).status, 200);
  await work();
  const done = await importOf(id);
  assert.deepEqual([done.state, done.added, done.refused], ['done', 3, 1]);
  assert.deepEqual(await stored('UP'), [
    'UPA234567 Spring 2027',
    'UPC234567 Spring 2027',
    'UPD1 Spring 2027',
  ]);
  assert.deepEqual(await keptParts(id), ['refused'], 'the file is deleted');
  assert.match((await take(id)).message!, /does not wait to be imported/);
  assert.equal(
    await beginImport(database, id),
    'This file was imported already, or is being imported, or was deleted.',
  );
  const { data } = await browser.call('getImports');
  assert.equal(data.imports[0].id, id);
});

test('an import changes what differs, and leaves withdrawn codes alone and says so', async () => {
  await upload([
    HEADER,
    'REA234567,8201,Maria,Lopez,,',
    'REB234567,,,,,Elm School',
    'REC234567,,,,,Oak School',
  ]).then(take);
  await work();
  await browser.act('withdrawInvitations', { body: { which: { codes: ['REA234567'] }, typed: null } });
  const id = await upload([
    HEADER,
    'REA234567,8201,Maria,Lopez,,',
    'REB234567,,,,,Fir School',
    'REC234567,,,,,Oak School',
  ]);
  const { added, changed, unchanged, doubts } = await importOf(id);
  assert.deepEqual([added, changed, unchanged], [0, 1, 2]);
  assert.deepEqual(doubts, [
    'codes that were withdrawn, and stay so (extending opens one again): 1, such as on line 2.',
  ]);
  await take(id);
  await work();
  const { rows } = await sql`
    select code, school, is_withdrawn from invitation where code in ('REA234567', 'REB234567') order by code`.execute(
    database,
  );
  assert.deepEqual(rows, [
    { code: 'REA234567', school: null, is_withdrawn: true },
    { code: 'REB234567', school: 'Fir School', is_withdrawn: false },
  ]);
  const again = await upload([HEADER, 'REB234567,,,,,Fir School']);
  assert.equal((await take(again)).message, 'Nothing of this file is new or changed.');
});

test('a server that dies leaves its file to another one, which imports the rest', async () => {
  const lines = Array.from({ length: 1_500 }, (_, n) => `DIE${n}X,,,,,Elm School`);
  const id = await upload([HEADER, ...lines]);
  await take(id);
  const ended = new AbortController();
  ended.abort();
  assert.equal(await workOnImports(deps, ended.signal), false, 'it stops after the first batch');
  assert.equal((await importOf(id)).state, 'importing');
  assert.equal((await stored('DIE')).length, 1_000);
  await work();
  const { state, added, unchanged } = await importOf(id);
  assert.deepEqual([state, added, unchanged], ['done', 500, 1_000]);
  await sql`update invitation_import set state = 'importing', claimed_until = now() + interval '1 minute' where id = ${id}`.execute(
    database,
  );
  assert.equal(await workOnImports(deps), false, 'what another server works on is left to it');
  await sql`update invitation_import set state = 'done' where id = ${id}`.execute(database);
});

test('of a file with nothing but faulty lines all are counted and can be downloaded', async () => {
  const id = await upload([HEADER, ...Array.from({ length: 2_500 }, (_, n) => `ALL${n},x,,,,`)]);
  const { added, refused, refusals } = await importOf(id);
  assert.deepEqual([added, refused, refusals.length], [0, 2_500, 100]);
  const { data } = await browser.call('getRefusedLines', { params: { id: String(id) } });
  assert.equal((data as string).trim().split('\r\n').length, 2_501);
});

test('what is no such file says so, and nothing of it is kept', async () => {
  const id = await upload(['name,email', 'Maria,maria@example.com']);
  const { state, failure } = await importOf(id);
  assert.equal(state, 'failed');
  assert.match(failure!, /^The first line of spring\.csv must name the columns code,contactId/);
  assert.deepEqual(await keptParts(id), []);
  assert.match((await take(id)).message!, /does not wait/);
  const params = { id: String(id) };
  assert.equal((await browser.call('getRefusedLines', { params })).status, 404);
  assert.equal((await browser.call('getImport', { params: { id: '999999' } })).message, NO_IMPORT);
  for (const query of [{}, { name: '' }])
    assert.equal((await browser.call('uploadInvitations', { query, csv: HEADER })).status, 400);
  const json = await browser.call('uploadInvitations', { query: { name: 'x.csv' }, body: {} });
  assert.equal(json.status, 415);
});

test('what staff did with files names the file', async () => {
  const id = await upload([HEADER, 'SUBJECT23,,,,,Elm School']);
  const contacts = await browser.call('uploadContacts', {
    query: { name: 'contacts.csv', imports: 'no' },
    csv: 'contactId\n8401',
  });
  const made = await browser.act('makeCodes', { body: { count: 1, imports: false, once: randomUUID() } });
  await browser.act('makeCodes', { body: { count: 0, imports: false, once: randomUUID() } });
  await take(id);
  await work();
  const { rows } = await sql<{ action: string; subject: string | null }>`
    select action, subject from staff_event order by id desc limit 4`.execute(database);
  assert.deepEqual(rows.toReversed(), [
    { action: 'uploadInvitations', subject: `import ${id}` },
    { action: 'uploadContacts', subject: `import ${contacts.data.id}` },
    { action: 'makeCodes', subject: `import ${made.data.id}` },
    { action: 'importInvitations', subject: `import ${id}` },
  ]);
});

test('a file that is too large is refused, and nothing of it is kept', async () => {
  async function* large() {
    // This part is stored before the file turns out to be too large.
    yield Buffer.alloc(1_000_000, 'x');
    yield Buffer.alloc(MOST_FILE_BYTES, 'x');
  }
  const { rows } = await sql<{
    last: number;
  }>`select coalesce(max(id), 0)::int as last from invitation_import`.execute(database);
  await assert.rejects(
    receiveFile({ ...deps, actor: 'Staff' }, { fileName: 'large.csv', campaign: null, mint: null }, large()),
    { message: TOO_LARGE },
  );
  const left = await sql`select from invitation_import where id > ${rows[0]!.last}`.execute(database);
  assert.equal(left.rows.length, 0);
});

test('codes are made for a school and imported, or to be filled in', async () => {
  const school = {
    school: 'Lincoln High School',
    count: 2,
    lastDay: '2098-06-30',
    imports: true,
    once: randomUUID(),
  };
  const made = await browser.act('makeCodes', { body: { ...school, campaign: 'Lincoln' } });
  assert.equal(made.status, 200, made.message!);
  await work();
  const { state, added } = await importOf(made.data.id);
  assert.deepEqual([state, added], ['done', 2]);
  const { data } = await browser.call('getMadeCodes', { params: { id: String(made.data.id) } });
  const [header, first] = (data as string).split('\r\n');
  assert.equal(header!.replace('\ufeff', ''), `${HEADER},programme,expiresAt,nominatedBy`);
  assert.match(first!, /^[2-9A-Z]{9},,,,,Lincoln High School,,2098-06-30,$/);
  const found = await browser.call('searchInvitations', { body: { filter: { campaign: 'Lincoln' } } });
  assert.equal(found.data.rows.length, 2);

  const open = await browser.act('makeCodes', { body: { count: 3, imports: false, once: randomUUID() } });
  await work();
  assert.equal((await importOf(open.data.id)).state, 'made');
  for (const [body, sentence] of [
    [{ count: 0, imports: false }, /^Please enter how many codes/],
    [{ count: null, imports: false }, /^Please enter how many codes/],
    [{ count: 3, imports: true }, /^Codes without a school or contacts cannot be imported/],
    [{ ...school, lastDay: '2020-06-30' }, /is past/],
    [{ ...school, programme: 'kindergarten' }, /is not a programme/],
  ] as const)
    assert.match(
      (await browser.act('makeCodes', { body: { once: randomUUID(), ...body } })).message!,
      sentence,
    );
});

test('contacts of a file get codes, which are imported; a line that is refused is named', async () => {
  const query = { name: 'contacts.csv', campaign: 'Contacts', imports: 'yes' };
  const { data } = await browser.call('uploadContacts', {
    query,
    csv: ['contactId,lastName', '8301,Lopez', 'six,Ng', '8302,Lee'].join('\n'),
  });
  await work();
  const { state, made, added, refused, refusals } = await importOf(data.id);
  assert.deepEqual([state, made, added, refused], ['done', 2, 2, 1]);
  assert.match(refusals[0]!.text, /^"six" is not a contact id/);
  const lines = await browser.call('getRefusedLines', { params: { id: String(data.id) } });
  assert.equal((lines.data as string).replace('\ufeff', ''), 'contactId,lastName\r\nsix,Ng\r\n');
  assert.deepEqual(await keptParts(data.id), ['made', 'refused']);
});

test('what is kept of a file is deleted after a day', async () => {
  const id = await upload([HEADER, 'OLD234567,,,,,Elm School', 'OLD,,,,,']);
  await sql`
    update invitation_import set created_at = now() - interval '25 hours', claimed_until = now() - interval '23 hours'
    where id = ${id}`.execute(database);
  await work();
  assert.equal((await importOf(id)).isEmptied, false, 'it was checked less than a day ago');
  await sql`update invitation_import set claimed_until = now() - interval '25 hours' where id = ${id}`.execute(
    database,
  );
  await work();
  const { isEmptied, refusals, refused } = await importOf(id);
  assert.deepEqual([isEmptied, refusals, refused], [true, [], 1]);
  assert.deepEqual(await keptParts(id), []);
  assert.match((await take(id)).message!, /does not wait/);
});

test('a file whose import has begun keeps its lines until it is imported, though it is a day old', async () => {
  const id = await upload([HEADER, 'OLDA23456,,,,,Elm School']);
  assert.equal((await take(id)).status, 200);
  await sql`
    update invitation_import set created_at = now() - interval '26 hours', claimed_until = now() - interval '25 hours'
    where id = ${id}`.execute(database);
  await work();
  const { state, failure } = await importOf(id);
  assert.deepEqual([state, failure], ['done', null]);
  assert.equal((await stored('OLDA')).length, 1);
});

test('a file of which a part is missing never counts as imported', async () => {
  const id = await upload([HEADER, 'PART23456,,,,,Elm School']);
  await take(id);
  await sql`update invitation_import_part set content = substr(content, 1, 60) where import_id = ${id}`.execute(
    database,
  );
  await work();
  const { state, failure } = await importOf(id);
  assert.equal(state, 'failed');
  assert.match(failure!, /^A part of this file is missing/);
});

test('what a colleague has imported since a file was checked is shown before it is imported', async () => {
  const [one, other] = [
    await upload([HEADER, 'SINCE23456,,,,,Elm School']),
    await upload([HEADER, 'SINCE23456,,,,,Fir School']),
  ];
  const params = { id: String(other) };
  const { data: shown } = await browser.call('importInvitations', { params, body: { trial: true } });
  assert.match(shown.lines[0], /^1 new, 0 changed,/);
  await take(one);
  await work();
  const { status } = await browser.call('importInvitations', { params, body: { seen: shown.seen } });
  assert.equal(status, 409);
  await work();
  const { rows } = await sql`select school from invitation where code = 'SINCE23456'`.execute(database);
  assert.deepEqual(rows, [{ school: 'Elm School' }]);
});

test('of a file that was checked before the same one was imported, nothing is new', async () => {
  const lines = [HEADER, 'TWICE23456,,,,,Elm School'];
  const [one, other] = [await upload(lines), await upload(lines)];
  await take(one);
  await work();
  assert.equal((await take(other)).message, 'Nothing of this file is new or changed.');
});

test('of a large file it is said when it was checked', async () => {
  const id = await upload([HEADER, 'LARGE23456,,,,,Elm School']);
  await sql`update invitation_import set size_bytes = 1000001, claimed_until = '2026-11-29T20:05Z' where id = ${id}`.execute(
    database,
  );
  const { data } = await browser.call('importInvitations', {
    params: { id: String(id) },
    body: { trial: true },
  });
  assert.match(
    data.lines[1],
    /^So it was when the file was checked, on November 29, 2026 at \d\d:05\. What has changed since/,
  );
});

test('codes are made once, however often the button is pressed', async () => {
  const body = { school: 'Once School', count: 2, imports: true, once: randomUUID() };
  const [first, again] = await Promise.all([
    browser.act('makeCodes', { body }),
    browser.act('makeCodes', { body }),
  ]);
  assert.equal(again.data.id, first.data.id);
  await work();
  assert.equal((await browser.act('makeCodes', { body })).data.id, first.data.id);
  await work();
  const { data } = await browser.call('searchInvitations', { body: { filter: { school: 'Once School' } } });
  assert.equal(data.rows.length, 2);
});
