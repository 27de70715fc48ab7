import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { pathOf } from '#contract/calls.ts';
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
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { staffNotices } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, paidJoin } from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { until } from '../../../tests/harness/until.ts';
import { blob, type Part, pdf, postPdf, uploadsTo } from '../../../tests/harness/uploads.ts';
import { StorageDown } from '../providers/storage/storage.ts';
import { signedLinks } from '../session/links.ts';
import { openInspector } from './inspector.ts';
import { clamd } from './scanner.ts';
import { sweepDocuments } from './sweepDocuments.ts';

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

const heic = Buffer.from('\0\0\0\x18ftypheic');
const refused: [string, Buffer, name: string, RegExp][] = [
  ['a file of another type', Buffer.from('MZ'), 'virus.exe', /not accepted/],
  ['a program named as a PDF', program(), 'transcript.pdf', /is a program/],
  ['a program of Linux named as a picture', Buffer.from('\x7fELF\x02'), 'a.png', /is a program/],
  ['a script named as a picture', Buffer.from('#!/bin/sh\n'), 'a.png', /is a program/],
  ['a web page', Buffer.from('<!DOCTYPE html><script>alert(1)</script>'), 'a.jpg', /is a web page/],
  [
    'a drawing with a script',
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>'),
    'a.png',
    /is a web page/,
  ],
  [
    'a picture that is a web page too',
    Buffer.concat([jpegOf(), Buffer.from('<html><script>alert(1)</script>')]),
    'a.jpg',
    /more than the document/,
  ],
  ['an archive too', Buffer.concat([pdfOf(), zip(docxParts)]), 'a.pdf', /more than the document/],
  ['a HEIC photo, by its content', heic, 'a.jpg', /send it as JPEG/],
  ['a photo of another kind named as HEIC', Buffer.from('II*'), 'IMG_1.HEIC', /Please send it as JPEG/],
  ['a Word document with macros', compoundFile('WordDocument', 'Macros'), 'a.doc', /macros/],
  ['a workbook', compoundFile('Workbook'), 'a.doc', /not a Word document/],
  [
    'a Word document whose parts lead to other folders',
    zip([...docxParts, { name: '../../x.exe', data: 'MZ' }]),
    'a.docx',
    /more than the document/,
  ],
  ['a picture cut in the middle', jpegOf().subarray(0, -2), 'a.jpg', /picture is damaged/],
  ['a picture of 19,000 scans', jpegOfScans(19_000), 'a.jpg', /far more parts/],
  ['an old Word document that is a ring', docRing(), 'a.doc', /damaged or incomplete/],
  ['a Word document of 19,000 parts', docxOfParts(19_000), 'a.docx', /far more parts than we can check/],
  ['a protected PDF', encryptedPdf({ password: 'secret' }), 't.pdf', /with a password/],
  ['half a PDF', pdfOf().subarray(0, 400), 't.pdf', /damaged or incomplete/],
  [
    'a Word document that becomes a thousand times larger than it says',
    zip([docxParts[0]!, { ...docxParts[1]!, data: Buffer.alloc(30_000_000), says: { size: 40_000 } }]),
    'bomb.docx',
    /unpacks to far more/,
  ],
  [
    'a Word document with a part that cannot be unpacked',
    corrupt(zip([...docxParts, { name: 'a.xml', data: randomBytes(5000) }])),
    'a.docx',
    /damaged or incomplete/,
  ],
];
const refusedForms: [string, Part[], number, RegExp][] = [
  ['an empty file', [['file', new Blob([]), 'empty.pdf']], 400, /empty/],
  ['a form without a file', [['note', 'hello']], 400, /choose a file/],
  ['two files', ['a.pdf', 'b.pdf'].map((name): Part => ['file', pdf(), name]), 400, /one file/],
  ["a file above the operator's limit", [['file', pdf(5_000_001), 'big.pdf']], 413, /too large/],
];
for (const [what, parts, expected, sentence] of [
  ...refused.map(
    ([what, bytes, name, sentence]) =>
      [what, [['file', blob(bytes), name]] as Part[], 415, sentence] as const,
  ),
  ...refusedForms,
])
  test(`${what} is refused with ${expected} and a sentence, and leaves nothing behind`, async () => {
    const { status, message, success } = await leavesNothing(() => upload(parts));
    assert.deepEqual([success, status], [false, expected]);
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
    [413, 'This file is too large. The limit is 4 MB.', 0],
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

const RESUMES = pathOf('uploadResume');
/** Uploads a resume of this contact. */
const sendResume = (contactId: string) =>
  upload(
    [
      ['contactId', contactId],
      ['file', pdf(), 'resume.pdf'],
    ],
    RESUMES,
  );

for (const order of ['before', 'after'])
  test(`a resume of a known contact is taken with its contact id ${order} the file`, async () => {
    const file: Part = ['file', pdf(), 'resume.pdf'];
    const id: Part = ['contactId', '102'];
    const { status, data } = await upload(order === 'before' ? [id, file] : [file, id], RESUMES);
    assert.equal(status, 200);
    assert.deepEqual(data, {
      success: true,
      message:
        'Thank you, your resume was successfully uploaded and is being processed. You can safely close this window now.',
    });
  });

test('a resume by a link of before its contact was merged is kept with the contact that remains', async (t) => {
  const { person, merge } = hubspotPeople(server);
  const [kept, old] = [await person(), await person()];
  const id = await merge(kept.id, old.id);
  const answer = await postPdf(server.client(), RESUMES, { contactId: old.id, name: 'merged.pdf' });
  assert.equal(answer.status, 200);
  assert.match((await runCommand(t, server, 'documents show', [id])).out, /merged\.pdf/);
});

for (const [what, id, expected] of [
  ['an unknown contact', '999999', 404],
  ['no contact', '', 400],
  ['nonsense', 'x y', 404],
] as const)
  test(`a resume of ${what} is refused with a sentence, and leaves nothing behind`, async () => {
    const answer = await leavesNothing(() => sendResume(id));
    assert.equal(answer.status, expected);
    assert.ok(answer.message);
  });

test('too many resumes from one address are 429 before their bytes are taken', async (t) => {
  limitWith(t, server, { LIMIT_RESUMES_PER_ADDRESS: '2/60' });
  const send = () => sendResume('102');
  const statuses = [(await send()).status, (await send()).status];
  assert.deepEqual(statuses, [200, 200]);
  assert.equal((await leavesNothing(send)).status, 429);
});

/** Returns a function that uploads a resume for contact 102 with a signed link. `order` is the order of the form's parts. */
const resume = (...order: ('id' | 'signature' | 'file')[]) => {
  const { exp, sig } = server.deps.links.sign(
    { kind: 'resume', contactId: '102' },
    new Date(Date.now() + 60_000),
  );
  const fields: Record<(typeof order)[number], Part[]> = {
    id: [['contactId', '102']],
    signature: [
      ['exp', exp],
      ['sig', sig],
    ],
    file: [['file', pdf(), 'resume.pdf']],
  };
  return () =>
    upload(
      order.flatMap((part) => fields[part]),
      RESUMES,
    );
};
/** Until the end of the test, only signed links are accepted, as with the real HubSpot. */
function signLinks(t: TestContext, now = () => new Date()): void {
  const { links } = server.deps;
  server.deps.links = signedLinks(['x'.repeat(32)], false, now);
  t.after(() => (server.deps.links = links));
}

for (const order of [
  ['file', 'id'],
  ['id', 'file'],
] as const)
  test(`a resume without a signature, ${order.join(' before ')}, is refused before anybody looks into it`, async (t) => {
    signLinks(t);
    const inspect = t.mock.method(server.deps.inspector, 'inspect');
    const { status } = await leavesNothing(resume(...order));
    assert.deepEqual([status, inspect.mock.callCount()], [403, 0]);
  });

test('a resume whose signature came first and has expired is refused before its bytes are taken', async (t) => {
  signLinks(t, () => new Date(Date.now() + 3_600_000));
  const put = t.mock.method(server.deps.storage, 'put');
  const { status } = await leavesNothing(resume('id', 'signature', 'file'));
  assert.deepEqual([status, put.mock.callCount()], [403, 0]);
});

for (const order of [
  ['id', 'signature', 'file'],
  ['signature', 'file', 'id'],
  ['file', 'signature', 'id'],
] as const)
  test(`a resume that is signed is taken with its form as ${order.join(', ')}`, async (t) => {
    signLinks(t);
    assert.equal((await resume(...order)()).status, 200);
  });

test('a disk that fails is our fault, and said so', async (t) => {
  t.mock.method(server.deps.storage, 'put', async () => {
    throw Object.assign(new Error('EIO'), { code: 'EIO' });
  });
  const { status } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.equal(status, 500);
});

test('a storage that does not answer delays, and is said so', async (t) => {
  t.mock.method(server.deps.storage, 'put', async () => {
    throw new StorageDown('down');
  });
  const { status, message } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.equal(status, 503);
  assert.match(message ?? '', /try again in an hour, or email it to us/);
});

test('a disk with no room beside its reserve refuses with a sentence before anything is written', async (t) => {
  t.mock.method(server.deps.storage, 'room', async () => 1_000_000);
  const put = t.mock.method(server.deps.storage, 'put');
  const { status, message } = await leavesNothing(() => upload([['file', pdf(4_000_000), 't.pdf']]));
  assert.deepEqual(
    [status, message, put.mock.callCount()],
    [503, 'We cannot accept files right now. Please try again in an hour, or email it to us.', 0],
  );
});

test('a connection cut in the middle leaves nothing behind', async () => {
  await leavesNothing(async () => {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    const head = [
      `POST ${path} HTTP/1.1`,
      `host: ${hostname}`,
      `cookie: ${client.cookie()}`,
      'content-type: multipart/form-data; boundary=x',
      'content-length: 1000000',
      '',
      '',
    ].join('\r\n');
    socket.write(
      `${head}--x\r\ncontent-disposition: form-data; name="file"; filename="t.pdf"\r\ncontent-type: application/pdf\r\n\r\n${'x'.repeat(200_000)}`,
    );
    await until(() => stored().some((name) => name.endsWith('.part')));
    socket.destroy();
    await until(() => !stored().some((name) => name.endsWith('.part')));
  });
});

test('a half-written upload is swept when it has rested for a day; a whole document that no row knows waits for staff', async (t) => {
  const storageDir = server.documents;
  await upload([['file', pdf(), 'kept.pdf']]);
  const kept = stored();
  const [orphan, young] = [randomUUID(), randomUUID()];
  for (const name of [orphan, `${orphan}.part`, young, 'not-ours.txt'])
    writeFileSync(join(storageDir, name), 'x');
  const twoDaysAgo = Date.now() / 1000 - 2 * 86_400;
  for (const name of [...kept, orphan, `${orphan}.part`, 'not-ours.txt'])
    utimesSync(join(storageDir, name), twoDaysAgo, twoDaysAgo);
  t.after(() => [young, 'not-ours.txt'].forEach((name) => void rmSync(join(storageDir, name))));
  assert.equal(await sweepDocuments(server.deps), 1);
  assert.deepEqual(stored(), [...kept, orphan, young, 'not-ours.txt'].sort());
  const [told] = await staffNotices(server, { kind: 'unknown_documents' });
  assert.match(told!, /^The storage has 1 document that this database does not know/);

  const run = (...args: string[]) => runCommand(t, server, 'documents unknown', args);
  const listed = [
    orphan,
    `${young}  younger than a day`,
    '1 younger than a day: an upload may be under way, so none of them can be removed yet.',
    '2 unknown.',
  ];
  const all = await run();
  assert.deepEqual([all.code, all.out.trim().split('\n').sort()], [1, listed.sort()]);
  const copy = join(storageDir, '../copy.pdf');
  assert.equal((await run('fetch', orphan, copy)).code, 0);
  assert.equal(readFileSync(copy, 'utf8'), 'x');
  assert.match((await run('fetch', orphan, copy)).out, /is there already/);
  assert.match((await run('remove', young)).out, /is younger than a day: .* cannot be removed yet/);
  assert.match((await run('remove', kept[0]!)).out, /is not among the documents/);
  const youngCopy = join(storageDir, '../young.pdf');
  assert.equal((await run('fetch', young, youngCopy)).code, 0);
  assert.equal((await run('remove')).code, 2);
  assert.equal((await run('remove', orphan)).code, 0);
  assert.deepEqual(stored(), [...kept, young, 'not-ours.txt'].sort());
  assert.equal((await run()).code, 0);
});

test('a file that nobody can finish looking at is refused with a sentence, and leaves nothing behind', async (t) => {
  const { inspector } = server.deps;
  const started: ChildProcess[] = [];
  server.deps.inspector = openInspector({
    patience: () => 50,
    start: () => {
      started.push(
        spawn(process.execPath, ['-e', 'for (;;);'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] }),
      );
      return started.at(-1)!;
    },
  });
  t.after(() => (server.deps.inspector = inspector));
  const { status, message } = await leavesNothing(() => upload([['file', pdf(), 't.pdf']]));
  assert.deepEqual(
    [status, message],
    [
      415,
      'Checking this file takes too long. Please save or print it as a new PDF, or upload a clear photo of it.',
    ],
  );
  assert.deepEqual(
    started.map(({ signalCode }) => signalCode),
    ['SIGKILL'],
    'what looked at it has ended',
  );
});

/** Starts a stand-in for clamd. It reads a file sent with INSTREAM and replies with `answer`. Returns its URL. */
async function standInForClamd(t: TestContext, answer: (bytes: Buffer) => string | null): Promise<string> {
  const clamd = createServer((socket) => {
    let received = Buffer.alloc(0);
    socket.on('error', () => {});
    socket.on('data', (chunk: Buffer) => {
      received = Buffer.concat([received, chunk]);
      const command = 'zINSTREAM\0';
      const parts: Buffer[] = [];
      let at = command.length;
      for (;;) {
        if (received.length < at + 4) return;
        const length = received.readUInt32BE(at);
        if (length === 0) break;
        parts.push(received.subarray(at + 4, at + 4 + length));
        at += 4 + length;
      }
      const said =
        received.toString('latin1', 0, command.length) === command
          ? answer(Buffer.concat(parts))
          : 'UNKNOWN COMMAND';
      if (said === null) socket.destroy();
      else socket.end(`${said}\0`);
    });
  });
  await new Promise<void>((resolve) => clamd.listen(0, '127.0.0.1', resolve));
  t.after(() => clamd.close());
  return `tcp://127.0.0.1:${(clamd.address() as AddressInfo).port}`;
}

test('a scanner sees every byte, and what it finds nothing in is kept', async (t) => {
  let seen = Buffer.alloc(0);
  const url = await standInForClamd(t, (bytes) => {
    seen = Buffer.from(bytes);
    return 'stream: OK';
  });
  server.deps.scanner = clamd(url);
  t.after(() => (server.deps.scanner = null));
  const bytes = pdfOf({ size: 300_000 });
  assert.equal((await upload([['file', blob(bytes), 't.pdf']])).status, 200);
  assert.ok(seen.equals(bytes));
});

for (const [what, said, expected, sentence] of [
  ['finds something', 'stream: Win.Test.EICAR_HDB-1 FOUND', 415, /virus scanner found something/],
  [
    'takes no file of that size',
    'INSTREAM size limit exceeded. ERROR',
    503,
    /cannot check files for viruses/,
  ],
  ['hangs up', null, 503, /cannot check files for viruses/],
] as const)
  test(`while the scanner ${what}, a file is refused with ${expected} and a sentence, and leaves nothing behind`, async (t) => {
    server.deps.scanner = clamd(await standInForClamd(t, () => said));
    t.after(() => (server.deps.scanner = null));
    const { status, message } = await leavesNothing(() => upload([['file', pdf(200_000), 't.pdf']]));
    assert.equal(status, expected);
    assert.match(message ?? '', sentence);
  });

test('while the scanner is down nothing is taken', async (t) => {
  server.deps.scanner = clamd('tcp://127.0.0.1:1');
  t.after(() => (server.deps.scanner = null));
  const { status } = await leavesNothing(() => upload([['file', pdf(200_000), 't.pdf']]));
  assert.equal(status, 503);
});
