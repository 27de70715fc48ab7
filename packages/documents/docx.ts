import { type Bytes, CHUNK, forward, KIB, latin1, view } from './bytes.ts';
import type { DocumentType } from './document.ts';
import { Unacceptable } from './faults.ts';
import { ZIP_PART, ZIP_TAIL, type ZipEntry, zipEnd, zipEntries } from './zip.ts';

const DEFLATED = 8;
/** The most parts of a .docx. A usual .docx has twenty, plus one or two for each picture. */
const MOST_PARTS = 1_000;
const MOST_DIRECTORY_BYTES = 4 * KIB * KIB;
/**
 * Returns how large (bytes) a Word document of `size` bytes may be when it is unpacked. Text shrinks to a twentieth when it is
 * packed, pictures hardly at all.
 */
const mostUnpacked = (size: number) => Math.min(100 * size, 100 * KIB * KIB + 10 * size);
/** The maximum size (bytes) of the list of content types. Each part of the document has an entry of about 150 bytes in it. */
const MOST_TYPES_BYTES = KIB * KIB;
/** How many bytes of each XML part are read to find its root element, which follows the XML declaration and perhaps a comment. */
const MAIN_HEAD_BYTES = 4 * KIB;
const WORD_MAIN = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml';
/** Matches the root element of a Word document, after an optional byte order mark, XML declaration and comments. */
const WORD_ROOT = /^(\xef\xbb\xbf)?\s*(<[?!][^>]*>\s*)*<(\w+:)?document[\s/>]/;

/**
 * Checks a ZIP archive (PKWARE's APPNOTE, section 4.3) that must be a Word document (ECMA-376 parts 1 and 2): it has to contain a
 * list of content types and the document's main part.
 */
export async function docx(bytes: Bytes): Promise<DocumentType> {
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
 * Checks where each part begins and ends in the archive and, if `bytes` has `inflate`, how large the part is when unpacked.
 * Returns the first bytes of each XML part, which show the part's kind. Of the list of content types it returns MOST_TYPES_BYTES,
 * which is all of an honest list. Without `inflate` the result is empty.
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
  for (const entry of [...entries].sort((a, b) => a.offset - b.offset)) {
    const local = (await read(entry.offset, 30)).subarray(0, 30);
    if (local.length < 30 || !latin1(local).startsWith(ZIP_PART)) throw new Unacceptable('wordBroken');
    const start = entry.offset + 30 + view(local).getUint16(26, true) + view(local).getUint16(28, true);
    if (free === 0 && entry.offset !== 0) throw new Unacceptable('twoInOne');
    // Parts must not overlap, because with overlapping parts a small archive could unpack to a huge size.
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

/**
 * Returns the main part of a Word document: the part to which the list of content types gives the type of a main part. If the
 * list gives this type only to a file name extension, returns the part with the usual name. Throws {@link Unacceptable} if there
 * is none, or if the document has macros.
 */
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

/** Whether a part's name leads outside the folder into which the archive is unpacked. Word writes no such names. */
function leadsOut(name: string): boolean {
  return /^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|\0/.test(name);
}
