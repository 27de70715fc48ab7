import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { changeSociety } from '../../../tests/harness/changeSociety.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { all, retentionOn } from '../../../tests/harness/retention.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { mergePersons, previewMerge, unmergePersons } from '../people/mergePersons.ts';
import { NO_NOTE } from './noteRoutes.ts';
import { NOBODY } from './presentPersonOf.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [robin, sam] = [await desk.signedIn('staff'), await desk.signedIn('staff')];
const { idOf, somebody, orderedPin, personAt } = deskPeopleOn(server);
const { age, forgetAll } = retentionOn(server);

const add = (id: number, text: string) =>
  robin.call('addNote', { params: { id: String(id) }, body: { text } });
const notesOf = async (id: number) =>
  (await personAt(robin, id)).story.filter(({ note }) => note !== null).map(({ text }) => text);
const member = async (person = somebody()) => idOf((await newMember(server, 'LINCOLN2026', person)).uuid);
const rowsOf = async (id: number) =>
  (await sql`select from person_note where person_id = ${id}`.execute(database)).rows.length;

test('a note is told in the story once, with who wrote it, and is removed by anybody, once', async () => {
  const id = await member();
  assert.equal((await add(id, '  Called about the name. \n\u0000Will send\u200b a passport.  ')).status, 200);
  const told = (await personAt(robin, id)).story.filter(({ isStaff }) => isStaff);
  const [{ at, note, ...line }] = told as [(typeof told)[0]];
  assert.deepEqual(line, {
    text: 'Called about the name.\nWill send a passport.',
    by: 'staff (Person 1)',
    isStaff: true,
    join: null,
  });
  const params = { id: String(note) };
  const trial = await sam.call('removeNote', { params, body: { trial: true } });
  assert.deepEqual([trial.data.verb, trial.data.lines[0]], ['Remove', line.text]);
  assert.match(trial.data.lines[1], /^That Person 1 wrote it, on .*, stays\.$/);
  const { seen } = trial.data;
  const presses = await Promise.all(
    [robin, sam].map((browser) => browser.call('removeNote', { params, body: { seen } })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  const removed = (await personAt(robin, id)).story.filter(({ isStaff }) => isStaff);
  assert.deepEqual(
    removed.map((each) => [each.at, each.note, each.by]),
    [[at, null, 'staff (Person 1)']],
  );
  assert.match(removed[0]!.text, /^A note, which Person [12] removed on .*\.$/);
  assert.equal((await robin.act('removeNote', { params })).status, 409);
});

test('a note without text or too long is refused, and so is one of nobody', async () => {
  const id = await member();
  for (const text of ['', ' \n ', '\u200b', 'x'.repeat(2_001)])
    assert.equal((await add(id, text)).status, 400);
  assert.equal((await add(id, 'x'.repeat(2_000))).status, 200);
  for (const none of [999_999, 0]) {
    const { status, message } = await add(none, 'of nobody');
    assert.deepEqual([status, message], [404, NOBODY]);
  }
  for (const none of ['999999', 'x']) {
    const { status, message } = await robin.act('removeNote', { params: { id: none } });
    assert.deepEqual([status, message], [404, NO_NOTE]);
  }
});

test('notes go with whom their person becomes by a merge, and back when it is undone', async () => {
  const [one, other] = [await member(), await member()];
  await add(one, 'of one');
  await add(other, 'of the other');
  const seen = await previewMerge(deps, one, other);
  await mergePersons(deps, seen);
  assert.deepEqual(await notesOf(one), ['of one', 'of the other']);
  await add(seen.from.id, 'of both');
  await unmergePersons(deps, one);
  const [from, into] = seen.from.id === one ? ['of one', 'of the other'] : ['of the other', 'of one'];
  assert.deepEqual(await notesOf(seen.from.id), [from]);
  assert.deepEqual(await notesOf(seen.into.id), [into, 'of both']);
});

test('notes are exported and erased with their person', async (t) => {
  const person = somebody();
  const id = await member(person);
  const other = await member();
  await add(id, 'Is often away.');
  await add(other, 'of another');
  const to = temporaryFolder(t);
  await runCommand(t, server, 'person export', [person.personalEmail, '--to', to]);
  const data = readFileSync(join(to, 'data.json'), 'utf8');
  assert.ok(data.includes('Is often away.') && !data.includes('of another'));
  assert.equal((await runCommand(t, server, 'person erase', [person.personalEmail, '--yes'])).code, 0);
  assert.deepEqual([await rowsOf(id), await rowsOf(other)], [0, 1]);
  assert.equal((await add(id, 'too late')).status, 404);
});

test('a note that is written while its person is erased is not kept', async () => {
  const person = somebody();
  const id = await member(person);
  let adding: ReturnType<typeof add> | undefined;
  await database.transaction().execute(async (trx) => {
    await sql`select from person where id = ${id} for update`.execute(trx);
    adding = add(id, 'meanwhile');
    await sql`update person set erased_at = now(), details = null, words = '' where id = ${id}`.execute(trx);
  });
  assert.equal((await adding!).status, 404);
  assert.equal(await rowsOf(id), 0);
});

test('notes of a person go when retention removes the last join', async (t) => {
  const first = await orderedPin();
  const id = await idOf(first.uuid);
  const second = await orderedPin(first.person);
  const former = await idOf(second.uuid);
  await sql`update join_session set person_id = ${id} where uuid = ${second.uuid}`.execute(database);
  await sql`update person set contact_id = '660001', fetched_at = now() where id = ${id}`.execute(database);
  await add(id, 'Wants to pay by check.');
  changeSociety(t, server, all);
  await age(second.uuid, 11);
  await forgetAll();
  assert.equal(await rowsOf(id), 1, `${former} is gone, and the other join is there`);
  await age(first.uuid, 11);
  await forgetAll();
  assert.equal(await rowsOf(id), 0);
});
