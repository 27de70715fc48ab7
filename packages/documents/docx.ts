import { Readable } from 'node:stream';
import {
  type Entry,
  fromRandomAccessReaderPromise,
  getFileNameLowLevel,
  RandomAccessReader,
  validateFileName,
  type ZipFile,
} from 'yauzl';
import { type Bytes, CHUNK, latin1, MIB, view } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { ZIP_TAIL, zipEnd } from './foreign.ts';

/** The maximum number of parts in a .docx. A usual .docx has twenty, plus one or two for each picture. */
const MOST_PARTS = 1_000;
/**
 * Returns the maximum unpacked size (bytes) of a Word document of `size` bytes. Text can be packed to a twentieth of its size,
 * pictures hardly at all.
 */
const mostUnpacked = (size: number) => Math.min(100 * size, 100 * MIB + 10 * size);
/** The maximum size (bytes) of the list of content types. Each part of the document has an entry of about 150 bytes in it. */
const MOST_TYPES_BYTES = MIB;
/** How many bytes of the main part are read to find its root element, which comments may precede. */
const MAIN_HEAD_BYTES = 4 * MIB;
const WORD_MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
/** Matches the root element of a Word document, after the XML declaration. */
const WORD_ROOT = /^\s*(<[?!][^>]*>\s*)*<([\w.-]+:)?document[\s/>]/;

interface Part {
  name: string;
  entry: Entry;
}

/**
 * Checks a ZIP archive (PKWARE's APPNOTE, section 4.3) that must be a Word document (ECMA-376 parts 1 and 2): it has to contain a
 * list of content types and the document's main part, and each part must unpack to the size that the archive gives for it.
 */
export async function docx(bytes: Bytes): Promise<DocumentType> {
  await checkEnd(bytes);
  const zip = await orBroken(
    fromRandomAccessReaderPromise(new Reader(bytes), bytes.size, { autoClose: false, decodeStrings: false }),
  );
  if (zip.entryCount > MOST_PARTS) throw new Unacceptable('wordCrowded');
  const parts = await orBroken(partsOf(zip));
  const types = parts.find(({ name }) => name === '[Content_Types].xml');
  if (!types || !parts.some(({ name }) => /^(word\/)?document\d*\.xml$/i.test(name)))
    throw new Unacceptable('notWord');
  // A part's name must not lead to a path outside the folder into which the archive is unpacked.
  if (parts.some(({ name }) => validateFileName(name) !== null || name.includes('\0')))
    throw new Unacceptable('twoInOne');
  if (parts.some(({ entry }) => entry.isEncrypted())) throw new Unacceptable('wordProtected');
  if (parts.some(({ name }) => /vbaProject\.bin$/i.test(name))) throw new Unacceptable('wordMacros');
  const unpacked = parts.reduce((sum, { entry }) => sum + entry.uncompressedSize, 0);
  if (unpacked > mostUnpacked(bytes.size)) throw new Unacceptable('bomb');
  if (types.entry.uncompressedSize > MOST_TYPES_BYTES) throw new Unacceptable('wordCrowded');
  checkPlaces(parts);
  const main = mainPart(xmlText(await unpack(zip, types, MOST_TYPES_BYTES)), parts);
  for (const part of parts) {
    if (part === types) continue;
    const head = await unpack(zip, part, part === main ? MAIN_HEAD_BYTES : 0);
    if (part === main && !WORD_ROOT.test(xmlText(head))) throw new Unacceptable('wordBroken');
  }
  return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
}

async function partsOf(zip: ZipFile): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const entry of zip.eachEntry()) {
    const { generalPurposeBitFlag, fileNameRaw, extraFields } = entry;
    parts.push({ name: getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false), entry });
  }
  return parts;
}

/** Refuses a file that has bytes before the archive, between its directory and its end record, or after the end record. */
async function checkEnd(bytes: Bytes): Promise<void> {
  const tailFrom = Math.max(0, bytes.size - ZIP_TAIL);
  const tail = await bytes.read(tailFrom, ZIP_TAIL);
  const end = zipEnd(tail);
  if (end === null) throw new Unacceptable(latin1(tail).includes('PK\x05\x06') ? 'twoInOne' : 'wordBroken');
  const record = view(tail.subarray(end));
  const directoryEnd = record.getUint32(12, true) + record.getUint32(16, true);
  const isZip64 = record.getUint32(16, true) === 0xffff_ffff;
  // A ZIP64 archive has its two additional end records between the directory and the end record.
  if (!isZip64 && ![0, 56 + 20].includes(tailFrom + end - directoryEnd)) throw new Unacceptable('twoInOne');
}

/**
 * Refuses an archive that does not begin with a part, and an archive whose parts overlap, because a small file with overlapping
 * parts could unpack to a huge size.
 */
function checkPlaces(parts: readonly Part[]): void {
  let free = 0;
  for (const { entry } of parts.toSorted((a, b) => offsetOf(a) - offsetOf(b))) {
    if (free === 0 && entry.relativeOffsetOfLocalHeader !== 0) throw new Unacceptable('twoInOne');
    if (entry.relativeOffsetOfLocalHeader < free) throw new Unacceptable('bomb');
    free = entry.relativeOffsetOfLocalHeader + 30 + entry.fileNameLength + entry.compressedSize;
  }
}
const offsetOf = ({ entry }: Part) => entry.relativeOffsetOfLocalHeader;

/**
 * Returns the main part of a Word document: the part to which the list of content types gives the type of a main part. If the
 * list gives this type only to a file name extension, returns the part with the usual name. Throws {@link Unacceptable} if there
 * is none, or if the document has macros.
 */
function mainPart(types: string, parts: readonly Part[]): Part {
  const attribute = (element: string, name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(element)?.[1];
  const elements = (types.match(/<([\w.-]+:)?(Override|Default)\s[^<>]*>/g) ?? []).map((element) => ({
    part: attribute(element, 'PartName'),
    type: attribute(element, 'ContentType'),
  }));
  if (elements.some(({ type }) => type?.includes('macroEnabled'))) throw new Unacceptable('wordMacros');
  const listed = elements.find(({ type }) => type === WORD_MAIN);
  if (!listed) throw new Unacceptable('notWord');
  const names = listed.part ? [listed.part.slice(1)] : ['word/document.xml', 'document.xml'];
  // The names of parts are case-insensitive (ECMA-376 part 2, 6.2.2.3).
  const main = parts.find(({ name }) => names.some((given) => given.toLowerCase() === name.toLowerCase()));
  if (!main) throw new Unacceptable('wordBroken');
  return main;
}

/** Unpacks a part, and returns its first `headBytes` bytes. */
async function unpack(zip: ZipFile, { entry }: Part, headBytes: number): Promise<Buffer> {
  const head: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of await zip.openReadStreamPromise(entry)) {
      if (size < headBytes) head.push(chunk);
      size += chunk.length;
    }
  } catch (error) {
    const isMore = /^too many bytes/.test((error as Error).message);
    throw new Unacceptable(isMore ? 'bomb' : 'wordBroken');
  }
  return Buffer.concat(head).subarray(0, headBytes);
}

/** Decodes XML in UTF-8 or UTF-16, and removes its comments. */
function xmlText(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = (first === 0xff && second === 0xfe) || (first === 0x3c && second === 0);
  const isBig = (first === 0xfe && second === 0xff) || (first === 0 && second === 0x3c);
  const text = new TextDecoder(isLittle ? 'utf-16le' : isBig ? 'utf-16be' : 'utf-8').decode(bytes);
  const [start = '', ...rest] = text.split('<!--');
  const afterComments = rest.map((part) => part.split('-->').slice(1).join('-->'));
  return start + afterComments.join('');
}

/** Awaits a promise of yauzl, which rejects if the archive is malformed. In that case throws {@link Unacceptable}. */
async function orBroken<T>(done: Promise<T>): Promise<T> {
  return done.catch(() => {
    throw new Unacceptable('wordBroken');
  });
}

/** Lets yauzl read a {@link Bytes}. */
class Reader extends RandomAccessReader {
  readonly #bytes: Bytes;
  constructor(bytes: Bytes) {
    super();
    this.#bytes = bytes;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(piecesOf(this.#bytes, start, end));
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    this.#bytes.read(position, length).then((piece) => {
      buffer.set(piece, offset);
      callback(null, piece.length);
    }, callback);
  }
}

async function* piecesOf(bytes: Bytes, start: number, end: number): AsyncGenerator<Uint8Array> {
  for (let at = start; at < end; at += CHUNK) yield await bytes.read(at, Math.min(CHUNK, end - at));
}
