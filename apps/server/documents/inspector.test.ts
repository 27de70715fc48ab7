import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  doc,
  docxOfParts,
  docxParts,
  jpegOfScans,
  pdf,
  randomText,
  zip,
} from '../../../tests/harness/documents.ts';
import { temporaryFolder } from '../../../tests/harness/temporaryFolder.ts';
import { MAGIC } from '../providers/storage/encryption.ts';
import { openInspector } from './inspector.ts';
import { clamd } from './scanner.ts';

const anyJob = { path: '/nowhere', sizeBytes: 1 };
/** Returns a function that starts an inspector process with this code. The code runs for each file and answers with `post`. */
const program =
  (code: string, ...options: string[]) =>
  () => {
    const script = `const post = (inspection) => process.send({ inspection });
      process.on('message', (job) => { ${code} });
      process.on('disconnect', () => process.exit());`;
    const started = spawn(process.execPath, [...options, '-e', script], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    started.unref();
    started.channel!.unref();
    return started;
  };

function keep(t: TestContext, content: Buffer) {
  const path = join(temporaryFolder(t), 'file');
  writeFileSync(path, content);
  return { path, sizeBytes: content.length };
}

const ours = openInspector();
const large = { name: 'word/media/a.bmp', data: randomText(5_000_000) };
for (const [what, content, inspection] of [
  ['a PDF that begins like an encrypted document', Buffer.concat([MAGIC, pdf()]), { fault: 'twoInOne' }],
  ['a JPEG of too many scans', jpegOfScans(19_000), { fault: 'imageCrowded' }],
  ['an old Word document of 30 MB', doc({ size: 30_000_000 }), { type: 'application/msword' }],
  ['a Word document of 1,000 parts', docxOfParts(1_000), { type: docxType() }],
  [
    'a large part that becomes more than it says',
    zip([...docxParts, { ...large, says: { size: 2_000_000 } }]),
    { fault: 'bomb' },
  ],
  [
    'a Word document that unpacks to a hundred times its size',
    zip([...docxParts, large, { name: 'z', data: Buffer.alloc(95_000_000) }]),
    { type: docxType() },
  ],
] as const)
  test(`${what}, in a process, is what it is`, async (t) => {
    assert.deepEqual(await ours.inspect(keep(t, content), 'anybody'), inspection);
  });
function docxType() {
  return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document' as const;
}

test('what looks at a file knows nothing of our settings, and may only read', {
  skip: process.platform !== 'linux',
}, async (t) => {
  process.env.LINK_SECRET = 'a secret of this test';
  t.after(() => delete process.env.LINK_SECRET);
  await openInspector({ processes: 1 }).inspect(keep(t, pdf()), 'a');
  const texts = (pid: string, file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0');
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ');
  const inspectors = children.filter((pid) => /inspectorProcess/.test(texts(pid, 'cmdline').join(' ')));
  assert.ok(inspectors.length > 0);
  for (const pid of inspectors) {
    const names = texts(pid, 'environ').map((variable) => variable.split('=')[0]!);
    assert.deepEqual(
      names.filter(Boolean).filter((name) => !name.startsWith('NODE_CHANNEL_')),
      [],
    );
    const options = texts(pid, 'cmdline').filter((option) => /^--(permission|allow)/.test(option));
    assert.deepEqual(options, ['--permission', '--allow-fs-read=*']);
  }
});

test('a file that cannot be read is a failure of ours, and the next one is looked at', async (t) => {
  const inspector = openInspector({ processes: 1 });
  await assert.rejects(inspector.inspect(anyJob, 'a'), /ENOENT/);
  assert.deepEqual(await inspector.inspect(keep(t, pdf()), 'a'), { type: 'application/pdf' });
});

/** A program that allocates memory until it exceeds its small heap limit. */
const greedy = program(
  'const all = []; for (;;) all.push({ number: all.length });',
  '--max-old-space-size=16',
);
for (const [what, stuck, patienceMs] of [
  ['never ends', program('for (;;);'), 100],
  ['waits for ever', program(''), 100],
  ['takes all the memory there is', greedy, 60_000],
] as const)
  test(`looking at a file that ${what} is ended and said so, and the next file has its turn`, async () => {
    const ways = [stuck, program(`post({ type: 'image/png' })`)];
    const started: ChildProcess[] = [];
    const inspector = openInspector({
      processes: 1,
      patience: ({ path }) => (path === 'stuck' ? patienceMs : 60_000),
      start: () => {
        started.push(ways.shift()!());
        return started.at(-1)!;
      },
    });
    const both = [inspector.inspect({ path: 'stuck', sizeBytes: 1 }, 'a'), inspector.inspect(anyJob, 'b')];
    assert.deepEqual(await Promise.all(both), [{ fault: 'unchecked' }, { type: 'image/png' }]);
    assert.notEqual(started[0]!.signalCode, null, 'it has ended');
  });

test('a file that takes more and more memory outside of the heap is refused', {
  skip: process.platform !== 'linux',
}, async () => {
  const hoarder = program('const all = []; setInterval(() => all.push(Buffer.alloc(20_000_000, 1)), 5);');
  const inspector = openInspector({ processes: 1, patience: () => 60_000, start: hoarder });
  assert.deepEqual(await inspector.inspect(anyJob, 'a'), { fault: 'unchecked' });
});

test('a process that fails by itself is a failure of ours, and the next file has its turn', async () => {
  const programs = [program(`throw new Error('bug')`), program(`post({ type: 'image/png' })`)];
  const inspector = openInspector({ processes: 1, start: () => programs.shift()!() });
  await assert.rejects(inspector.inspect(anyJob, 'a'), /ended with 1/);
  assert.deepEqual(await inspector.inspect(anyJob, 'b'), { type: 'image/png' });
});

test('a process that ends while nobody needs it is replaced', async () => {
  const started: ChildProcess[] = [];
  const inspector = openInspector({
    processes: 1,
    start: () => {
      started.push(program(`post({ type: 'image/png' })`)());
      return started.at(-1)!;
    },
  });
  await inspector.inspect(anyJob, 'a');
  started[0]!.ref();
  started[0]!.kill('SIGKILL');
  await once(started[0]!, 'exit');
  assert.deepEqual(await inspector.inspect(anyJob, 'b'), { type: 'image/png' });
  assert.equal(started.length, 2);
});

test('the time of a file ends with it, and is not counted against the next one', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const inspector = openInspector({
    processes: 1,
    patience: ({ path }) => (path === 'quick' ? 1_000 : 60_000),
    start: program(`setTimeout(() => post({ type: 'image/png' }), job.path === 'slow' ? 300 : 0)`),
  });
  const inspect = (path: string) => inspector.inspect({ path, sizeBytes: 1 }, 'a');
  assert.deepEqual(await inspect('quick'), { type: 'image/png' });
  const slow = inspect('slow');
  t.mock.timers.tick(10_000);
  assert.deepEqual(await slow, { type: 'image/png' });
});

test('a file that takes longer by the clock than it may of the processor is looked at, as on a busy machine', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const start = program(`setTimeout(() => post({ type: 'image/png' }), 300)`);
  const looked = openInspector({ processes: 1, patience: () => 5_000, start }).inspect(anyJob, 'a');
  t.mock.timers.tick(6_000);
  assert.deepEqual(await looked, { type: 'image/png' });
});

test('senders take turns, however many files one of them has', async () => {
  const inspector = openInspector({ processes: 1, start: program(`post({ type: 'image/png' })`) });
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

test('no more files are looked at at once than there are processes, and of one sender one', async () => {
  let [running, most, mostOfOne] = [0, 0, 0];
  const started: ChildProcess[] = [];
  const ofSender = new Map<string, number>();
  const inspector = openInspector({
    processes: 3,
    start: () => {
      const worker = program(`setImmediate(() => post({ type: 'image/png' }))`)();
      started.push(worker);
      const send = worker.send.bind(worker) as (job: object) => boolean;
      worker.send = ({ path }: { path: string }) => {
        const ofThis = (ofSender.get(path) ?? 0) + 1;
        ofSender.set(path, ofThis);
        running += 1;
        most = Math.max(most, running);
        mostOfOne = Math.max(mostOfOne, ofThis);
        worker.once('message', () => {
          running -= 1;
          ofSender.set(path, ofSender.get(path)! - 1);
        });
        return send({ path });
      };
      return worker;
    },
  });
  const senders = ['a', 'b', 'c', 'd', 'e'];
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => {
      const sender = senders[index % 5]!;
      return inspector.inspect({ path: sender, sizeBytes: 1 }, sender);
    }),
  );
  assert.deepEqual([most, mostOfOne, started.length], [3, 1, 3]);
});

test('every byte reaches the scanner, also after an empty chunk, whose length would end the stream', async (t) => {
  let received = Buffer.alloc(0);
  const server = createServer((socket) =>
    socket.on('data', (bytes: Buffer) => {
      received = Buffer.concat([received, bytes]);
      if (received.subarray(-4).equals(Buffer.alloc(4))) socket.end('stream: OK\0');
    }),
  ).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  async function* chunks() {
    yield Buffer.from('first');
    yield Buffer.alloc(0);
    yield Buffer.from('last');
  }
  const { port } = server.address() as AddressInfo;
  assert.equal(await clamd(`tcp://127.0.0.1:${port}`).scan(chunks()), null);
  assert.equal(received.toString(), 'zINSTREAM\0\0\0\0\x05first\0\0\0\x04last\0\0\0\0');
});
