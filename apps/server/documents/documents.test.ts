import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  compoundFile,
  docRing,
  docxOfParts,
  docxParts,
  encryptedPdf,
  jpeg as jpegOf,
  jpegOfScans,
  pdf as pdfOf,
  permissions,
  program,
  zip,
} from '../../../tests/harness/documents.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { blob, type Part, pdf, uploadsTo } from '../../../tests/harness/uploads.ts';

const server = await sharedServer({ UPLOAD_MAX_BYTES: '5000000' });
const { client, leavesNothing, path, rows, stored, upload } = await uploadsTo(server);

test('a transcript of several megabytes is kept byte for byte', async () => {
  const picture = jpegOf();
  // A JPEG with 4 MB of random bytes. They have no 0xff, because that would begin a JPEG marker.
  const noise = randomBytes(4_000_000).map((byte) => (byte === 0xff ? 0 : byte));
  const bytes = Buffer.concat([picture.subarray(0, -2), noise, picture.subarray(-2)]);
  const { status, success, data } = await upload([['file', blob(bytes), 'Transcript 2026.pdf']]);
  assert.deepEqual(
    [status, success, data?.name, data?.size],
    [200, true, 'Transcript 2026.jpg', bytes.length],
  );
  const row = (await rows()).find(({ size_bytes }) => size_bytes === bytes.length);
  assert.equal(row?.media_type, 'image/jpeg', 'by its content, whatever its name says');
  assert.deepEqual(row?.sha256, createHash('sha256').update(bytes).digest());
  assert.deepEqual(readFileSync(join(server.documents, row!.storage_key)), bytes);
});

test('a transcript that its university forbids to print is taken as it is', async () => {
  const bytes = encryptedPdf({ permitted: permissions.butPrinting });
  const { status } = await upload([['file', blob(bytes), 'official.pdf']]);
  assert.equal(status, 200);
  const row = (await rows()).find(({ name }) => name === 'official.pdf');
  assert.deepEqual(readFileSync(join(server.documents, row!.storage_key)), bytes);
});

test('a transcript before payment is 409 and nothing is kept', async () => {
  const uuid = await orderingJoin(client);
  const { status, message } = await leavesNothing(() =>
    upload([['file', pdf(), 't.pdf']], `/api/public/join-session/${uuid}/upload-transcript`),
  );
  assert.deepEqual([status, message], [409, 'Please complete your payment first.']);
});

/** Damages a ZIP archive: makes the compressed bytes of its last part begin with an invalid block type. */
function corrupt(archive: Buffer): Buffer {
  archive[archive.lastIndexOf('a.xml', archive.lastIndexOf('PK\x01\x02')) + 5] = 0xff;
  return archive;
}

const refused: [string, Part[], number, RegExp][] = [
  ['a file of another type', [['file', new Blob(['MZ']), 'virus.exe']], 415, /not accepted/],
  ['a program named as a PDF', [['file', blob(program()), 'transcript.pdf']], 415, /is a program/],
  [
    'a program of Linux named as a picture',
    [['file', blob(Buffer.from('\x7fELF\x02')), 'a.png']],
    415,
    /is a program/,
  ],
  ['a script named as a picture', [['file', blob(Buffer.from('#!/bin/sh\n')), 'a.png']], 415, /is a program/],
  [
    'a web page named as a picture',
    [['file', blob(Buffer.from('<!DOCTYPE html><script>alert(1)</script>')), 'a.jpg']],
    415,
    /is a web page/,
  ],
  [
    'a drawing with a script named as a picture',
    [['file', blob(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>')), 'a.png']],
    415,
    /is a web page/,
  ],
  [
    'a picture that is a web page too',
    [['file', blob(Buffer.concat([jpegOf(), Buffer.from('<html><script>alert(1)</script>')])), 'a.jpg']],
    415,
    /more than the document/,
  ],
  [
    'a PDF that is an archive too',
    [['file', blob(Buffer.concat([pdfOf(), zip(docxParts)])), 'a.pdf']],
    415,
    /more than the document/,
  ],
  [
    'a HEIC photo, by its content',
    [['file', blob(Buffer.from('\0\0\0\x18ftypheic')), 'a.jpg']],
    415,
    /send it as JPEG/,
  ],
  [
    'a Word document with macros',
    [['file', blob(compoundFile('WordDocument', 'Macros')), 'a.doc']],
    415,
    /macros/,
  ],
  [
    'a workbook named as a Word document',
    [['file', blob(compoundFile('Workbook')), 'a.doc']],
    415,
    /not a Word document/,
  ],
  [
    'a Word document whose parts lead to other folders',
    [['file', blob(zip([...docxParts, { name: '../../x.exe', data: 'MZ' }])), 'a.docx']],
    415,
    /more than the document/,
  ],
  [
    'a picture cut in the middle',
    [['file', blob(jpegOf().subarray(0, -2)), 'a.jpg']],
    415,
    /picture is damaged/,
  ],
  ['a picture of 19,000 scans', [['file', blob(jpegOfScans(19_000)), 'a.jpg']], 415, /far more parts/],
  ['an old Word document that is a ring', [['file', blob(docRing()), 'a.doc']], 415, /damaged or incomplete/],
  [
    'a Word document of 19,000 parts',
    [['file', blob(docxOfParts(19_000)), 'a.docx']],
    415,
    /far more parts than we can check/,
  ],
  [
    'a photo of another kind named as HEIC',
    [['file', new Blob(['II*']), 'IMG_1.HEIC']],
    415,
    /Please send it as JPEG/,
  ],
  [
    'a protected PDF',
    [['file', blob(encryptedPdf({ password: 'secret' })), 't.pdf']],
    415,
    /with a password/,
  ],
  ['half a PDF', [['file', blob(pdfOf().subarray(0, 400)), 't.pdf']], 415, /damaged or incomplete/],
  [
    'a Word document that becomes a thousand times larger than it says',
    [
      [
        'file',
        blob(
          zip([docxParts[0]!, { ...docxParts[1]!, data: Buffer.alloc(30_000_000), says: { size: 40_000 } }]),
        ),
        'bomb.docx',
      ],
    ],
    415,
    /unpacks to far more/,
  ],
  [
    'a Word document with a part that cannot be unpacked',
    [['file', blob(corrupt(zip([...docxParts, { name: 'a.xml', data: randomBytes(5000) }]))), 'a.docx']],
    415,
    /damaged or incomplete/,
  ],
  ['an empty file', [['file', new Blob([]), 'empty.pdf']], 400, /empty/],
  ['a form without a file', [['note', 'hello']], 400, /choose a file/],
  [
    'two files',
    [
      ['file', pdf(), 'a.pdf'],
      ['file', pdf(), 'b.pdf'],
    ],
    400,
    /one file/,
  ],
  ["a file above the operator's limit", [['file', pdf(5_000_001), 'big.pdf']], 413, /too large/],
];
for (const [what, parts, expected, sentence] of refused)
  test(`${what} is refused with ${expected} and a sentence, and leaves nothing behind`, async () => {
    const { status, message, success } = await leavesNothing(() => upload(parts));
    assert.equal(success, false);
    assert.equal(status, expected);
    assert.match(message ?? '', sentence);
  });

test('a body that is no form is 415, a broken form is 400', async () => {
  const text = await client.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  assert.equal(text.status, 415);
  const broken = await client.fetch(path, {
    method: 'POST',
    headers: { 'content-type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nnonsense',
  });
  assert.equal(broken.status, 400);
});

for (const [what, given, kept] of [
  ['leads to other folders', '../../etc/passwd.pdf', 'passwd.pdf'],
  ['leads to other folders of Windows', 'C:\\Users\\..\\boot.pdf', 'boot.pdf'],
  ['has a NUL in it', 'transcript.exe\0.pdf', 'transcript.exe.pdf'],
  ['has commands for a terminal in it', 'a\u001b]0;title\u0007b.pdf', 'a]0;titleb.pdf'],
  ['turns its ending around', 'transcript\u202efdp.pdf', 'transcriptfdp.pdf'],
  ['has quotes in it', 'my "official" transcript.pdf', 'my "official" transcript.pdf'],
  ['has a percent sign in it', '100% %41%0.pdf', '100% %41%0.pdf'],
  ['has a backslash in it', 'Fall\\Spring.pdf', 'Fall\\Spring.pdf'],
  ['has a line break in it', 'fall\r\nspring.pdf', 'fall spring.pdf'],
  ['has another ending', 'transcript.jfif', 'transcript.pdf'],
  ['has no ending', 'transcript', 'transcript.pdf'],
  ['is reserved on Windows', 'CON.pdf', 'CON.pdf'],
  ['cannot be a name on Windows', 'a:b*?<>|.pdf', 'a:b*?<>|.pdf'],
  ['is of another script', 'Zeugnis 成绩单 नक़्ल 🎓.pdf', 'Zeugnis 成绩单 नक़्ल 🎓.pdf'],
  ['has 300 characters', `${'a'.repeat(296)}.pdf`, `${'a'.repeat(251)}.pdf`],
  ['is too long in the middle of a character', `${'🎓'.repeat(150)}.pdf`, `\ufffd${'🎓'.repeat(125)}.pdf`],
] as const)
  test(`a name that ${what} is kept for people, as far as it does no harm, and is never a path`, async () => {
    const { data } = await upload([['file', pdf(), given]]);
    assert.equal(data?.name, kept);
    assert.ok((await rows()).some(({ name }) => name === kept));
    assert.ok(stored().every((name) => /^[0-9a-f-]{36}$/.test(name)));
  });

test('a file that says how much too large it is, is refused before its bytes are taken', async (t) => {
  const put = t.mock.method(server.deps.storage, 'put');
  const { status, message } = await leavesNothing(() => upload([['file', pdf(6_000_000), 'big.pdf']]));
  assert.deepEqual(
    [status, message, put.mock.callCount()],
    [413, 'This file is too large. The most is 4 MB.', 0],
  );
});

test('too many transcripts of one join are 429 before their bytes are taken', async (t) => {
  limitWith(t, server, { LIMIT_UPLOADS_PER_SESSION: '2/60' });
  const { uuid } = await paidJoin(server, client);
  const send = () => upload([['file', pdf(), 't.pdf']], `/api/public/join-session/${uuid}/upload-transcript`);
  assert.deepEqual([(await send()).status, (await send()).status], [200, 200]);
  const put = t.mock.method(server.deps.storage, 'put');
  assert.equal((await leavesNothing(send)).status, 429);
  assert.equal(put.mock.callCount(), 0);
});
