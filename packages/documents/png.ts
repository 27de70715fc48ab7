import { type Bytes, CHUNK, forward, KIB, latin1, view } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { nothingHostile } from './foreign.ts';

/**
 * Returns how many chunks a PNG of `size` bytes may have. Honest files have fewer: libpng writes image data in chunks of 8 KiB.
 */
const mostChunks = (size: number) => 20_000 + size / (4 * KIB);

/** Checks the chunks and their lengths: IHDR first, at least one IDAT, IEND last (PNG, third edition, section 5). */
export async function png(bytes: Bytes): Promise<DocumentType> {
  const read = forward(bytes, CHUNK);
  let hasData = false;
  let at = 8;
  for (let parts = 0; ; parts++) {
    if (parts > mostChunks(bytes.size)) throw new Unacceptable('imageCrowded');
    const chunk = (await read(at, 8)).subarray(0, 8);
    if (chunk.length < 8) break;
    const type = latin1(chunk.subarray(4));
    const next = at + 12 + view(chunk).getUint32(0);
    if (!/^[A-Za-z]{4}$/.test(type) || (type === 'IHDR') !== (parts === 0) || next > bytes.size) break;
    if (type === 'IDAT') hasData = true;
    if (type === 'IEND') {
      if (!hasData) break;
      await nothingHostile(bytes, next);
      return 'image/png';
    }
    at = next;
  }
  throw new Unacceptable('imageBroken');
}
