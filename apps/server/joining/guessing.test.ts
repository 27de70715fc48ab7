import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { mintedCode } from '#core/mintedCode.ts';
import { ELIGIBILITY_FAILED } from '#core/sentences.ts';
import { afterEachIn, beforeEachIn } from '../../../tests/harness/hooks.ts';
import { countWaiting, lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { staffNotices, writeNotice } from '../../../tests/harness/rows.ts';
import { startServerProcess } from '../../../tests/harness/serverProcess.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { CANNOT_CHECK } from './checkEligibility.ts';
import { notifyOfGuessing, startWatchingGuesses } from './watchGuesses.ts';

/** A small limit: each counted guess has to wait until HubSpot allows another search. */
const LIMIT = 3;
const server = await sharedServer({
  LIMITS: 'on',
  LIMIT_WRONG_CODES_PER_ADDRESS: `${LIMIT}/10`,
  TRUST_PROXY: '127.0.0.1',
});
beforeEachIn(import.meta.filename, async () => {
  await sql`delete from limit_count`.execute(server.deps.database);
  await sql`delete from staff_notice`.execute(server.deps.database);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0 where name = 'call'`.execute(
    server.deps.database,
  );
  await sql`update crm_budget set tokens = 1, blocked_until = '-infinity', failures = 0 where name = 'search'`.execute(
    server.deps.database,
  );
});
afterEachIn(import.meta.filename, () => server.hubspotFault(null));

const STRANGER = '198.51.100.7';
interface Answer {
  status: number;
  data?: { status: string; message: string; contactId: string | null };
  message?: string;
}

async function post(path: string, address: string, body: object, url = server.url): Promise<Answer> {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
    body: JSON.stringify(body),
  });
  return { ...((await response.json()) as object), status: response.status };
}
const check = (code: string, address = STRANGER, url?: string) =>
  post('/api/public/eligibility/check', address, { invitationCode: code, isTOLA: true }, url);
const school = (code: string, address = STRANGER) =>
  post('/api/public/join/initiate-school', address, { invitationCode: code });

function counted(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}
const codes = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}${n}`);
const known = (prefix: string, count: number) =>
  sql`
    with people as (
      insert into person (contact_id, profile, fetched_at) select (880000 + n)::text, '{}', now() from generate_series(0, ${count}::int - 1) n
      on conflict (contact_id) do update set fetched_at = now() returning id, contact_id)
    insert into invitation (code, person_id) select ${prefix} || (contact_id::int - 880000), id from people`.execute(
    server.deps.database,
  );
/** Gives the server other limits until the end of the test, by default those of production. */
function limitGuesses(t: TestContext, limits: Record<string, string> = {}): void {
  const own = server.deps.config.limits;
  limitWith(t, server, limits);
  t.after(() => (server.deps.config.limits = own));
}
const outage = () => server.hubspotFault({ kind: 'cut', times: 1_000_000 });

test(`of many guesses at once, at two servers, no more than ${LIMIT} are looked at, and they share what earlier ones have left`, async (t) => {
  const second = await startServerProcess(server);
  t.after(() => second.kill());
  const burst = codes('GUESS', 60).map((code, n) => check(code, STRANGER, n % 2 ? second.url : server.url));
  // On a busy machine, HubSpot answers too late about a code that is looked up (CANNOT_CHECK). An overloaded server refuses a
  // request before any look-up.
  const looked = (await Promise.all(burst)).filter(
    ({ status, message }) => status === 200 || message === CANNOT_CHECK,
  ).length;
  assert.ok(looked > 0 && looked <= LIMIT, `${looked} were looked at`);

  await server.deps.database.deleteFrom('limit_count').execute();
  const shift = sql`update limit_count set window_start = window_start - interval '2 minutes' where name = 'wrong_code'`;
  await Promise.all(codes('BEFORE', LIMIT - 2).map((code) => check(code)));
  await shift.execute(server.deps.database);
  await check('NOW');
  // The guesses may be counted in the next minute's row. Inserts that row, too, so that they have to wait for its lock.
  await sql`insert into limit_count (name, key, window_start, count)
    select name, key, max(window_start) + interval '1 minute', 0 from limit_count where name = 'wrong_code' group by name, key`.execute(
    server.deps.database,
  );
  const holder = await lockHolder(t, server);
  await holder.query("select from limit_count where name = 'wrong_code' for update");
  const guesses = [check('ONE'), check('OTHER', STRANGER, second.url)];
  await waiting(holder, 2);
  await holder.query('commit');
  assert.deepEqual(
    counted(await Promise.all(guesses)),
    { 200: 1, 429: 1 },
    'both read that one is left, and then one of them counted',
  );
});

test('guesses that cannot be checked, since HubSpot is down, are limited as well', async () => {
  await outage();
  const answers: Answer[] = [];
  for (const code of codes('DOWN', 6)) answers.push(await check(code));
  assert.deepEqual(counted(answers), { 503: LIMIT, 429: 6 - LIMIT });
});

test('guesses whose count must wait leave the database to others', async () => {
  await known('KNOWN', 10);
  await outage();
  const guesses: Promise<Answer>[] = [];
  await server.deps.database.transaction().execute(async (holder) => {
    await sql`lock table limit_count in exclusive mode`.execute(holder);
    guesses.push(...codes('BURST', 40).map((code, n) => check(code, `198.51.100.${n}`)));
    await waiting(holder, 1);
    for (const code of codes('KNOWN', 10))
      assert.equal((await check(code, '203.0.113.9')).data?.status, 'success');
    assert.equal(await countWaiting(holder), 1);
  });
  assert.deepEqual(counted(await Promise.all(guesses)), { 503: 40 });
});

test('guesses at a school code are counted where a join is started, and with those that were checked', async () => {
  assert.equal((await check('GUESSED1')).data?.message, ELIGIBILITY_FAILED);
  const answers = await Promise.all(codes('SCHOOL', 50).map((code) => school(code)));
  assert.deepEqual(counted(answers), { 404: LIMIT - 1, 429: 50 - LIMIT + 1 });
  assert.equal((await school('LINCOLN2026')).status, 429, 'a right guess is not told from a wrong one');
  assert.equal((await check('HONOR101')).status, 429);
  assert.equal((await school('LINCOLN2026', '198.51.100.8')).status, 200, 'others go on');
});

test('guesses at a contact and a code are counted where a join is started', async () => {
  const start = (code: string) =>
    post('/api/public/join/initiate', STRANGER, { contactId: '101', invitationCode: code, isTOLA: true });
  const answers = await Promise.all(codes('OTHER', 50).map(start));
  assert.deepEqual(counted(answers), { 404: LIMIT, 429: 50 - LIMIT });
});

test('more right codes from one address than wrong ones may be pass, and their joins start', async () => {
  await known('RIGHT', 40);
  const answers = await Promise.all(codes('RIGHT', 40).map((code) => check(code)));
  assert.ok(answers.every(({ data }) => data?.status === 'success'));
  const started = await Promise.all(
    codes('RIGHT', 40).map((invitationCode, n) =>
      post('/api/public/join/initiate', STRANGER, { contactId: String(880000 + n), invitationCode }),
    ),
  );
  assert.deepEqual(counted(started), { 200: 40 });
});

/** Codes of contacts that the HubSpot stand-in has from the start and that the mirror lacks. */
const onlyThere = ['HONOR101', 'HONOR102', 'HONOR103', 'HONOR104'];

test('right codes that only HubSpot knows are not counted either, and forgive no wrong one', async () => {
  const { database } = server.deps;
  await sql`delete from invitation where code = any(${onlyThere})`.execute(database);
  await check('WRONG1');
  await check('WRONG2', '198.51.100.8');
  // Adds counts of another limit, and of an earlier time window of the same limit.
  await sql`
    insert into limit_count (name, key, window_start, count)
    select 'another limit', key, window_start, 1 from limit_count where name = 'wrong_code'
    union all select name, key, window_start - interval '1 minute', 1 from limit_count where name = 'wrong_code'`.execute(
    database,
  );
  const counts = async () =>
    (await sql`select * from limit_count where count > 0 order by name, key, window_start`.execute(database))
      .rows;
  const before = await counts();
  for (const code of onlyThere) assert.equal((await check(code)).data?.status, 'success', code);
  assert.deepEqual(await counts(), before);
});

test('codes that have expired are guesses as well', async () => {
  await sql`insert into invitation (code, school, expires_at)
    select 'OVER' || n, 'A School', now() from generate_series(0, 9) as n`.execute(server.deps.database);
  const answers: Answer[] = [];
  for (const code of codes('OVER', 10)) answers.push(await check(code));
  assert.deepEqual(counted(answers), { 200: LIMIT, 429: 10 - LIMIT });
});

test('the same wrong code again is the same attempt', async () => {
  for (let time = 0; time < LIMIT * 2; time++) assert.equal((await check('AGAIN1')).status, 200);
  const answers = await Promise.all(codes('AFTER', 20).map((code) => check(code)));
  assert.equal(counted(answers)[429], 20 - LIMIT + 1);
  assert.equal((await check('AGAIN1')).status, 429, 'and waits with the others when they are too many');
});

test('a refused guess does not become free once others are forgotten', async () => {
  await Promise.all(codes('LATER', 30).map((code) => check(code)));
  await sql`update limit_count set window_start = window_start - interval '11 minutes' where name = 'wrong_code'`.execute(
    server.deps.database,
  );
  const again = await Promise.all(codes('LATER', 30).map((code) => check(code)));
  assert.ok((counted(again)[429] ?? 0) >= 30 - 2 * LIMIT, JSON.stringify(counted(again)));
  assert.ok((counted(again)[200] ?? 0) >= LIMIT, 'and the window has ended for as many as it lets through');
});

test('slips of the finger in a minted code are not counted with wrong codes, and are limited by themselves', async () => {
  const code = mintedCode(new Uint8Array([1, 2, 3, 4, 5]));
  const slips = [...'23456789ABCDEFGHJKLMNPQRSTUVWXYZ']
    .map((letter) => letter + code.slice(1))
    .filter((slip) => slip !== code);
  for (const slip of slips.slice(0, LIMIT))
    assert.equal((await check(slip)).data?.message, ELIGIBILITY_FAILED);
  const answers = await Promise.all(codes('WRONG', 20).map((wrong) => check(wrong)));
  assert.equal(counted(answers)[429], 20 - LIMIT);
  assert.equal((await check(slips[LIMIT]!)).status, 429);
});

test('who has a minted code is not kept waiting by the guesses of others at the same address', async () => {
  const code = mintedCode(new Uint8Array([9, 8, 7, 6, 5]));
  await sql`insert into invitation (code, school) values (${code}, 'Lincoln High School')`.execute(
    server.deps.database,
  );
  const answers = await Promise.all(codes('PRANK', 50).map((wrong) => school(wrong)));
  assert.deepEqual(counted(answers), { 404: LIMIT, 429: 50 - LIMIT });
  assert.equal((await check(code)).data?.status, 'success');
  assert.equal((await school(code)).status, 200);
  const minted = (n: number) => mintedCode(new Uint8Array([0, 0, 0, n >> 8, n & 255]));
  const guesses = await Promise.all(Array.from({ length: 50 }, (_, n) => school(minted(n))));
  assert.deepEqual(counted(guesses), { 404: LIMIT * 10, 429: 50 - LIMIT * 10 }, 'which is limited as well');
  assert.equal((await school(code)).status, 429);
});

test('guesses from one /64 are guesses from one address, and IPv4 is counted alike within IPv6', async () => {
  const network = await Promise.all(
    codes('SIX', 50).map((code, n) => school(code, `2001:db8:7:7::${n + 1}`)),
  );
  assert.deepEqual(counted(network), { 404: LIMIT, 429: 50 - LIMIT });
  assert.equal((await school('SIX0', '2001:db8:7:8::1')).status, 404);
  const mapped = await Promise.all(
    codes('FOUR', 50).map((code, n) => school(code, n % 2 ? '198.51.100.77' : '::ffff:198.51.100.77')),
  );
  assert.deepEqual(counted(mapped), { 404: LIMIT, 429: 50 - LIMIT });
});

test('while one address guesses as fast as it can, a code that only HubSpot knows opens for somebody else', async (t) => {
  limitGuesses(t);
  await sql`delete from invitation where code = any(${onlyThere})`.execute(server.deps.database);
  let isOver = false;
  let next = 0;
  const guessing = Array.from({ length: 20 }, async () => {
    while (!isOver) await check(`FAST${next++}`);
  });
  try {
    // Waits until the first wrong codes of the guessing caller are counted.
    while (next < 60) await check(`BESIDE${next}`);
    for (const [index, code] of onlyThere.entries()) {
      const { status, data } = await check(code, `203.0.113.${index + 1}`);
      assert.deepEqual([status, data?.status], [200, 'success'], code);
    }
  } finally {
    isOver = true;
    await Promise.all(guessing);
  }
});

test('who tries the same code again, since it could not be checked, is asked for before those who try others', async (t) => {
  const { mock } = t.mock.method(server.deps.contacts, 'learnCode');
  await outage();
  for (const code of ['HELDUP1', 'HELDUP1', 'OTHER1', 'HELDUP1'])
    assert.equal((await check(code)).status, 503);
  assert.deepEqual(
    mock.calls.map((call) => call.arguments),
    [
      ['HELDUP1', 'joiner'],
      ['HELDUP1', 'joiner'],
      ['OTHER1', 'suspect'],
      ['HELDUP1', 'suspect'],
    ],
  );
});

test('however many addresses guess at once, few of them wait for HubSpot, and never before somebody else', async () => {
  await sql`delete from invitation where code = any(${onlyThere})`.execute(server.deps.database);
  const { contacts } = server.deps;
  let waiting = 1000;
  const guesses = codes('CROWD', waiting).map(async (code) => {
    const learned = await contacts.learnCode(code, 'suspect');
    waiting--;
    return learned;
  });
  for (const code of onlyThere) assert.equal(await contacts.learnCode(code), 'known', code);
  assert.ok(waiting < 10, `${waiting} wait`);
  const answers = new Set(await Promise.all(guesses));
  assert.ok(answers.has('unavailable'), 'which is no word about their codes');
});

test('staff are told while codes are being guessed, once an hour, by counts and never by address', async () => {
  const notices = () => staffNotices(server, { kind: 'guessing' });
  await notifyOfGuessing(server.deps);
  assert.deepEqual(await notices(), []);
  await Promise.all(codes('NOTICE', 30).map((code) => check(code)));
  await writeNotice(server, 'A notice about something else.');
  await notifyOfGuessing(server.deps);
  await notifyOfGuessing(server.deps);
  const [told, ...more] = await notices();
  assert.deepEqual(more, []);
  assert.match(
    told!,
    new RegExp(`^Invite codes are being guessed: ${LIMIT} wrong ones in the last hour from 1 address`),
  );
  assert.doesNotMatch(told!, /198\.51|NOTICE/);
  await sql`
    update staff_notice set created_at = now() - interval '61 minutes', last_seen_at = now() - interval '61 minutes'`.execute(
    server.deps.database,
  );
  await notifyOfGuessing(server.deps);
  await notifyOfGuessing(server.deps);
  const { rows } = await sql`
    select ended_at is null as "isOpen", count from staff_notice where kind = 'guessing' order by id`.execute(
    server.deps.database,
  );
  assert.deepEqual(
    rows,
    [false, true].map((isOpen) => ({ isOpen, count: 1 })),
    'it goes on',
  );
});

test('a server that watches tells of guessing and forgets old counts, each in its time', async () => {
  const { database } = server.deps;
  await sql`delete from schedule where name in ('guesses', 'limit counts')`.execute(database);
  const watch = async () => {
    await sql`insert into limit_count (name, key, window_start, count)
      values ('old', 'somebody', now() - interval '2 days', 1), ('wrong_code', 'somebody', now(), ${LIMIT})
      on conflict do nothing`.execute(database);
    await startWatchingGuesses(server.deps)();
    const counts = await database
      .selectFrom('limit_count')
      .select('name')
      .distinct()
      .orderBy('name')
      .execute();
    const notices = await database.selectFrom('staff_notice').select('kind').execute();
    return [counts.map(({ name }) => name), notices.map(({ kind }) => kind)];
  };
  assert.deepEqual(await watch(), [['wrong_code'], ['guessing']]);
  await sql`delete from staff_notice`.execute(database);
  assert.deepEqual(await watch(), [['old', 'wrong_code'], []], 'not again at once');
  await sql`update schedule set due_at = due_at - interval '1 minute'`.execute(database);
  assert.deepEqual(await watch(), [['old', 'wrong_code'], ['guessing']], 'counts are forgotten hourly');
});

test('staff hear of an address that has tried a quarter of what it may, or of several that have tried as many as one may', async (t) => {
  limitGuesses(t, { LIMIT_WRONG_CODES_PER_ADDRESS: '8/10' });
  const { database } = server.deps;
  for (const [guesses, isTold] of [
    [[2], true],
    [[1], false],
    [Array(8).fill(1), true],
    [Array(7).fill(1), false],
  ] as const) {
    await sql`delete from limit_count`.execute(database);
    await sql`delete from staff_notice`.execute(database);
    await sql`insert into limit_count (name, key, window_start, count)
      select 'wrong_code', 'address ' || n, now(), guesses from unnest(${guesses}::int[]) with ordinality as of_address (guesses, n)
      union all values ('slip_code', 'address 1', now(), 80), ('wrong_code', 'address 1', now() - interval '61 minutes', 80)`.execute(
      database,
    );
    await notifyOfGuessing(server.deps);
    const told = await database.selectFrom('staff_notice').select('kind').execute();
    assert.deepEqual(told, isTold ? [{ kind: 'guessing' }] : [], guesses.join());
  }
});

test('of several addresses staff hear how many there are, and of the one that guesses most', async (t) => {
  limitGuesses(t, { LIMIT_WRONG_CODES_PER_ADDRESS: '8/10' });
  await sql`insert into limit_count (name, key, window_start, count) values
    ('wrong_code', 'first one', now(), 1), ('wrong_code', 'most of them', now(), 2),
    ('wrong_minted_code', 'most of them', now(), 2), ('wrong_code', 'third one', now(), 1)`.execute(
    server.deps.database,
  );
  await notifyOfGuessing(server.deps);
  assert.match(
    (await staffNotices(server)).join(),
    /: 6 wrong ones in the last hour from 3 addresses, 4 of them from one \(most of \)/,
  );
});
