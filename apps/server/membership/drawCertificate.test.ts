import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import jsQR from 'jsqr';
import { cleanText } from '#core/cleanText.ts';
import { papers } from '#core/paper.ts';
import { isPlainlyPrintable } from '#core/printedText.ts';
import { checkStructure, fontsOf, lacks, picture, textOf, wordsOf } from '../../../tests/harness/pdfTools.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { missingIn, openFont } from '../society/glyphs.ts';
import { type Certificate, drawCertificate, drawPicture } from './drawCertificate.ts';
import { drawPressRelease } from './drawPressRelease.ts';
import { fitName, fitTitle } from './fitName.ts';
import { type PressFacts, releaseText, writeRelease } from './pressRelease.ts';
import { openPrinter } from './printer.ts';
import { openSheet } from './sheet.ts';
import { openTypeface } from './typeface.ts';

const typeface = await openTypeface();
const colours = { gold: '#E8B23A', red: '#9E1B32' };
const sinceTime = new Date('2026-11-23T18:04:05Z');

function certificate(change: Partial<Certificate> = {}): Certificate {
  return {
    society: 'Collegiate Honor Society',
    colours,
    name: 'Jordan Rivera',
    citation: 'has been admitted to membership for life in recognition of academic achievement',
    programme: 'Honor Scholars',
    distinction: null,
    since: 'November 23, 2026',
    sinceTime,
    number: '7K3M-9QXR',
    verifyUrl: 'https://join.society.example/verify/7K3M-9QXR',
    signatures: [{ title: 'President' }, { title: 'Chair of the Board' }],
    ...change,
  };
}

/** Real names, and other texts that people have entered as names. */
const names = [
  'Jordan Rivera',
  'Bo Li',
  'Amélie Tremblay',
  'Nguyễn Thị Hồng Nhung',
  'Ἀλέξανδρος Παπαδόπουλος',
  'Ελένη Γεωργίου',
  'Владимир Ђорђевић',
  'Ганна Їжакевич-Ґалаґан',
  'Zoe\u0308 Nu\u0301n\u0303ez',
  'Tra\u0302\u0300n Vie\u0323\u0302t A\u0301nh',
  "D'Arcy O'Brien-Smith",
  'Siobhán O’Sullivan',
  'Þórður Æsir Ǿðinsson',
  'Łukasz Żółć-Święcicki',
  'Kaʻiulani Kealoha',
  'Maximiliana-Theodora Konstantinopoulou-Featherstonehaugh',
  'Maria Antonia Josefa Benedicta Consuelo de la Concepción Fernández-Villaverde y Montemayor',
  'Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch',
  'Wolfeschlegelsteinhausenbergerdorff '.repeat(12).trim(),
  'W'.repeat(200),
  'Şerife İpek Ağaoğlu',
  'x',
];

/** The distance of the frame's inner line from the edge of the paper (points). */
const FRAME = 38;

test('a name never leaves the frame: it shrinks before it breaks, and breaks between words', () => {
  const sheet = openSheet(typeface, { size: [792, 612], title: '', author: '', date: sinceTime });
  const width = 648;
  for (const name of names.map(cleanText)) {
    const { lines, size } = fitName(sheet, name, width, 56);
    assert.equal(lines.join(' '), name);
    assert.ok(lines.length <= 3, name);
    for (const line of lines)
      assert.ok(sheet.widthOf(line, { style: 'regular', size }) <= width + 0.01, `${line} at ${size}`);
  }
  const lineCount = (name: string) => fitName(sheet, name, width, 56).lines.length;
  assert.equal(fitName(sheet, 'Jordan Rivera', width, 56).size, 56);
  assert.equal(lineCount('Alexandra Featherstonehaugh-Winterbottom'), 1, 'smaller, and still on one line');
  assert.equal(lineCount('Maximiliana-Theodora Konstantinopoulou-Featherstonehaugh'), 2);
  assert.equal(lineCount('W'.repeat(60)), 1, 'a word is never broken');
  void sheet.finish();
});

test('any text of letters fits, however long and however its words lie', () => {
  const sheet = openSheet(typeface, { size: [792, 612], title: '', author: '', date: sinceTime });
  const word = fc.string({ unit: fc.constantFrom(...'ABWgimwéÑ’-'), minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1, maxLength: 9 }), (words) => {
      const { lines, size } = fitName(sheet, words.join(' '), 648, 56);
      assert.equal(lines.join(' '), words.join(' '));
      for (const line of lines) assert.ok(sheet.widthOf(line, { style: 'regular', size }) <= 648.01);
    }),
    { numRuns: isLong ? 100 : 10 },
  );
  void sheet.finish();
});

test('whatever the name, its picture is shapes and numbers alone', () => {
  const shape = /^(path|use|g|svg|defs)( (d|id|x|y|href|fill|transform|stroke[a-z-]*)="[\w#., ()-]*")*\/?$/;
  const check = (name: string) => {
    const [svg, ...marks] = drawPicture(typeface, certificate({ name })).split('<').slice(1);
    assert.match(svg!, /^svg xmlns="http:\/\/www\.w3\.org\/2000\/svg" [\w ="]*>$/);
    for (const mark of marks) {
      assert.match(mark.replace(/^\/(\w+)>$/, '$1').replace(/>$/, ''), shape);
      assert.doesNotMatch(mark, /NaN|Infinity|undefined/);
    }
  };
  for (const name of ['"/><script>alert(1)</script>', '&#x22; onload=x', '\u202eRivera', ...names])
    check(name);
  fc.assert(fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 100 }), check), {
    numRuns: isLong ? 1000 : 20,
  });
});

test('the same certificate gives the same bytes, and another one others', async () => {
  const hash = async (change: Partial<Certificate> = {}) =>
    createHash('sha256')
      .update(await drawCertificate(typeface, certificate(change), 'letter'))
      .digest('hex');
  const first = await hash();
  assert.equal(await hash(), first);
  assert.notEqual(await hash({ distinction: 'Distinguished Member' }), first);
  assert.notEqual(await hash({ number: '7K3M-9QXS' }), first);
});

test('the typeface has every letter of these names, and says of others what it lacks', () => {
  for (const name of names) assert.deepEqual(typeface.missing(cleanText(name)), [], name);
  assert.deepEqual(typeface.missing('محمد'), ['م', 'ح', 'د']);
  assert.deepEqual(typeface.missing('王 Bo 🎓'), ['王', '🎓']);
  assert.deepEqual(
    typeface.missing(cleanText('Q\u0303uilla x\u0304 Ame\u0331lia')),
    ['Q\u0303'],
    'no place for its tilde',
  );
  const plain = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter(
    isPlainlyPrintable,
  );
  assert.ok(plain.length > 300);
  for (const style of ['regular', 'italic', 'semibold'] as const)
    assert.deepEqual(
      missingIn(openFont(typeface[style]), plain.join('')),
      [],
      'nobody needs to look for these',
    );
});

for (const paper of papers)
  test(`all text of each name stands inside the frame, can be read out, and the file is sound (${paper})`, {
    skip: lacks('pdftotext', 'pdffonts', 'qpdf'),
  }, async () => {
    // In a short run, and on A4, which is wider in landscape, the longest names are enough. That every name fits is proven above.
    const tried = isLong && paper === 'letter' ? names : names.slice(14, 18);
    for (const [index, given] of tried.entries()) {
      const name = cleanText(given);
      const distinction = index % 2 === 0 ? 'Distinguished Member' : null;
      const pdf = await drawCertificate(typeface, certificate({ name, distinction }), paper);
      checkStructure(pdf);
      const { width, height, words } = wordsOf(pdf);
      assert.deepEqual([Math.round(width), Math.round(height)], paper === 'letter' ? [792, 612] : [842, 595]);
      for (const { text, left, top, right, bottom } of words)
        assert.ok(
          left > FRAME && top > FRAME && right < width - FRAME && bottom < height - FRAME,
          `${text} of ${name}`,
        );
      const said = words.map(({ text }) => text).join(' ');
      for (const part of [
        name,
        'Honor Scholars',
        'November 23, 2026',
        '7K3M-9QXR',
        'President',
        distinction ?? '',
      ])
        assert.ok(said.includes(part), `${part} is not in: ${said}`);
      if (index > 0) continue;
      for (const font of fontsOf(pdf))
        assert.deepEqual([font.isEmbedded, font.isSubset], [true, true], font.name);
    }
  });

/** The longest texts that a society file may have on the certificate. */
const LONG = {
  society:
    'The International Association of Collegiate and Secondary School Honor Societies for Academic Excellence in Leadership',
  programme:
    'Honor Scholars of the Secondary School Division for Mathematics and the Natural Sciences at Large',
  citation:
    `${'has been admitted to membership for life in recognition of academic achievement, with all the rights '.repeat(3)}`.trim(),
  distinction: 'Distinguished Member of the Council of Honor and Scholarship',
  signatures: [
    {
      title: 'Chair of the Board of Trustees and of the Scholarship Fund',
      name: 'Dr. Eleanor Whitcombe-Hargreaves',
    },
    { title: 'President' },
  ],
};

test('a long name of a society or a programme stands on two lines of a size that can be read', () => {
  const sheet = openSheet(typeface, { size: [792, 612], title: '', author: '', date: sinceTime });
  const look = { style: 'regular', size: 27, spacing: 1.6, smallCaps: true } as const;
  const fit = (text: string) => fitTitle(sheet, text, 648, look);
  assert.deepEqual(fit('Collegiate Honor Society'), { lines: ['Collegiate Honor Society'], look });
  const smaller = fit('The National Collegiate Honor Society of Texas');
  assert.deepEqual([smaller.lines.length, smaller.look.size > 20, smaller.look.size < 27], [1, true, true]);
  const { lines, look: fitted } = fit(LONG.society);
  assert.deepEqual([lines.length, lines.join(' ')], [2, LONG.society]);
  assert.ok(fitted.size > 17, String(fitted.size));
  for (const line of lines) assert.ok(sheet.widthOf(line, fitted) <= 648.01, line);
  assert.equal(fit('Gesellschaftsvereinigungshochschulehrenmitgliedschaftsverband').lines.length, 1);
  const oneWord = fit(`The ${'Ehrenmitgliedschaft'.repeat(4)}`);
  for (const line of oneWord.lines) assert.ok(sheet.widthOf(line, oneWord.look) <= 648.01, line);
  void sheet.finish();
});

for (const paper of papers)
  test(`the longest texts of a society and the longest name do not run into each other (${paper})`, {
    skip: lacks('pdftotext', 'qpdf'),
  }, async () => {
    const pdf = await drawCertificate(typeface, certificate({ ...LONG, name: names[16]! }), paper);
    checkStructure(pdf);
    const { width, height, words } = wordsOf(pdf);
    for (const { text, left, top, right, bottom } of words)
      assert.ok(left > FRAME && top > FRAME && right < width - FRAME && bottom < height - FRAME, text);
    const parts = ['International', 'certify', 'Antonia', 'admitted', 'Division', 'Council', 'Admitted'];
    const lines = parts.map((part) => words.find(({ text }) => text === part)!);
    // The boxes of words have the height of the typeface, with room for accents and descenders that these lines do not have.
    for (const [index, { top, bottom, text }] of lines.entries())
      assert.ok(index === 0 || top > lines[index - 1]!.bottom - (bottom - top) * 0.45, text);
    assert.ok(lines.at(-1)!.bottom < (height * 482) / 612, 'above the QR code');
  });

for (const paper of papers)
  test(`the QR code of a certificate is read back from the paper (${paper})`, {
    skip: lacks('pdftoppm'),
  }, async () => {
    const verifyUrl = 'https://membership.of-a-society-with-a-long-name.example/verify/7K3M-9QXR';
    const pdf = await drawCertificate(typeface, certificate({ verifyUrl }), paper);
    const { data, width, height } = picture(pdf);
    assert.equal(jsQR.default(data, width, height)?.data, verifyUrl);
  });

const facts: PressFacts = {
  name: 'Jordan Rivera',
  school: 'Austin High School',
  city: 'Austin',
  state: 'Texas',
  programme: 'Honor Scholars',
  distinction: 'Distinguished Member',
  since: 'November 23, 2026',
  verifyUrl: 'https://join.society.example/verify/7K3M-9QXR',
  society: {
    name: 'Collegiate Honor Society',
    phone: '(555) 010-0144',
    email: 'help@society.example',
    website: 'https://society.example/about',
  },
  words: {
    why: 'Members are admitted for high achievement.',
    quote: { text: 'We stand beside them.', by: 'the President of the Society' },
    about: 'The Society recognizes students.',
  },
};

test('a press release says who, where, what, why, who says so and whom to call', () => {
  assert.equal(
    releaseText(writeRelease(facts, { colours, sinceTime })),
    `FOR IMMEDIATE RELEASE

Jordan Rivera Named Distinguished Member of Collegiate Honor Society

AUSTIN, Texas, November 23, 2026 – Jordan Rivera, a student at Austin High School, has been admitted to Honor Scholars, a program of Collegiate Honor Society, as a Distinguished Member.

Members are admitted for high achievement.

“We stand beside them,” said the President of the Society.

The membership can be confirmed at https://join.society.example/verify/7K3M-9QXR.

About Collegiate Honor Society
The Society recognizes students.

Contact: Collegiate Honor Society
(555) 010-0144
help@society.example
https://society.example/about

###`,
  );
});

test('what was not given is left out of a press release without a trace', () => {
  const text = releaseText(
    writeRelease(
      {
        ...facts,
        school: null,
        city: null,
        state: null,
        distinction: null,
        verifyUrl: null,
        words: { why: null, quote: null, about: null },
      },
      { colours, sinceTime },
    ),
  );
  assert.match(text, /^Jordan Rivera Admitted to Collegiate Honor Society$/m);
  assert.match(
    text,
    /^November 23, 2026 – Jordan Rivera has been admitted to Honor Scholars, a program of Collegiate Honor Society\.$/m,
  );
  assert.doesNotMatch(text, /undefined|null|, ,| ,|verify|\{|“|About|\n{3}/);
});

for (const paper of papers)
  test(`a press release is one page, whatever stands on it, and gives the same bytes (${paper})`, {
    skip: lacks('pdftotext', 'pdffonts', 'qpdf'),
  }, async () => {
    const long: PressFacts = {
      ...facts,
      name: cleanText(names[16]!),
      school:
        'The Right Reverend Bartholomew Featherstonehaugh Memorial Preparatory Academy for Mathematics and the Performing Arts',
      words: { ...facts.words, why: 'Members are admitted for high achievement. '.repeat(40).trim() },
    };
    const others = paper === 'letter' ? [facts, { ...facts, name: 'W'.repeat(200) }] : [];
    for (const given of [...others, long]) {
      const release = writeRelease(given, { colours, sinceTime });
      const pdf = await drawPressRelease(typeface, release, paper);
      checkStructure(pdf);
      assert.deepEqual(await drawPressRelease(typeface, release, paper), pdf);
      const { width, height, words } = wordsOf(pdf);
      for (const { text, left, right, bottom } of words)
        assert.ok(left > 71 && right < width - 71 && bottom < height - 36, `${text} of ${given.name}`);
      const said = textOf(pdf).replace(/\s+/g, ' ');
      assert.ok(said.includes('FOR IMMEDIATE RELEASE'), said);
      assert.ok(said.includes('said the President of the Society.') && said.includes('###'), said);
      assert.equal(textOf(pdf).split('\f').length, 2, 'each page ends with a form feed');
    }
  });

test('a job that fails fails alone, and its neighbours are done', async () => {
  const printer = openPrinter();
  const jobs = await Promise.allSettled([
    printer.print({ kind: 'missing', text: 'é王' }),
    printer.print({ kind: 'certificate', certificate: {} as never, paper: 'letter' }),
    printer.print({ kind: 'missing', text: 'm' }),
  ]);
  assert.deepEqual(jobs[0], { status: 'fulfilled', value: ['王'] });
  assert.match(String((jobs[1] as PromiseRejectedResult).reason), /A paper could not be made: TypeError/);
  assert.deepEqual(jobs[2], { status: 'fulfilled', value: [] });
});

test('a process waits for its papers, and ends when they are made', () => {
  const program = `
    import { openPrinter } from ${JSON.stringify(join(import.meta.dirname, 'printer.ts'))};
    console.log(await openPrinter().print({ kind: 'missing', text: '王' }));`;
  const said = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
    timeout: 60_000,
  });
  assert.match(said, /王/);
});
