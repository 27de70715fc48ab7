import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';

/** Returns a File for a FormData, whose bytes are read while it is sent; an ordinary File would hold all bytes in memory. */
export function streamedFile(name: string, type: string, size: number, bytes: Readable): File {
  return Object.defineProperties(new File([], name, { type }), {
    size: { value: size },
    stream: { value: () => ReadableStream.from(untilFailure(bytes)) },
  });
}

/**
 * Yields the bytes. If reading fails, ends without an error, and the upload fails because bytes are missing. An error thrown here
 * after fetch has given up would be an unhandled rejection, which ends the process.
 */
async function* untilFailure(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch {}
}
