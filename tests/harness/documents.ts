import { createCipheriv } from 'node:crypto';
import { crc32, deflateRawSync, deflateSync } from 'node:zlib';

/** Makes small, valid documents of every accepted type, and hostile ones. */

/**
 * Makes a PDF of one page with a line of text. A comment fills it up to `size` bytes. `trailer` is added to the trailer
 * dictionary. `more` are further objects, which get the numbers from 6 on.
 */
export function pdf({
  size = 0,
  trailer = '',
  more = [],
}: {
  size?: number;
  trailer?: string;
  more?: readonly string[];
} = {}): Buffer {
  const content = 'BT /F1 18 Tf 40 90 Td (Transcript) Tj ET';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 150] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
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
  // With the padding, the offset after `startxref` can get another digit. So the padding is corrected until the size is right.
  for (let missing = size - build('').length; missing > 1; missing = size - build(padding).length)
    padding = `%${'.'.repeat(Math.max(0, padding.length + missing - 2))}\n`;
  return Buffer.from(build(padding), 'latin1');
}

/** The permission bits of a PDF (ISO 32000-2, table 22): `butPrinting` permits printing only, `all` permits everything. */
export const permissions = { butPrinting: -1852, all: -4 };

/**
 * Makes a PDF that claims to be encrypted by the standard security handler. Its text is not encrypted, since no test decrypts it.
 */
export function encryptedPdf(permitted: number): Buffer {
  const entry = 'ab'.repeat(48);
  return pdf({
    trailer: `/Encrypt 6 0 R /ID [<${entry}> <${entry}>] `,
    more: [`<< /Filter /Standard /V 5 /R 6 /Length 256 /P ${permitted} /O <${entry}> /U <${entry}> >>`],
  });
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

/**
 * Makes a JPEG of `count` scans, about 35 bytes each. As in a progressive JPEG, each scan comes with a Huffman table of its own.
 */
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

/**
 * Makes a compound file, the format of .doc files, with streams of these names. A stream WordDocument makes it a Word document.
 */
export function compoundFile(...streams: string[]): Buffer {
  const sectors = 8;
  const header = Buffer.alloc(512);
  header.write('d0cf11e0a1b11ae1', 'hex');
  header.writeUInt16LE(0x3e, 0x18);
  header.writeUInt16LE(3, 0x1a);
  header.writeUInt16LE(0xfffe, 0x1c);
  header.writeUInt16LE(9, 0x1e);
  header.writeUInt16LE(6, 0x20);
  header.writeUInt32LE(1, 0x2c);
  header.writeUInt32LE(1, 0x30);
  header.writeUInt32LE(4096, 0x38);
  header.writeUInt32LE(0xfffffffe, 0x3c);
  header.writeUInt32LE(0xfffffffe, 0x44);
  header.fill(0xff, 0x4c);
  header.writeUInt32LE(0, 0x4c);
  const table = Buffer.alloc(512, 0xff);
  table.writeUInt32LE(0xfffffffd, 0);
  table.writeUInt32LE(0xfffffffe, 4);
  for (let sector = 2; sector < 2 + sectors; sector++)
    table.writeUInt32LE(sector === 1 + sectors ? 0xfffffffe : sector + 1, 4 * sector);
  const directory = Buffer.alloc(512);
  ['Root Entry', ...streams].forEach((name, index) => {
    const entry = directory.subarray(index * 128, (index + 1) * 128);
    entry.write(name, 'utf16le');
    entry.writeUInt16LE(2 * name.length + 2, 64);
    entry.writeUInt8(index === 0 ? 5 : 2, 66);
    entry.fill(0xff, 68, 80);
    entry.writeUInt32LE(index === 0 ? 0xfffffffe : 2, 116);
    entry.writeUInt32LE(index === 0 ? 0 : 512 * sectors, 120);
  });
  return Buffer.concat([header, table, directory, Buffer.alloc(512 * sectors, 'text ')]);
}
export const doc = () => compoundFile('WordDocument');

/** Makes a Word document of 16 kB whose directory is a cycle: its last sector points to its first. */
export function docRing(): Buffer {
  return compoundOf(new Array(100).fill('WordDocument'), { next: 0 });
}

/** Makes a Word document with `count` streams in its directory. */
export function docOfEntries(count: number): Buffer {
  return compoundOf(['WordDocument', ...new Array(count - 1).fill('ObjInfo')]);
}

/**
 * Makes a compound file whose directory has these empty streams, four entries in a sector, with as many FAT sectors as needed.
 * `next`: the index of the directory sector that follows the last one; without it the chain ends there.
 */
function compoundOf(streams: readonly string[], { next }: { next?: number } = {}): Buffer {
  const header = Buffer.from(doc().subarray(0, 512));
  const sectors = Math.ceil((streams.length + 1) / 4);
  const tables = Math.ceil((sectors + 1) / 127);
  header.writeUInt32LE(tables, 0x2c);
  header.writeUInt32LE(tables, 0x30);
  header.fill(0xff, 0x4c);
  const table = Buffer.alloc(512 * tables, 0xff);
  for (let index = 0; index < tables; index++) {
    header.writeUInt32LE(index, 0x4c + 4 * index);
    table.writeUInt32LE(0xfffffffd, 4 * index);
  }
  for (let index = 0; index < sectors; index++) {
    const isLast = index === sectors - 1;
    table.writeUInt32LE(
      isLast ? (next === undefined ? 0xfffffffe : tables + next) : tables + index + 1,
      4 * (tables + index),
    );
  }
  const directory = Buffer.alloc(512 * sectors);
  ['Root Entry', ...streams].forEach((name, index) => {
    const entry = directory.subarray(index * 128, (index + 1) * 128);
    entry.write(name, 'utf16le');
    entry.writeUInt16LE(2 * name.length + 2, 64);
    entry.writeUInt8(index === 0 ? 5 : 2, 66);
  });
  return Buffer.concat([header, table, directory]);
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

/** Makes text that hardly compresses, the same at each call. */
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
 * Makes the pieces of a PDF of `bytes` bytes, which may be too large for memory: `padding` bytes of any character belong between
 * `start` and `end`.
 */
export function largePdf(bytes: number): { start: string; padding: number; end: string } {
  const start =
    '%PDF-1.7\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Kids [] /Count 0 >>\nendobj\n%';
  const endAt = (offset: number) => {
    const place = (object: string) => String(start.indexOf(object)).padStart(10, '0');
    return `\nxref\n0 3\n0000000000 65535 f \n${place('1 0 obj')} 00000 n \n${place('2 0 obj')} 00000 n \ntrailer\n<< /Size 3 /Root 1 0 R >>\nstartxref\n${String(offset + 1).padStart(10, '0')}\n%%EOF\n`;
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
