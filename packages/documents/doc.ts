import { type Bytes, view } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';

/** The most streams of a file. An old Word document has roughly ten. */
const MOST_STREAMS = 10_000;

/**
 * Checks a compound file [MS-CFB], which consists of a header, chained sectors and a directory of streams. A Word document has a
 * stream named WordDocument. A protected .docx is wrapped in a stream named EncryptedPackage. Installers and Excel files are
 * compound files, too, but have neither stream, and are refused.
 */
export async function doc(bytes: Bytes, head: Uint8Array): Promise<DocumentType> {
  if (head.length < 512) throw new Unacceptable('wordBroken');
  const header = view(head);
  const shift = header.getUint16(0x1e, true);
  if (shift !== 9 && shift !== 12) throw new Unacceptable('wordBroken');
  const sectorSize = 2 ** shift;
  const offsetOf = (sector: number) => (sector + 1) * sectorSize;
  const text = new TextDecoder('utf-16le');
  const names = new Set<string>();
  const visited = new Set<number>();
  let sector = header.getUint32(0x30, true);
  while (sector < 0xfffffffa) {
    // Without this check a cyclic chain would be followed for ever.
    if (visited.has(sector)) throw new Unacceptable('wordBroken');
    visited.add(sector);
    if ((visited.size * sectorSize) / 128 > MOST_STREAMS) throw new Unacceptable('wordCrowded');
    const directory = await bytes.read(offsetOf(sector), sectorSize);
    if (directory.length < sectorSize) throw new Unacceptable('wordBroken');
    for (let at = 0; at < sectorSize; at += 128) {
      const entry = view(directory.subarray(at, at + 128));
      const length = Math.min(64, entry.getUint16(64, true));
      const name = text.decode(directory.subarray(at, at + Math.max(0, length - 2)));
      names.add(name);
      const [start, size] = [entry.getUint32(116, true), entry.getUint32(120, true)];
      // Streams below 4096 bytes are stored in the file's mini stream. A stream of 4096 bytes or more must start within the file.
      if (entry.getUint8(66) === 2 && size >= 4096 && offsetOf(start) >= bytes.size)
        throw new Unacceptable('wordBroken');
      if (name === 'WordDocument' && size > bytes.size) throw new Unacceptable('wordBroken');
    }
    sector = await nextSector(bytes, header, sector, sectorSize);
  }
  if (names.has('EncryptedPackage')) throw new Unacceptable('wordProtected');
  if (!names.has('WordDocument')) throw new Unacceptable('notWord');
  if (names.has('_VBA_PROJECT') || names.has('Macros')) throw new Unacceptable('wordMacros');
  return 'application/msword';
}

/**
 * Returns a sector's entry in the file allocation table (FAT), which is the next sector of its chain. Supports only the 109 FAT
 * sectors that the header lists, which are enough for files of 6.8 MB.
 */
async function nextSector(
  bytes: Bytes,
  header: DataView,
  sector: number,
  sectorSize: number,
): Promise<number> {
  const perSector = sectorSize / 4;
  const table = Math.floor(sector / perSector);
  if (table >= 109) throw new Unacceptable('wordBroken');
  const tableSector = header.getUint32(0x4c + 4 * table, true);
  const entry = await bytes.read((tableSector + 1) * sectorSize + 4 * (sector % perSector), 4);
  if (entry.length < 4) throw new Unacceptable('wordBroken');
  return view(entry).getUint32(0, true);
}
