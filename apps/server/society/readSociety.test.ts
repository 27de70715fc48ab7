import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { societyFile } from '../../../tests/harness/standIns.ts';
import { guardianConsentOf } from '../session/guardianConsent.ts';
import { readIcon } from './readIcon.ts';
import { parseSociety, readSociety, SocietyFaults } from './readSociety.ts';
import { fillIn } from './texts.ts';
import { toSite } from './wire.ts';

const path = join(import.meta.dirname, '../../../society/society.yaml');
const source = readFileSync(path, 'utf8');

/** The demo's products: id, price (cents), floor (cents), and the id of the upgrade. */
const catalogue: [number, number | undefined, number | undefined, number | undefined][] = [
  [1, 6500, 2000, 10],
  [2, 8900, 4000, 10],
  [3, 9500, 4000, 11],
  [10, 4500, undefined, undefined],
  [11, 5500, undefined, undefined],
  [20, 1000, undefined, undefined],
  [21, 2500, undefined, undefined],
  [22, 5000, undefined, undefined],
  [29, undefined, undefined, undefined],
  [30, 1200, undefined, undefined],
  [31, 3800, undefined, undefined],
  [32, 7900, undefined, undefined],
  [33, 2450, undefined, undefined],
];
test('the demo society reads, and its catalogue is the one of the documentation', () => {
  const society = readSociety(path);
  assert.deepEqual(
    society.catalogue.map(({ id, priceCents, floorCents, upgrade }) => [id, priceCents, floorCents, upgrade]),
    catalogue,
  );
  assert.deepEqual(
    society.catalogue.filter(({ recommended }) => recommended).map(({ id }) => id),
    [30, 31],
  );
  assert.equal(society.defaultProgramme, 'high-school');
  assert.equal(society.store.discountPercent, 15);
});

test('the file of a society that says nothing of papers reads, and its papers have words of ours', () => {
  const start = source.indexOf('\ncertificate:');
  const end = source.indexOf('\nstore:');
  const { certificate, pressRelease } = parseSociety(
    source.slice(0, start) + source.slice(end),
    'society.yaml',
  );
  assert.deepEqual(certificate, {
    citation: 'has been admitted to membership',
    signatures: [{ title: 'President' }],
  });
  assert.deepEqual(pressRelease, {});
});

test('a file that does not speak of reminders reminds nobody, and one that does not say otherwise no minors', () => {
  const silent = parseSociety(
    source.replace('  reminders: true\n', '').replace(/^ +minors: .*\n/gm, ''),
    path,
  );
  assert.equal(silent.letters.reminders, false);
  assert.deepEqual(
    Object.values(silent.programmes).map(({ minors }) => minors),
    [true, true],
  );
  const { letters, programmes } = readSociety(path);
  assert.deepEqual([letters.reminders, letters.remindMinors], [true, false]);
  assert.deepEqual([programmes['high-school']!.minors, programmes.undergraduate!.minors], [true, false]);
});

test('a programme asks for the consent of a guardian only where the file says so, with its texts filled in', () => {
  const society = readSociety(path);
  assert.deepEqual(
    Object.keys(society.programmes).map((key) => guardianConsentOf(society, key)),
    [null, null],
  );
  const asking = parseSociety(
    source.replace(/# guardianConsent: .*/, 'guardianConsent: My guardian agrees that I join {product}.'),
    path,
  );
  assert.deepEqual(
    Object.keys(asking.programmes).map((key) => guardianConsentOf(asking, key)),
    ['My guardian agrees that I join Honor Scholars.', null],
  );
});

test('what a membership or an upgrade sends by post is said by the file', () => {
  const society = readSociety(path);
  assert.deepEqual(
    society.catalogue.filter(({ ships }) => ships).map(({ id, ships }) => [id, ships]),
    [
      [2, 'Honor Cord'],
      [10, 'Engraved Medallion'],
      [11, 'Engraved Medallion'],
    ],
  );
});

test("texts are filled in with the programme's name, fee and the society's address", () => {
  const society = readSociety(path);
  assert.equal(
    fillIn('{product}: {fee} from {email}', society, 'undergraduate'),
    'Honor Collegians: $5 from help@society.example',
  );
});

test('the table of CRM fields is what a society gets that has none, and may be changed field by field', () => {
  const without = parseSociety(source.slice(0, source.indexOf('\ncrm:')), 'society.yaml');
  assert.deepEqual(without.crm.fields, parseSociety(source, 'society.yaml').crm.fields);
  const own = parseSociety(
    source.replace('city: { property: city, write: overwrite }', 'city: { property: town, write: blanks }'),
    'society.yaml',
  );
  assert.deepEqual(own.crm.fields.city, { property: 'town', write: 'blanks' });
});

test('a text that is repeated by an anchor and an alias is read', () => {
  const twice = source
    .replace('ships: Honor Cord', 'ships: &cord Honor Cord')
    .replace('name: Lapel Pin', 'name: *cord');
  assert.equal(parseSociety(twice, 'society.yaml').product(30)?.name, 'Honor Cord');
});

test('a join whose programme the file no longer has is shown the default programme, with its memberships', () => {
  const society = readSociety(path);
  for (const key of ['graduate', 'constructor']) {
    assert.equal(society.programme(key), society.programme('high-school'));
    assert.deepEqual(society.memberships(key), society.memberships('high-school'));
  }
});

test('a retired programme keeps its entry and its memberships, and no join begins in it', () => {
  const society = parseSociety(
    source.replace('name: Honor Collegians\n', 'name: Honor Collegians\n    retired: true\n'),
    path,
  );
  assert.equal(society.programme('undergraduate').name, 'Honor Collegians');
  assert.deepEqual(
    society.memberships('undergraduate').map(({ id }) => id),
    [3],
  );
  assert.deepEqual(society.openProgrammes, ['high-school']);
  assert.deepEqual(
    [1, 3, 10, 11].filter((id) => society.linkOffer(id)),
    [1, 10, 11],
    'a link begins no join in it, and sells its upgrade to members',
  );
});

test('the example of another society reads, with one membership of its own', () => {
  const society = readSociety(join(import.meta.dirname, '../../../society/examples/meridian.yaml'));
  assert.deepEqual(
    society.memberships(society.defaultProgramme).map(({ name }) => name),
    ['Guild Membership'],
  );
});

const sound = readFileSync(join(societyFile, '../icon.png'));

function ofSize(width: number, height: number): Buffer {
  const icon = Buffer.from(sound);
  icon.writeUInt32BE(width, 16);
  icon.writeUInt32BE(height, 20);
  return icon;
}

for (const [what, content, is] of [
  ['that is missing', null, 'cannot be read'],
  ['of another kind', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), 'is not a PNG'],
  ['that is empty', Buffer.alloc(0), 'is not a PNG'],
  ['that was cut off', sound.subarray(0, 1000), 'is not complete'],
  ['that is not square', ofSize(300, 200), 'is 300 by 200 pixels'],
  ['that is too small for home screens', ofSize(48, 48), 'is 48 by 48 pixels'],
  ['of a poster', ofSize(4000, 4000), 'is 4000 by 4000 pixels'],
  [
    'that no letter should carry',
    Buffer.concat([sound.subarray(0, 33), Buffer.alloc(100_000), sound.subarray(33)]),
    'has 104 kB',
  ],
] as const)
  test(`an icon ${what} is refused with a sentence that names its file and says what it must be`, (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'induct-icon-'));
    t.after(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'icon.png');
    if (content) writeFileSync(file, content);
    assert.throws(() => readIcon(join(folder, 'society.yaml')), {
      constructor: SocietyFaults,
      message: `${file} ${is}. The icon of tabs, home screens and letters must be a square PNG of 180 to 1024 pixels and at most 100 kB`,
    });
  });

test('the icons of both example societies are as they must be', () => {
  assert.deepEqual(readIcon(societyFile), sound);
  assert.notDeepEqual(readIcon(join(societyFile, '../examples/meridian.yaml')), sound);
});

test('no page is told of a retired programme', () => {
  const society = readSociety(join(import.meta.dirname, '../../../society/society.yaml'));
  society.openProgrammes = ['high-school'];
  const { programmes } = toSite(society, {
    payments: { publishableKey: 'pk_test', scriptUrl: null },
    uploadMaxBytes: null,
    sendsLetters: true,
    apiUrl: '',
  });
  assert.deepEqual(Object.keys(programmes), ['high-school']);
});

test('every page is told the name, price and refund of each programme as its own', () => {
  const society = readSociety(join(import.meta.dirname, '../../../society/society.yaml'));
  const { 'high-school': school, undergraduate } = society.programmes;
  school!.refund = undergraduate!.refund = '{product}: all but {fee}.';
  school!.eligibility.intro = undergraduate!.eligibility.intro = 'For {product}.';
  // The default membership of a programme need not be its cheapest.
  school!.defaultMembership = 2;
  const { programmes } = toSite(society, {
    payments: { publishableKey: 'pk_test', scriptUrl: null },
    uploadMaxBytes: null,
    sendsLetters: true,
    apiUrl: '',
  });
  assert.deepEqual(
    Object.entries(programmes).map(([key, { membershipFrom, refund, eligibility }]) => [
      key,
      membershipFrom,
      refund,
      eligibility.intro,
    ]),
    [
      ['high-school', '$65', 'Honor Scholars: all but $0.', 'For Honor Scholars.'],
      ['undergraduate', '$95', 'Honor Collegians: all but $5.', 'For Honor Collegians.'],
    ],
  );
});
