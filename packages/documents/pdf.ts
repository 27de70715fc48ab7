import { type Bytes, CHUNK, isBlank, KIB, latin1, upTo } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { ZIP_TAIL, zipEnd } from './zip.ts';

/** All permission bits of a PDF: 3 to 6, 9, 11 and 12 (ISO 32000-2, table 22). */
const EVERYTHING_PERMITTED = 0b1101_0011_1100;

/**
 * Checks that a PDF ends with `startxref`, an offset and `%%EOF`, and that a cross-reference table or stream is at that offset
 * (ISO 32000). Refuses a PDF that asks for a password.
 */
export async function pdf(bytes: Bytes): Promise<DocumentType> {
  const tail = latin1(await bytes.read(Math.max(0, bytes.size - CHUNK), CHUNK));
  const end = tail.lastIndexOf('%%EOF');
  if (end < 0) throw new Unacceptable('pdfBroken');
  // Refuses an archive whose comment looks like the end of a PDF.
  if (zipEnd(await bytes.read(Math.max(0, bytes.size - ZIP_TAIL), ZIP_TAIL)) !== null)
    throw new Unacceptable('twoInOne');
  if (!isBlank(tail.slice(end + 5))) throw new Unacceptable('twoInOne');
  const offset = /startxref\s+(\d{1,15})\s+$/.exec(tail.slice(Math.max(0, end - 100), end))?.[1];
  if (offset === undefined || Number(offset) >= bytes.size) throw new Unacceptable('pdfBroken');
  const trailer = await pdfTrailer(bytes, Number(offset));
  if (/\/Encrypt[\s/<]/.test(trailer) && (await asksForPassword(bytes, trailer)))
    throw new Unacceptable('pdfProtected');
  return 'application/pdf';
}

/**
 * Whether a PDF probably asks for a password when it is opened. To know it for certain, one would have to compute the key of the
 * standard security handler.
 * - Encryption that forbids something, such as printing or changes: no. Official transcripts are encrypted like this, and open
 *   without a password.
 * - Encryption that forbids nothing: yes, since it can only be for a password.
 * - Any security handler but the standard one: yes, since only holders of a key can open the file.
 */
async function asksForPassword(bytes: Bytes, trailer: string): Promise<boolean> {
  const [, object] = /\/Encrypt\s+(\d{1,10}\s+\d{1,5})\s+R\b/.exec(trailer) ?? [];
  const dictionary = object ? await pdfObject(bytes, object) : trailer;
  if (dictionary === null || !/\/Filter\s*\/Standard\b/.test(dictionary)) return true;
  const permissions = Number(/\/P\s+(-?\d{1,10})/.exec(dictionary)?.[1] ?? 0);
  return (permissions & EVERYTHING_PERMITTED) === EVERYTHING_PERMITTED;
}

/**
 * Returns the text of the object with this number and generation, searching from the start of the file; null if it is not found.
 * The encryption dictionary is never inside a compressed object, so this search finds it.
 */
async function pdfObject(bytes: Bytes, numbers: string): Promise<string | null> {
  const beginning = new RegExp(`(?:^|\\D)${numbers.replace(/\s+/, '\\s+')}\\s+obj\\b`);
  // The blocks overlap, so that a match across the end of a block is found.
  for (let at = 0; at < bytes.size; at += CHUNK - KIB) {
    const found = beginning.exec(latin1(await bytes.read(at, CHUNK)));
    if (found) return upTo(latin1(await bytes.read(at + found.index, CHUNK)), 'endobj');
  }
  return null;
}

async function pdfTrailer(bytes: Bytes, offset: number): Promise<string> {
  const start = latin1(await bytes.read(offset, CHUNK));
  if (/^\s*\d+\s+\d+\s+obj\b/.test(start)) return upTo(start, 'stream');
  if (!/^\s*xref\b/.test(start)) throw new Unacceptable('pdfBroken');
  for (let at = offset; at < bytes.size; at += CHUNK - 'trailer'.length) {
    const found = latin1(await bytes.read(at, CHUNK)).indexOf('trailer');
    if (found >= 0) return upTo(latin1(await bytes.read(at + found, CHUNK)), 'startxref');
  }
  throw new Unacceptable('pdfBroken');
}
