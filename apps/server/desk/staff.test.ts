import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();
const { database } = server.deps;
const desk = await startDesk(server);
after(() => desk.close());

type Listed = DeskData<'getStaff'>['staff'][number];
const owner = desk.browser();
await owner.call('enter', { body: { token: await desk.link('Robin Owner', 'owner') } });
const listed = async (name: string): Promise<Listed> =>
  (await owner.call('getStaff')).data.staff.find((each: Listed) => each.name === name);
const invite = (name: string, more: object = {}) =>
  owner.act('makeStaffLink', {
    body: { id: null, name, email: 'somebody@example.com', role: 'staff', ...more },
  });
const enter = async (url: string) => {
  const browser = desk.browser();
  const { status } = await browser.call('enter', { body: { token: url.split('#')[1]! } });
  return { browser, status };
};

test('an owner invites somebody, whose link is told once and signs them in', async () => {
  const trial = await owner.call('makeStaffLink', {
    body: { id: null, name: ' Kim  Desk ', email: 'kim@example.com', role: 'finance', trial: true },
  });
  assert.deepEqual(trial.data.lines, [
    'Kim Desk gets the role finance, and may do what staff may, move money and read the ledger.',
    'The link signs one browser in, once, within 24 hours. It is shown once.',
  ]);
  assert.equal(await listed('Kim Desk'), undefined);
  const { data } = await invite('Kim Desk', { role: 'finance' });
  assert.ok(data.url.startsWith(`${desk.url}/enter#`));
  const { browser } = await enter(data.url);
  assert.equal((await browser.call('getMe')).data.role, 'finance');
  const { id: _, lastSeenAt, ...kim } = await listed('Kim Desk');
  assert.ok(lastSeenAt);
  assert.deepEqual(kim, {
    name: 'Kim Desk',
    email: 'somebody@example.com',
    role: 'finance',
    passkeys: 0,
    endedAt: null,
  });
  assert.equal((await enter(data.url)).status, 403);
});

test('nobody is invited without a name or an email, or twice', async () => {
  const none = await invite('  ', { email: 'no email' });
  assert.equal(none.status, 400);
  assert.equal(none.message, 'Please enter a name. Invalid email address.');
  const answers = await Promise.all([invite('Only Once'), invite('Only Once')]);
  assert.ok(answers.some(({ status }) => status === 200));
  assert.equal((await invite('Only Once')).message, 'Only Once is among the staff already.');
});

test('a new sign-in link leaves the role as it is', async () => {
  await invite('Lost Passkey', { role: 'finance' });
  const { id } = await listed('Lost Passkey');
  const { data } = await invite('ignored', { id, role: 'owner' });
  const { browser } = await enter(data.url);
  const { data: me } = await browser.call('getMe');
  assert.deepEqual([me.name, me.role], ['Lost Passkey', 'finance']);
});

test('a role changes from the next call on, and the last owner stays one', async () => {
  const { data } = await invite('Rising Star');
  const { browser } = await enter(data.url);
  const { id } = await listed('Rising Star');
  const params = { id: String(id) };
  assert.equal((await browser.call('getStaff')).status, 403);
  const done = await owner.act('setStaffRole', { params, body: { role: 'owner' } });
  assert.equal(done.status, 200);
  assert.equal((await browser.call('getStaff')).status, 200);

  const me = { id: String((await listed('Robin Owner')).id) };
  // Each of the last two owners takes the role of owner from the other at the same time. One of them must stay an owner.
  const seen = async (by: typeof owner, whom: { id: string }) =>
    (await by.call('setStaffRole', { params: whom, body: { role: 'staff', trial: true } })).data.seen;
  const [one, other] = [await seen(owner, params), await seen(browser, me)];
  const answers = await Promise.all([
    owner.call('setStaffRole', { params, body: { role: 'staff', seen: one } }),
    browser.call('setStaffRole', { params: me, body: { role: 'staff', seen: other } }),
  ]);
  const { rows } = await sql`select from staff where role = 'owner' and ended_at is null`.execute(database);
  assert.equal(rows.length, 1);
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  await sql`update staff set role = 'owner' where name = 'Robin Owner'`.execute(database);
  await sql`update staff set role = 'staff' where name = 'Rising Star'`.execute(database);
  for (const [name, body] of [
    ['setStaffRole', { role: 'finance' }],
    ['endStaffAccess', {}],
  ] as const)
    assert.equal(
      (await owner.act(name, { params: me, body })).message,
      'Robin Owner is the last owner. Make somebody else an owner first.',
    );
});

test('ended access signs out at once and ends links; whoever is invited again begins anew', async () => {
  const { data } = await invite('Leaving Soon', { role: 'finance' });
  const { browser } = await enter(data.url);
  const { id } = await listed('Leaving Soon');
  const { data: unused } = await invite('', { id });
  await owner.act('endStaffAccess', { params: { id: String(id) } });
  assert.equal((await browser.call('getMe')).status, 401);
  assert.equal((await enter(unused.url)).status, 403);
  assert.ok((await listed('Leaving Soon')).endedAt);
  assert.equal(
    (await owner.act('endStaffAccess', { params: { id: String(id) } })).message,
    'The access of Leaving Soon has ended.',
  );
  const again = await invite('Leaving Soon');
  const { browser: back } = await enter(again.data.url);
  assert.equal((await back.call('getMe')).data.role, 'staff');
});

test('what staff did is listed by person, action and day, the latest first', async () => {
  const search = async (body: object) =>
    (await owner.call('searchEvents', { body })).data as DeskData<'searchEvents'>;
  const { data } = await invite('Busy Bee');
  const { browser } = await enter(data.url);
  await browser.call('getStaff');
  await browser.call('signOut', { body: { everywhere: false } });
  const { rows } = await search({ name: 'Busy Bee' });
  assert.deepEqual(
    rows.map(({ what, outcome, person }) => [what, outcome, person]),
    [
      ['Sign out', 'done', null],
      ['Read staff', 'refused', null],
      ['Sign in by link', 'done', null],
    ],
  );
  assert.equal((await search({ name: 'Busy Bee', action: 'signOut' })).rows.length, 1);
  assert.equal((await search({ name: 'Busy Bee', day: '2020-01-01' })).rows.length, 0);
  const day = new Intl.DateTimeFormat('en-CA', {
    timeZone: server.deps.society.society.timeZone,
  }).format(new Date(rows[0]!.at));
  assert.equal((await search({ name: 'Busy Bee', day })).rows.length, 3);

  await sql`insert into staff_event (name, action, subject, outcome)
    select 'Many Deeds', 'correctPerson', n::text, 'done' from generate_series(1, 120) n`.execute(database);
  const subjects: (number | null)[] = [];
  let next: string | null = null;
  do {
    const page: DeskData<'searchEvents'> = await search({ name: 'Many Deeds', ...(next && { next }) });
    subjects.push(...page.rows.map(({ person }) => person));
    next = page.next;
  } while (next !== null);
  assert.deepEqual(
    subjects,
    Array.from({ length: 120 }, (_, index) => 120 - index),
  );
  assert.equal((await owner.call('searchEvents', { body: { next: 'nonsense' } })).status, 400);
  const { data: file } = await owner.call('getEventsFile', { query: { name: 'Busy Bee', day } });
  assert.equal(
    file.replace(/\r\n\S+?Z,/g, '\r\n'),
    'when,who,what,about,outcome\r\nBusy Bee,Sign out,,done\r\nBusy Bee,Read staff,,refused\r\nBusy Bee,Sign in by link,,done\r\n',
  );
});

test('the record of a sign-in link says whose it is', async () => {
  await invite('Lee Linked');
  const { id, name, email, role } = await listed('Lee Linked');
  assert.equal((await owner.act('makeStaffLink', { body: { id, name, email, role } })).status, 200);
  const { rows } = await sql`
    select action, subject, outcome from staff_event order by id desc limit 1`.execute(database);
  assert.deepEqual(rows, [{ action: 'makeStaffLink', subject: `staff ${id}`, outcome: 'done' }]);
  const { data } = await owner.call('searchEvents', { body: { action: 'makeStaffLink' } });
  assert.deepEqual([data.rows[0]!.subject, data.rows[0]!.person], ['staff Lee Linked', null]);
});
