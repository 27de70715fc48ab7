import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { transcriptsOn } from '../../../tests/harness/transcripts.ts';
import { reviewTranscripts } from '../documents/review.ts';
import { sendDue } from '../letters/sendLetters.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { idOf, somebody } = deskPeopleOn(server);
const { upload } = transcriptsOn(server);

/** Makes a paid join with a transcript that has waited since `since`. */
async function waitingSince(since: string) {
  const { client, uuid } = await newMember(server, 'LINCOLN2026', somebody());
  assert.equal(await upload(client, uuid), 200);
  await sql`update document set created_at = ${since} where session_uuid = ${uuid}`.execute(database);
  return { client, uuid, id: await idOf(uuid) };
}

const list = async (tab: string, next?: string) =>
  (await browser.call('getTranscripts', { query: { tab, ...(next !== undefined && { next }) } })).data;
const transcriptOf = async (id: number, join = 1) =>
  browser.call('getTranscript', { params: { id: String(id), join: String(join) } });

test('what waits is listed, the oldest first, on as many pages as it takes, and no uuid of a join is told', async () => {
  const made = [];
  for (const second of [1, 2, 3]) made.push(await waitingSince(`2001-01-01T00:00:0${second}Z`));
  await sql`
    with copied as (
      insert into join_session (programme, origin, state, person_id, paid_at, lines)
      select programme, origin, state, person_id, paid_at, lines from join_session, generate_series(1, 60) where uuid = ${made[2]!.uuid}
      returning uuid)
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, created_at)
    select gen_random_uuid(), 'transcript', uuid, 't.pdf', 'application/pdf', 1, '', uuid, '2001-01-02' from copied`.execute(
    database,
  );
  const first = await list('decide');
  assert.equal(first.rows.length, 50);
  assert.deepEqual(first.rows[0], {
    id: made[0]!.id,
    join: 1,
    name: first.rows[0].name,
    since: '2001-01-01T00:00:01.000Z',
    programme: 'Honor Scholars',
    files: 1,
    remindedAt: null,
    verdict: null,
    by: null,
  });
  const second = await list('decide', first.next);
  const all = [...first.rows, ...second.rows].map(({ id, join }) => `${id}/${join}`);
  assert.equal(new Set(all).size, all.length);
  assert.ok(all.length >= 63);
  const { rows } = await sql<{ uuid: string }>`select uuid from join_session`.execute(database);
  const told = JSON.stringify([first, second, (await transcriptOf(made[0]!.id)).data]);
  assert.deepEqual(
    rows.filter(({ uuid }) => told.includes(uuid)),
    [],
  );
  assert.equal((await browser.call('getTranscripts', { query: { next: 'nowhere' } })).status, 400);
  assert.equal((await browser.call('getTranscripts', { query: { tab: 'else' } })).status, 400);
  await sql`delete from document where storage_key = session_uuid::text`.execute(database);
});

test('the judging page has what is claimed, the rules, the files, what was decided, and who waits next', async () => {
  const [one, two] = [await waitingSince('2000-01-01T00:00:00Z'), await waitingSince('2000-01-02T00:00:00Z')];
  assert.equal(await upload(one!.client, one!.uuid, 'page-2.pdf'), 200);
  const { data } = await transcriptOf(one!.id);
  const { name, claimed, eligibility, documents, standing, decisions, next } = data;
  assert.deepEqual([claimed.name, claimed.gpa !== null, claimed.school !== null], [name, true, true]);
  assert.deepEqual(eligibility.rules, ['SAT 1300+', 'ACT 27+', 'Cumulative GPA 3.5+']);
  assert.deepEqual(
    documents.map((document: { name: string; shownAs: string }) => [document.name, document.shownAs]),
    [
      ['transcript.pdf', 'pdf'],
      ['page-2.pdf', 'pdf'],
    ],
  );
  assert.deepEqual([standing, decisions, next], ['open', [], { id: two!.id, join: 1 }]);
  await reviewTranscripts({ ...deps, actor: 'Robin' }, one!.uuid, {
    review: 'rejected',
    reason: 'unreadable',
  });
  const after = (await transcriptOf(one!.id)).data;
  assert.deepEqual(
    [after.standing, after.decisions[0].by, after.decisions[0].verdict, after.decisions[0].reason],
    [
      'rejected',
      'Robin',
      'rejected',
      'We could not read your transcript. Please upload a sharper photo, or a PDF.',
    ],
  );
  const [decided] = (await list('decided')).rows;
  assert.deepEqual(
    [decided.id, decided.verdict, decided.by, decided.files],
    [one!.id, 'rejected', 'Robin', 2],
  );
  assert.equal((await transcriptOf(one!.id, 2)).status, 404);
  assert.equal((await transcriptOf(999_999)).status, 404);
});

test('a document is sent as a file that no browser shows, who opened it is recorded, and a removed one is told', async () => {
  const { id, uuid } = await waitingSince('2010-01-01T00:00:00Z');
  const { documents } = (await transcriptOf(id)).data;
  const params = { id: documents[0].id };
  const { status, headers, data } = await browser.call('openDocument', { params });
  assert.deepEqual([status, data.equals(pdf())], [200, true]);
  assert.equal(headers.get('content-type'), 'application/octet-stream');
  assert.equal(headers.get('content-disposition'), 'attachment; filename=transcript.pdf');
  assert.equal(headers.get('x-content-type-options'), 'nosniff');
  assert.match(headers.get('content-security-policy')!, /^sandbox;/);
  assert.equal(headers.get('cache-control'), 'no-store');
  const story = async () => {
    const person = await browser.call('getPerson', { params: { id: String(id) } });
    return person.data.story.map(({ text }: { text: string }) => text);
  };
  assert.ok((await story()).includes('Open document.'));

  await sql`update document set sha256 = '\\x00' where session_uuid = ${uuid}`.execute(database);
  assert.equal((await browser.call('openDocument', { params })).status, 409);
  await sql`update document set removed_at = now() where session_uuid = ${uuid}`.execute(database);
  const removed = await browser.call('openDocument', { params });
  assert.deepEqual(
    [removed.status, removed.message],
    [404, 'The file of this document was removed. What was decided on it stays.'],
  );
  assert.ok((await story()).includes('Open document (refused).'));
  for (const unknown of ['6f1c8f5e-0000-4000-8000-000000000000', 'nothing'])
    assert.deepEqual((await browser.call('openDocument', { params: { id: unknown } })).status, 404);
});

test('members whose proof is overdue are reminded once a week, however often one presses', async () => {
  /** Makes a member whose proof is overdue. */
  const overdue = async () => {
    const person = somebody();
    const { client, uuid } = await newMember(server, 'LINCOLN2026', person);
    await sql`update join_session set origin = 'self_nomination', paid_at = '2001-01-01' where uuid = ${uuid}`.execute(
      database,
    );
    return { client, uuid, email: person.personalEmail, named: { id: await idOf(uuid), join: 1 } };
  };
  const [one, two, three] = [await overdue(), await overdue(), await overdue()];
  const { rows } = await list('overdue');
  assert.deepEqual(
    rows
      .filter(({ id }: { id: number }) => [one, two, three].some(({ named }) => named.id === id))
      .map(({ since, remindedAt }: { since: string; remindedAt: string | null }) => [since, remindedAt]),
    [1, 2, 3].map(() => ['2001-01-01T00:00:00.000Z', null]),
  );
  const remind = (...whom: { named: object }[]) => ({ people: whom.map(({ named }) => named) });
  const trial = await browser.call('remindOfProof', { body: { ...remind(one, two), trial: true } });
  assert.deepEqual(
    [trial.data.lines, trial.data.verb],
    [['2 people get a letter that asks for the transcript.'], 'Remind 2 people'],
  );
  const { seen } = trial.data;
  const both = await Promise.all(
    [1, 2].map(() => browser.call('remindOfProof', { body: { ...remind(one, two), seen } })),
  );
  assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409]);

  await upload(three.client, three.uuid);
  const four = await overdue();
  const again = await browser.call('remindOfProof', { body: { ...remind(one, three, four), trial: true } });
  assert.deepEqual(again.data.lines, [
    '1 person gets a letter that asks for the transcript.',
    '1 person was reminded in the last 7 days, and gets none.',
    '1 person owes nothing any more, and gets none.',
  ]);
  const none = await browser.call('remindOfProof', { body: { ...remind(one, three), trial: true } });
  assert.deepEqual(
    [none.status, none.message],
    [409, 'All of them were reminded in the last 7 days, or owe nothing any more.'],
  );
  await sql`update letter set created_at = now() - interval '8 days' where session_uuid = ${one.uuid}`.execute(
    database,
  );
  assert.equal((await browser.act('remindOfProof', { body: remind(one) })).status, 200);

  while (await sendDue(deps, deps.config.mail!));
  const letters = (await server.letters()).filter(
    ({ subject }) => subject === 'We still need your transcript',
  );
  assert.deepEqual(letters.map(({ to }) => to).sort(), [one.email, one.email, two.email].sort());
  const later = (await list('overdue')).rows.find(({ id }: { id: number }) => id === two.named.id);
  assert.ok(later.remindedAt > later.since);
});
