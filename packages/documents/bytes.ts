/** A file with random access. */
export interface Bytes {
  size: number;
  /**
   * Returns `length` bytes from `start`, or fewer at the end of the file. If `memory` is given, the bytes are read into it, so it
   * must have room for `length` bytes.
   */
  read(start: number, length: number, memory?: Uint8Array): Promise<Uint8Array>;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const CHUNK = 64 * KIB;

/** A function that returns at least `length` bytes from `start`, or all bytes up to the end of the file. */
export type Forward = (start: number, length: number) => Promise<Uint8Array>;

/**
 * Returns a reader that reads ahead in blocks of `blockSize` bytes, so that many small sequential reads fetch hardly any byte of
 * the file twice. All blocks share one buffer, so a result is valid only until the next read.
 */
export function forward(bytes: Bytes, blockSize: number): Forward {
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

export function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Decodes each byte as one character, so that offsets in the text equal offsets in the bytes. */
export function latin1(bytes: Uint8Array): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 8 * KIB)
    text += String.fromCharCode(...bytes.subarray(at, at + 8 * KIB));
  return text;
}
