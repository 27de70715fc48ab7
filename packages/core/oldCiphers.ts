/** MD5 and RC4, which older PDFs use, and no browser has. Never for anything that is to be safe. */

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
];
const SINES = Array.from({ length: 64 }, (_, index) => Math.floor(2 ** 32 * Math.abs(Math.sin(index + 1))));

/** RFC 1321. */
export function md5(bytes: Uint8Array): Uint8Array {
  const padded = new Uint8Array(64 * Math.ceil((bytes.length + 9) / 64));
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const words = new DataView(padded.buffer);
  words.setUint32(padded.length - 8, 8 * bytes.length, true);
  const state = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let block = 0; block < padded.length; block += 64) {
    let [a, b, c, d] = state as [number, number, number, number];
    for (let step = 0; step < 64; step++) {
      const round = step >> 4;
      const [mixed, word] = [
        [(b & c) | (~b & d), step],
        [(d & b) | (~d & c), 5 * step + 1],
        [b ^ c ^ d, 3 * step + 5],
        [c ^ (b | ~d), 7 * step],
      ][round] as [number, number];
      const sum = (a + mixed + SINES[step]! + words.getUint32(block + 4 * (word % 16), true)) | 0;
      const shift = SHIFTS[round]![step % 4]!;
      [a, b, c, d] = [d, (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0, b, c];
    }
    for (const [index, word] of [a, b, c, d].entries()) state[index] = (state[index]! + word) | 0;
  }
  const digest = new Uint8Array(16);
  for (const [index, word] of state.entries()) new DataView(digest.buffer).setInt32(4 * index, word, true);
  return digest;
}

export function rc4(key: Uint8Array, bytes: Uint8Array): Uint8Array {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const swap = (i: number, j: number) => {
    [state[i], state[j]] = [state[j]!, state[i]!];
  };
  for (let i = 0, j = 0; i < 256; i++) {
    j = (j + state[i]! + key[i % key.length]!) & 255;
    swap(i, j);
  }
  let [i, j] = [0, 0];
  return bytes.map((byte) => {
    i = (i + 1) & 255;
    j = (j + state[i]!) & 255;
    swap(i, j);
    return byte ^ state[(state[i]! + state[j]!) & 255]!;
  });
}
