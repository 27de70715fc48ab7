import { createCipheriv, createHash } from 'node:crypto';
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Makes small, valid documents of every accepted type, and hostile ones. */

/**
 * Makes a PDF of one page, by default with a line of text. A comment fills it up to `size` bytes. `trailer`, `catalog` and `page`
 * are added to the dictionaries of these names. `more` are further objects, whose numbers begin at 6.
 */
export function pdf({
  size = 0,
  trailer = '',
  catalog = '',
  page = '',
  content = 'BT /F1 18 Tf 40 90 Td (Transcript) Tj ET',
  resources = '/Font << /F1 5 0 R >>',
  more = [],
}: {
  size?: number;
  trailer?: string;
  catalog?: string;
  page?: string;
  content?: string;
  resources?: string;
  more?: readonly string[];
} = {}): Buffer {
  const objects = [
    `<< /Type /Catalog /Pages 2 0 R ${catalog}>>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 150] /Contents 4 0 R /Resources << ${resources} >> ${page}>>`,
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...more,
  ];
  const build = (padding: string) => {
    let text = `%PDF-1.7\n${padding}`;
    const offsets = objects.map((object, index) => {
      const at = text.length;
      text += `${index + 1} 0 obj\n${object}\nendobj\n`;
      return at;
    });
    const xref = text.length;
    text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n`;
    for (const at of offsets) text += `${String(at).padStart(10, '0')} 00000 n \n`;
    return `${text}trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${xref}\n%%EOF\n`;
  };
  let padding = '';
  // With the padding, the offset after `startxref` may get another digit. So the padding is adjusted until the size is right.
  for (let missing = size - build('').length; missing > 1; missing = size - build(padding).length)
    padding = `%${'.'.repeat(Math.max(0, padding.length + missing - 2))}\n`;
  return Buffer.from(build(padding), 'latin1');
}

/** Pictures of 8 by 8 black pixels, in the encodings that scanners and scanning tools use, as hexadecimal digits. */
const scans = {
  jpeg2000: {
    filter: 'JPXDecode',
    dictionary: '',
    hex: `0000000c6a5020200d0a870a00000014667479706a703220000000006a7032200000002d6a70326800000016696864720000000800000008
      0001070700000000000f636f6c7201000000000011000000696a703263ff4fff510029000000000008000000080000000000000000000000
      080000000800000000000000000001070101ff52000c00000001000304040001ff5c000d4040484850484850484850ff90000a0000000000
      150001ff93df800807808080ffd9`,
  },
  // A bit 1 for each line, which means that the line equals the one before it, and then the end of the picture (ITU-T T.6).
  fax: { filter: 'CCITTFaxDecode', dictionary: '/K -1 /Columns 8 /Rows 8 /BlackIs1 true', hex: 'ff001001' },
  // A black page, and on it a region with the same lines (ITU-T T.88, sections 7.4.8 and 7.4.6).
  jbig2: {
    filter: 'JBIG2Decode',
    dictionary: '',
    hex: `00000000 30 00 01 00000013 00000008 00000008 00000000 00000000 04 0000
      00000001 26 00 01 00000016 00000008 00000008 00000000 00000000 00 01 ff001001`,
  },
};

/** The pictures of {@link scannedPdf}, from left to right. */
export const scanned = Object.keys(scans) as readonly (keyof typeof scans)[];

/**
 * Makes a PDF of one page with one picture in each encoding. Each is a black square of 80 by 80 units, and they are 100 units
 * apart. The picture `broken` cannot be decoded.
 */
export function scannedPdf({ broken }: { broken?: keyof typeof scans } = {}): Buffer {
  return pdf({
    content: scanned.map((name, index) => `q 80 0 0 80 ${10 + 100 * index} 10 cm /${name} Do Q`).join(' '),
    resources: `/XObject << ${scanned.map((name, index) => `/${name} ${6 + index} 0 R`).join(' ')} >>`,
    more: scanned.map((name) => {
      const { filter, dictionary, hex } = scans[name];
      const data = `${name === broken ? 'ff' : hex}>`;
      const bits = name === 'jpeg2000' ? 8 : 1;
      return `<< /Type /XObject /Subtype /Image /Width 8 /Height 8 /ColorSpace /DeviceGray /BitsPerComponent ${bits}
          /Filter [/ASCIIHexDecode /${filter}] /DecodeParms [null << ${dictionary} >>] /Length ${data.length} >>
          stream\n${data}\nendstream`;
    }),
  });
}

/** The permission bits of a PDF (ISO 32000-2, table 22): `butPrinting` permits printing only, `all` permits everything. */
export const permissions = { butPrinting: -1852, all: -4 };

/**
 * Makes a PDF that is encrypted by the standard security handler with 40 bits (ISO 32000-2, algorithms 2 and 4). To open it,
 * `password` must be entered, unless it is empty.
 */
export function encryptedPdf({ password = '', permitted = permissions.all } = {}): Buffer {
  const padding = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');
  const padded = Buffer.concat([Buffer.from(password), padding]).subarray(0, 32);
  const [owner, id] = [Buffer.alloc(32, 'owner'), Buffer.alloc(16, 'id')];
  const bits = Buffer.alloc(4);
  bits.writeInt32LE(permitted);
  const key = createHash('md5')
    .update(Buffer.concat([padded, owner, bits, id]))
    .digest()
    .subarray(0, 5);
  const user = rc4(key, padding).toString('hex');
  return pdf({
    trailer: `/Encrypt 6 0 R /ID [<${id.toString('hex')}> <${id.toString('hex')}>] `,
    more: [`<< /Filter /Standard /V 1 /R 2 /P ${permitted} /O <${owner.toString('hex')}> /U <${user}> >>`],
  });
}

function rc4(key: Buffer, data: Buffer): Buffer {
  const state = Array.from({ length: 256 }, (_, index) => index);
  const swap = (a: number, b: number) => ([state[a], state[b]] = [state[b]!, state[a]!]);
  for (let at = 0, other = 0; at < 256; at++) {
    other = (other + state[at]! + key[at % key.length]!) % 256;
    swap(at, other);
  }
  let other = 0;
  return Buffer.from(
    data.map((byte, index) => {
      const at = (index + 1) % 256;
      other = (other + state[at]!) % 256;
      swap(at, other);
      return byte ^ state[(state[at]! + state[other]!) % 256]!;
    }),
  );
}

/** Makes a JPEG of one grey pixel. It has every segment that a decoder needs, and one scan. */
export function jpeg(): Buffer {
  return Buffer.from(
    'ffd8ffe000104a46494600010100000100010000ffdb004300' +
      '01'.repeat(64) +
      'ffc0000b080001000101011100ffc40014000100000000000000000000000000000009ffc40014100100000000000000000000000000000000ffda0008010100003f0054ffd9',
    'hex',
  );
}

/** Makes a JPEG of `count` scans, about 35 bytes each. As in a progressive JPEG, each scan comes with its own Huffman table. */
export function jpegOfScans(count: number): Buffer {
  const whole = jpeg();
  const scan = whole.subarray(whole.indexOf('ffc40014', 0, 'hex') + 22, -2);
  const scans = Array.from({ length: count - 1 }, () => scan);
  return Buffer.concat([whole.subarray(0, -2), ...scans, whole.subarray(-2)]);
}

/** Makes a JPEG with `count` empty comments, 4 bytes each, before the first scan. */
export function jpegOfSegments(count: number): Buffer {
  const whole = jpeg();
  return Buffer.concat([whole.subarray(0, 2), Buffer.alloc(4 * count, 'fffe0002', 'hex'), whole.subarray(2)]);
}

export const png = () => pngOfChunks(1);

/** Makes a PNG whose image data is in `count` chunks. All chunks but the first are empty, with 12 bytes each. */
export function pngOfChunks(count: number): Buffer {
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    return Buffer.concat([uint32be(data.length), body, uint32be(crc32(body))]);
  };
  const empty = chunk('IDAT', Buffer.alloc(0));
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000001000000010800000000', 'hex')),
    chunk('IDAT', deflateSync(Buffer.from([0, 128]))),
    Buffer.alloc(empty.length * (count - 1), empty),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Makes a compound file, the format of .doc files, with streams of these names. A stream WordDocument makes it a Word document. */
export function compoundFile(...names: string[]): Buffer {
  return compoundOf(names.map((name) => ({ name, size: 4096 })));
}

/** Makes a Word document whose pictures take `size` bytes. */
export function doc({ size = 0, isEncrypted = false } = {}): Buffer {
  const text = Buffer.alloc(4096, 'text ');
  text.writeUInt16LE(0xa5ec, 0);
  text.writeUInt16LE(isEncrypted ? 0x0100 : 0, 10);
  return compoundOf([
    { name: 'WordDocument', size: text.length, text },
    { name: 'Data', size },
  ]);
}

/** Makes a Word document of 14 kB whose directory is a cycle: its last sector points to its first. */
export function docRing(): Buffer {
  return compoundOf(
    Array.from({ length: 100 }, () => ({ name: 'WordDocument', size: 0 })),
    { isRing: true },
  );
}

/** Makes a Word document with `count` streams in its directory. */
export function docOfEntries(count: number): Buffer {
  const objects = Array.from({ length: count - 1 }, () => ({ name: 'ObjInfo', size: 0 }));
  return compoundOf([{ name: 'WordDocument', size: 4096 }, ...objects]);
}

/**
 * Makes a compound file [MS-CFB] of version 3: its directory, its streams, the sectors of its allocation table (FAT), and the
 * sectors that list those of the table (DIFAT), since the header has room for only 109.
 */
function compoundOf(
  streams: readonly { name: string; size: number; text?: Buffer }[],
  { isRing = false } = {},
): Buffer {
  const NONE = 0xffff_fffe;
  const sectorsOf = (bytes: number) => Math.ceil(bytes / 512);
  const table: number[] = [];
  /** Adds a chain of sectors to the allocation table, and returns its first sector. */
  const chain = (sectors: number, { last = NONE } = {}): number => {
    const first = table.length;
    for (let at = 1; at <= sectors; at++) table.push(at === sectors ? last : first + at);
    return sectors === 0 ? NONE : first;
  };
  const directory = Buffer.alloc(512 * sectorsOf(128 * (streams.length + 1)));
  chain(directory.length / 512, { last: isRing ? 0 : NONE });
  const contents: Buffer[] = [];
  [{ name: 'Root Entry', size: 0, text: undefined }, ...streams].forEach(({ name, size, text }, index) => {
    const entry = directory.subarray(index * 128, (index + 1) * 128);
    entry.write(name, 'utf16le');
    entry.writeUInt16LE(2 * name.length + 2, 64);
    entry.writeUInt8(index === 0 ? 5 : 2, 66);
    entry.fill(0xff, 68, 80);
    entry.writeUInt32LE(chain(sectorsOf(size)), 116);
    entry.writeUInt32LE(size, 120);
    contents.push(text ?? Buffer.alloc(512 * sectorsOf(size), 'text '));
  });
  const used = table.length;
  let tables = 1;
  let lists = 0;
  while (128 * tables < used + tables + lists) {
    tables += 1;
    lists = Math.ceil(Math.max(0, tables - 109) / 127);
  }
  const places = Array.from({ length: tables }, (_, index) => used + index);
  const header = Buffer.alloc(512);
  header.write('d0cf11e0a1b11ae1', 'hex');
  header.writeUInt16LE(0x3e, 0x18);
  header.writeUInt16LE(3, 0x1a);
  header.writeUInt16LE(0xfffe, 0x1c);
  header.writeUInt16LE(9, 0x1e);
  header.writeUInt16LE(6, 0x20);
  header.writeUInt32LE(tables, 0x2c);
  header.writeUInt32LE(4096, 0x38);
  header.writeUInt32LE(NONE, 0x3c);
  header.writeUInt32LE(lists > 0 ? used + tables : NONE, 0x44);
  header.writeUInt32LE(lists, 0x48);
  header.fill(0xff, 0x4c);
  for (const [index, place] of places.slice(0, 109).entries()) header.writeUInt32LE(place, 0x4c + 4 * index);
  const list = Buffer.alloc(512 * lists, 0xff);
  for (let index = 0; index < lists; index++) {
    const named = places.slice(109 + 127 * index, 109 + 127 * (index + 1));
    for (const [at, place] of named.entries()) list.writeUInt32LE(place, 512 * index + 4 * at);
    list.writeUInt32LE(index === lists - 1 ? NONE : used + tables + index + 1, 512 * index + 508);
  }
  const entries = [...table, ...Array(tables).fill(0xffff_fffd), ...Array(lists).fill(0xffff_fffc)];
  const tableBytes = Buffer.alloc(512 * tables, 0xff);
  for (const [index, entry] of entries.entries()) tableBytes.writeUInt32LE(entry, 4 * index);
  return Buffer.concat([header, directory, ...contents, tableBytes, list]);
}

export interface Part {
  name: string;
  data: Buffer | string;
  isStored?: boolean;
  /** Values that the archive's headers give for this part, instead of the true ones. */
  says?: { size?: number; flags?: number; offset?: number };
}

export function zip(parts: readonly Part[], comment: Buffer = Buffer.alloc(0)): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, says, isStored } of parts) {
    const plain = Buffer.from(data);
    const packed = isStored ? plain : deflateRawSync(plain);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(says?.flags ?? 0, 2);
    common.writeUInt16LE(isStored ? 0 : 8, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(says?.size ?? plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(says?.offset ?? offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name)]));
    files.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(parts.length, 8);
  end.writeUInt16LE(parts.length, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(comment.length, 20);
  return Buffer.concat([...files, list, end, comment]);
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Makes `[Content_Types].xml` of a Word document. `elements` name the part with the document's text. */
export function contentTypes(elements: string): string {
  return `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${elements}</Types>`;
}

export const docxParts: readonly Part[] = [
  {
    name: '[Content_Types].xml',
    data: contentTypes(
      '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/>',
    ),
  },
  {
    name: 'word/document.xml',
    data: `${XML}<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body><w:p><w:r><w:t>Transcript</w:t></w:r></w:p></w:body></w:document>`,
  },
];
export const docx = () => zip(docxParts);

/** Makes text that hardly compresses. Each call returns the same text. */
export function randomText(bytes: number): string {
  const key = Buffer.alloc(16, 'key');
  const random = createCipheriv('aes-128-ctr', key, key).update(Buffer.alloc(Math.ceil((bytes * 3) / 4)));
  return random.toString('base64').slice(0, bytes);
}

/** Makes a Word document of `count` parts, about 90 bytes each. */
export function docxOfParts(count: number): Buffer {
  const more = Array.from({ length: count - 2 }, (_, index) => ({ name: `m/${index}`, data: 'x' }));
  return zip([...docxParts, ...more]);
}

export const program = () =>
  Buffer.concat([Buffer.from('MZ\x90\0\x03'), Buffer.alloc(2000, 'This program ')]);

function uint32be(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeUInt32BE(value);
  return buffer;
}

/**
 * Makes the pieces of a PDF of `bytes` bytes, which may be too large for memory. Between `start` and `end` there must be
 * `padding` bytes of any character.
 */
export function largePdf(bytes: number): { start: string; padding: number; end: string } {
  const start =
    '%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 150] >>\nendobj\n%';
  const endAt = (offset: number) => {
    const places = [1, 2, 3].map((object) => String(start.indexOf(`${object} 0 obj`)).padStart(10, '0'));
    return `\nxref\n0 4\n0000000000 65535 f \n${places.map((place) => `${place} 00000 n \n`).join('')}trailer\n<< /Size 4 /Root 1 0 R >>\nstartxref\n${String(offset + 1).padStart(10, '0')}\n%%EOF\n`;
  };
  const padding = bytes - start.length - endAt(0).length;
  return { start, padding, end: endAt(start.length + padding) };
}

/**
 * Makes documents that are expensive to inspect. The server refuses each of them. It refuses most of them only at the end of the
 * inspection, after all of its work.
 */
export function hostileDocuments(): { name: string; content: Buffer }[] {
  // Unpacked, the bomb is larger than its header says. The noise, which hardly compresses, keeps the archive's compression ratio
  // just below the limit of 100 to 1.
  const bomb = { name: 'word/media/a.bmp', data: Buffer.alloc(100_000_000), says: { size: 99_000_000 } };
  const noise = { name: 'word/media/b.bmp', data: randomText(1_500_000) };
  const broken = { name: 'z', data: 'x', says: { size: 2 } };
  const many = Array.from({ length: 990 }, (_, index) => ({ name: `m/${index}`, data: 'x'.repeat(200) }));
  return [
    { name: 'scans.jpg', content: jpegOfScans(19_000) },
    { name: 'ring.doc', content: docRing() },
    { name: 'parts.docx', content: docxOfParts(19_000) },
    { name: 'many.docx', content: zip([...docxParts, ...many, broken]) },
    { name: 'bomb.docx', content: zip([...docxParts, noise, bomb]) },
  ];
}
