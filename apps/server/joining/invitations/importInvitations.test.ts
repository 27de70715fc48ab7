import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { mutilatedLine } from '../../../../tests/harness/mutilatedLines.ts';
import { personId } from '../../../../tests/harness/personId.ts';
import { isLong } from '../../../../tests/harness/testLength.ts';
import { connect, type Database } from '../../platform/database/client.ts';
import { patience } from '../../platform/database/patience.ts';
import { NotCsv } from '../../platform/readCsv.ts';
import { type ImportReport, importInvitations } from './importInvitations.ts';

let own: TestDatabase;
let database: Database;
const folder = mkdtempSync(join(tmpdir(), 'induct-import-'));
before(async () => {
  own = await testDatabase();
  database = connect(own.url, { waits: patience.ofWork });
});
after(async () => {
  await database.destroy();
  await own.drop();
  rmSync(folder, { recursive: true, force: true });
});

const HEADER = 'code,contactId,firstName,lastName,email,school';
function file(...lines: string[]): string {
  const path = join(folder, `${Math.random()}.csv`);
  writeFileSync(path, lines.join('\n'));
  return path;
}
async function take(path: string) {
  const faults: { line: number; text: string }[] = [];
  const society = {
    programmes: { 'high-school': {}, undergraduate: {}, graduate: { retired: true } },
    society: { timeZone: 'America/Chicago' },
  };
  const tried: string[] = [];
  const trial = await importInvitations(
    database,
    path,
    society,
    { doubted: (line, doubt) => tried.push(`${line} ${doubt}`) },
    { isTrial: true },
  );
  const doubts: string[] = [];
  const report = await importInvitations(database, path, society, {
    refused: (line, text) => faults.push({ line, text }),
    doubted: (line, doubt) => doubts.push(`${line} ${doubt}`),
  });
  assert.deepEqual([trial, tried.sort()], [report, doubts.sort()], 'a trial says what becomes of each line');
  assert.equal(report.refused, faults.length);
  return { imported: report.added + report.changed, unchanged: report.unchanged, faults };
}

test('personal and school codes are taken, and again changes nothing', async () => {
  const path = file(
    HEADER,
    'alpha1,201,Ada,Byron,ada@example.com,Lincoln High School',
    'SCHOOL1,,,,,"Roosevelt High School, East"',
  );
  assert.deepEqual(await take(path), { imported: 2, unchanged: 0, faults: [] });
  assert.deepEqual(await take(path), { imported: 0, unchanged: 2, faults: [] });
  const rows = await database
    .selectFrom('invitation')
    .leftJoin('person', 'person.id', 'person_id')
    .select(['code', 'contact_id', 'school'])
    .orderBy('code')
    .execute();
  assert.deepEqual(rows, [
    { code: 'ALPHA1', contact_id: '201', school: null },
    { code: 'SCHOOL1', contact_id: null, school: 'Roosevelt High School, East' },
  ]);
  const { profile } = await database
    .selectFrom('person')
    .select('profile')
    .where('contact_id', '=', '201')
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [profile.firstName, profile.email, profile.highSchoolName],
    ['Ada', 'ada@example.com', 'Lincoln High School'],
  );
});

test('a code of a programme that is retired, or that there is none of, is refused with its line', async () => {
  const header = `${HEADER},programme`;
  const { imported, faults } = await take(
    file(header, 'OPEN1,202,,,,,high-school', 'RETIRED1,202,,,,,graduate', 'NONE1,202,,,,,kindergarten'),
  );
  assert.equal(imported, 1);
  assert.deepEqual(
    faults.map(({ line, text }) => `${line} ${text}`),
    [
      '3 "graduate" is retired in the society\'s file: no code of it can be used (high-school, undergraduate).',
      '4 "kindergarten" is not a programme (high-school, undergraduate).',
    ],
  );
});

test('a code is valid until the end of its last day where the society is, or until a moment', async () => {
  const header = `${HEADER},expiresAt`;
  for (const [expires, until] of [
    ['2027-06-30', '2027-07-01T05:00Z'],
    // The clocks go back on the first of these days. When the second day ends in the society's time zone, the new year has
    // already begun in UTC.
    ['2027-11-07', '2027-11-08T06:00Z'],
    ['2027-12-31', '2028-01-01T06:00Z'],
    ['2028-02-29', '2028-03-01T06:00Z'],
    ['2027-06-30T12:00:00Z', '2027-06-30T12:00Z'],
    ['2027-06-30T12:00:00-05:00', '2027-06-30T17:00Z'],
    ['2027-06-30T12:00:00+23:00', '2027-06-29T13:00Z'],
  ] as const) {
    const { faults } = await take(file(header, `LASTDAY1,,,,,Lincoln,${expires}`));
    assert.deepEqual(faults, []);
    const { expires_at } = await database
      .selectFrom('invitation')
      .select('expires_at')
      .where('code', '=', 'LASTDAY1')
      .executeTakeFirstOrThrow();
    assert.deepEqual(expires_at, new Date(until), expires);
  }
  const wrong = [
    '2027-02-30',
    '5',
    '06/07/2027',
    '46568',
    '2027-6-30',
    'June 30, 2027',
    '12027-01-01',
    '0000-01-01',
  ];
  const { imported, faults } = await take(
    file(header, ...wrong.map((text, n) => `WRONG${n},,,,,Lincoln,${text.replace(',', '')}`)),
  );
  assert.equal(imported, 0);
  assert.deepEqual(
    faults.map(({ text }) => / is not a date: write it as 2027-06-30\.$/.test(text)),
    wrong.map(() => true),
  );
});

test('every bad line is named with its number and nothing of it is taken; the good ones are', async () => {
  const path = file(
    HEADER,
    'GOOD1,301,,,,',
    'bad-code,302,,,,',
    'NOBODY,,,,,',
    'LETTERS,abc,,,,',
    'MAIL1,303,,,not-an-email,',
    'SHORT,304',
    'GOOD2,305,,,,',
  );
  const report = await take(path);
  assert.equal(report.imported, 2);
  assert.deepEqual(
    report.faults.map(({ line }) => line),
    [3, 4, 5, 6, 7],
  );
  assert.match(report.faults[0]!.text, /only letters and numbers/);
  assert.match(report.faults[1]!.text, /contact id or a school/);
  const codes = await database
    .selectFrom('invitation')
    .select('code')
    .where('code', 'in', ['NOBODY', 'LETTERS', 'MAIL1', 'SHORT'])
    .execute();
  assert.deepEqual(codes, []);
});

test('what HubSpot told of a contact is not overwritten by an import', async () => {
  await database
    .insertInto('person')
    .values({
      contact_id: '401',
      profile: JSON.stringify({ firstName: 'From HubSpot' }),
      email: null,
      fetched_at: new Date(),
    })
    .execute();
  await take(file(HEADER, 'KEEP1,401,From File,,,'));
  const { profile } = await database
    .selectFrom('person')
    .select('profile')
    .where('contact_id', '=', '401')
    .executeTakeFirstOrThrow();
  assert.equal(profile.firstName, 'From HubSpot');
});

test('what an import told of a contact stays, and a later one fills what was missing', async () => {
  await take(file(HEADER, 'FILL1,402,Ada,,ada@example.com,'));
  await take(file(HEADER, 'FILL2,402,Other,Lovelace,other@example.com,'));
  const { profile, email } = await database
    .selectFrom('person')
    .select(['profile', 'email'])
    .where('contact_id', '=', '402')
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [profile.firstName, profile.lastName, profile.email, email],
    ['Ada', 'Lovelace', 'ada@example.com', 'ada@example.com'],
  );
});

test('a file that is imported again after two contacts were merged leaves the code with the one that remains', async () => {
  const again = file(HEADER, 'MERGED1,301,Ada,Lee,ada@example.com,');
  await take(again);
  await take(file(HEADER, 'MERGED2,302,Ada,Lee,,'));
  await database
    .updateTable('person')
    .set({ merged_into: personId('302'), profile: JSON.stringify({}), email: null })
    .where('contact_id', '=', '301')
    .execute();
  await database
    .updateTable('invitation')
    .set({ person_id: personId('302') })
    .where('person_id', '=', personId('301'))
    .execute();
  assert.equal((await take(again)).unchanged, 1);
  const { contact_id } = await database
    .selectFrom('invitation')
    .leftJoin('person', 'person.id', 'person_id')
    .select('contact_id')
    .where('code', '=', 'MERGED1')
    .executeTakeFirstOrThrow();
  assert.equal(contact_id, '302');
  const merged = await database
    .selectFrom('person')
    .select(['email', 'profile'])
    .where('contact_id', '=', '301')
    .executeTakeFirstOrThrow();
  assert.deepEqual(merged, { email: null, profile: {} });
});

test('a line that is imported again with one field corrected corrects the invitation', async () => {
  const fieldsOf = async () => {
    const { contact_id, school, programme, expires_at } = await database
      .selectFrom('invitation')
      .leftJoin('person', 'person.id', 'person_id')
      .select(['contact_id', 'school', 'programme', 'expires_at'])
      .where('code', '=', 'CORRECT1')
      .executeTakeFirstOrThrow();
    return [contact_id, school, programme, expires_at?.toISOString().slice(0, 10) ?? null];
  };
  for (const [before, after, expected] of [
    ['601,,,,,,', '602,,,,,,', ['602', null, null, null]],
    [',,,,Lincoln,,', ',,,,Roosevelt,,', [null, 'Roosevelt', null, null]],
    ['601,,,,,high-school,', '601,,,,,undergraduate,', ['601', null, 'undergraduate', null]],
    ['601,,,,,,2027-06-30', '601,,,,,,2027-07-31', ['601', null, null, '2027-08-01']],
    ['601,,,,,,2027-06-30', '601,,,,,,', ['601', null, null, null]],
    [
      '601,,,,,high-school,2027-01-31',
      ',,,,Lincoln,undergraduate,',
      [null, 'Lincoln', 'undergraduate', null],
    ],
  ] as const) {
    const header = `${HEADER},programme,expiresAt`;
    await take(file(header, `CORRECT1,${before}`));
    const report = await take(file(header, `CORRECT1,${after}`));
    assert.deepEqual(
      [report, await fieldsOf()],
      [{ imported: 1, unchanged: 0, faults: [] }, expected],
      `${before} and then ${after}`,
    );
  }
});

test("a code given twice in one file is named, and stays the first one's", async () => {
  const report = await take(file(HEADER, 'TWICE,501,,,,', 'twice,502,,,,'));
  assert.deepEqual(report.faults, [{ line: 3, text: 'the code TWICE is already on line 2.' }]);
  const { contact_id } = await database
    .selectFrom('invitation')
    .leftJoin('person', 'person.id', 'person_id')
    .select('contact_id')
    .where('code', '=', 'TWICE')
    .executeTakeFirstOrThrow();
  assert.equal(contact_id, '501');
});

test('a file that names not the columns, or others, is refused with a sentence', async () => {
  for (const [header, sentence] of [
    ['code,contact', /missing: contactId/],
    [`${HEADER},colour,shape`, /school; not known: colour, shape\.$/],
  ] as const)
    await assert.rejects(
      take(file(header)),
      (error) => error instanceof NotCsv && sentence.test(error.message),
    );
});

test('a fault in a late line neither stops the rest nor swallows a line', async () => {
  const lines = Array.from({ length: 2_600 }, (_, n) => `LATE${n},${2_000_000 + n},Ada,Byron,,`);
  lines[2_399] = 'LATE2399,2002399,"Ada,Byron,,';
  lines[2_402] = 'LATE2402,2002402,Ada",Byron,,';
  const { imported, unchanged, faults } = await take(file(HEADER, ...lines));
  assert.deepEqual([imported, unchanged, faults.map(({ line }) => line)], [2_598, 0, [2_401, 2_404]]);
  assert.match(faults[0]!.text, /^opens a quote that is not closed before the line ends/);
  assert.match(faults[1]!.text, /^has a quote in the middle of a cell/);
});

test('the lines of any mutilated file are imported, unchanged or named, each once', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(mutilatedLine, { maxLength: 12 }), async (lines) => {
      const path = file('contactId,code,firstName,lastName,email,school', ...lines.map(({ text }) => text));
      const { imported, unchanged, faults } = await take(path);
      assert.equal(imported + unchanged + faults.length, lines.filter(({ isFilled }) => isFilled).length);
    }),
    { numRuns: isLong ? 200 : 10 },
  );
});

test('what an import stored before it stopped is told', async (t) => {
  const lines = Array.from({ length: 2_500 }, (_, n) => `STOPPED${n},${3_000_000 + n},,,,`);
  const path = file(HEADER, ...lines);
  await sql`create function refuse_stopped() returns trigger language plpgsql as $$ begin
    if new.code = 'STOPPED2400' then raise 'no room'; end if; return new; end $$`.execute(database);
  await sql`create trigger refuse_stopped before insert on invitation for each row execute function refuse_stopped()`.execute(
    database,
  );
  t.after(() => sql`drop function refuse_stopped cascade`.execute(database));
  const told: ImportReport[] = [];
  const issuer = { programmes: {}, society: { timeZone: 'UTC' } };
  await assert.rejects(
    importInvitations(database, path, issuer, { stopped: (soFar) => told.push({ ...soFar }) }),
    /no room/,
  );
  assert.deepEqual(told, [{ added: 2_000, changed: 0, unchanged: 0, refused: 0 }]);
});
