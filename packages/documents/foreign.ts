import { type Bytes, CHUNK, latin1, view } from './bytes.ts';
import { Unacceptable } from './faults.ts';
import { isProgram, isWebPage, ZIP_PART } from './signature.ts';

/** The size (bytes) of a ZIP archive's end record with the longest possible comment. */
export const ZIP_TAIL = 22 + 65_535;

/**
 * Returns the offset of a ZIP archive's end record within `tail`, the last bytes of a file; null when there is none. The record
 * must end exactly where the file ends.
 */
export function zipEnd(tail: Uint8Array): number | null {
  const text = latin1(tail);
  for (
    let at = text.lastIndexOf('PK\x05\x06');
    at >= 0;
    at = at > 0 ? text.lastIndexOf('PK\x05\x06', at - 1) : -1
  ) {
    if (at + 22 <= tail.length && at + 22 + view(tail).getUint16(at + 20, true) === tail.length) return at;
  }
  return null;
}

/**
 * Checks the bytes after a picture's end. A phone may append a depth map or a short video there. A second document, a program or
 * a web page is refused.
 */
export async function nothingHostile(bytes: Bytes, end: number): Promise<void> {
  if (end >= bytes.size) return;
  const first = latin1(await bytes.read(end, CHUNK));
  const lastFrom = Math.max(end, bytes.size - ZIP_TAIL);
  const last = await bytes.read(lastFrom, ZIP_TAIL);
  const isHostile =
    isProgram(first) ||
    first.startsWith(ZIP_PART) ||
    [first, latin1(last)].some((text) => text.includes('%PDF-') || isWebPage(text)) ||
    zipEnd(last) !== null;
  if (isHostile) throw new Unacceptable('twoInOne');
}
