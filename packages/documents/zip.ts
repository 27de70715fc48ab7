import { latin1, view } from './bytes.ts';
import { Unacceptable } from './faults.ts';

/** The size (bytes) of a ZIP archive's end record with the longest possible comment. */
export const ZIP_TAIL = 22 + 65_535;
export const ZIP_PART = 'PK\x03\x04';

/**
 * Returns the offset of the archive's end record within `tail`, the last bytes of the file; null when there is none. The record
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

export interface ZipEntry {
  name: string;
  offset: number;
  packed: number;
  size: number;
  isEncrypted: boolean;
  method: number;
}

export function zipEntries(directory: Uint8Array, count: number): ZipEntry[] {
  const entries: ZipEntry[] = [];
  const data = view(directory);
  let at = 0;
  while (entries.length < count) {
    if (at + 46 > directory.length || data.getUint32(at, true) !== 0x02014b50)
      throw new Unacceptable('wordBroken');
    const nameLength = data.getUint16(at + 28, true);
    entries.push({
      name: latin1(directory.subarray(at + 46, at + 46 + nameLength)),
      offset: data.getUint32(at + 42, true),
      packed: data.getUint32(at + 20, true),
      size: data.getUint32(at + 24, true),
      isEncrypted: (data.getUint16(at + 8, true) & 1) === 1,
      method: data.getUint16(at + 10, true),
    });
    at += 46 + nameLength + data.getUint16(at + 30, true) + data.getUint16(at + 32, true);
  }
  return entries;
}
