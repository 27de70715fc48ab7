import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { dueLetters } from '../letters/dueLetters.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { idOf, somebody } = deskPeopleOn(server);

/** Returns the lines of a file, each split into cells. No cell in these tests contains a comma. */
const linesOf = (file: string) =>
  file
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(','));
const take = async (name: Parameters<typeof browser.call>[0], asked: object): Promise<string[][]> => {
  const { data, status, message } = await browser.call(name, asked);
  assert.equal(status, 200, message!);
  return linesOf(data);
};

test('people are taken away as they are found, or as they wait', async () => {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  const id = String(await idOf(uuid));
  const [columns, row, ...more] = await take('getPeopleFile', { body: { text: person.lastName } });
  assert.deepEqual(columns, ['person', 'name', 'email', 'programme', 'state', 'paid', 'member number']);
  assert.deepEqual(row!.slice(0, 5), [
    id,
    `Ann ${person.lastName}`,
    person.personalEmail,
    'Honor Scholars',
    'paid',
  ]);
  assert.deepEqual(more, []);
  assert.equal((await take('getPeopleFile', { body: { queue: 'letters' } })).length, 1);
  await dueLetters(database, deps, [{ kind: 'portal', sessionUuid: uuid, occasion: 'refused' }]);
  await sql`update letter set refusal = '550 no' where session_uuid = ${uuid} and occasion = 'refused'`.execute(
    database,
  );
  assert.equal((await take('getPeopleFile', { body: { queue: 'letters' } }))[1]![0], id);
  for (const body of [{}, { text: '' }, { queue: 'money' }])
    assert.equal((await browser.call('getPeopleFile', { body })).status, 400);
});

test('invitations are taken away with the filters that are set, on as many pages as it takes', async () => {
  await sql`
    insert into invitation (code, school, campaign) select 'FILE' || n, 'File School', 'Files' from generate_series(1, 1100) n`.execute(
    database,
  );
  const [columns, ...rows] = await take('getInvitationsFile', { body: { filter: { campaign: 'Files' } } });
  assert.deepEqual(columns, [
    'code',
    'person',
    'name',
    'school',
    'programme',
    'campaign',
    'last day',
    'state',
  ]);
  assert.equal(new Set(rows.map(([code]) => code)).size, 1100);
  assert.deepEqual(rows[0]!.slice(3), ['File School', '', 'Files', '', 'unused']);
});

test('transcripts are taken away tab by tab, and who took them is recorded', async () => {
  const person = somebody();
  const { uuid } = await newMember(server, 'LINCOLN2026', person);
  await sql`update join_session set origin = 'self_nomination', paid_at = '2020-05-06T18:00:00Z' where uuid = ${uuid}`.execute(
    database,
  );
  const lines = await take('getTranscriptsFile', { query: { tab: 'overdue' } });
  const id = String(await idOf(uuid));
  assert.deepEqual(
    lines.find(([each]) => each === id),
    [id, '1', `Ann ${person.lastName}`, 'Honor Scholars', '2020-05-06', '0', '', '', ''],
  );
  const { rows } = await sql`
    select action, outcome from staff_event where action like 'get%File' order by id desc limit 1`.execute(
    database,
  );
  assert.deepEqual(rows, [{ action: 'getTranscriptsFile', outcome: 'done' }]);
});
