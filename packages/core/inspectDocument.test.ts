import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compoundFile,
  doc,
  docx,
  docxParts,
  encryptedPdf,
  jpeg,
  pdf,
  png,
  program,
  zip,
} from '../../local/testing/documents.ts';
import { documentFaults, inspectDocument } from './inspectDocument.ts';

/** Counts what is read of a file. */
function bytesOf(content: Buffer) {
  const bytes = {
    size: content.length,
    mostAtOnce: 0,
    total: 0,
    async read(start: number, length: number) {
      const part = content.subarray(start, start + length);
      bytes.mostAtOnce = Math.max(bytes.mostAtOnce, part.length);
      bytes.total += part.length;
      return part;
    },
  };
  return bytes;
}

const pdfWithXrefStream = (entry = '') => {
  const body = `%PDF-1.5\n1 0 obj\n<< /Type /Catalog >>\nendobj\n`;
  return Buffer.from(
    `${body}2 0 obj\n<< /Type /XRef /Size 3 /Root 1 0 R ${entry}/W [1 2 1] /Length 4 >>\nstream\nabcd\nendstream\nendobj\nstartxref\n${body.length}\n%%EOF`,
  );
};

const accepted: [string, Buffer, string][] = [
  ['a PDF', pdf(), 'application/pdf'],
  ['a PDF of 300 KB', pdf({ size: 300_000 }), 'application/pdf'],
  ['a PDF with a cross-reference stream', pdfWithXrefStream(), 'application/pdf'],
  [
    'a PDF whose encryption is only mentioned in its text',
    pdf({ trailer: '/EncryptMetadata false ' }),
    'application/pdf',
  ],
  ...[2, 3, 4, 5, 6].map((revision): [string, Buffer, string] => [
    `a PDF that everybody can open and nobody may print, of revision ${revision}`,
    encryptedPdf(revision),
    'application/pdf',
  ]),
  ['a JPEG', jpeg(), 'image/jpeg'],
  [
    'a JPEG with a film behind it, as phones make them',
    Buffer.concat([jpeg(), Buffer.from('\0\0\0\x18ftypmp42'), Buffer.alloc(3000, 7)]),
    'image/jpeg',
  ],
  ['a PNG', png(), 'image/png'],
  ['a Word document of the old kind', doc(), 'application/msword'],
  ['a Word document', docx(), 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
];
for (const [what, content, type] of accepted)
  test(`${what} is what it is by its content`, async () => {
    assert.deepEqual(await inspectDocument(bytesOf(content)), { type });
  });

const html = '<html><script>alert(1)</script></html>';
const archive = zip([{ name: 'a.txt', data: 'hello' }]);
/** An archive that ends in a comment which is the end of a PDF around it. */
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
  ['a protected PDF', pdf({ trailer: '/Encrypt 6 0 R ' }), 'pdfProtected'],
  ['a protected PDF with a cross-reference stream', pdfWithXrefStream('/Encrypt 6 0 R '), 'pdfProtected'],
  ...[2, 3, 4, 5, 6].map((revision): [string, Buffer, 'pdfProtected'] => [
    `a PDF that wants a password, of revision ${revision}`,
    encryptedPdf(revision, 'secret'),
    'pdfProtected',
  ]),
  [
    'a PDF that is protected in a way nobody knows',
    pdf({ trailer: '/Encrypt 6 0 R ', more: ['<< /Filter /Adobe.PubSec /V 4 >>'] }),
    'pdfProtected',
  ],
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
  ['a PDF behind something else', Buffer.concat([Buffer.from('GARBAGE\n'), pdf()]), 'twoInOne'],
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
  ['an Excel file of the old kind', compoundFile('Workbook'), 'notWord'],
  ['a protected Word document', compoundFile('EncryptedPackage'), 'wordProtected'],
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
for (const [what, content, fault] of refused)
  test(`${what} is refused with its own sentence`, async () => {
    assert.deepEqual(await inspectDocument(bytesOf(content)), { fault });
  });

test('however many rounds the hash of a password takes, it is known', async () => {
  for (let number = 0; number < 50; number++) {
    const salt = String(number).padStart(8, '0');
    const inspection = await inspectDocument(bytesOf(encryptedPdf(6, '', salt)));
    assert.deepEqual(inspection, { type: 'application/pdf' }, `with the salt ${salt}`);
  }
});

test('a part that becomes more than it says is a bomb', async () => {
  const content = zip([
    docxParts[0]!,
    { ...docxParts[1]!, data: Buffer.alloc(1_000_000), says: { size: 2000 } },
  ]);
  const bytes = { ...bytesOf(content), inflatedSize: async () => 2001 };
  assert.deepEqual(await inspectDocument(bytes), { fault: 'bomb' });
});

test('every fault has a sentence of its own that says what to do', () => {
  const sentences = Object.values(documentFaults);
  assert.equal(new Set(sentences).size, sentences.length);
  for (const sentence of sentences) assert.match(sentence, /Please /);
});

test('of a large PDF only its two ends are read', async () => {
  const bytes = bytesOf(pdf({ size: 20_000_000 }));
  assert.deepEqual(await inspectDocument(bytes), { type: 'application/pdf' });
  assert.ok(bytes.total < 400_000, `${bytes.total} bytes were read`);
});

test('however large a picture is, it is read in small pieces', async () => {
  const [start, end] = [jpeg().subarray(0, -2), jpeg().subarray(-2)];
  const bytes = bytesOf(Buffer.concat([start, Buffer.alloc(5_000_000, 'ff00', 'hex'), end]));
  assert.deepEqual(await inspectDocument(bytes), { type: 'image/jpeg' });
  assert.ok(bytes.mostAtOnce <= 524_288);
});
