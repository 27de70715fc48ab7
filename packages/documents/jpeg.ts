import { type Bytes, type Forward, forward, KIB } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { nothingHostile } from './foreign.ts';

/** The block size (bytes) for reading JPEGs. It is large, since nearly all bytes of a JPEG have to be read. */
const SCAN_CHUNK = 512 * KIB;

/**
 * Limits that honest files stay far below, so that a hostile file cannot keep the server busy. Scans: a progressive photo has
 * ten, and libjpeg-turbo allows 500 in untrusted files. Segments: a panorama has some hundred with metadata, each of 64 KB.
 */
const MOST_SCANS = 500;
const MOST_SEGMENTS = 20_000;

/**
 * Checks the segments and scans up to the end of the image, EOI (ITU T.81, B.1). A segment gives its own length; a scan ends
 * where the next marker begins.
 */
export async function jpeg(bytes: Bytes): Promise<DocumentType> {
  const read = forward(bytes, SCAN_CHUNK);
  let scans = 0;
  let at = 2;
  for (let segments = 0; ; segments++) {
    if (segments > MOST_SEGMENTS || scans > MOST_SCANS) throw new Unacceptable('imageCrowded');
    const [mark, kind = 0, high = 0, low = 0] = await read(at, 4);
    if (mark !== 0xff) break;
    if (kind === 0xff) at += 1;
    else if (kind === 0x01 || (kind >= 0xd0 && kind <= 0xd7)) at += 2;
    else if (kind === 0xd9) {
      if (scans === 0) break;
      await nothingHostile(bytes, at + 2);
      return 'image/jpeg';
    } else {
      const length = high * 256 + low;
      if (length < 2) break;
      at += 2 + length;
      if (kind === 0xda) {
        scans += 1;
        at = await scanEnd(read, at);
      }
    }
  }
  throw new Unacceptable('imageBroken');
}

/** Returns the offset of the marker that ends a scan: 0xff not followed by a stuffed zero, a fill byte or a restart marker. */
async function scanEnd(read: Forward, from: number): Promise<number> {
  let chunk = await read(from, 2);
  for (let start = from; chunk.length > 1; start += chunk.length - 1, chunk = await read(start, 2)) {
    for (let at = chunk.indexOf(0xff); at >= 0 && at < chunk.length - 1; at = chunk.indexOf(0xff, at + 1)) {
      const next = chunk[at + 1]!;
      if (next !== 0x00 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return start + at;
    }
  }
  throw new Unacceptable('imageBroken');
}
