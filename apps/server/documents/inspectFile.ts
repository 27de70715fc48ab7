import { closeSync, openSync, readSync } from 'node:fs';
import { Inflate } from 'fflate';
import {
  type Bytes,
  type Inflated,
  type InflateLimits,
  type Inspection,
  inspectDocument,
} from '#documents/inspectDocument.ts';

/** Of what is packed, in bytes: at most a thousand times as much comes out of it at once. */
const PIECE = 4096;

/** What a file is by its content. Constant memory. Reads and waits for the disk: for a thread of its own. */
export async function inspectFile(path: string, size: number): Promise<Inspection> {
  const fd = openSync(path, 'r');
  const read = (start: number, length: number, memory?: Uint8Array) => {
    const wanted = Math.max(0, Math.min(length, size - start));
    const buffer = memory ?? Buffer.allocUnsafe(wanted);
    return buffer.subarray(0, readSync(fd, buffer, 0, wanted, start));
  };
  const bytes: Bytes = {
    size,
    read: async (start, length, memory) => read(start, length, memory),
    inflate: async (start, length, limits) => inflate(read, start, length, limits),
  };
  try {
    return await inspectDocument(bytes);
  } finally {
    closeSync(fd);
  }
}

type Read = (start: number, length: number) => Uint8Array;

/**
 * Inflates on this thread, at its priority: Node's own streams inflate in the pool that all who join need. What cannot be
 * inflated ends the count.
 */
function inflate(
  read: Read,
  start: number,
  length: number,
  { mostBytes, headBytes }: InflateLimits,
): Inflated {
  const head = new Uint8Array(Math.min(headBytes, mostBytes));
  let size = 0;
  const inflator = new Inflate((chunk) => {
    if (size < head.length) head.set(chunk.subarray(0, head.length - size), size);
    size += chunk.length;
  });
  const end = start + length;
  try {
    for (let at = start; at < end && size <= mostBytes; at += PIECE)
      inflator.push(read(at, Math.min(PIECE, end - at)), at + PIECE >= end);
  } catch {
    size = Math.min(size, mostBytes - 1);
  }
  return { size, head: head.subarray(0, Math.min(size, head.length)) };
}
