import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { extendCodes, shortCodes } from '../joining/invitations/invitations.ts';
import { MOST_CHANGED, MOST_READ } from '../joining/invitations/searchInvitations.ts';

const server = await sharedServer();
const { database } = server.deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');

type Answer = DeskData<'searchInvitations'>;

let contacts = 7_700_000;
/** Makes an invitation for a person with a unique name. Returns the person's number. */
async function invite(
  code: string,
  more: { campaign?: string; programme?: string; expiresAt?: string } = {},
) {
  const { campaign = null, programme = null, expiresAt = null } = more;
  const last = code.toLowerCase();
  const { rows } = await sql<{ id: number }>`
    with invited as (
      insert into person (contact_id, profile, email, words)
      values (${String(++contacts)}, ${JSON.stringify({ firstName: 'Maria', lastName: code, schoolName: 'Oak School' })}, ${`${last}@example.com`}, ${`maria ${last} ${last}@example.com`})
      returning id)
    insert into invitation (code, person_id, campaign, programme, expires_at)
    select ${code}, id, ${campaign}, ${programme}, ${expiresAt} from invited
    returning person_id::int as id`.execute(database);
  return rows[0]!.id;
}

async function search(filter: object, next?: string): Promise<Answer> {
  const { data, status, message } = await browser.call('searchInvitations', {
    body: { filter, ...(next !== undefined && { next }) },
  });
  assert.equal(status, 200, message!);
  return data;
}
const codesOf = async (filter: object) => (await search(filter)).rows.map(({ code }) => code);
const explain = async (code: string): Promise<DeskData<'explainInvitation'>> =>
  (await browser.call('explainInvitation', { body: { code } })).data;

test('why a code fails is one sentence, with whom it leads to and what can be done', async () => {
  const id = await invite('WHYCODE23', { expiresAt: '2026-01-01T06:00Z' });
  const works = await invite('WORKING23');
  assert.deepEqual(await explain(' whycode23 '), {
    sentence: 'WHYCODE23 fails: its last day was 2025-12-31; it led to contact 7700001 (Maria WHYCODE23).',
    fault: 'expired',
    code: 'WHYCODE23',
    people: [{ id, name: 'Maria WHYCODE23' }],
  });
  assert.equal((await explain('WORKING23')).fault, null);
  const mistyped = await explain('WORK-ING23');
  assert.match(mistyped.sentence, / They mean WORKING23, of Maria WORKING23\.$/);
  assert.deepEqual([mistyped.fault, mistyped.code], ['unknown', null]);
  assert.deepEqual(mistyped.people, [{ id: works, name: 'Maria WORKING23' }]);
  assert.equal((await browser.call('explainInvitation', { body: { code: ' ' } })).status, 400);
});

test('invitations are found by each filter, and by text', async () => {
  const id = await invite('FILTERA23', {
    campaign: 'Spring',
    programme: 'undergraduate',
    expiresAt: '2098-07-01T04:59Z',
  });
  await invite('FILTERB23', { campaign: 'Spring' });
  await sql`insert into invitation (code, school, campaign) values ('FILTERC23', 'Elm School', 'Spring')`.execute(
    database,
  );
  await startJoin(server.client(), 'FILTERB23');
  assert.deepEqual((await search({ text: 'filtera23' })).rows, [
    {
      code: 'FILTERA23',
      person: { id, name: 'Maria FILTERA23' },
      school: 'Oak School',
      programme: 'Honor Collegians',
      campaign: 'Spring',
      lastDay: '2098-07-01T04:58:59.999Z',
      state: 'unused',
    },
  ]);
  for (const [filter, codes] of [
    [{ campaign: 'Spring' }, ['FILTERC23', 'FILTERB23', 'FILTERA23']],
    [{ text: 'Spring', state: 'used' }, ['FILTERB23']],
    [{ campaign: 'Spring', school: 'oak school', state: 'unused' }, ['FILTERA23']],
    [{ school: 'ELM SCHOOL' }, ['FILTERC23']],
    [{ text: 'elm school' }, ['FILTERC23']],
    [{ programme: 'undergraduate', campaign: 'Spring' }, ['FILTERA23']],
    [{ campaign: 'Spring', lastDay: '2098-06-29' }, []],
    [{ campaign: 'Spring', lastDay: '2098-07-01' }, ['FILTERA23']],
    [{ text: 'filterb23@example.com' }, ['FILTERB23']],
    [{ text: '7700004' }, ['FILTERB23']],
    [{ campaign: 'Autumn' }, []],
  ] as const)
    assert.deepEqual(await codesOf(filter), codes, JSON.stringify(filter));
  for (const body of [
    { filter: { state: 'lost' } },
    { filter: {}, next: "1-'" },
    { filter: { lastDay: '6/30' } },
    { filter: { lastDay: '0000-01-01' } },
  ])
    assert.equal((await browser.call('searchInvitations', { body })).status, 400);
});

test('the list goes on page by page, and a filter without an index says how far it looked', async () => {
  await sql`insert into invitation (code, school, campaign, created_at)
    select 'PAGE' || n, 'Many School', 'Pages', now() - n * interval '1 minute' from generate_series(1, 120) n`.execute(
    database,
  );
  const codes: string[] = [];
  let next: string | null = null;
  do {
    const page: Answer = await search({ campaign: 'Pages' }, next ?? undefined);
    codes.push(...page.rows.map(({ code }) => code));
    next = page.next;
  } while (next);
  assert.deepEqual(
    codes,
    Array.from({ length: 120 }, (_, n) => `PAGE${n + 1}`),
  );
  await sql`insert into invitation (code, school, campaign, created_at, expires_at)
    select 'DEEP' || n, 'Deep School', 'Deep', now() - n * interval '1 minute', case when n > ${MOST_READ} then now() end
    from generate_series(1, ${MOST_READ + 1}) n`.execute(database);
  const first = await search({ campaign: 'Deep', state: 'expired' });
  assert.deepEqual(first.rows, []);
  assert.ok(first.searchedTo);
  const second = await search({ campaign: 'Deep', state: 'expired' }, first.next!);
  assert.deepEqual(
    [second.rows.map(({ code }) => code), second.next, second.searchedTo],
    [[`DEEP${MOST_READ + 1}`], null, null],
  );
});

test('codes are withdrawn and extended, those that are ticked or all that are found', async () => {
  await invite('BULKA2345', { campaign: 'Bulk' });
  await invite('BULKB2345', { campaign: 'Bulk', expiresAt: '2026-01-01T06:00Z' });
  await invite('BULKC2345', { campaign: 'Bulk' });
  const states = async () =>
    Object.fromEntries((await search({ campaign: 'Bulk' })).rows.map(({ code, state }) => [code, state]));
  const ticked = { which: { codes: ['BULKA2345'] }, typed: null };
  const trial = await browser.call('withdrawInvitations', { body: { ...ticked, trial: true } });
  assert.deepEqual(trial.data.lines, [
    'BULKA2345',
    '1 code opens no join any more.',
    'Joins that began with them go on. Extending opens them again.',
  ]);
  assert.equal((await states()).BULKA2345, 'unused');
  assert.equal((await browser.act('withdrawInvitations', { body: ticked })).status, 200);
  const found = { which: { filter: { campaign: 'Bulk' } }, typed: null };
  const all = await browser.call('withdrawInvitations', { body: { ...found, trial: true } });
  assert.equal(all.data.verb, 'Withdraw 2 codes');
  assert.ok(all.data.lines.includes('1 of 3 codes is withdrawn already.'));

  const longer = { ...found, until: '2099-06-30' };
  const extended = await browser.act('extendInvitations', { body: longer });
  assert.deepEqual(extended.data, { lines: ['2 extended.'] });
  assert.deepEqual(await states(), { BULKA2345: 'unused', BULKB2345: 'unused', BULKC2345: 'unused' });
  assert.equal((await browser.act('extendInvitations', { body: longer })).status, 409, 'nothing is left');
  const past = await browser.act('extendInvitations', { body: { ...longer, until: '2020-06-30' } });
  assert.equal(past.message, '"2020-06-30" is past: nobody could join with the code.');

  const { data: shown } = await browser.call('withdrawInvitations', { body: { ...found, trial: true } });
  await sql`insert into invitation (code, school, campaign) values ('BULKD2345', 'Elm School', 'Bulk')`.execute(
    database,
  );
  const changed = await browser.call('withdrawInvitations', { body: { ...found, seen: shown.seen } });
  assert.equal(changed.status, 409);
  assert.equal(changed.shown!.verb, 'Withdraw 4 codes', 'what was imported meanwhile is shown first');
});

test('above a hundred codes their number is typed', async () => {
  await sql`insert into invitation (code, school, campaign)
    select 'TYPED' || n, 'Typed School', 'Typed' from generate_series(1, 101) n`.execute(database);
  const body = { which: { filter: { campaign: 'Typed' } }, typed: null as number | null };
  const refused = await browser.act('withdrawInvitations', { body });
  assert.deepEqual(
    [refused.status, refused.message],
    [400, 'Type the number 101 to confirm that you mean so many.'],
  );
  const typed = { ...body, typed: 101 };
  const { data: shown } = await browser.call('withdrawInvitations', { body: { ...typed, trial: true } });
  const press = () => browser.call('withdrawInvitations', { body: { ...typed, seen: shown.seen } });
  const presses = (await Promise.all([press(), press()])).filter(({ status }) => status === 200);
  // The second press is refused or, if both have seen the same preview, reports that the codes have changed.
  assert.deepEqual(
    presses.map(({ data }) => data.lines).toSorted((one, other) => one.length - other.length),
    [
      ['101 withdrawn.'],
      ...presses.slice(1).map(() => ['0 withdrawn.', '101 have changed meanwhile, and stay so.']),
    ],
  );
});

test('a filter by school or text finds all codes of a school, however many there are', async () => {
  const count = MOST_READ + 1;
  await sql`insert into invitation (code, school) select 'LARGE' || n, 'Large School' from generate_series(1, ${count}::int) n`.execute(
    database,
  );
  await sql`
    with invited as (
      insert into person (contact_id, profile)
      select (8800000 + n)::text, '{"firstName":"Ann","schoolName":"Large Academy"}'::jsonb from generate_series(1, ${count}::int) n
      returning id)
    insert into invitation (code, person_id) select 'ACADEMY' || id, id from invited`.execute(database);
  for (const filter of [{ school: 'Large School' }, { text: 'Large School' }, { school: 'Large Academy' }]) {
    const { data } = await browser.call('withdrawInvitations', {
      body: { which: { filter }, typed: null, trial: true },
    });
    assert.equal(data.verb, `Withdraw ${count.toLocaleString('en-US')} codes`, JSON.stringify(filter));
  }
});

test('with a filter by school, the others look further than where the first of its codes end', async () => {
  await sql`insert into invitation (code, school, campaign, created_at)
    select 'BEYOND' || n, 'Beyond School', case when n > ${MOST_READ} then 'Beyond' end, now() - n * interval '1 minute'
    from generate_series(1, ${MOST_READ + 1}) n`.execute(database);
  for (const filter of [
    { school: 'Beyond School', campaign: 'Beyond' },
    { text: 'Beyond School', school: 'beyond school', campaign: 'Beyond' },
  ]) {
    const { next } = await search(filter);
    const { rows } = await search(filter, next!);
    assert.deepEqual(
      rows.map(({ code }) => code),
      [`BEYOND${MOST_READ + 1}`],
    );
  }
});

test('a code that a colleague withdraws while Extend is open is shown to be withdrawn first', async () => {
  await invite('MEANWHILE2', { expiresAt: '2026-01-01T06:00Z' });
  const body = { which: { codes: ['MEANWHILE2'] }, until: '2099-06-30', typed: null };
  const { data: shown } = await browser.call('extendInvitations', { body: { ...body, trial: true } });
  await browser.act('withdrawInvitations', { body: { which: body.which, typed: null } });
  const { status } = await browser.call('extendInvitations', { body: { ...body, seen: shown.seen } });
  assert.equal(status, 409);
  const { rows } = await sql<{ is_withdrawn: boolean }>`
    select is_withdrawn from invitation where code = 'MEANWHILE2'`.execute(database);
  assert.equal(rows[0]!.is_withdrawn, true);
});

test('extending shortens no code, and says of withdrawn ones only if there are some', async () => {
  await invite('LONGA2345', { expiresAt: '2099-07-01T06:00Z' });
  await invite('LONGB2345');
  const extend = (codes: string[], until: string) => ({ which: { codes }, until, typed: null });
  const trial = async (codes: string[], until: string) =>
    (await browser.call('extendInvitations', { body: { ...extend(codes, until), trial: true } })).data;
  assert.deepEqual((await trial(['LONGA2345'], '2100-06-30')).lines, [
    'LONGA2345',
    '1 code is good until June 30, 2100.',
  ]);
  const both = ['LONGA2345', 'LONGB2345'];
  await browser.act('withdrawInvitations', { body: { which: { codes: both }, typed: null } });
  assert.deepEqual((await trial(both, '2098-06-30')).lines, [
    'LONGA2345, LONGB2345',
    '2 codes stay good for longer than until June 30, 2098.',
    'Those that were withdrawn are opened again.',
  ]);
  assert.equal((await browser.act('extendInvitations', { body: extend(both, '2098-06-30') })).status, 200);
  const { rows } = await sql<{ code: string; at: Date | null; isWithdrawn: boolean }>`
    select code, expires_at as at, is_withdrawn as "isWithdrawn" from invitation where code = any(${both}) order by code`.execute(
    database,
  );
  assert.deepEqual(rows, [
    { code: 'LONGA2345', at: new Date('2099-07-01T06:00Z'), isWithdrawn: false },
    { code: 'LONGB2345', at: null, isWithdrawn: false },
  ]);
});

test('a code that changes between the look and the change stays as it is', async () => {
  await invite('LOCKED234', { expiresAt: '2026-01-01T06:00Z' });
  const short = await shortCodes(server.deps, ['LOCKED234'], '2099-06-30');
  await browser.act('withdrawInvitations', { body: { which: { codes: ['LOCKED234'] }, typed: null } });
  assert.deepEqual(await extendCodes(server.deps, short, '2099-06-30'), []);
  const seen = await shortCodes(server.deps, ['LOCKED234'], '2099-06-30');
  assert.deepEqual(await extendCodes(server.deps, seen, '2099-06-30'), ['LOCKED234']);
});

test('a day of no calendar and a code with a character that nobody sees are answered', async () => {
  const extend = { which: { codes: ['NULS\0'] }, typed: null };
  for (const until of ['', '0000-01-01'])
    assert.equal((await browser.act('extendInvitations', { body: { ...extend, until } })).status, 400);
  assert.equal(
    (await browser.act('extendInvitations', { body: { ...extend, until: '2099-06-30' } })).status,
    409,
  );
  assert.deepEqual(await codesOf({ text: 'NULS\0', campaign: 'a\0b' }), []);
});

test('that too many codes are found is said without reading them all', async () => {
  await sql`insert into invitation (code, school, campaign)
    select 'FLOOD' || n, 'Flood School', 'Flood' from generate_series(1, ${MOST_CHANGED + 1}::int) n`.execute(
    database,
  );
  const trial = (filter: object) =>
    browser.call('withdrawInvitations', { body: { which: { filter }, typed: null, trial: true } });
  for (const filter of [{}, { campaign: 'Flood' }])
    assert.match((await trial(filter)).message!, /^More than 100,000 codes are found\./);
});
