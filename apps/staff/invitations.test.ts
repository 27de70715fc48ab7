import assert from 'node:assert/strict';
import { after, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { mintedCode } from '#core/mintedCode.ts';
import { ELIGIBILITY_FAILED } from '#core/sentences.ts';
import { newContact } from '../../tests/harness/deliver.ts';
import { askHubspot } from '../../tests/harness/providers.ts';
import { runAsStaff, runCommand } from '../../tests/harness/runCommand.ts';
import { startJoin } from '../../tests/harness/steps.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';

const server = await startTestServer({}, { searchLagMs: 0 });
after(() => server.close());
const { database } = server.deps;

async function invite(
  ...rows: [code: string, contactId: string | null, school?: string | null, expiresAt?: string][]
) {
  for (const [code, contactId, school = null, expiresAt = null] of rows) {
    if (contactId !== null)
      await sql`insert into person (contact_id, profile) values (${contactId}, ${JSON.stringify({ firstName: 'Ada', lastName: 'Byron' })}) on conflict do nothing`.execute(
        database,
      );
    await sql`insert into invitation (code, person_id, school, expires_at) values (${code}, (select id from person where contact_id = ${contactId}), ${school}, ${expiresAt}::timestamptz)`.execute(
      database,
    );
  }
}
const check = async (invitationCode: string) =>
  (await server.client().call('checkEligibility', { body: { invitationCode } })).data;
const withdraw = (t: TestContext, ...args: string[]) =>
  runAsStaff(t, server, 'Ann', 'invitations withdraw', ...args);
const extend = (t: TestContext, ...args: string[]) => runCommand(t, server, 'invitations extend', args);
const explain = (t: TestContext, code: string) => runCommand(t, server, 'invitations explain', [code]);
const today = () =>
  server.deps.now().toLocaleDateString('sv-SE', { timeZone: server.deps.society.society.timeZone });

test('a withdrawn code is answered like an unknown one wherever it opens a join, until it is opened again', async (t) => {
  await invite(
    ['GONE2345', '880001'],
    ['GONESCHOOL', null, 'Oak School', '2099-01-01'],
    ['GONEOLD', null, 'Oak School', '2020-01-01'],
  );
  const began = await startJoin(server.client(), 'GONE2345');
  assert.deepEqual(await withdraw(t, ' gone2345\u200b '), {
    code: 0,
    out: 'GONE2345 is withdrawn: nobody can begin a join with it any more. The 1 join that began with it goes on.\n',
  });
  for (const code of ['GONESCHOOL', 'GONEOLD']) assert.equal((await withdraw(t, code)).code, 0);
  assert.deepEqual(await withdraw(t, 'GONE2345'), {
    code: 0,
    out: `GONE2345 was withdrawn already, on ${today()} by Ann.\n`,
  });
  const { status, data } = await server.client().call('getContact', { params: { uuid: began } });
  assert.ok(status === 403 || data, 'the join is there');
  for (const code of ['GONE2345', 'GONESCHOOL', 'GONEOLD'])
    assert.deepEqual(
      await check(code),
      { status: 'failed', message: ELIGIBILITY_FAILED, contactId: null },
      code,
    );
  for (const [call, body] of [
    ['initiateJoin', { contactId: '880001', invitationCode: 'GONE2345', isTOLA: true }],
    ['initiateSchoolJoin', { invitationCode: 'GONESCHOOL' }],
  ] as const) {
    const refused = await server.client().call(call, { body } as never);
    assert.deepEqual([refused.status, refused.message], [404, ELIGIBILITY_FAILED], call);
  }
  assert.deepEqual(await extend(t, 'GONESCHOOL', '--until', '2098-06-30'), {
    code: 0,
    out: `GONESCHOOL is good until 2098-06-30, and open again; it was withdrawn on ${today()} by Ann.\n`,
  });
  assert.equal((await check('GONESCHOOL')).status, 'success');
  const { withdrawn_by } = await database
    .selectFrom('invitation')
    .select('withdrawn_by')
    .where('code', '=', 'GONESCHOOL')
    .executeTakeFirstOrThrow();
  assert.equal(withdrawn_by, 'Ann', 'who withdrew it last is kept');
});

test('a code that HubSpot alone knows is withdrawn before its joiner comes', async (t) => {
  await newContact(server, 'only.there@example.com', { invitation_code: 'ONLYTHERE1' });
  assert.equal((await withdraw(t, 'ONLYTHERE1')).code, 0);
  assert.equal((await check('ONLYTHERE1')).message, ELIGIBILITY_FAILED);
});

test('a code is extended to a later day only', async (t) => {
  await invite(['LATER234', null, 'Oak School', '2027-07-01T05:00Z'], ['EVER2345', null, 'Oak School']);
  for (const [args, code, out] of [
    [
      ['LATER234', '--until', '2099-06-30'],
      0,
      /^LATER234 is good until 2099-06-30; before, until 2027-06-30\.\n$/,
    ],
    [
      ['LATER234', '--until', '2099-06-30'],
      1,
      /^LATER234 is good until 2099-06-30 already: nothing was changed\.\n$/,
    ],
    [['LATER234', '--until', '2098-06-30'], 1, /already: nothing was changed/],
    [['EVER2345', '--until', '2099-06-30'], 1, /^EVER2345 never expires: nothing was changed\.\n$/],
    [
      ['LATER234', '--until', '6/30/2099'],
      2,
      /^"6\/30\/2099" is not a date: write it as 2027-06-30\.\nUsage: /,
    ],
    [['LATER234', '--until', '2020-06-30'], 2, /^"2020-06-30" is past/],
    [['LATER234'], 2, /^Usage: /],
    [['NOSUCHCODE', '--until', '2099-06-30'], 1, /^There is no code NOSUCHCODE/],
    [['NO-SUCH', '--until', '2099-06-30'], 1, /^Invite code must contain only letters and numbers\.\n$/],
  ] as const) {
    const done = await extend(t, ...args);
    assert.equal(done.code, code, done.out);
    assert.match(done.out, out);
  }
  assert.match((await withdraw(t, 'NOSUCHCODE')).out, /^There is no code NOSUCHCODE/);
});

test('why a code fails, or whom it leads to, is one sentence', async (t) => {
  const minted = mintedCode(new Uint8Array([1, 2, 3, 4, 5]));
  const slip = `${minted.slice(0, 8)}${minted.endsWith('7') ? '8' : '7'}`;
  await invite(
    ['WORKS234', '880101'],
    ['OAKSCHOOL', null, 'Oak School', '2099-07-01T04:59:59Z'],
    ['PAST2345', '880102', null, '2026-01-01T06:00Z'],
    ['CLOSED234', '880103'],
    ['MEMBER234', '880104'],
    ['ERASED234', '880105'],
    [minted, '880106'],
  );
  await sql`update invitation set programme = 'kindergarten' where code = 'CLOSED234'`.execute(database);
  await sql`update person set is_member = true where contact_id = '880104'`.execute(database);
  await sql`update person set deleted_at = now(), profile = '{}' where contact_id = '880105'`.execute(
    database,
  );
  const whom = (id: string) => `contact ${id} \\(Ada Byron\\)`;
  for (const [code, works, sentence] of [
    ['works234', true, `WORKS234 works: it leads to ${whom('880101')}; no join has begun with it`],
    [
      '\u201aWORKS234',
      false,
      '‚WORKS234 fails: a code has letters and digits only, 64 at most; almost the same is WORKS234',
    ],
    ['works-234', false, 'WORKS-234 fails: .*; almost the same is WORKS234'],
    [
      'W0RKS234',
      false,
      'W0RKS234 fails: there is no such invitation, nor does HubSpot know it; almost the same is WORKS234',
    ],
    ['WORSK234', false, '.* almost the same is WORKS234'],
    ['WORKS2345', false, '.* almost the same is WORKS234'],
    [
      'OAKSCHOOL',
      true,
      'OAKSCHOOL works until 2099-06-30: it leads to Oak School; as often as anybody likes; no join has begun with it',
    ],
    ['PAST2345', false, `PAST2345 fails: its last day was 2025-12-31; it led to ${whom('880102')}`],
    [
      'CLOSED234',
      false,
      `CLOSED234 fails: its programme "kindergarten" is not a programme .*; it leads to ${whom('880103')}`,
    ],
    ['MEMBER234', false, `MEMBER234 fails: ${whom('880104')} is a member already; no join has begun with it`],
    ['ERASED234', true, 'ERASED234 works: it leads to contact 880105, which was deleted in HubSpot, .*'],
    [
      slip,
      false,
      `${slip} fails: it looks like a code that Induct made, and its check letter is wrong, .*; almost the same is ${minted}`,
    ],
    [mintedCode(new Uint8Array([9, 9, 9, 9, 9])), false, '.* its file was not imported, .*'],
    ['QQQQQQQQQQQQ', false, 'QQQQQQQQQQQQ fails: there is no such invitation, nor does HubSpot know it'],
  ] as const) {
    const { out, code: status } = await explain(t, code);
    assert.match(out, new RegExp(`^${sentence}\\.\\n$`));
    assert.equal(status, works ? 0 : 1, out);
  }
  await startJoin(server.client(), 'WORKS234');
  assert.match(
    (await explain(t, 'WORKS234')).out,
    new RegExp(`; 1 join began with it, the newest on ${today()} \\(started\\)\\.`),
  );
  await withdraw(t, 'WORKS234');
  assert.match(
    (await explain(t, 'WORKS234')).out,
    new RegExp(`^WORKS234 fails: it was withdrawn on ${today()} by Ann; it led to ${whom('880101')}\\.`),
  );
});

test('of a contact that became a member or was deleted in HubSpot, the answer is that of now', async (t) => {
  const id = await newContact(server, 'now.member@example.com', { invitation_code: 'NOWMEMBER1' });
  assert.equal((await explain(t, 'NOWMEMBER1')).code, 0);
  await askHubspot(server.hubspotUrl, 'PATCH', `/${id}`, { properties: { membership_status: 'member' } });
  assert.match((await explain(t, 'NOWMEMBER1')).out, /fails: contact \d+.* is a member already/);
});

test('codes are listed and counted by what became of them', async (t) => {
  await sql`delete from invitation where programme = 'undergraduate'`.execute(database);
  await invite(
    ['LISTA234', '880201'],
    ['LISTB234', '880202'],
    ['LISTC234', null, 'Oak School', '2020-01-01'],
    ['LISTD234', null, 'Oak School', '2099-07-01'],
  );
  await sql`update invitation set programme = 'undergraduate' where code like 'LIST_234'`.execute(database);
  await startJoin(server.client(), 'LISTB234');
  await withdraw(t, 'LISTA234');
  const list = (...args: string[]) =>
    runCommand(t, server, 'invitations list', ['--programme', 'undergraduate', ...args]);
  const counts = '1 unused, 1 used, 1 expired, 1 withdrawn.\n';
  assert.equal(
    (await list()).out,
    `LISTA234  withdrawn  contact 880201  undergraduate  on ${today()} by Ann\n` +
      'LISTB234  used  contact 880202  undergraduate\n' +
      'LISTC234  expired  Oak School  undergraduate  until 2019-12-31\n' +
      `LISTD234  unused  Oak School  undergraduate  until 2099-06-30\n${counts}`,
  );
  assert.match((await list('--state', 'expired')).out, /^LISTC234 .*\n1 unused/);
  const limited = (await list('--limit', '1')).out;
  assert.ok(limited.endsWith(`by Ann\n… the first 1 of 4: --limit shows more.\n${counts}`), limited);
  assert.match(
    (await list('--state', 'lost')).out,
    /^--state is one of: unused, used, expired, withdrawn\.\nUsage: /,
  );
  assert.equal((await list('--limit', 'all')).code, 2);
});
