import { closeSync, openSync, readSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { createInflateRaw, inflateRawSync } from 'node:zlib';
import type { Bytes, Inflated, InflateLimits } from '#documents/bytes.ts';
import { type Inspection, inspectDocument } from '#documents/inspectDocument.ts';
import { type DataKey, pieceReader } from '../providers/storage/encryption.ts';

/**
 * Determines a file's type from its content, in constant memory. `size` is the unencrypted size (bytes), even if the file is
 * encrypted. Reads synchronously, so it must run in a child process.
 */
export async function inspectFile(
  path: string,
  size: number,
  dataKey: DataKey | null = null,
): Promise<Inspection> {
  const fd = openSync(path, 'r');
  const readFile = (start: number, length: number, memory?: Uint8Array) => {
    const buffer = memory ?? Buffer.allocUnsafe(length);
    return buffer.subarray(0, readSync(fd, buffer, 0, length, start));
  };
  const readDecrypted =
    dataKey && pieceReader((start, length) => readFile(start, length) as Buffer, size, dataKey);
  const bytes: Bytes = {
    size,
    read: async (start, length, memory) => {
      const wanted = Math.max(0, Math.min(length, size - start));
      if (readDecrypted === null) return readFile(start, wanted, memory);
      const piece = readDecrypted(start, wanted);
      if (memory === undefined) return piece;
      memory.set(piece);
      return memory.subarray(0, piece.length);
    },
    inflate: (start, length, limits) => inflate(bytes, start, length, limits),
  };
  try {
    return await inspectDocument(bytes);
  } finally {
    closeSync(fd);
  }
}

async function* piecesOf(bytes: Bytes, start: number, length: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < start + length; at += CHUNK_BYTES)
    yield await bytes.read(at, Math.min(CHUNK_BYTES, start + length - at));
}

/** Decompresses data and counts its bytes, up to `mostBytes`. Stops at invalid data. */
async function inflate(
  bytes: Bytes,
  start: number,
  length: number,
  { mostBytes, headBytes }: InflateLimits,
): Promise<Inflated> {
  const head = new Uint8Array(Math.min(headBytes, mostBytes));
  let size = 0;
  const take = (chunk: Uint8Array) => {
    if (size < head.length) head.set(chunk.subarray(0, head.length - size), size);
    size += chunk.length;
  };
  try {
    // Small parts are decompressed by one synchronous call: for an archive of a thousand small parts, streams would cost more
    // than the decompression itself.
    if (Math.max(length, mostBytes) <= AT_ONCE_BYTES)
      take(
        inflateRawSync(await bytes.read(start, length), {
          maxOutputLength: mostBytes + 1,
          // For small parts, allocating zlib's default of 16 kB would cost more than decompressing.
          chunkSize: Math.max(LEAST_CHUNK_BYTES, Math.min(mostBytes + 1, CHUNK_BYTES)),
        }),
      );
    else
      await pipeline(
        piecesOf(bytes, start, length),
        createInflateRaw({ chunkSize: INFLATED_CHUNK_BYTES }),
        async (chunks: AsyncIterable<Uint8Array>) => {
          for await (const chunk of chunks) {
            take(chunk);
            if (size > mostBytes) break;
          }
        },
      );
  } catch (error) {
    const isMore = size > mostBytes || (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE';
    size = isMore ? mostBytes + 1 : Math.min(size, mostBytes - 1);
  }
  return { size, head: head.subarray(0, Math.min(size, head.length)) };
}

const AT_ONCE_BYTES = 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** The smallest chunk size that zlib accepts. */
const LEAST_CHUNK_BYTES = 64;
/** The chunk size for decompressing large parts. It takes half the processor time of 64 kB chunks. */
const INFLATED_CHUNK_BYTES = 256 * 1024;
