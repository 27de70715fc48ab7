import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { parseSociety, readSociety, SocietyFaults } from './readSociety.ts';

const path = join(import.meta.dirname, '../../../society/society.yaml');
const source = readFileSync(path, 'utf8');
const lineOf = (text: string) => source.slice(0, source.indexOf(text)).split('\n').length;

function faultsOf(change: (text: string) => string): readonly string[] {
  try {
    parseSociety(change(source), 'society.yaml');
  } catch (error) {
    if (error instanceof SocietyFaults) return error.faults;
    throw error;
  }
  return [];
}

const mistakes: [string, (text: string) => string, string, RegExp][] = [
  [
    'a price that is no text',
    (text) => text.replace('price: "89.00"', 'price: 89'),
    'price: "89.00"',
    /catalogue\.1\.price/,
  ],
  [
    'a price with one decimal',
    (text) => text.replace('price: "89.00"', 'price: "89.0"'),
    'price: "89.00"',
    /two decimals/,
  ],
  [
    'a colour that could not be read',
    (text) => text.replace('red: "#9E1B32"', 'red: "#E0566D"'),
    'red: "#9E1B32"',
    /society\.colours\.red: is too light: .* contrast of 3\.\d\d to 1, and needs 4\.5 to 1/,
  ],
  [
    'a price below the least that a card can be charged',
    (text) => text.replace('price: "12.00"', 'price: "0.49"'),
    'price: "12.00"',
    /at least "0\.50"/,
  ],
  [
    'a setting that does not exist',
    (text) => text.replace('supportPhone:', 'supportFax:'),
    'supportPhone:',
    /supportFax: is not a known setting/,
  ],
  [
    'a consent of a guardian without a sentence',
    (text) => text.replace(/# guardianConsent: .*/, 'guardianConsent: ""'),
    '# guardianConsent:',
    /programmes\.high-school\.guardianConsent/,
  ],
  [
    'a consent of a guardian that is no sentence',
    (text) => text.replace(/# guardianConsent: .*/, 'guardianConsent: true'),
    '# guardianConsent:',
    /programmes\.high-school\.guardianConsent/,
  ],
  [
    'an upgrade of another programme',
    (text) => text.replace('upgrade: 11', 'upgrade: 10'),
    'upgrade: 11',
    /not an upgrade of the same programme/,
  ],
  [
    'a floor above the price',
    (text) => text.replace('floor: "20.00"', 'floor: "99.00"'),
    'floor: "20.00"',
    /above the price/,
  ],
  [
    'a default membership that is none',
    (text) => text.replace('defaultMembership: 3', 'defaultMembership: 30'),
    'defaultMembership: 3',
    /not a membership of this programme/,
  ],
  ['an id that is used twice', (text) => text.replace('id: 33', 'id: 32'), 'id: 33', /used twice/],
  ['a colour that is none', (text) => text.replace('"#9E1B32"', '"red"'), 'red: "#9E1B32"', /colour/],
  [
    'a field that the CRM knows nothing of',
    (text) => text.replace('    zip: { property: zip,', '    zipcode: { property: zip,'),
    '    zip: { property: zip,',
    /zipcode/,
  ],
  [
    'a rule of writing that does not exist',
    (text) => text.replace('property: city, write: overwrite', 'property: city, write: sometimes'),
    '    city: {',
    /crm\.fields\.city\.write/,
  ],
  [
    'a time zone that does not exist',
    (text) => text.replace('America/Chicago', 'America/Springfield'),
    '  timeZone:',
    /society\.timeZone: must be a time zone/,
  ],
  [
    'a placeholder that a press release does not know',
    (text) => text.replace('the President of {society}', 'the President of {Society}'),
    '    by:',
    /pressRelease\.quote\.by: \{Society\} is not known here; there are \{product\}, \{society\}, \{email\}, \{phone\}/,
  ],
  [
    'a placeholder that a certificate does not know',
    (text) => text.replace('in recognition of academic', 'of {fee} for academic'),
    '  citation:',
    /certificate\.citation: \{fee\} is not known here/,
  ],
  [
    'a placeholder that the texts of a programme do not know',
    (text) => text.replace('To join {product} as a high-school', 'To join {programme} as a high-school'),
    '      intro:',
    /programmes\.high-school\.eligibility\.intro: \{programme\} is not known here; there are \{product\}, \{society\}, \{email\}, \{phone\}, \{fee\}, \{discount\}$/,
  ],
  [
    'a placeholder with spaces in its braces',
    (text) => text.replace('get {discount} off', 'get { discount } off'),
    '  text: New members',
    /store\.text: \{ discount \} is not known here/,
  ],
  [
    'a placeholder of other texts in a fact of the first page',
    (text) => text.replace('text: From {price}', 'text: To join {product} costs {price}'),
    '        text: From',
    /pages\.getStarted\.facts\.0\.text: \{product\} is not known here; there are \{price\}, \{refund\}$/,
  ],
  [
    'a placeholder where nothing is filled in',
    (text) => text.replace('Your receipt and your', 'Your receipt from {society} and your'),
    '        text: Your receipt',
    /pages\.congratulations\.emails\.0\.text: \{society\} is not filled in here: this text has no placeholders$/,
  ],
  [
    'a society whose name the certificate cannot be printed with',
    (text) => text.replace('name: Collegiate Honor Society', 'name: Collegiate Honor Society 🎓 جمعية'),
    '  name: Collegiate',
    /society\.name: has 🎓 ج م ع ي ة, which cannot be printed on certificates and press releases: their typeface has Latin, Greek and Cyrillic letters$/,
  ],
  [
    'a programme whose name the certificate cannot be printed with',
    (text) => text.replace('name: Honor Collegians', 'name: 荣誉 Collegians'),
    '    name: Honor Collegians',
    /programmes\.undergraduate\.name: has 荣 誉, which/,
  ],
  [
    'a text of the press release that cannot be printed',
    (text) => text.replace('recognizes students in', 'recognizes ★ students in'),
    '  about:',
    /pressRelease\.about: has ★, which/,
  ],
  [
    'a sign that the slanted letters below a signature do not have',
    (text) => text.replace('- title: Chair of the Board', '- title: Chair²'),
    '    - title: Chair',
    /certificate\.signatures\.1\.title: has ², which/,
  ],
  [
    'a distinction that cannot be printed',
    (text) => text.replace('    distinction: Distinguished Member', '    distinction: Member ✓'),
    '    distinction: Distinguished',
    /catalogue\.3\.distinction: has ✓, which/,
  ],
  [
    'a name that is too long for a certificate',
    (text) => text.replace('name: Collegiate Honor Society', `name: ${'Honor '.repeat(20)}Society`),
    '  name: Collegiate',
    /society\.name: must have at most 120 characters: it would be too small on certificates$/,
  ],
  [
    'a citation that is too long for a certificate',
    (text) => text.replace('citation: ', `citation: ${'has been admitted '.repeat(20)}`),
    '  citation:',
    /certificate\.citation: must have at most 300 characters/,
  ],
  [
    'more signatures than the certificate has lines for',
    (text) => text.replace('    - title: President\n', '    - title: President\n    - title: Registrar\n'),
    '  signatures:',
    /certificate\.signatures/,
  ],
  [
    'a distinction of what is no upgrade',
    (text) => text.replace('    ships: Honor Cord', '    distinction: Corded Member'),
    '    ships: Honor Cord',
    /catalogue\.1\.distinction: is only for upgrades/,
  ],
  [
    'a society that reminds people and does not say where it lives',
    (text) => text.replace(/ +postalAddress: .*\n/, ''),
    'reminders: true',
    /letters\.reminders: needs letters\.postalAddress/,
  ],
  [
    'paid joins that go while they can be disputed',
    (text) => text.replace('\nletters:\n', '\nretention: { paidDays: 30 }\nletters:\n'),
    'letters:\n  certificateAfterDays',
    /retention\.paidDays: must be at least 180 days/,
  ],
  [
    'a stage of joins that there is none of',
    (text) => text.replace('\nletters:\n', '\nretention: { startedDays: 30 }\nletters:\n'),
    'letters:\n  certificateAfterDays',
    /startedDays/,
  ],
  [
    'a retired membership that a programme offers first',
    (text) => text.replace('name: Membership\n', 'name: Membership\n    retired: true\n'),
    '    defaultMembership: 1',
    /programmes\.high-school\.defaultMembership: product 1 is retired/,
  ],
  [
    'a retired programme that is the default one',
    (text) => text.replace('name: Honor Scholars\n', 'name: Honor Scholars\n    retired: true\n'),
    '    isTOLA: true',
    /programmes\.high-school\.retired: the first programme is the default one, and cannot be retired/,
  ],
  [
    'a retired donation of any amount',
    (text) => text.replace('type: donation_other\n', 'type: donation_other\n    retired: true\n'),
    'type: donation_other',
    /type: the donation of any amount cannot be retired/,
  ],
  [
    'a picture that no browser would show',
    (text) => text.replace('    ships: Honor Cord', '    icon: cord.png'),
    '    ships: Honor Cord',
    /catalogue\.1\.icon: must be SVG text, or an image's data: URL, https address, or path that begins with \//,
  ],
  [
    'a picture without encryption, which browsers block',
    (text) => text.replace('    ships: Honor Cord', '    icon: http://pictures.example/cord.png'),
    '    ships: Honor Cord',
    /catalogue\.1\.icon: must be/,
  ],
  [
    'a picture whose address is none',
    (text) => text.replace('    ships: Honor Cord', '    icon: https://['),
    '    ships: Honor Cord',
    /catalogue\.1\.icon: must be/,
  ],
  [
    'a picture whose site is a pattern',
    (text) => text.replace('    ships: Honor Cord', '    icon: https://*/cord.png'),
    '    ships: Honor Cord',
    /catalogue\.1\.icon: must be/,
  ],
  [
    'a price without quotes',
    (text) => text.replace('price: "89.00"', 'price: 89.00'),
    'price: "89.00"',
    /catalogue\.1\.price: must be dollars with two decimals in quotes, as "65\.00"$/,
  ],
  [
    'a colour without quotes',
    (text) => text.replace('red: "#9E1B32"', 'red: #9E1B32'),
    'red: "#9E1B32"',
    /society\.colours\.red: must be a colour in quotes/,
  ],
  [
    'a text that is a number for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: 2026'),
    '    ships: Honor Cord',
    /catalogue\.1\.ships: must be text\. A number, .* must be in quotes$/,
  ],
  [
    'a text that is a comment for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: #1 cord'),
    '    ships: Honor Cord',
    /catalogue\.1\.ships: is empty\. A text with # must be in quotes$/,
  ],
  [
    'a text whose end is a comment for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: Honor Cord #1 of two'),
    '    ships: Honor Cord',
    /" #1 of two" is a comment for YAML, and no part of the text before it\. .*must be in quotes.*; a comment has a space after #$/,
  ],
  [
    'a text whose second line ends in a comment for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: Honor\n      Cord #1'),
    '    ships: Honor Cord',
    /" #1" is a comment for YAML/,
  ],
  [
    'a text with a colon',
    (text) => text.replace('ships: Honor Cord', 'ships: Honor Cord: gold'),
    '    ships: Honor Cord',
    /must be in quotes/,
  ],
  [
    'a text that is a tag for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: !Honor Cord'),
    '    ships: Honor Cord',
    /must be in quotes/,
  ],
  [
    'a text that is an alias for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: *Honor'),
    '    ships: Honor Cord',
    /\* at the beginning of a text has a meaning in YAML\..* must be in quotes/,
  ],
  [
    'a text that is an anchor for YAML',
    (text) => text.replace('ships: Honor Cord', 'ships: &Honor Cord'),
    '    ships: Honor Cord',
    /& at the beginning of a text has a meaning in YAML\..* must be in quotes/,
  ],
  [
    'a yes that is no true',
    (text) => text.replace('isTOLA: true', 'isTOLA: yes'),
    'isTOLA: true',
    /programmes\.high-school\.isTOLA: must be true or false$/,
  ],
  [
    'a list that is none',
    (text) => text.replace(/ {4}features:\n( {6}- .*\n)+/, '    features: Lifetime membership\n'),
    '    features:',
    /catalogue\.0\.features: must be a list/,
  ],
  [
    'a programme with a capital letter',
    (text) => text.replace('  undergraduate:', '  Undergraduate:'),
    '  undergraduate:',
    /programmes\.Undergraduate: must be small letters, digits and hyphens/,
  ],
  ['text that is no YAML', (text) => text.replace('store:\n', 'store: [\n'), 'store:\n  title', /./],
];
for (const [what, change, where, sentence] of mistakes)
  test(`${what} is reported with its line`, () => {
    const faults = faultsOf(change);
    const fault = faults.find((one) => sentence.test(one));
    assert.ok(fault, faults.join('\n'));
    const line = Number(/:(\d+): /.exec(fault)?.[1]);
    assert.ok(
      Math.abs(line - lineOf(where)) <= (what.includes('YAML') ? 3 : 0),
      `${fault} should name line ${lineOf(where)}`,
    );
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
  const folder = mkdtempSync(join(tmpdir(), 'induct-society-'));
  t.after(() => rmSync(folder, { recursive: true }));
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

test('a file that is not there is a fault that names the setting', () => {
  assert.throws(
    () => readSociety('/nowhere/society.yaml'),
    (error) => error instanceof SocietyFaults && /SOCIETY_FILE/.test(error.message),
  );
});
