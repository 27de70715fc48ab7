import { latin1 } from './bytes.ts';
import { faultSentence, Unacceptable } from './faults.ts';

/** The number of bytes at the beginning of a file that show its format. PDF viewers look for a PDF's header within them. */
export const HEAD_BYTES = 1024;
export const ZIP_PART = 'PK\x03\x04';

export type Format = 'pdf' | 'jpeg' | 'png' | 'doc' | 'docx';

/** The first bytes of Windows, Linux and macOS executables, and of scripts with a `#!` line. */
const PROGRAMS = [
  'MZ',
  '\x7fELF',
  '#!',
  '\xca\xfe\xba\xbe',
  '\xce\xfa\xed\xfe',
  '\xcf\xfa\xed\xfe',
  '\xfe\xed\xfa\xce',
  '\xfe\xed\xfa\xcf',
];

/**
 * Returns the format that a file's first HEAD_BYTES bytes show. Throws {@link Unacceptable} if no file that begins like this is
 * accepted.
 */
export function formatOf(head: Uint8Array): Format {
  if (head.length === 0) throw new Unacceptable('empty');
  const text = latin1(head.subarray(0, HEAD_BYTES));
  const pdfAt = text.indexOf('%PDF-');
  if (pdfAt >= 0) {
    if (!isHarmlessPrefix(text.slice(0, pdfAt))) throw new Unacceptable('twoInOne');
    return 'pdf';
  }
  if (text.startsWith('\xff\xd8\xff')) return 'jpeg';
  if (text.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (text.startsWith('\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1')) return 'doc';
  if (text.startsWith(ZIP_PART)) return 'docx';
  if (/^.{4}ftyp(hei|hev|mif1|msf1|avi[fs])/s.test(text)) throw new Unacceptable('heic');
  if (isProgram(text)) throw new Unacceptable('program');
  if (isWebPage(text)) throw new Unacceptable('webPage');
  throw new Unacceptable('unknown');
}

/**
 * Returns the sentence for a file that its first bytes already show to be unacceptable; null for any other file. The page calls
 * this before it sends a file. The server begins with the same check, so the page refuses nothing that the server would accept.
 */
export function headFault(head: Uint8Array, fileName: string): string | null {
  try {
    formatOf(head);
    return null;
  } catch (error) {
    if (error instanceof Unacceptable) return faultSentence(error.fault, fileName);
    throw error;
  }
}

export function isProgram(text: string): boolean {
  return PROGRAMS.some((signature) => text.startsWith(signature));
}

export function isWebPage(text: string): boolean {
  return /<(!doctype|html|script|svg|\?php)/i.test(text);
}

/**
 * Whether the bytes before the header of a PDF are harmless, so that no other program would open the file: a byte order mark,
 * blanks, or lines of text, as web servers and printers write them.
 */
function isHarmlessPrefix(text: string): boolean {
  // Print jobs begin with an escape character.
  const bare = text.replace(/^\xef\xbb\xbf/, '').replaceAll('\x1b', '');
  return /^([\s\0]*|[\s -~]*)$/.test(bare) && !isProgram(bare.trimStart()) && !isWebPage(bare);
}
