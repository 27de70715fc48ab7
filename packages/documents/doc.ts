import CFB from 'cfb';
import { type Bytes, MIB } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';

/** The largest accepted file (bytes), since the file is read into memory and its streams are copied there. */
const MOST_BYTES = 64 * MIB;
/** The maximum number of streams in a file. An old Word document has roughly ten, and three for each embedded object. */
const MOST_STREAMS = 10_000;

/**
 * Checks a compound file [MS-CFB], which is a file system in a file. A Word document has a stream named WordDocument; a protected
 * .docx is wrapped in a stream named EncryptedPackage. Installers and Excel files are compound files, too, but have neither
 * stream.
 */
export async function doc(bytes: Bytes): Promise<DocumentType> {
  if (bytes.size > MOST_BYTES) throw new Unacceptable('wordTooLarge');
  const file = await bytes.read(0, bytes.size);
  const entries = entriesOf(Buffer.from(file.buffer, file.byteOffset, file.byteLength));
  if (entries.length > MOST_STREAMS) throw new Unacceptable('wordCrowded');
  const names = new Set(entries.map(({ name }) => name));
  if (names.has('EncryptedPackage')) throw new Unacceptable('wordProtected');
  const main = entries.find(({ name, type }) => name === 'WordDocument' && type === STREAM);
  if (!main) throw new Unacceptable('notWord');
  if (names.has('_VBA_PROJECT') || names.has('Macros')) throw new Unacceptable('wordMacros');
  if (isEncrypted(Buffer.from(main.content.slice(0, 12)))) throw new Unacceptable('wordProtected');
  return 'application/msword';
}

const STREAM = 2;

/** Returns the directory of a compound file. Throws {@link Unacceptable} if a part of the file is missing. */
function entriesOf(file: Buffer) {
  let entries: CFB.CFB$Entry[];
  try {
    entries = CFB.read(file, { type: 'buffer' }).FileIndex;
  } catch {
    throw new Unacceptable('wordBroken');
  }
  const isWhole = entries.every(({ name, type, size, content }) => {
    if (Number.isNaN(size)) return false;
    if (type !== STREAM) return true;
    return size === 0 ? name !== 'WordDocument' : content?.length === size;
  });
  if (!isWhole) throw new Unacceptable('wordBroken');
  return entries;
}

/** Whether the stream WordDocument says that the text is encrypted ([MS-DOC], 2.5.2 FibBase: wIdent and fEncrypted). */
function isEncrypted(stream: Buffer): boolean {
  const isWord = stream.length >= 12 && [0xa5ec, 0xa5dc].includes(stream.readUInt16LE(0));
  return isWord && (stream.readUInt16LE(10) & 0x0100) !== 0;
}
