import { type Bytes, CHUNK, latin1, MIB } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { ZIP_TAIL, zipEnd } from './foreign.ts';
import { isWebPage } from './signature.ts';

/**
 * The maximum number of bytes that are read from a PDF. A larger PDF is read in pieces: opening it needs only its two ends and
 * the objects of its first page, unless its cross-reference table is wrong. Smaller PDFs are read in full, because pdf.js never
 * finishes if it reads in pieces and the table places an object just behind the end of the file.
 */
const MOST_READ_BYTES = 40 * MIB;

/**
 * Checks that a PDF is complete, that nothing but comments follows its end, and that it opens without a password (pdf.js). A PDF
 * that forbids printing or changes is accepted, since official transcripts do so.
 */
export async function pdf(bytes: Bytes): Promise<DocumentType> {
  // Refuses an archive whose comment looks like the end of a PDF.
  if (zipEnd(await bytes.read(Math.max(0, bytes.size - ZIP_TAIL), ZIP_TAIL)) !== null)
    throw new Unacceptable('twoInOne');
  const size = await sizeWithoutBlanks(bytes);
  const tail = latin1(await bytes.read(Math.max(0, size - CHUNK), Math.min(size, CHUNK)));
  const end = tail.lastIndexOf('%%EOF');
  if (end < 0) throw new Unacceptable('pdfBroken');
  const behind = tail.slice(end + 5);
  if (/^\s*\d+\s+\d+\s+obj\b/.test(behind)) throw new Unacceptable('pdfBroken');
  if (!isComment(behind)) throw new Unacceptable('twoInOne');
  await open({ ...bytes, size });
  return 'application/pdf';
}

/** Returns a file's size (bytes) without the blanks, NULs and Ctrl-Zs at its end. */
async function sizeWithoutBlanks(bytes: Bytes): Promise<number> {
  for (let size = bytes.size; size > 0; size = Math.max(0, size - CHUNK)) {
    const start = Math.max(0, size - CHUNK);
    const last = (await bytes.read(start, size - start)).findLastIndex((byte) => !BLANKS.has(byte));
    if (last >= 0) return start + last + 1;
  }
  return 0;
}
const BLANKS = new Set([0x00, 0x09, 0x0a, 0x0c, 0x0d, 0x1a, 0x20]);

/** Whether text consists of lines that are blank or comments. */
function isComment(text: string): boolean {
  const lines = text.replaceAll('\x1a', '\n').split(/[\r\n\0]+/);
  return !isWebPage(text) && lines.every((line) => /^\s*(%[\t -~\x80-\xff]*)?$/.test(line));
}

/**
 * Opens a PDF and its first page. Throws {@link Unacceptable} if it does not open, or if more than {@link MOST_READ_BYTES} would
 * have to be read.
 */
async function open(bytes: Bytes): Promise<void> {
  const { getDocument, PDFDataRangeTransport } = await import('unpdf/pdfjs');
  const failed = Promise.withResolvers<never>();
  let readBytes = 0;
  class Ranges extends PDFDataRangeTransport {
    override requestDataRange(begin: number, end: number): void {
      readBytes += end - begin;
      if (readBytes > MOST_READ_BYTES) failed.reject(new Unacceptable('pdfTooLarge'));
      else
        bytes.read(begin, end - begin).then((chunk) => {
          // A copy, because pdf.js takes ownership of the buffer.
          this.onDataRange(begin, new Uint8Array(chunk));
        }, failed.reject);
    }
  }
  const source =
    bytes.size > MOST_READ_BYTES
      ? { range: new Ranges(bytes.size, null), disableAutoFetch: true, disableStream: true }
      : { data: new Uint8Array(await bytes.read(0, bytes.size)) };
  const task = getDocument({ ...source, verbosity: 0 });
  const opened = task.promise
    .then((document) => document.getPage(1))
    .catch((error: Error) => {
      throw new Unacceptable(isProtected(error) ? 'pdfProtected' : 'pdfBroken');
    });
  try {
    await Promise.race([opened, failed.promise]);
  } finally {
    // If reading failed first, `opened` is no longer awaited, so its rejection must be handled here.
    opened.catch(() => {});
    await task.destroy();
  }
}

/** Whether a PDF needs a password to open, or is encrypted for the holders of a key. */
function isProtected({ name, message }: Error): boolean {
  return name === 'PasswordException' || /encryption/.test(message);
}
