import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Manifest } from './manifest.ts';

export type Written = Manifest['files'][string];

/** Writes a new file that only its owner can read. Resolves with size and hash when the bytes are flushed to the disk. */
export async function writeFile(bytes: Readable, path: string): Promise<Written> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  await pipeline(
    bytes,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        sizeBytes += chunk.length;
        yield chunk;
      }
    },
    createWriteStream(path, { flags: 'wx', mode: 0o600, flush: true }),
  );
  return { sizeBytes, sha256: hash.digest('hex') };
}
