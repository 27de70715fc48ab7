import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';

/** A file for a form, whose bytes are read while it is sent: a form would otherwise want all of them in memory. */
export function streamedFile(name: string, type: string, size: number, bytes: Readable): File {
  return Object.defineProperties(new File([], name, { type }), {
    size: { value: size },
    stream: { value: () => ReadableStream.from(untilFailure(bytes)) },
  });
}

/**
 * Ends where it cannot be read any more, and the call then fails for want of bytes. A failure here would reach fetch
 * after it had given up, as a rejection that nobody handles: that ends the process.
 */
async function* untilFailure(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch {}
}
