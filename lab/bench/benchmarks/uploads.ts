import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { Client } from 'undici';
import { largePdf } from '../../../tests/harness/documents.ts';
import { compare } from '../compare.ts';
import { contactIdOf } from '../flow.ts';
import { spreadOf } from '../numbers.ts';
import { atLeast, atMost, type Section, section, type Verdict } from '../report.ts';
import { makeOurDatabase, type OurDatabase, startOurs } from '../subjects.ts';
import { memoryOf, watchOthers } from '../usage.ts';
import { type Bench, startWorld, type World, within } from '../world.ts';

const MIB = 1_048_576;
const PIECE = Buffer.alloc(MIB, '.');
const BOUNDARY = 'form-boundary-7d1c';

/** A server that receives documents. */
interface Target {
  url: string;
  pid: number;
  /** The folder to which the server writes the documents. It is emptied after each document. */
  folder: string;
}

/**
 * The benchmark `uploads`: times the upload of large documents, one after the other. Compares Induct with a server that only
 * streams a form to disk (floor/multipart.ts). Also measures the peak memory for documents of two sizes.
 */
export async function benchmarkUploads(bench: Bench): Promise<Section> {
  const { options } = bench;
  const bytes = (options.isQuick ? 64 : 1024) * MIB;
  const world = await startWorld(bench);
  const database = await makeOurDatabase(world);
  const [ours, floor] = [await startOurTarget(world, database), await startFloorTarget(world)];
  // Sends documents to both servers before the measurement, so that frequently used code is compiled.
  for (let round = 0; round < 3; round++) for (const target of [ours, floor]) await send(target, bytes);
  const { ratio, report } = await compare(world, {
    title: `${bytes / MIB} MiB at a time`,
    ours: () => send(ours, bytes),
    other: () => send(floor, bytes),
    names: ['floor', 'Induct'],
    metrics: { 'MB/s': ({ megabytesPerSecond }) => megabytesPerSecond },
  });
  const peaks: Verdict[] = [];
  for (const size of options.isQuick ? [20, 200] : [100, 2048])
    await within(world, async (inner) => {
      const target = await startOurTarget(inner, database);
      for (let round = 0; round < 3; round++) await send(target, size * MIB);
      const peak = spreadOf([memoryOf(target.pid, 'peak') / 1e6]);
      peaks.push(atMost(`peak memory while three documents of ${size} MiB come (MB)`, 300, peak));
    });
  return section(
    'Uploads',
    [atLeast('MB/s synced to disk, of a bare multipart stream’s', 0.8, ratio('MB/s')), ...peaks],
    'One resume of 1 GiB at a time, beside `floor/multipart.ts`; ours are also hashed, inspected and recorded.',
    report,
  );
}

/** Starts Induct's server. HubSpot's stand-in has the contact to which the resumes belong. */
async function startOurTarget(world: World, database: OurDatabase): Promise<Target> {
  const { induct, pid } = await startOurs(world, database);
  const folder = join(induct.folder, 'documents');
  return { url: `${induct.url}/api/public/upload-resume`, pid, folder };
}

async function startFloorTarget({ scope, folder: parent }: World): Promise<Target> {
  const folder = join(parent, 'floor');
  const program = resolve(import.meta.dirname, '../floor/multipart.ts');
  const { process: server, ready } = await scope.start<{ listening: string }>(program, { args: [folder] });
  return { url: `${ready.listening}/upload`, pid: server.pid!, folder };
}

/** Sends a PDF of `bytes` bytes as a form. Measures from the first byte to the answer. */
async function send(
  { url, folder }: Target,
  bytes: number,
): Promise<{ megabytesPerSecond: number; otherCores: number }> {
  const others = watchOthers();
  const part = (name: string, value: string) =>
    `--${BOUNDARY}\r\ncontent-disposition: form-data; name=${name}\r\n\r\n${value}`;
  const { start, padding, end } = largePdf(bytes);
  const field = part('"contactId"', `${contactIdOf(0)}\r\n`);
  const head = field + part('"file"; filename="transcript.pdf"', start);
  const tail = `${end}\r\n--${BOUNDARY}--\r\n`;
  const { origin, pathname } = new URL(url);
  const connection = new Client(origin, { headersTimeout: 0, bodyTimeout: 0 });
  const began = performance.now();
  const { statusCode, body } = await connection.request({
    method: 'POST',
    path: pathname,
    headers: {
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
      'content-length': String(head.length + padding + tail.length),
    },
    body: Readable.from(pieces(head, padding, tail)),
  });
  const text = await body.text();
  const seconds = (performance.now() - began) / 1000;
  const otherCores = others();
  await connection.close();
  if (statusCode !== 200) throw new Error(`${url} answered ${statusCode}: ${text.slice(0, 300)}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return { megabytesPerSecond: bytes / 1e6 / seconds, otherCores };
}

async function* pieces(head: string, padding: number, tail: string): AsyncGenerator<Buffer> {
  yield Buffer.from(head);
  for (let left = padding; left > 0; left -= PIECE.length) yield PIECE.subarray(0, left);
  yield Buffer.from(tail);
}
