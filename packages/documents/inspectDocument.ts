import { type Bytes, latin1 } from './bytes.ts';
import { doc } from './doc.ts';
import type { DocumentType } from './document.ts';
import { docx } from './docx.ts';
import { type documentFaults, Unacceptable } from './faults.ts';
import { isProgram, isWebPage } from './foreign.ts';
import { jpeg } from './jpeg.ts';
import { pdf } from './pdf.ts';
import { png } from './png.ts';
import { ZIP_PART } from './zip.ts';

export type Inspection = { type: DocumentType } | { fault: keyof typeof documentFaults };

/** PDF readers look for the header within this many bytes of the start, so a picture or an archive can be a PDF as well. */
const PDF_HEADER_WITHIN = 1024;

/**
 * Returns the type of a file, as its content shows, or the reason why the file is refused. Refuses an incomplete file, and a file
 * that turns out to contain a second document, a program or a web page. Reads blocks of at most 4 MiB, whatever the file's size.
 */
export async function inspectDocument(bytes: Bytes): Promise<Inspection> {
  try {
    return { type: await typeOf(bytes) };
  } catch (error) {
    if (error instanceof Unacceptable) return { fault: error.fault };
    throw error;
  }
}

async function typeOf(bytes: Bytes): Promise<DocumentType> {
  if (bytes.size === 0) throw new Unacceptable('empty');
  const head = await bytes.read(0, PDF_HEADER_WITHIN);
  const text = latin1(head);
  if (text.startsWith('%PDF-')) return pdf(bytes);
  // Refuses a picture or archive that PDF readers would open as a PDF.
  if (text.includes('%PDF-')) throw new Unacceptable('twoInOne');
  if (text.startsWith('\xff\xd8\xff')) return jpeg(bytes);
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return png(bytes);
  if (text.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return doc(bytes, head);
  if (text.startsWith(ZIP_PART)) return docx(bytes);
  if (/^.{4}ftyp(hei|hev|mif1|msf1|avi[fs])/s.test(text)) throw new Unacceptable('heic');
  if (isProgram(text)) throw new Unacceptable('program');
  if (isWebPage(text)) throw new Unacceptable('webPage');
  throw new Unacceptable('unknown');
}
