import { type Bytes, CHUNK, latin1 } from './bytes.ts';
import { Unacceptable } from './faults.ts';
import { ZIP_PART, ZIP_TAIL, zipEnd } from './zip.ts';

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

export function isProgram(text: string): boolean {
  return PROGRAMS.some((signature) => text.startsWith(signature));
}

export function isWebPage(text: string): boolean {
  return /<(!doctype|html|script|svg|\?php)/i.test(text);
}

/**
 * Checks the bytes after a picture's end. A phone may append a depth map or a short video there, but a second document, a program
 * or a web page is refused.
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
