import { ACCEPTED_DOCUMENTS, DOCUMENT_EMPTY, DOCUMENT_HEIC, type DocumentType } from './document.ts';

/** A file with random access: a file descriptor on the server, a `Blob` in the page. */
export interface Bytes {
  size: number;
  /** At most `length` bytes from `start`; fewer only at the end of the file. Into `memory` when given, which is large enough. */
  read(start: number, length: number, memory?: Uint8Array): Promise<Uint8Array>;
  /** Inflates a part to check its declared size. Without this, the declared size is believed. */
  inflate?(start: number, length: number, limits: InflateLimits): Promise<Inflated>;
}

export interface InflateLimits {
  /** Counting may stop after so many bytes. */
  mostBytes: number;
  /** How many of the first bytes to return. */
  headBytes: number;
}

export interface Inflated {
  /** In bytes; less than declared when the data cannot be inflated. */
  size: number;
  head: Uint8Array;
}

/** Sentences for refused files, each with what to do. */
export const documentFaults = {
  empty: DOCUMENT_EMPTY,
  heic: DOCUMENT_HEIC,
  program: `This file is a program and not a document, whatever its name says. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  webPage: 'This file is a web page. Please print it to PDF in your browser, and upload the PDF.',
  unknown: `The content of this file is not what its name says. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  twoInOne:
    'This file contains more than the document, which we cannot accept. Please print or save it as a new PDF, and upload that.',
  pdfProtected:
    'This PDF is protected with a password. Please save or print it as a PDF without one, or upload a clear photo of it.',
  pdfBroken:
    'This PDF is damaged or incomplete. Please download or save it again, check that it opens, and upload it once more.',
  imageBroken:
    'This picture is damaged or incomplete. Please save it again or take another photo, and upload that.',
  imageCrowded:
    'This picture is made of far more parts than cameras and scanners write, and we cannot check them all. Please take another photo, or a screenshot of it, and upload that.',
  wordProtected: 'This Word document is protected with a password. Please save it without one, or as a PDF.',
  wordMacros: 'This Word document contains macros. Please save it as a PDF, and upload that.',
  wordBroken: 'This Word document is damaged or incomplete. Please save it again, or as a PDF.',
  notWord: `This is an archive or another Office file, not a Word document. Please choose a ${ACCEPTED_DOCUMENTS} file.`,
  wordCrowded:
    'This Word document is made of far more parts than we can check. Please save it as a PDF, and upload that.',
  bomb: 'This Word document unpacks to far more than its size. Please save it as a PDF, and upload that.',
  unchecked:
    'Checking this file takes too long. Please save or print it as a new PDF, or upload a clear photo of it.',
} as const;
type Fault = keyof typeof documentFaults;

export type Inspection = { type: DocumentType } | { fault: Fault };

const KIB = 1024;
const CHUNK = 64 * KIB;
/** Block size for JPEGs, of which nearly every byte is read. */
const SCAN_CHUNK = 512 * KIB;
/** PDF readers accept the header this far into a file, so that a picture can be a PDF as well. */
const PDF_HEADER_WITHIN = 1024;
/** Bits 3 to 6, 9, 11 and 12 of a PDF's permissions: ISO 32000-2, table 22. */
const EVERYTHING_PERMITTED = 0b1101_0011_1100;
/** An archive's last record and its longest comment. */
const ZIP_TAIL = 22 + 65_535;
const ZIP_PART = 'PK\x03\x04';
const DEFLATED = 8;
/** Windows, Linux and macOS executables, and scripts. */
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
 * Far more than honest files have; a hostile one must not keep us walking. Scans: a progressive photo has ten, and
 * libjpeg-turbo's limit for files that it does not trust is 500. Segments: a panorama's metadata are some hundred of
 * 64 KB. Streams: an embedded object of an old Word document is about ten. Parts: a .docx has twenty, and one or two a picture.
 */
const MOST_SCANS = 500;
const MOST_SEGMENTS = 20_000;
const MOST_STREAMS = 10_000;
const MOST_PARTS = 1_000;
/** Chunks of a PNG's data are of 8 KiB where libpng wrote them. */
const mostChunks = (size: number) => 20_000 + size / (4 * KIB);
const MOST_DIRECTORY_BYTES = 4 * KIB * KIB;
/** Limit for an unpacked Word document (bytes): text is compressed to a twentieth, pictures hardly. */
const mostUnpacked = (size: number) => Math.min(100 * size, 100 * KIB * KIB + 10 * size);
/** A list of content types has a line of some 150 bytes for a part. */
const MOST_TYPES_BYTES = KIB * KIB;
/** Of a Word document's main part; its root element is behind the XML declaration and perhaps a comment. */
const MAIN_HEAD_BYTES = 4 * KIB;
const WORD_MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
/** Behind a byte order mark, the declaration and comments. */
const WORD_ROOT = /^(\xef\xbb\xbf)?\s*(<[?!][^>]*>\s*)*<(\w+:)?document[\s/>]/;

class Unacceptable extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(documentFaults[fault]);
    this.fault = fault;
  }
}

/**
 * The type of a file by its content, or why it is refused. It must be complete and nothing besides: it ends where its format
 * says. Reads blocks of at most 4 MiB, whatever the file's size.
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
  // A picture or archive that PDF readers take for a PDF.
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

function isProgram(text: string): boolean {
  return PROGRAMS.some((signature) => text.startsWith(signature));
}

function isWebPage(text: string): boolean {
  return /<(!doctype|html|script|svg|\?php)/i.test(text);
}

/** ISO 32000: `startxref`, an offset and `%%EOF` end a PDF; at the offset is a cross-reference table or stream. */
async function pdf(bytes: Bytes): Promise<DocumentType> {
  const tail = latin1(await bytes.read(Math.max(0, bytes.size - CHUNK), CHUNK));
  const end = tail.lastIndexOf('%%EOF');
  if (end < 0) throw new Unacceptable('pdfBroken');
  // An archive may hide its end in a comment that ends like a PDF.
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
 * Whether a PDF asks for a password to open, as far as its structure tells. With the standard handler that would have to be
 * computed: official transcripts forbid printing or changes by a password that nobody needs for reading, so they are taken. One
 * that forbids nothing is encrypted for the password alone, and one with another handler for the holders of a key.
 */
async function asksForPassword(bytes: Bytes, trailer: string): Promise<boolean> {
  const [, object] = /\/Encrypt\s+(\d{1,10}\s+\d{1,5})\s+R\b/.exec(trailer) ?? [];
  const dictionary = object ? await pdfObject(bytes, object) : trailer;
  if (dictionary === null || !/\/Filter\s*\/Standard\b/.test(dictionary)) return true;
  const permissions = Number(/\/P\s+(-?\d{1,10})/.exec(dictionary)?.[1] ?? 0);
  return (permissions & EVERYTHING_PERMITTED) === EVERYTHING_PERMITTED;
}

/** Finds an object by its number and generation, from the start of the file. The encryption dictionary is never compressed. */
async function pdfObject(bytes: Bytes, numbers: string): Promise<string | null> {
  const beginning = new RegExp(`(?<!\\d)${numbers.replace(/\s+/, '\\s+')}\\s+obj\\b`);
  // Blocks overlap, so that no match is cut in two.
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

/** Returns at least `length` bytes from `start`, or all that are left. */
type Forward = (start: number, length: number) => Promise<Uint8Array>;

/**
 * Reads ahead in blocks, so that small forward reads read each byte once. All blocks share one buffer: a result is valid until the
 * next read.
 */
function forward(bytes: Bytes, blockSize: number): Forward {
  const memory = new Uint8Array(Math.min(blockSize, bytes.size));
  let block: Uint8Array = memory.subarray(0, 0);
  let from = 0;
  return async (start, length) => {
    const wanted = Math.min(start + length, bytes.size);
    if (start < from || wanted > from + block.length) {
      block = await bytes.read(start, memory.length, memory);
      from = start;
    }
    return block.subarray(start - from);
  };
}

/** ITU T.81, B.1: segments with their lengths, and scans that go on to the next marker, up to EOI. */
async function jpeg(bytes: Bytes): Promise<DocumentType> {
  const read = forward(bytes, SCAN_CHUNK);
  let scans = 0;
  let at = 2;
  for (let segments = 0; ; segments++) {
    if (segments > MOST_SEGMENTS || scans > MOST_SCANS) throw new Unacceptable('imageCrowded');
    const [mark, kind = 0, high = 0, low = 0] = await read(at, 4);
    if (mark !== 0xff) break;
    if (kind === 0xff) at += 1;
    else if (kind === 0x01 || (kind >= 0xd0 && kind <= 0xd7)) at += 2;
    else if (kind === 0xd9) {
      if (scans === 0) break;
      await nothingHostile(bytes, at + 2);
      return 'image/jpeg';
    } else {
      const length = high * 256 + low;
      if (length < 2) break;
      at += 2 + length;
      if (kind === 0xda) {
        scans += 1;
        at = await scanEnd(read, at);
      }
    }
  }
  throw new Unacceptable('imageBroken');
}

/** Offset of the marker that ends a scan: neither a stuffed zero nor a restart. */
async function scanEnd(read: Forward, from: number): Promise<number> {
  let chunk = await read(from, 2);
  for (let start = from; chunk.length > 1; start += chunk.length - 1, chunk = await read(start, 2)) {
    for (let at = chunk.indexOf(0xff); at >= 0 && at < chunk.length - 1; at = chunk.indexOf(0xff, at + 1)) {
      const next = chunk[at + 1]!;
      if (next !== 0x00 && next !== 0xff && (next < 0xd0 || next > 0xd7)) return start + at;
    }
  }
  throw new Unacceptable('imageBroken');
}

/** PNG, third edition, section 5: chunks with their lengths, from IHDR by IDAT to IEND. */
async function png(bytes: Bytes): Promise<DocumentType> {
  const read = forward(bytes, CHUNK);
  let hasData = false;
  let at = 8;
  for (let parts = 0; ; parts++) {
    if (parts > mostChunks(bytes.size)) throw new Unacceptable('imageCrowded');
    const chunk = (await read(at, 8)).subarray(0, 8);
    if (chunk.length < 8) break;
    const type = latin1(chunk.subarray(4));
    const next = at + 12 + view(chunk).getUint32(0);
    if (!/^[A-Za-z]{4}$/.test(type) || (type === 'IHDR') !== (parts === 0) || next > bytes.size) break;
    if (type === 'IDAT') hasData = true;
    if (type === 'IEND') {
      if (!hasData) break;
      await nothingHostile(bytes, next);
      return 'image/png';
    }
    at = next;
  }
  throw new Unacceptable('imageBroken');
}

/** Phones append depth maps or short videos to pictures, but no second document, program or web page. */
async function nothingHostile(bytes: Bytes, end: number): Promise<void> {
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

/**
 * [MS-CFB]: a header, sectors in chains, and a directory of streams. A Word document has one named WordDocument; a
 * protected .docx is wrapped as EncryptedPackage; installers and Excel files have neither.
 */
async function doc(bytes: Bytes, head: Uint8Array): Promise<DocumentType> {
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
    // A cyclic chain would never end.
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
      // Small streams are stored elsewhere; larger ones must lie within the file.
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

/** A sector's entry in the file allocation table. The header names its first 109 sectors, enough for 6.8 MB and more. */
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

/** PKWARE's APPNOTE, section 4.3, and ECMA-376 parts 1 and 2: an archive with a list of content types and the document's text. */
async function docx(bytes: Bytes): Promise<DocumentType> {
  const tailFrom = Math.max(0, bytes.size - ZIP_TAIL);
  const tail = await bytes.read(tailFrom, ZIP_TAIL);
  const end = zipEnd(tail);
  if (end === null) throw new Unacceptable(latin1(tail).includes('PK\x05\x06') ? 'twoInOne' : 'wordBroken');
  const last = view(tail.subarray(end));
  const [count, size, from] = [last.getUint16(10, true), last.getUint32(12, true), last.getUint32(16, true)];
  if (count > MOST_PARTS) throw new Unacceptable('wordCrowded');
  if (size > MOST_DIRECTORY_BYTES) throw new Unacceptable('bomb');
  if (from + size !== tailFrom + end) throw new Unacceptable('twoInOne');
  const entries = zipEntries(await bytes.read(from, size), count);
  const types = entries.find(({ name }) => name === '[Content_Types].xml');
  if (!types || !entries.some(({ name }) => /^(word\/)?document\d*\.xml$/.test(name)))
    throw new Unacceptable('notWord');
  if (entries.some(({ name }) => leadsOut(name))) throw new Unacceptable('twoInOne');
  if (entries.some(({ isEncrypted }) => isEncrypted)) throw new Unacceptable('wordProtected');
  if (entries.some(({ name }) => /vbaProject\.bin$/i.test(name))) throw new Unacceptable('wordMacros');
  const unpacked = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (unpacked > mostUnpacked(bytes.size)) throw new Unacceptable('bomb');
  if (types.size > MOST_TYPES_BYTES) throw new Unacceptable('wordCrowded');
  const heads = await partHeads(bytes, entries, from, types);
  const typesHead = heads.get(types);
  if (typesHead) {
    const main = mainPart(latin1(typesHead), entries);
    if (!WORD_ROOT.test(latin1(heads.get(main) ?? new Uint8Array()))) throw new Unacceptable('wordBroken');
  }
  return 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
}

/**
 * Checks the place of every part, and returns the beginnings of XML parts: the whole list of content types, and of the others as
 * much as shows their kind. Empty without `inflate`.
 */
async function partHeads(
  bytes: Bytes,
  entries: readonly ZipEntry[],
  directoryAt: number,
  types: ZipEntry,
): Promise<Map<ZipEntry, Uint8Array>> {
  const heads = new Map<ZipEntry, Uint8Array>();
  const read = forward(bytes, CHUNK);
  let free = 0;
  for (const entry of entries.toSorted((a, b) => a.offset - b.offset)) {
    const local = (await read(entry.offset, 30)).subarray(0, 30);
    if (local.length < 30 || !latin1(local).startsWith(ZIP_PART)) throw new Unacceptable('wordBroken');
    const start = entry.offset + 30 + view(local).getUint16(26, true) + view(local).getUint16(28, true);
    if (free === 0 && entry.offset !== 0) throw new Unacceptable('twoInOne');
    // Overlapping parts make a small archive unpack to a very large one.
    if (entry.offset < free) throw new Unacceptable('bomb');
    free = start + entry.packed;
    const isStored = entry.method === 0 && entry.packed === entry.size;
    if (free > directoryAt || !(isStored || entry.method === DEFLATED)) throw new Unacceptable('wordBroken');
    if (!bytes.inflate) continue;
    const isXml = entry.name.endsWith('.xml');
    const headBytes = entry === types ? MOST_TYPES_BYTES : isXml ? MAIN_HEAD_BYTES : 0;
    const { size, head } = isStored
      ? { size: entry.size, head: await bytes.read(start, Math.min(entry.size, headBytes)) }
      : await bytes.inflate(start, entry.packed, { mostBytes: entry.size, headBytes });
    if (size > entry.size) throw new Unacceptable('bomb');
    if (size < entry.size) throw new Unacceptable('wordBroken');
    if (isXml) heads.set(entry, head);
  }
  return heads;
}

/** The main part of a Word document, by the list of content types: named there, or by the default for XML. */
function mainPart(types: string, entries: readonly ZipEntry[]): ZipEntry {
  const attribute = (element: string, name: string) =>
    new RegExp(`\\s${name}\\s*=\\s*["']([^"']*)["']`).exec(element)?.[1];
  const elements = (types.match(/<(\w+:)?(Override|Default)\s[^<>]*>/g) ?? []).map((element) => ({
    part: attribute(element, 'PartName'),
    extension: attribute(element, 'Extension'),
    type: attribute(element, 'ContentType'),
  }));
  if (elements.some(({ type }) => type?.includes('macroEnabled'))) throw new Unacceptable('wordMacros');
  const listed = elements.find(({ type }) => type === WORD_MAIN);
  if (!listed) throw new Unacceptable('notWord');
  const names = listed.part ? [listed.part.slice(1)] : ['word/document.xml', 'document.xml'];
  const main = entries.find(({ name }) => names.includes(name));
  if (!main) throw new Unacceptable('wordBroken');
  return main;
}

/** Whether a part's name leads out of the folder into which the archive is unpacked. Word writes none. */
function leadsOut(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\0/.test(name);
}

/** Offset in the file's tail of the archive's end record, which must end exactly where the file does; null for none. */
function zipEnd(tail: Uint8Array): number | null {
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

interface ZipEntry {
  name: string;
  offset: number;
  packed: number;
  size: number;
  isEncrypted: boolean;
  method: number;
}

function zipEntries(directory: Uint8Array, count: number): ZipEntry[] {
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

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** One character per byte, so that offsets agree. */
function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8 * KIB)
    text += String.fromCharCode(...bytes.subarray(at, at + 8 * KIB));
  return text;
}

function isBlank(text: string): boolean {
  return text.replaceAll('\0', ' ').trim() === '';
}

function upTo(text: string, word: string): string {
  const end = text.indexOf(word);
  return end < 0 ? text : text.slice(0, end);
}
