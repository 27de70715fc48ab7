import { closeSync, openSync, readSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, inflateRawSync } from 'node:zlib';
import { type Inspection, inspectDocument } from '#core/inspectDocument.ts';

const PIECE = 65_536;
/** By default 16 KiB, each a task of its own: of a hundred megabytes that is thousands. */
const INFLATED_PIECE = 524_288;
/** What is inflated in one go, packed and unpacked; a stream for each of thousands of small parts would take seconds. */
const SMALL = 1_048_576;

/** What a file is by its content. Constant memory. Reads and waits for the disk: for a thread of its own. */
export async function inspectFile(path: string, size: number): Promise<Inspection> {
  const fd = openSync(path, 'r');
  const read = (start: number, length: number, memory?: Uint8Array) => {
    const wanted = Math.max(0, Math.min(length, size - start));
    const buffer = memory ?? Buffer.allocUnsafe(wanted);
    return buffer.subarray(0, readSync(fd, buffer, 0, wanted, start));
  };
  try {
    return await inspectDocument({
      size,
      read: async (start, length, memory) => read(start, length, memory),
      inflatedSize: async (start, length, most) =>
        length <= SMALL && most <= SMALL
          ? inflatedAtOnce(read(start, length), most)
          : inflatedByStream(read, start, length, most),
    });
  } finally {
    closeSync(fd);
  }
}

type Read = (start: number, length: number) => Uint8Array;

/** As much as `most` and one more. What cannot be inflated is less than it says. */
function inflatedAtOnce(packed: Uint8Array, most: number): number {
  try {
    return inflateRawSync(packed, { maxOutputLength: most + 1 }).length;
  } catch (error) {
    return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? most + 1 : Math.max(0, most - 1);
  }
}

/** Counts what a deflated part becomes, and keeps nothing of it. What cannot be inflated ends the count. */
async function inflatedByStream(read: Read, start: number, length: number, most: number): Promise<number> {
  const inflated = createInflateRaw({ chunkSize: INFLATED_PIECE });
  const packed = pipeline(Readable.from(piecesOf(read, start, length)), inflated).catch(() => {});
  let size = 0;
  try {
    for await (const chunk of inflated as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > most) break;
    }
  } catch {
    size = Math.min(size, most - 1);
  }
  await packed;
  return size;
}

function* piecesOf(read: Read, start: number, length: number): Generator<Uint8Array> {
  for (let at = start; at < start + length; at += PIECE) yield read(at, Math.min(PIECE, start + length - at));
}
