import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  array,
  assert as assertAll,
  asyncProperty,
  constantFrom,
  nat,
  oneof,
  record,
  uint8Array,
} from 'fast-check';
import {
  compoundFile,
  contentTypes,
  doc,
  docOfEntries,
  docRing,
  docx,
  docxOfParts,
  docxParts,
  encryptedPdf,
  jpeg,
  jpegOfScans,
  jpegOfSegments,
  pdf,
  permissions,
  png,
  pngOfChunks,
  program,
  randomText,
  zip,
} from '../../tests/harness/documents.ts';
import { isLong } from '../../tests/harness/testLength.ts';
import { documentFaults, faultSentence } from './faults.ts';
import { inspectDocument } from './inspectDocument.ts';
import { HEAD_BYTES, headFault } from './signature.ts';

/** Returns a file that records how many times it was read, and how many bytes the reads returned. */
function bytesOf(content: Buffer) {
  const bytes = {
    size: content.length,
    mostAtOnce: 0,
    total: 0,
    reads: 0,
    async read(start: number, length: number, memory?: Uint8Array) {
      bytes.reads += 1;
      const part = Uint8Array.from(content.subarray(start, start + length));
      bytes.mostAtOnce = Math.max(bytes.mostAtOnce, part.length);
      bytes.total += part.length;
      if (!memory) return part;
      memory.set(part);
      return memory.subarray(0, part.length);
    },
  };
  return bytes;
}

/** Makes a PDF whose cross-reference table is a stream. */
function pdfWithXrefStream(): Buffer {
  const whole = pdf();
  const body = whole.subarray(0, whole.lastIndexOf('xref\n0'));
  const places = [1, 2, 3, 4, 5].map((object) => body.indexOf(`${object} 0 obj`));
  const rows = Buffer.from(
    [0, ...places, body.length].flatMap((at) => [at > 0 ? 1 : 0, at >> 8, at & 255, 0]),
  );
  return Buffer.concat([
    body,
    Buffer.from(`6 0 obj\n<< /Type /XRef /Size 7 /Root 1 0 R /W [1 2 1] /Length ${rows.length} >>\nstream\n`),
    rows,
    Buffer.from(`\nendstream\nendobj\nstartxref\n${body.length}\n%%EOF`),
  ]);
}

/** Makes a PDF whose `startxref` is wrong by this many bytes. */
function pdfOff(by: number, size = 0): Buffer {
  const whole = pdf({ size }).toString('latin1');
  return Buffer.from(
    whole.replace(/startxref\n(\d+)/, (_, at) => `startxref\n${Number(at) + by}`),
    'latin1',
  );
}

const before = (text: string) => Buffer.concat([Buffer.from(text, 'latin1'), pdf()]);
const behind = (text: string) => Buffer.concat([pdf(), Buffer.from(text, 'latin1')]);
/** A PDF to which a second version of an object was appended, as programs do when they fill in a form. */
const updated = () =>
  behind(
    '5 0 obj\n<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>\nendobj\ntrailer\n<< /Root 1 0 R >>\n%%EOF\n',
  );

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const MAIN = `${WORD}.main+xml`;
const override = `<Override PartName="/word/document.xml" ContentType="${MAIN}"/>`;
const text = docxParts[1]!.data.toString();
/** Makes a Word document of two parts: the list of content types, and the text under the given name. */
const wordOf = (types: string, name: string, data = text) =>
  zip([
    { name: '[Content_Types].xml', data: contentTypes(types) },
    { name, data },
  ]);

/** Makes a Word document whose list of content types is compressed. */
const listOf = (types: string) =>
  zip([
    { name: '[Content_Types].xml', data: types },
    docxParts[1]!,
    { name: 'a.bmp', data: randomText(50_000) },
  ]);

const accepted: [string, Buffer, string][] = [
  ['a PDF', pdf(), 'application/pdf'],
  ['a PDF of 300 KB', pdf({ size: 300_000 }), 'application/pdf'],
  ['a PDF with a cross-reference stream', pdfWithXrefStream(), 'application/pdf'],
  [
    'a PDF whose encryption is only mentioned in its text',
    pdf({ trailer: '/EncryptMetadata false ' }),
    'application/pdf',
  ],
  ['an encrypted PDF that forbids nothing', encryptedPdf(), 'application/pdf'],
  [
    'an encrypted PDF that forbids changes',
    encryptedPdf({ permitted: permissions.butPrinting }),
    'application/pdf',
  ],
  ['a PDF behind a byte order mark', before('\xef\xbb\xbf'), 'application/pdf'],
  ['a PDF behind blank lines', before('\r\n\n '), 'application/pdf'],
  [
    'a PDF behind the head of a web server',
    before('Content-Type: application/pdf\r\n\r\n'),
    'application/pdf',
  ],
  ["a PDF behind a printer's job", before('\x1b%-12345X@PJL ENTER LANGUAGE=PDF\r\n'), 'application/pdf'],
  ['a PDF with Ctrl-Z behind it', behind('\x1a'), 'application/pdf'],
  ['a PDF with comments behind it', behind('% made by a program\n\n%%EOF\n'), 'application/pdf'],
  ['a PDF with 100 KB of NULs behind it', behind('\0'.repeat(100_000)), 'application/pdf'],
  ['a PDF with 100 KB of blank lines behind it', behind('\r\n '.repeat(33_000)), 'application/pdf'],
  ['a PDF that was changed later', updated(), 'application/pdf'],
  ...[-1, 1, 7, 1_000_000].map((by): [string, Buffer, string] => [
    `a PDF whose startxref is ${by} bytes off`,
    pdfOff(by),
    'application/pdf',
  ]),
  [
    'a PDF whose first object is said to begin just behind its end',
    Buffer.from(pdf().toString('latin1').replace('0000000009', '0000070009'), 'latin1'),
    'application/pdf',
  ],
  [
    'a PDF without a startxref',
    Buffer.from(
      pdf()
        .toString('latin1')
        .replace(/startxref\n\d+\n/, ''),
      'latin1',
    ),
    'application/pdf',
  ],
  ['a JPEG', jpeg(), 'image/jpeg'],
  [
    'a JPEG with a film behind it, as phones make them',
    Buffer.concat([jpeg(), Buffer.from('\0\0\0\x18ftypmp42'), Buffer.alloc(3000, 7)]),
    'image/jpeg',
  ],
  ['a progressive JPEG', jpegOfScans(10), 'image/jpeg'],
  ['a JPEG of as many scans as libjpeg-turbo takes', jpegOfScans(500), 'image/jpeg'],
  ['a JPEG with 300 segments of metadata, as of a panorama', jpegOfSegments(300), 'image/jpeg'],
  ['a PNG', png(), 'image/png'],
  ['a PNG of 3,000 chunks, as of a large scan', pngOfChunks(3000), 'image/png'],
  ['a Word document of the old kind with 300 embedded objects', docOfEntries(3000), 'application/msword'],
  [
    'a Word document with 900 pictures',
    docxOfParts(920),
    'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  ],
  ['a Word document of the old kind', doc(), 'application/msword'],
  ['a Word document of the old kind, of 10 MB', doc({ size: 10_000_000 }), 'application/msword'],
  ['a Word document of the old kind, of 30 MB', doc({ size: 30_000_000 }), 'application/msword'],
  ['a Word document', docx(), WORD],
  ['a Word document that is not packed', zip(docxParts.map((part) => ({ ...part, isStored: true }))), WORD],
  [
    'a Word document whose main part has another name',
    wordOf(`<Override ContentType='${MAIN}' PartName='/word/document2.xml'/>`, 'word/document2.xml'),
    WORD,
  ],
  [
    'a Word document whose only XML is its main part',
    wordOf(`<Default Extension="xml" ContentType="${MAIN}"/>`, 'document.xml'),
    WORD,
  ],
  [
    'a Word document with a comment before its text',
    wordOf(
      override,
      'word/document.xml',
      '\ufeff<?xml version="1.0"?>\n<!-- made by a program -->\n<document/>',
    ),
    WORD,
  ],
  [
    'a Word document with a long comment before its text',
    wordOf(override, 'word/document.xml', `<!-- ${randomText(1_000_000)} <html> --><w:document/>`),
    WORD,
  ],
  [
    'a Word document with comments in its list of parts',
    wordOf(`<!-- ${override} ${'made by a program '.repeat(1000)} -->${override}`, 'word/document.xml'),
    WORD,
  ],
  ...(['utf16le', 'utf16be'] as const).flatMap((encoding) =>
    ['\ufeff', ''].map((mark): [string, Buffer, string] => [
      `a Word document in ${encoding}${mark && ' with a byte order mark'}`,
      zip(docxParts.map(({ name, data }) => ({ name, data: utf16(`${mark}${data}`, encoding) }))),
      WORD,
    ]),
  ),
  [
    'a Word document whose names of parts are spelled in another way',
    wordOf(override.replace('/word/document', '/Word/Document'), 'word\\document.xml'),
    WORD,
  ],
];
function utf16(text: string, encoding: 'utf16le' | 'utf16be'): Buffer {
  const little = Buffer.from(text, 'utf16le');
  return encoding === 'utf16le' ? little : little.swap16();
}
for (const [what, content, type] of accepted)
  test(`${what} is what it is by its content`, async () => {
    assert.deepEqual(await inspectDocument(bytesOf(content)), { type });
  });

for (const [what, content] of accepted)
  test(`the page sends ${what}, whatever its name`, () => {
    for (const name of ['transcript.pdf', 'scan.jfif', 'IMG_1.HEIC', 'virus.exe', 'transcript', ''])
      assert.equal(headFault(content.subarray(0, HEAD_BYTES), name), null);
  });

const html = '<html><script>alert(1)</script></html>';
const archive = zip([{ name: 'a.txt', data: 'hello' }]);
/** Makes a file that is both a PDF and an archive: the end of the PDF is the archive's comment. */
function pdfAndZip(): Buffer {
  const start = pdf();
  const inside = zip([{ name: 'a.txt', data: 'hello' }], start.subarray(start.indexOf('xref')));
  return Buffer.concat([start.subarray(0, start.indexOf('xref')), inside]);
}

const refused: [string, Buffer, keyof typeof documentFaults][] = [
  ['nothing', Buffer.alloc(0), 'empty'],
  [
    'a photo as iPhones keep it',
    Buffer.concat([Buffer.from('\0\0\0\x18ftypheic'), Buffer.alloc(500)]),
    'heic',
  ],
  ['a Windows program', program(), 'program'],
  ['a Linux program', Buffer.from('\x7fELF\x02\x01\x01', 'latin1'), 'program'],
  ['a script', Buffer.from('#!/bin/sh\necho hello\n'), 'program'],
  ['a web page', Buffer.from(`<!DOCTYPE html>${html}`), 'webPage'],
  ['plain text', Buffer.from('My grades are all A.'), 'unknown'],
  ['one byte', Buffer.from('%'), 'unknown'],
  ['a PDF with a password', encryptedPdf({ password: 'secret' }), 'pdfProtected'],
  [
    'a PDF with a password that forbids changes, too',
    encryptedPdf({ password: 'secret', permitted: permissions.butPrinting }),
    'pdfProtected',
  ],
  [
    'a PDF that is encrypted for the holders of a key',
    pdf({ trailer: '/Encrypt 6 0 R ', more: ['<< /Filter /Adobe.PubSec /V 4 >>'] }),
    'pdfProtected',
  ],
  [
    'a PDF without pages',
    Buffer.from(pdf().toString('latin1').replace('[3 0 R] /Count 1', '[     ] /Count 0')),
    'pdfBroken',
  ],
  ['a PDF of 50 MB whose startxref is 1 byte off', pdfOff(1, 50_000_000), 'pdfTooLarge'],
  ['a PDF that was changed later, and cut', updated().subarray(0, -30), 'pdfBroken'],
  ['a PDF cut in the middle', pdf({ size: 3000 }).subarray(0, 2000), 'pdfBroken'],
  ['a PDF without its last line', pdf().subarray(0, -6), 'pdfBroken'],
  [
    'a PDF that lacks bytes at its start',
    Buffer.concat([Buffer.from('%PDF-1.7\n'), pdf().subarray(60)]),
    'pdfBroken',
  ],
  [
    'the header of a PDF and noise',
    Buffer.concat([Buffer.from('%PDF-1.7\n'), Buffer.alloc(5000, 3)]),
    'pdfBroken',
  ],
  ['a PDF behind the beginning of a program', before('MZ\x90\0\x03'), 'twoInOne'],
  ['a PDF behind a script', before('\n#!/bin/sh\nexit\n'), 'twoInOne'],
  ['a PDF behind a web page', before(html), 'twoInOne'],
  ['a PDF in an archive', before('PK\x03\x04\x14\0\0\0'), 'twoInOne'],
  ['a PDF behind other bytes', before('GIF89a\x01\0\x01\0\x80\0\0'), 'twoInOne'],
  ['a PDF with a program behind it', Buffer.concat([behind('\n'), program()]), 'twoInOne'],
  ['a PDF with text behind it', behind('echo hello\n'), 'twoInOne'],
  ['a PDF with a web page in a comment behind it', behind(`% ${html}`), 'twoInOne'],
  ['a PDF with a web page behind it', Buffer.concat([pdf(), Buffer.from(html)]), 'twoInOne'],
  ['a PDF with an archive behind it', Buffer.concat([pdf(), archive]), 'twoInOne'],
  ['a PDF that is an archive too', pdfAndZip(), 'twoInOne'],
  [
    'a JPEG that is a PDF too',
    Buffer.concat([
      jpeg().subarray(0, 2),
      Buffer.from('fffe000b255044462d312e370a', 'hex'),
      jpeg().subarray(2),
    ]),
    'twoInOne',
  ],
  ['a JPEG with an archive behind it', Buffer.concat([jpeg(), archive]), 'twoInOne'],
  [
    'a JPEG with a web page behind it',
    Buffer.concat([jpeg(), Buffer.alloc(100), Buffer.from(html)]),
    'twoInOne',
  ],
  ['a PNG with a program behind it', Buffer.concat([png(), program()]), 'twoInOne'],
  ['a JPEG cut in its scan', jpeg().subarray(0, -2), 'imageBroken'],
  ['a JPEG cut in its tables', jpeg().subarray(0, 60), 'imageBroken'],
  ['a JPEG without a picture', Buffer.from('ffd8ffd9', 'hex'), 'imageBroken'],
  ['a PNG cut in the middle', png().subarray(0, -15), 'imageBroken'],
  ['a PNG without a picture', Buffer.concat([png().subarray(0, 33), png().subarray(-12)]), 'imageBroken'],
  ['a JPEG of 19,000 scans', jpegOfScans(19_000), 'imageCrowded'],
  ['a JPEG of 30,000 empty segments', jpegOfSegments(30_000), 'imageCrowded'],
  ['a PNG of 140,000 empty chunks', pngOfChunks(140_000), 'imageCrowded'],
  ['an old Word document whose directory is a ring', docRing(), 'wordBroken'],
  ['an old Word document of 30,000 streams', docOfEntries(30_000), 'wordCrowded'],
  ['a Word document of 19,000 parts', docxOfParts(19_000), 'wordCrowded'],
  ['an Excel file of the old kind', compoundFile('Workbook'), 'notWord'],
  ['a protected Word document', compoundFile('EncryptedPackage'), 'wordProtected'],
  ['an old Word document with a password', doc({ isEncrypted: true }), 'wordProtected'],
  ['an old Word document of 70 MB', doc({ size: 70_000_000 }), 'wordTooLarge'],
  [
    'an old Word document of 10 MB that lacks its end',
    doc({ size: 10_000_000 }).subarray(0, -5000),
    'wordBroken',
  ],
  ['an old Word document with macros', compoundFile('WordDocument', '_VBA_PROJECT'), 'wordMacros'],
  ['an old Word document cut in the middle', doc().subarray(0, 1100), 'wordBroken'],
  ['an archive', archive, 'notWord'],
  ['an Excel file', zip([docxParts[0]!, { name: 'xl/workbook.xml', data: '<x/>' }]), 'notWord'],
  [
    'a Word document with macros',
    zip([...docxParts, { name: 'word/vbaProject.bin', data: 'x' }]),
    'wordMacros',
  ],
  [
    'a Word document with encrypted parts',
    zip([docxParts[0]!, { ...docxParts[1]!, says: { flags: 1 } }]),
    'wordProtected',
  ],
  ...['../../.bashrc', '/etc/cron.d/x', 'word\\..\\..\\x.exe', 'C:\\x.exe'].map(
    (name): [string, Buffer, 'twoInOne'] => [
      `a Word document with a part named ${name}`,
      zip([...docxParts, { name, data: 'x' }]),
      'twoInOne',
    ],
  ),
  ['a Word document whose list of parts names none', wordOf('', 'word/document.xml'), 'notWord'],
  ['a template', wordOf(override.replace('document.main', 'template.main'), 'word/document.xml'), 'notWord'],
  [
    'a Word document of the kind that may have macros',
    wordOf(
      '<Override PartName="/word/document.xml" ContentType="application/vnd.ms-word.document.macroEnabled.main+xml"/>',
      'word/document.xml',
    ),
    'wordMacros',
  ],
  [
    'a Word document whose main part is not there',
    wordOf(override.replace('document.xml', 'other.xml'), 'word/document.xml'),
    'wordBroken',
  ],
  ...['x'.repeat(5000), '', '<html><body/></html>', '<documents/>', '<!-- never closed <document/>'].map(
    (data): [string, Buffer, 'wordBroken'] => [
      `a Word document whose text begins ${JSON.stringify(data.slice(0, 20))}`,
      wordOf(override, 'word/document.xml', data),
      'wordBroken',
    ],
  ),
  [
    'a Word document whose text is 60 MB of one letter',
    zip([...docxParts, { name: 'word/media/a.bmp', data: Buffer.alloc(60_000_000, 'x') }]),
    'bomb',
  ],
  [
    'a Word document whose list of parts is too long',
    zip([{ name: '[Content_Types].xml', data: randomText(2_000_000) }, docxParts[1]!]),
    'wordCrowded',
  ],
  ['a Word document whose list of parts never closes', listOf('<Override '.repeat(100_000)), 'notWord'],
  [
    'a Word document whose list of parts never ends',
    listOf('<Override PartName ='.padEnd(1_000_000)),
    'notWord',
  ],
  [
    'a Word document with a part that becomes more than it says',
    zip([docxParts[0]!, { ...docxParts[1]!, data: randomText(50_000), says: { size: 2000 } }]),
    'bomb',
  ],
  [
    'a Word document with a part that becomes less than it says',
    zip([docxParts[0]!, { ...docxParts[1]!, says: { size: 2000 } }]),
    'wordBroken',
  ],
  ['a Word document cut in the middle', docx().subarray(0, -30), 'wordBroken'],
  ['a Word document with something behind it', Buffer.concat([docx(), Buffer.from(html)]), 'twoInOne'],
  [
    'a Word document that says it unpacks to 4 GB',
    zip([docxParts[0]!, { ...docxParts[1]!, says: { size: 4_000_000_000 } }]),
    'bomb',
  ],
  [
    'a Word document whose parts share bytes',
    zip([...docxParts, { name: 'again.xml', data: docxParts[0]!.data, says: { offset: 0 } }]),
    'bomb',
  ],
];
/** Asserts that an inspection read each byte about twice at most, in few reads. */
function assertBounded({ size, total, reads }: ReturnType<typeof bytesOf>): void {
  assert.ok(total <= 2 * size + 1_000_000, `${total} bytes of ${size} were read`);
  assert.ok(reads <= 7000 + size / 10_000, `${reads} reads of ${size} bytes`);
}
for (const [what, content] of [...accepted, ...refused])
  test(`what is looked at of ${what} is bounded`, async () => {
    const bytes = bytesOf(content);
    await inspectDocument(bytes);
    assertBounded(bytes);
  });

/** Numbers with a meaning in compound files and archives: sectors, lengths and markers. */
const words = oneof(
  constantFrom(0, 1, 2, 3, 4, 0xff, 0xffff, 0x7fff_ffff, 0xffff_fff9, 0xffff_ffff).map((number) => {
    const word = new Uint8Array(4);
    new DataView(word.buffer).setUint32(0, number, true);
    return word;
  }),
  constantFrom('\xff\xda\0\x02', '\xff\xd9', 'PK\x05\x06', 'PK\x03\x04', '%%EOF', 'IEND').map((text) =>
    Buffer.from(text, 'latin1'),
  ),
);
test('whatever is written over a document or cut from it, looking at it ends, with a verdict and bounded', async () => {
  const documents = [
    pdf(),
    encryptedPdf({ permitted: permissions.butPrinting }),
    jpegOfScans(20),
    png(),
    docOfEntries(40),
    docRing(),
    docx(),
  ];
  const edit = record({ at: nat(20_000), bytes: oneof(uint8Array({ maxLength: 8 }), words) });
  await assertAll(
    asyncProperty(
      constantFrom(...documents),
      array(edit, { maxLength: 12 }),
      nat(3000),
      async (document, edits, cut) => {
        const content = Buffer.from(document);
        for (const { at, bytes } of edits)
          content.write(Buffer.from(bytes).toString('latin1'), at % content.length, 'latin1');
        const bytes = bytesOf(content.subarray(0, Math.max(1, content.length - Math.max(0, cut - 1500))));
        const inspection = await inspectDocument(bytes);
        assert.ok('type' in inspection || inspection.fault in documentFaults);
        assertBounded(bytes);
      },
    ),
    { numRuns: isLong ? 20_000 : 1_000 },
  );
});

for (const [what, content, fault] of refused)
  test(`${what} is refused with its own sentence`, async () => {
    assert.deepEqual(await inspectDocument(bytesOf(content)), { fault });
  });

test('what is no document is told by what its name says', () => {
  const refused = (name: string) => faultSentence('unknown', name);
  assert.equal(refused('notes.txt'), refused('virus.exe'));
  assert.match(refused('notes.txt'), /^This type of file is not accepted/);
  assert.equal(refused('transcript.PDF'), documentFaults.unknown);
  assert.equal(refused('IMG_1.heic'), documentFaults.heic);
  assert.equal(faultSentence('program', 'transcript.pdf'), documentFaults.program);
});

test('every fault has a sentence of its own that says what to do', () => {
  const sentences = Object.values(documentFaults);
  assert.equal(new Set(sentences).size, sentences.length);
  for (const sentence of sentences) assert.match(sentence, /Please /);
});

test('a PDF of thousands of objects is whole wherever its trailer lies in what is read at once', async () => {
  const whole = pdf({ more: Array.from({ length: 3260 }, () => 'null') });
  const [table, trailer] = [whole.indexOf('xref'), whole.lastIndexOf('trailer')];
  for (let at = 65_520; at <= 65_540; at++) {
    const space = Buffer.alloc(at - (trailer - table), ' ');
    const content = Buffer.concat([whole.subarray(0, trailer), space, whole.subarray(trailer)]);
    assert.deepEqual(
      await inspectDocument(bytesOf(content)),
      { type: 'application/pdf' },
      `${at} bytes before it`,
    );
  }
});

test('of a large PDF only its two ends are read', async () => {
  const bytes = bytesOf(pdf({ size: 50_000_000 }));
  assert.deepEqual(await inspectDocument(bytes), { type: 'application/pdf' });
  assert.ok(bytes.total < 400_000, `${bytes.total} bytes were read`);
});

test('a picture is whole wherever its end lies in what is read at once', async () => {
  const [start, end] = [jpeg().subarray(0, -2), jpeg().subarray(-2)];
  for (let size = 524_285; size <= 524_295; size++) {
    const content = Buffer.concat([start, Buffer.alloc(size - start.length - end.length), end]);
    assert.deepEqual(await inspectDocument(bytesOf(content)), { type: 'image/jpeg' }, `${size} bytes`);
  }
});

test('however large a picture is, it is read in small pieces', async () => {
  const [start, end] = [jpeg().subarray(0, -2), jpeg().subarray(-2)];
  const bytes = bytesOf(Buffer.concat([start, Buffer.alloc(5_000_000, 'ff00', 'hex'), end]));
  assert.deepEqual(await inspectDocument(bytes), { type: 'image/jpeg' });
  assert.ok(bytes.mostAtOnce <= 524_288);
});
