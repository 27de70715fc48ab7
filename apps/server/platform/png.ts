import { crc32, deflateSync } from 'node:zlib';

/** The kinds of pixels, each with its number of bytes (8 bits a channel) and its colour type in the PNG header. */
const kinds = { grey: { bytes: 1, colourType: 0 }, rgba: { bytes: 4, colourType: 6 } } as const;

/** Encodes a square picture as a PNG. `pixels` has the rows from top to bottom, `side` pixels each. */
export function encodePng(pixels: Uint8Array, side: number, kind: keyof typeof kinds): Buffer {
  const { bytes, colourType } = kinds[kind];
  const width = side * bytes;
  // Each row begins with its filter: 0, none.
  const rows = Buffer.alloc(side * (1 + width));
  for (let y = 0; y < side; y++) rows.set(pixels.subarray(y * width, (y + 1) * width), y * (1 + width) + 1);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, colourType], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(name: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}
