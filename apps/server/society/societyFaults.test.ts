import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { parseSociety, readSociety, SocietyFaults } from './readSociety.ts';

const path = join(import.meta.dirname, '../../../society/society.yaml');
const source = readFileSync(path, 'utf8');
const lineOf = (text: string | RegExp) => {
  const found = typeof text === 'string' ? text : text.exec(source)![0];
  return source.slice(0, source.indexOf(found)).split('\n').length;
};

function faultsOf(change: (text: string) => string): readonly string[] {
  try {
    parseSociety(change(source), 'society.yaml');
  } catch (error) {
    if (error instanceof SocietyFaults) return error.faults;
    throw error;
  }
  return [];
}

/**
 * Each mistake: the replaced text, its replacement, the expected fault, and the text whose line the fault names (by default the
 * replaced text).
 */
const mistakes: [string | RegExp, string, RegExp, where?: string][] = [
  ['price: "89.00"', 'price: 89', /catalogue\.1\.price/],
  ['price: "89.00"', 'price: "89.0"', /two decimals/],
  [
    'red: "#9E1B32"',
    'red: "#E0566D"',
    /society\.colours\.red: is too light: .* contrast of 3\.\d\d to 1, and needs 4\.5 to 1/,
  ],
  ['price: "12.00"', 'price: "0.49"', /at least "0\.50"/],
  ['supportPhone:', 'supportFax:', /supportFax: is not a known setting/],
  [/# guardianConsent: .*/, 'guardianConsent: ""', /programmes\.high-school\.guardianConsent/],
  [/# guardianConsent: .*/, 'guardianConsent: true', /programmes\.high-school\.guardianConsent/],
  ['upgrade: 11', 'upgrade: 10', /not an upgrade of the same programme/],
  ['floor: "20.00"', 'floor: "99.00"', /above the price/],
  ['defaultMembership: 3', 'defaultMembership: 30', /not a membership of this programme/],
  ['id: 33', 'id: 32', /used twice/],
  ['"#9E1B32"', '"red"', /colour/],
  ['    zip: { property: zip,', '    zipcode: { property: zip,', /zipcode/],
  ['property: city, write: overwrite', 'property: city, write: sometimes', /crm\.fields\.city\.write/],
  ['America/Chicago', 'America/Springfield', /society\.timeZone: must be a time zone/],
  [
    'the President of {society}',
    'the President of {Society}',
    /pressRelease\.quote\.by: \{Society\} is not known here; there are \{product\}, \{society\}, \{email\}, \{phone\}/,
  ],
  ['in recognition of academic', 'of {fee} for academic', /certificate\.citation: \{fee\} is not known here/],
  [
    'To join {product} as a high-school',
    'To join {programme} as a high-school',
    /programmes\.high-school\.eligibility\.intro: \{programme\} is not known here; there are \{product\}, \{society\}, \{email\}, \{phone\}, \{fee\}, \{discount\}$/,
  ],
  ['get {discount} off', 'get { discount } off', /store\.text: \{ discount \} is not known here/],
  [
    'text: From {price}',
    'text: To join {product} costs {price}',
    /pages\.getStarted\.facts\.0\.text: \{product\} is not known here; there are \{price\}, \{refund\}$/,
  ],
  [
    'Your receipt and your',
    'Your receipt from {society} and your',
    /pages\.congratulations\.emails\.0\.text: \{society\} is not filled in here: this text has no placeholders$/,
  ],
  [
    'name: Collegiate Honor Society',
    'name: Collegiate Honor Society 🎓 جمعية',
    /society\.name: has 🎓 ج م ع ي ة, which cannot be printed on certificates and press releases: their typeface has Latin, Greek and Cyrillic letters$/,
  ],
  ['name: Honor Collegians', 'name: 荣誉 Collegians', /programmes\.undergraduate\.name: has 荣 誉, which/],
  ['recognizes students in', 'recognizes ★ students in', /pressRelease\.about: has ★, which/],
  ['- title: Chair of the Board', '- title: Chair²', /certificate\.signatures\.1\.title: has ², which/],
  [
    '    distinction: Distinguished Member',
    '    distinction: Member ✓',
    /catalogue\.3\.distinction: has ✓, which/,
  ],
  [
    'name: Collegiate Honor Society',
    `name: ${'Honor '.repeat(20)}Society`,
    /society\.name: must have at most 120 characters: it would be too small on certificates$/,
  ],
  [
    'citation: ',
    `citation: ${'has been admitted '.repeat(20)}`,
    /certificate\.citation: must have at most 300 characters/,
  ],
  [
    '    - title: President\n',
    '    - title: President\n    - title: Registrar\n',
    /certificate\.signatures/,
    '  signatures:',
  ],
  [
    '    ships: Honor Cord',
    '    distinction: Corded Member',
    /catalogue\.1\.distinction: is only for upgrades/,
  ],
  ['    ships: Honor Cord', '    does: a cord', /catalogue\.1\.does: is only for donations/],
  [/ +postalAddress: .*\n/, '', /letters\.reminders: needs letters\.postalAddress/, 'reminders: true'],
  [
    'letters:\n  certificate',
    'retention: { paidDays: 30 }\nletters:\n  certificate',
    /retention\.paidDays: must be at least 180 days/,
  ],
  ['letters:\n  certificate', 'retention: { startedDays: 30 }\nletters:\n  certificate', /startedDays/],
  [
    'name: Membership\n',
    'name: Membership\n    retired: true\n',
    /programmes\.high-school\.defaultMembership: product 1 is retired/,
    '    defaultMembership: 1',
  ],
  [
    'name: Honor Scholars\n',
    'name: Honor Scholars\n    retired: true\n',
    /programmes\.high-school\.retired: the first programme is the default one, and cannot be retired/,
    '    isTOLA: true',
  ],
  [
    'type: donation_other\n',
    'type: donation_other\n    retired: true\n',
    /type: the donation of any amount cannot be retired/,
  ],
  [
    '    ships: Honor Cord',
    '    icon: cord.png',
    /catalogue\.1\.icon: must be SVG text, or an image's data: URL, https address, or path that begins with \//,
  ],
  ['    ships: Honor Cord', '    icon: http://pictures.example/cord.png', /catalogue\.1\.icon: must be/],
  ['    ships: Honor Cord', '    icon: https://[', /catalogue\.1\.icon: must be/],
  ['    ships: Honor Cord', '    icon: https://*/cord.png', /catalogue\.1\.icon: must be/],
  [
    'price: "89.00"',
    'price: 89.00',
    /catalogue\.1\.price: must be dollars with two decimals in quotes, as "65\.00"$/,
  ],
  ['red: "#9E1B32"', 'red: #9E1B32', /society\.colours\.red: must be a colour in quotes/],
  ['ships: Honor Cord', 'ships: 2026', /catalogue\.1\.ships: must be text\. A number, .* must be in quotes$/],
  ['ships: Honor Cord', 'ships: #1 cord', /catalogue\.1\.ships: is empty\. A text with # must be in quotes$/],
  [
    'ships: Honor Cord',
    'ships: Honor Cord #1 of two',
    /" #1 of two" is a comment for YAML, and no part of the text before it\. .*must be in quotes.*; a comment has a space after #$/,
  ],
  ['ships: Honor Cord', 'ships: Honor\n      Cord #1', /" #1" is a comment for YAML/],
  ['ships: Honor Cord', 'ships: Honor Cord: gold', /must be in quotes/],
  ['ships: Honor Cord', 'ships: !Honor Cord', /must be in quotes/],
  [
    'ships: Honor Cord',
    'ships: *Honor',
    /\* at the beginning of a text has a meaning in YAML\..* must be in quotes/,
  ],
  [
    'ships: Honor Cord',
    'ships: &Honor Cord',
    /& at the beginning of a text has a meaning in YAML\..* must be in quotes/,
  ],
  ['isTOLA: true', 'isTOLA: yes', /programmes\.high-school\.isTOLA: must be true or false$/],
  [
    / {4}features:\n( {6}- .*\n)+/,
    '    features: Lifetime membership\n',
    /catalogue\.0\.features: must be a list/,
  ],
  [
    '  undergraduate:',
    '  Undergraduate:',
    /programmes\.Undergraduate: must be small letters, digits and hyphens/,
  ],
  ['store:\n', 'store: [\n', /./, 'title: Wear it'],
];
test('a mistake is reported with its line', () => {
  for (const [given, by, sentence, where] of mistakes) {
    const faults = faultsOf((text) => text.replace(given, by));
    const fault = faults.find((one) => sentence.test(one));
    assert.ok(fault, `${by}: ${faults.join('\n')}`);
    assert.equal(Number(/:(\d+): /.exec(fault)?.[1]), lineOf(where ?? given), fault);
  }
});

test('a picture of a product may be SVG text, a data: URL, an https address or a path of the same site', () => {
  for (const icon of [
    '<svg viewBox="0 0 1 1"/>',
    'data:image/png;base64,AAAA',
    'https://pictures.example/cord.png',
    '/pictures/cord.png',
  ])
    assert.deepEqual(
      faultsOf((text) => text.replace('    ships: Honor Cord', `    icon: '${icon}'`)),
      [],
      icon,
    );
});

test('only memberships and upgrades send something by post', () => {
  const [fault] = faultsOf((text) =>
    text.replace('name: Lapel Pin', 'name: Lapel Pin\n    ships: Lapel Pin'),
  );
  assert.match(fault!, /catalogue\.9\.ships: is only for memberships and upgrades/);
});

test('all mistakes are reported at once', () => {
  const faults = faultsOf((text) =>
    text
      .replace('price: "89.00"', 'price: 89')
      .replace('name: Lapel Pin', 'name: ""')
      .replace('"#E8B23A"', '"gold"'),
  );
  assert.equal(faults.length, 3);
});

test('comments after texts and numbers are no faults, nor is # in quotes', () => {
  for (const ships of [
    'Honor Cord # 1',
    'Honor Cord ## gold',
    'Honor Cord#1',
    '"Honor Cord #1"',
    "'Honor Cord #1' #old",
    'Honor Cord\n    #retired: true',
    'Honor Cord #',
  ])
    assert.deepEqual(
      faultsOf((text) =>
        text.replace('ships: Honor Cord', `ships: ${ships}`).replace('id: 33', 'id: 33 #last'),
      ),
      [],
      ships,
    );
});

test('a file without settings, and a setting that is missing, are said to be so', () => {
  assert.deepEqual(
    faultsOf(() => '# nothing yet\n'),
    ['society.yaml:1: is empty'],
  );
  assert.deepEqual(
    faultsOf((text) => text.replace(/ +tagline: .*\n/, '')).map((fault) => fault.replace(/:\d+:/, ':')),
    ['society.yaml: society.tagline: is missing'],
  );
});

test('a file in another encoding is refused, with the line of the first letter that would be lost', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'society.yaml');
  const changed = source.replace('tagline: ', 'tagline: \u00e9');
  const sentence = (line: number) => [`${file}:${line}: is not in UTF-8: save the file with this encoding`];
  for (const [encoding, line] of [
    ['latin1', lineOf('tagline: ')],
    ['utf16le', 1],
  ] as const) {
    writeFileSync(file, Buffer.from(`${encoding === 'utf16le' ? '\ufeff' : ''}${changed}`, encoding));
    assert.throws(
      () => readSociety(file),
      (error) => error instanceof SocietyFaults && isDeepStrictEqual(error.faults, sentence(line)),
    );
  }
  writeFileSync(file, changed);
  assert.match(readSociety(file).society.tagline, /^\u00e9/);
});

test('each text knows its own placeholders, and braces in a picture are none', () => {
  const changed = (text: string) =>
    text
      .replace('You were invited through {school}', 'For {product}, by {phone} or {email}, through {school}')
      .replace('You are nominating', 'With {discount} and {fee} you are nominating')
      .replace('icon: <svg ', 'icon: <svg data-of="{1}" ');
  assert.notEqual(changed(source), source);
  assert.deepEqual(faultsOf(changed), []);
});

test('a society may be named in Greek, Cyrillic or Vietnamese, and its papers have no lines of their own', () => {
  for (const name of [
    'Σύλλογος Ἀριστείας',
    'Общество чести',
    'Hội Danh dự',
    'Society ² “of” the Bee’s — №1…',
  ])
    assert.deepEqual(
      faultsOf((text) => text.replace('name: Collegiate Honor Society', `name: ${name}`)),
      [],
      name,
    );
  const { society, pressRelease } = parseSociety(
    source
      .replace('name: Collegiate Honor Society', 'name: Socie\u0301te\u0301\u00a0\u200bd’Honneur')
      .replace(/ {2}about: .*/, '  about: |\n    One.\n\n    Two.'),
    path,
  );
  assert.equal(society.name, 'Société d’Honneur');
  assert.equal(pressRelease.about, 'One. Two.');
});

test('a file that is not there is a fault that names it and the setting', () => {
  assert.throws(
    () => readSociety('/nowhere/society.yaml'),
    (error) =>
      error instanceof SocietyFaults && /^\/nowhere\/society\.yaml .*SOCIETY_FILE/.test(error.message),
  );
});
