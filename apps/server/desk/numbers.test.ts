import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();
const { database } = server.deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { somebody, orderedPin } = deskPeopleOn(server);

/** A time long ago. In the society's time zone (America/Chicago) it is still March 3. */
const EVENING = '2020-03-04T05:00:00Z';
const period = { from: '2020-03-01', to: '2020-03-31' };
const numbers = async (by: string, more: object = {}): Promise<DeskData<'getNumbers'>> => {
  const { data, status, message } = await browser.call('getNumbers', { query: { ...period, by, ...more } });
  assert.equal(status, 200, message!);
  return data;
};
const none = { invited: 0, started: 0, details: 0, membership: 0, paid: 0, upgraded: 0, proofAccepted: 0 };

test('joins are counted by how far they came, on the society’s day on which they began', async () => {
  const paid = await newMember(server, 'LINCOLN2026', somebody());
  const { uuid: ordered } = await orderedPin();
  const upgraded = await orderedPin();
  await payOrder(server, upgraded.client, upgraded.uuid);
  const { rows: started } = await sql<{ uuid: string }>`
    insert into join_session (origin, programme, school, person_id)
    select 'school', 'retired', 'Lincoln High', person_id from join_session where uuid = ${paid.uuid} returning uuid`.execute(
    database,
  );
  await sql`update join_session set upgrade = 'taken' where uuid = ${upgraded.uuid}`.execute(database);
  await sql`
    insert into document (id, kind, session_uuid, name, media_type, size_bytes, sha256, storage_key, review)
    select gen_random_uuid(), 'transcript', ${paid.uuid}, n || '.pdf', 'application/pdf', 1, '', 'test ' || n, 'accepted'
    from generate_series(1, 2) n`.execute(database);
  const uuids = [paid.uuid, ordered, upgraded.uuid, started[0]!.uuid];
  await sql`update join_session set created_at = ${EVENING}, paid_at = case when paid_at is not null then '2020-03-05T18:00:00Z'::timestamptz end
    where uuid = any(${uuids}::uuid[])`.execute(database);
  await sql`
    insert into invitation (code, school, programme, created_at)
    values ('NUMBER1', 'Lincoln High', null, '2020-03-04T18:00:00Z'), ('NUMBER2', 'Other High', 'retired', '2020-03-04T18:00:00Z'),
      ('NUMBER3', 'Other High', null, '2020-04-01T04:59:00Z')`.execute(database);
  await sql`update invitation set campaign = 'Spring' where code in ('NUMBER1', 'NUMBER2')`.execute(database);
  await sql`update join_session set invitation_code = 'NUMBER1' where uuid = ${started[0]!.uuid}`.execute(
    database,
  );

  const all = { invited: 3, started: 4, details: 3, membership: 3, paid: 2, upgraded: 1, proofAccepted: 1 };
  const byDay = await numbers('day');
  assert.deepEqual(byDay.total, all);
  assert.deepEqual(
    byDay.rows.filter(({ key }) => ['2020-03-03', '2020-03-04', '2020-03-31'].includes(key!)),
    [
      { ...all, key: '2020-03-03', invited: 0 },
      { ...none, key: '2020-03-04', invited: 2 },
      { ...none, key: '2020-03-31', invited: 1 },
    ],
  );
  assert.equal(byDay.rows.length, 31);
  assert.deepEqual(byDay.days, [
    { day: '2020-03-03', begun: 4, paid: 0 },
    { day: '2020-03-05', begun: 0, paid: 2 },
  ]);

  const byProgramme = await numbers('programme');
  assert.deepEqual(byProgramme.total, all);
  assert.deepEqual(byProgramme.rows, [
    { ...all, key: 'Honor Scholars', invited: 0, started: 3 },
    { ...none, key: 'retired', invited: 1, started: 1 },
    { ...none, key: null, invited: 2 },
  ]);
  const year = { from: '2020-01-01', to: '2020-12-31' };
  assert.deepEqual(await numbers('programme', year), byProgramme, 'a long period is read otherwise');
  assert.deepEqual((await numbers('campaign')).rows, [
    { ...all, key: null, invited: 1, started: 3 },
    { ...none, key: 'Spring', invited: 2, started: 1 },
  ]);
  const bySchool = await numbers('school');
  assert.deepEqual(bySchool.total, all);
  assert.deepEqual(
    bySchool.rows.find(({ key }) => key === 'Lincoln High'),
    { ...none, key: 'Lincoln High', invited: 1, started: 1 },
  );
});

test('invitations are counted right whatever becomes of them, and counting them again adds nothing', async () => {
  const invited = async () => {
    const { rows } = await numbers('campaign', { from: '2021-05-01', to: '2021-05-31' });
    return Object.fromEntries(rows.map(({ key, invited }) => [key, invited]));
  };
  await sql`insert into invitation (code, school, created_at)
    select 'COUNTED' || n, 'A School', '2021-05-10T12:00:00Z' from generate_series(1, 5) n`.execute(database);
  await sql`
    insert into invitation (code, school, created_at) values ('COUNTED5', 'A School', now()), ('COUNTED6', 'A School', '2021-05-10T12:10:00Z')
    on conflict (code) do update set campaign = 'Fall'`.execute(database);
  assert.deepEqual(await invited(), { null: 5, Fall: 1 });
  await sql`update invitation set campaign = 'Spring' where code in ('COUNTED1', 'COUNTED5')`.execute(
    database,
  );
  await sql`delete from invitation where code in ('COUNTED2', 'COUNTED5')`.execute(database);
  assert.deepEqual(await invited(), { null: 3, Spring: 1 });
  const rows = () => database.selectFrom('invitation_count').selectAll().execute();
  const before = await rows();
  await sql`select recount_invitations()`.execute(database);
  assert.deepEqual(await rows(), before);
  await database.deleteFrom('invitation_count').execute();
  await sql`select recount_invitations()`.execute(database);
  assert.deepEqual(await invited(), { null: 3, Spring: 1 });
});

test('a period may be empty, and is refused if it ends before it begins or is too long', async () => {
  const empty = await numbers('programme', { from: '2019-01-01', to: '2019-01-02' });
  assert.deepEqual(empty, { days: [], rows: [], total: none });
  for (const query of [
    { from: '2020-02-01', to: '2020-01-31', by: 'day' },
    { from: '2000-01-01', to: '2020-01-31', by: 'day' },
    { from: 'long ago', to: '2020-01-31', by: 'day' },
    { ...period, by: 'colour' },
  ])
    assert.equal((await browser.call('getNumbers', { query })).status, 400);
});

test('the numbers are taken away as CSV, and that is recorded', async () => {
  const { data } = await browser.call('getNumbersFile', { query: { ...period, by: 'programme' } });
  assert.equal(
    data,
    'programme,invited,started,details,membership,paid,upgraded,proofAccepted\r\nHonor Scholars,0,3,3,3,2,1,1\r\nretired,1,1,0,0,0,0,0\r\n,2,0,0,0,0,0,0\r\n',
  );
  const { rows } = await sql`select action, outcome from staff_event order by id desc limit 1`.execute(
    database,
  );
  assert.deepEqual(rows, [{ action: 'getNumbersFile', outcome: 'done' }]);
});

test('a period that ends before it begins is refused with a sentence that says so', async () => {
  const { status, message } = await browser.call('getNumbers', {
    query: { from: '2026-12-24', to: '2026-11-01', by: 'day' },
  });
  assert.deepEqual([status, message], [400, 'The first day is after the last.']);
});

test('a day that the database does not know is refused', async () => {
  const day = '0000-01-01';
  const { status } = await browser.call('getNumbers', { query: { from: day, to: day, by: 'day' } });
  assert.equal(status, 400);
  const owner = await desk.signedIn('owner');
  assert.equal((await owner.call('searchEvents', { body: { day } })).status, 400);
});
