import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { mintedCode } from '#core/mintedCode.ts';
import { ELIGIBILITY_FAILED } from '#core/sentences.ts';
import { newContact } from '../../tests/harness/deliver.ts';
import { askHubspot } from '../../tests/harness/providers.ts';
import { runAsStaff, runCommand } from '../../tests/harness/runCommand.ts';
import { startJoin } from '../../tests/harness/steps.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';
import { mintCodes } from '../server/joining/invitations/mintInvitations.ts';

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
    out: `GONESCHOOL is good until 2098-12-31, and open again; it was withdrawn on ${today()} by Ann.\n`,
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
      '‚WORKS234 fails: a code has letters and digits only, 64 at most\\. They mean WORKS234, of Ada Byron',
    ],
    ['works-234', false, 'WORKS-234 fails: .*\\. They mean WORKS234, of Ada Byron'],
    [
      'W0RKS234',
      false,
      'W0RKS234 fails: there is no such invitation, nor does HubSpot know it\\. They mean WORKS234, of Ada Byron',
    ],
    ['WORSK234', false, '.* They mean WORKS234, of Ada Byron'],
    ['WORKS2345', false, '.* They mean WORKS234, of Ada Byron'],
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
      `${slip} fails: it looks like a code that Induct made, and its check letter is wrong, .*\\. They mean ${minted}, of Ada Byron`,
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

const HEADER = 'code,contactId,firstName,lastName,email,school';
function fileOf(t: TestContext, ...lines: string[]): string {
  const path = join(temporaryFolder(t), 'file.csv');
  writeFileSync(path, lines.join('\n'));
  return path;
}
const mint = (t: TestContext, ...args: string[]) => runCommand(t, server, 'invitations mint', args);
const take = (t: TestContext, path: string) => runCommand(t, server, 'invitations import', [path]);

test('contacts of a file get codes of their own, which are imported without a warning and lead to them', async (t) => {
  const contacts = Array.from({ length: 2_500 }, (_, n) => `${5000 + n},"Rivera, Jo",x${n}@example.com`);
  const minted = await mint(
    t,
    fileOf(t, 'contactId,lastName,email', ...contacts),
    '--programme',
    'undergraduate',
  );
  assert.equal(minted.code, 0);
  const lines = minted.out.trim().split('\r\n');
  assert.equal(lines.length, 2_501);
  assert.match(lines[1]!, /^[2-9A-HJ-NP-Z]{9},5000,,"Rivera, Jo",x0@example\.com,,undergraduate,,$/);
  const taken = await take(t, fileOf(t, ...lines));
  assert.equal(taken.out, '2500 imported, 0 unchanged, 0 not taken.\n');
  const code = lines[1]!.slice(0, 9);
  const checked = await server.client().call('checkEligibility', { body: { invitationCode: code } });
  assert.equal(checked.data.contactId, '5000');
});

test("a school's codes, and codes to be filled in", async (t) => {
  const school = await mint(t, '--school', 'Lincoln High School', '--expires', '2027-06-30');
  assert.match(school.out.trim().split('\r\n')[1]!, /^[2-9A-Z]{9},,,,,Lincoln High School,,2027-06-30,$/);
  const open = await mint(t, '--count', '3');
  assert.equal(open.out.trim().split('\n').length, 4);
});

test('a line without a contact id is named, and the others get their codes', async (t) => {
  const minted = await mint(t, fileOf(t, 'contactId', '6001', 'six', '6002'));
  assert.equal(minted.code, 1);
  assert.match(minted.out, /line 3: "six" is not a contact id/);
  assert.equal(minted.out.match(/^[2-9A-Z]{9},600\d,/gm)?.length, 2);
});

test('of a file without the column contactId, that is said once, and no code is made', async (t) => {
  const path = fileOf(t, 'contact;email', '6001;a@example.com', '6002;b@example.com');
  const { code, out } = await mint(t, path);
  const sentence = `The first line of ${path} must name the column contactId; missing: contactId.\n`;
  assert.deepEqual([code, out], [1, sentence]);
});

test('a line with a school and no contact id gets no code, which would be the whole school’s', async (t) => {
  const { code, out } = await mint(t, fileOf(t, 'contactId,school', ',Lincoln High School', '6003,'));
  assert.equal(code, 1);
  assert.match(out, /^line 2: "" is not a contact id/m);
  assert.equal(out.match(/^[2-9A-Z]{9},/gm)?.length, 1);
});

test('a line that the import would refuse gets no code and is named, and the others are imported', async (t) => {
  const path = join(temporaryFolder(t), 'file.csv');
  const lines = [
    'contactId,lastName,email,programme,expiresAt,note',
    '6101,André,,,,',
    '6102,Rivera,,,6/30/2027,',
    '6103,Rivera,rivera,,,',
    '6104,Rivera,,kindergarten,,',
    '6105,Rivera,r@example.com,undergraduate,2027-06-30,é',
  ];
  writeFileSync(path, lines.join('\n'), 'latin1');
  const { code, out } = await mint(t, path);
  assert.equal(code, 1);
  const minted = out.split('\r\n').filter((line) => /^[2-9A-Z]{9},|^code,/.test(line));
  assert.deepEqual(
    minted.map((line) => line.slice(line.indexOf(','))),
    [
      ',contactId,firstName,lastName,email,school,programme,expiresAt,nominatedBy',
      ',6105,,Rivera,r@example.com,,undergraduate,2027-06-30,',
    ],
  );
  for (const fault of [
    /^line 2: is not encoded in UTF-8.*CSV UTF-8/m,
    /^line 3: "6\/30\/2027" is not a date: write it as 2027-06-30\.$/m,
    /^line 4: "rivera" is not an email address\.$/m,
    /^line 5: "kindergarten" is not a programme/m,
  ])
    assert.match(out, fault);
  assert.equal((await take(t, fileOf(t, ...minted))).out, '1 imported, 0 unchanged, 0 not taken.\n');
});

test('a line keeps the programme and the last day of its own, and the others get those that are given for all', async (t) => {
  const file = fileOf(
    t,
    'contactId,programme,expiresAt',
    '6201,high-school,2027-01-31',
    '6202,,2027-02-28',
    '6203,high-school,',
    '6204,,',
  );
  const { code, out } = await mint(t, file, '--programme', 'undergraduate', '--expires', '2027-06-30');
  assert.equal(code, 0);
  assert.deepEqual(
    out.match(/(?<=,)62.*/g)?.map((line) => line.trim()),
    [
      '6201,,,,,high-school,2027-01-31,',
      '6202,,,,,undergraduate,2027-02-28,',
      '6203,,,,,high-school,2027-06-30,',
      '6204,,,,,undergraduate,2027-06-30,',
    ],
  );
});

test('what cannot be meant is not minted', async (t) => {
  for (const args of [
    [],
    ['--count', '0'],
    ['a.csv', '--count', '2'],
    ['--count', '2', '--programme', 'none'],
    ['--count', '2', '--expires', '2027-02-30'],
    ['--count', '2', '--expires', '06/07/2027'],
  ])
    assert.equal((await mint(t, ...args)).code, 2, args.join(' '));
  assert.equal((await mint(t, '/nowhere.csv')).code, 1);
});

test('a code that an invitation has, or that was given already, is not given again', async () => {
  const taken = mintedCode(new Uint8Array(5));
  await sql`insert into invitation (code, school) values (${taken}, 'Lincoln High School')`.execute(
    server.deps.database,
  );
  // The first random value gives a code that an invitation already has. Of the later values some occur twice, and give the same
  // code twice.
  const said = [0, 1, 1, 2, 2, 3];
  const random = (bytes: number) => new Uint8Array(bytes).fill(said.shift() ?? 9);
  const codes: string[] = [];
  for await (const { code } of mintCodes(server.deps.database, ['a', 'b', 'c'], random)) codes.push(code);
  assert.deepEqual(
    codes.toSorted(),
    [1, 2, 3].map((byte) => mintedCode(new Uint8Array(5).fill(byte))).toSorted(),
  );
});

test('the import warns of personal codes that are short, follow one another or are alike, by line', async (t) => {
  const taken = await take(
    t,
    fileOf(
      t,
      HEADER,
      'AB12,7001,,,,',
      'SPRING0199,7002,,,,',
      'SPRING0200,7003,,,,',
      'QWERTYUA7,7004,,,,',
      'ZWERTYUA7,7005,,,,',
      'K7PMXW2QR,7006,,,,',
    ),
  );
  assert.equal(taken.code, 0);
  const [, ...warnings] = taken.out.trim().split('\n');
  assert.match(warnings[0]!, /^Warning: personal codes of fewer than 8 characters: 1, such as on line 2\./);
  assert.match(
    warnings[1]!,
    /^Warning: personal codes that follow on another one: 1, such as on lines 3 and 4\./,
  );
  assert.match(
    warnings[2]!,
    /^Warning: personal codes that differ .* at least 1, such as on lines 5 and 6\./,
  );
  assert.match(warnings[3]!, /invitations mint/);
  assert.doesNotMatch(taken.out, /QWERTYUA7/);
});

test("a school's code is for everybody: nobody is warned of it", async (t) => {
  const taken = await take(
    t,
    fileOf(t, HEADER, 'OAK,,,,,Oak School', 'OAK1,,,,,Oak School', 'OAK2,,,,,Oak School'),
  );
  assert.equal(taken.out, '3 imported, 0 unchanged, 0 not taken.\n');
});

test('a line that is not taken cannot pass off another one as ours', async (t) => {
  const contactId = 'x\u001b[2J\u0085\u20289 imported, 0 unchanged, 0 not taken.';
  const { out } = await take(t, fileOf(t, HEADER, `EVILCODE1,"${contactId}",,,,`));
  assert.equal(
    out,
    'line 2: "x[2J 9 imported, 0 unchanged, 0 not taken." is not a contact id: it has digits only.\n0 imported, 0 unchanged, 1 not taken.\n',
  );
});

test('making codes and importing them warn of contacts who are members already', async (t) => {
  await server.deps.contacts.refresh('105');
  const minted = await mint(t, fileOf(t, 'contactId,nominatedBy', '105,"Ms. Alvarez, counselor"', '7105,'));
  assert.match(minted.out, /members already, and should not be invited again: 1, such as contact 105\./);
  const lines = minted.out.split(/\r?\n/).filter((line) => /^(code|[2-9A-Z]{9}),/.test(line));
  assert.match(lines[1]!, /,105,.*,"Ms\. Alvarez, counselor"$/);
  const taken = await take(t, fileOf(t, ...lines));
  assert.match(taken.out, /2 imported.*members already.*: 1, such as on line 2\./s);
});

test('an import warns of codes that have expired already', async (t) => {
  const path = fileOf(
    t,
    `${HEADER},expiresAt`,
    'PASTDAY22,6301,,,,,2020-06-30',
    'PASTDAY33,6302,,,,,2099-06-30',
    'PASTDAY77,6303,,,,,2020-06-30T12:00:00Z',
  );
  const { code, out } = await take(t, path);
  assert.equal(code, 0);
  assert.match(out, /^Warning: codes that have expired already: 2, such as on line 2\.$/m);
});

test('an import warns of codes with which somebody has joined, and which lead to another contact now', async (t) => {
  const first = fileOf(t, HEADER, 'USEDCODE22,6401,Jo,Rivera,,', 'FREECODE77,6402,Jo,Rivera,,');
  await take(t, first);
  await startJoin(server.client(), 'USEDCODE22');
  const before = await take(t, first);
  assert.doesNotMatch(before.out, /contact/);
  const { code, out } = await take(t, fileOf(t, HEADER, 'FREECODE77,6403,,,,', 'USEDCODE22,6404,,,,'));
  assert.equal(code, 0);
  assert.match(
    out,
    /^Warning: codes that lead to another contact now, while their joins stay with the contact who began them: 1, such as on line 3\.$/m,
  );
});

test('no code is made whose last day is past, and one for today is', async (t) => {
  const now = server.deps.now();
  const today = now.toLocaleDateString('sv-SE', { timeZone: 'America/Chicago' });
  const past = [new Date(now.getTime() - 36 * 3_600_000).toISOString().slice(0, 10), now.toISOString()];
  for (const expires of past) {
    const { code, out } = await mint(t, '--count', '1', '--expires', expires);
    assert.equal(code, 2);
    assert.ok(out.startsWith(`"${expires}" is past: nobody could join with the code.\nUsage: `), out);
  }
  const file = fileOf(t, 'contactId,expiresAt', `6501,${past[0]}`, `6502,${today}`);
  const { code, out } = await mint(t, file);
  assert.equal(code, 1);
  assert.match(out, /^line 2: "[\d-]+" is past: nobody could join with the code\.$/m);
  assert.equal(out.match(/^[2-9A-Z]{9},650\d,/gm)?.length, 1);
});

test('a name that a spreadsheet would run is minted and imported as it is', async (t) => {
  const minted = await mint(t, fileOf(t, 'contactId,lastName,email', '8601,=Rivera,jo@example.com'));
  assert.match(minted.out, /,'=Rivera,/);
  await take(t, fileOf(t, ...minted.out.trim().split('\r\n')));
  const { profile } = await server.deps.database
    .selectFrom('person')
    .select('profile')
    .where('contact_id', '=', '8601')
    .executeTakeFirstOrThrow();
  assert.equal(profile.lastName, '=Rivera');
});
