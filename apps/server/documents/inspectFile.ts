import { closeSync, openSync, readSync } from 'node:fs';
import type { Bytes } from '#documents/bytes.ts';
import { type Inspection, inspectDocument } from '#documents/inspectDocument.ts';
import { type DataKey, MAGIC, pieceReader } from '../providers/storage/encryption.ts';

/**
 * Determines a file's type from its content. `size` is the unencrypted size (bytes), even if the file is
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
  };
  try {
    // The storage would take such a file for an encrypted document.
    if (MAGIC.equals(await bytes.read(0, MAGIC.length))) return { fault: 'twoInOne' };
    return await inspectDocument(bytes);
  } finally {
    closeSync(fd);
  }
}
