import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';

/** Returns a file for a form, whose bytes are read while it is sent. A normal File would need all of them in memory. */
export function streamedFile(name: string, type: string, size: number, bytes: Readable): File {
  return Object.defineProperties(new File([], name, { type }), {
    size: { value: size },
    stream: { value: () => ReadableStream.from(untilFailure(bytes)) },
  });
}

/**
 * Ends early if reading fails; the call then fails because bytes are missing. An exception could reach fetch after it has given up,
 * as an unhandled rejection, which would end the process.
 */
async function* untilFailure(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch {}
}
