import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import {
  docx,
  docxOfParts,
  docxParts,
  jpeg,
  jpegOfScans,
  pdf,
  randomText,
  zip,
} from '../../../tests/harness/documents.ts';
import { openInspector } from './inspector.ts';

const anyJob = { path: '/nowhere', sizeBytes: 1 };
/** A thread that does this with each file; `post` answers. */
const thread = (code: string) => () =>
  new Worker(
    `const { parentPort } = require('node:worker_threads');
    const post = (inspection) => parentPort.postMessage({ inspection });
    parentPort.on('message', (job) => { ${code} });`,
    { eval: true },
  );

function keep(t: TestContext, content: Buffer) {
  const folder = mkdtempSync(join(tmpdir(), 'induct-inspector-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'file');
  writeFileSync(path, content);
  return { path, sizeBytes: content.length };
}

const large = { name: 'word/media/a.bmp', data: randomText(5_000_000) };
for (const [what, content, inspection] of [
  ['a PDF', pdf(), { type: 'application/pdf' }],
  ['a JPEG', jpeg(), { type: 'image/jpeg' }],
  ['a JPEG of too many scans', jpegOfScans(19_000), { fault: 'imageCrowded' }],
  ['a Word document', docx(), { type: docxType() }],
  ['a Word document with a large picture', zip([...docxParts, large]), { type: docxType() }],
  ['a Word document of 1,000 parts', docxOfParts(1_000), { type: docxType() }],
  [
    'a part that becomes more than it says',
    zip([docxParts[0]!, { ...docxParts[1]!, data: randomText(50_000), says: { size: 2000 } }]),
    { fault: 'bomb' },
  ],
  [
    'a large part that becomes more than it says',
    zip([...docxParts, { ...large, says: { size: 2_000_000 } }]),
    { fault: 'bomb' },
  ],
  [
    'a part that becomes less than it says',
    zip([docxParts[0]!, { ...docxParts[1]!, says: { size: 2000 } }]),
    { fault: 'wordBroken' },
  ],
  [
    'a Word document whose text is none',
    zip([docxParts[0]!, { ...docxParts[1]!, data: randomText(50_000) }]),
    { fault: 'wordBroken' },
  ],
  [
    'a Word document that unpacks to a hundred times its size',
    zip([...docxParts, large, { name: 'z', data: Buffer.alloc(95_000_000) }]),
    { type: docxType() },
  ],
] as const)
  test(`${what}, on a thread, is what it is`, async (t) => {
    assert.deepEqual(await openInspector().inspect(keep(t, content), 'anybody'), inspection);
  });
function docxType() {
  return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' as const;
}

test('a file that cannot be read is a failure of ours, and the next one is looked at', async (t) => {
  const inspector = openInspector({ threads: 1 });
  await assert.rejects(inspector.inspect(anyJob, 'a'), /ENOENT/);
  assert.deepEqual(await inspector.inspect(keep(t, pdf()), 'a'), { type: 'application/pdf' });
});

/** A thread that keeps all it makes, and may not keep much. */
const greedy = () =>
  new Worker(
    `require('node:worker_threads').parentPort.on('message', () => {
      const all = [];
      for (;;) all.push({ number: all.length });
    });`,
    { eval: true, resourceLimits: { maxOldGenerationSizeMb: 16 } },
  );
for (const [what, stuck, patienceMs] of [
  ['never ends', thread('for (;;);'), 100],
  ['waits for ever', thread(''), 100],
  ['takes all the memory there is', greedy, 60_000],
] as const)
  test(`looking at a file that ${what} is ended and said so, and the next file has its turn`, async () => {
    const ways = [stuck, thread(`post({ type: 'image/png' })`)];
    const started: Worker[] = [];
    const inspector = openInspector({
      threads: 1,
      patience: ({ path }) => (path === 'stuck' ? patienceMs : 60_000),
      start: () => {
        started.push(ways.shift()!());
        return started.at(-1)!;
      },
    });
    const both = [inspector.inspect({ path: 'stuck', sizeBytes: 1 }, 'a'), inspector.inspect(anyJob, 'b')];
    assert.deepEqual(await Promise.all(both), [{ fault: 'unchecked' }, { type: 'image/png' }]);
    assert.equal(started[0]!.threadId, -1, 'it has ended');
  });

test('a thread that fails by itself is a failure of ours, and the next file has its turn', async () => {
  const threads = [thread(`throw new Error('bug')`), thread(`post({ type: 'image/png' })`)];
  const inspector = openInspector({ threads: 1, start: () => threads.shift()!() });
  await assert.rejects(inspector.inspect(anyJob, 'a'), /bug/);
  assert.deepEqual(await inspector.inspect(anyJob, 'b'), { type: 'image/png' });
});

test('senders take turns, however many files one of them has', async () => {
  const inspector = openInspector({ threads: 1, start: thread(`post({ type: 'image/png' })`) });
  const done: string[] = [];
  const send = async (sender: string, name: string) => {
    await inspector.inspect(anyJob, sender);
    done.push(name);
  };
  await Promise.all([
    ...[1, 2, 3, 4].map((number) => send('many', `many ${number}`)),
    send('few', 'few 1'),
    send('other', 'other 1'),
  ]);
  assert.deepEqual(done, ['many 1', 'few 1', 'other 1', 'many 2', 'many 3', 'many 4']);
});

test('no more files are looked at at once than there are threads, and of one sender one', async () => {
  let [running, most, mostOfOne] = [0, 0, 0];
  const started: Worker[] = [];
  const ofSender = new Map<string, number>();
  const inspector = openInspector({
    threads: 3,
    start: () => {
      const worker = thread(`setImmediate(() => post({ type: 'image/png' }))`)();
      started.push(worker);
      const post = worker.postMessage.bind(worker);
      worker.postMessage = (job: { path: string }) => {
        running += 1;
        most = Math.max(most, running);
        ofSender.set(job.path, (ofSender.get(job.path) ?? 0) + 1);
        mostOfOne = Math.max(mostOfOne, ofSender.get(job.path)!);
        post(job);
      };
      return worker;
    },
  });
  const send = async (sender: string) => {
    await inspector.inspect({ path: sender, sizeBytes: 1 }, sender);
    running -= 1;
    ofSender.set(sender, ofSender.get(sender)! - 1);
  };
  const senders = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(Array.from({ length: 30 }, (_, index) => send(senders[index % 5]!)));
  assert.deepEqual([most, mostOfOne, started.length], [3, 1, 3]);
});
