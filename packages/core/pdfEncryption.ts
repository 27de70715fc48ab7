import { md5, rc4 } from './oldCiphers.ts';

/** What a PDF says of its encryption (ISO 32000-2, 7.6.4: the standard security handler), as far as its user password goes. */
export interface PdfEncryption {
  version: number;
  revision: number;
  keyBytes: number;
  permissions: number;
  encryptsMetadata: boolean;
  owner: Uint8Array;
  user: Uint8Array;
  fileId: Uint8Array;
}

/** What fills a password that is shorter than 32 bytes (7.6.4.3.2); all there is of an empty one. */
const PADDING = fromHex('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a');

/** Reads an encryption dictionary and the trailer that has it, a byte a character. Null for what we do not know. */
export function readPdfEncryption(dictionary: string, trailer: string): PdfEncryption | null {
  if (!/\/Filter\s*\/Standard\b/.test(dictionary)) return null;
  const number = (name: string, usual: number) =>
    Number(new RegExp(`/${name}\\s+(-?\\d{1,10})`).exec(dictionary)?.[1] ?? usual);
  const [version, revision] = [number('V', 0), number('R', 0)];
  const [owner, user] = [
    stringAfter(dictionary, /\/O\s*(?=[<(])/),
    stringAfter(dictionary, /\/U\s*(?=[<(])/),
  ];
  if (owner === null || user === null) return null;
  return {
    version,
    revision,
    // The length of a version 4 is that of its cipher; only versions 2 and 3 say one of their own.
    keyBytes: version === 1 ? 5 : version === 4 ? 16 : Math.min(16, number('Length', 40) / 8),
    permissions: number('P', 0),
    encryptsMetadata: !/\/EncryptMetadata\s+false/.test(dictionary),
    owner,
    user,
    fileId: stringAfter(trailer, /\/ID\s*\[\s*/) ?? new Uint8Array(),
  };
}

/**
 * Whether anybody can open it: its user password is the empty one, and its owner's only forbids printing or changing it,
 * as universities and clearing houses do with official transcripts. False for revisions that we do not know.
 */
export async function opensWithoutPassword(encryption: PdfEncryption): Promise<boolean> {
  const { revision, user } = encryption;
  if (revision >= 2 && revision <= 4) return startsWith(user, userEntry(encryption));
  const salt = user.subarray(32, 40);
  if (revision === 5) return startsWith(user, await sha(256, salt));
  if (revision === 6) return startsWith(user, await hardenedHash(salt));
  return false;
}

/** Algorithms 2, 4 and 5 (7.6.4.3 and 7.6.4.4) for an empty password: the part of /U that is not arbitrary. */
function userEntry({
  revision,
  keyBytes,
  owner,
  permissions,
  fileId,
  encryptsMetadata,
}: PdfEncryption): Uint8Array {
  const flags = new Uint8Array(4);
  new DataView(flags.buffer).setUint32(0, permissions >>> 0, true);
  const metadata = revision >= 4 && !encryptsMetadata ? [255, 255, 255, 255] : [];
  let key = md5(join(PADDING, owner.subarray(0, 32), flags, fileId, metadata)).subarray(0, keyBytes);
  if (revision === 2) return rc4(key, PADDING);
  for (let round = 0; round < 50; round++) key = md5(key).subarray(0, keyBytes);
  let entry = md5(join(PADDING, fileId));
  for (let round = 0; round < 20; round++)
    entry = rc4(
      key.map((byte) => byte ^ round),
      entry,
    );
  return entry;
}

/** Algorithm 2.B (7.6.4.3.4) for an empty password. */
async function hardenedHash(salt: Uint8Array): Promise<Uint8Array> {
  let hash = await sha(256, salt);
  for (let round = 0; ; round++) {
    const repeated = new Uint8Array(64 * hash.length);
    for (let at = 0; at < repeated.length; at += hash.length) repeated.set(hash, at);
    const key = await crypto.subtle.importKey('raw', copy(hash.subarray(0, 16)), 'AES-CBC', false, [
      'encrypt',
    ]);
    const padded = await crypto.subtle.encrypt(
      { name: 'AES-CBC', iv: copy(hash.subarray(16, 32)) },
      key,
      repeated,
    );
    // What is encrypted fills its blocks; the last one is padding, which the algorithm does not have.
    const encrypted = new Uint8Array(padded, 0, repeated.length);
    // 256 leaves 1 when divided by 3, so the remainder of a large number is that of the sum of its bytes.
    const remainder = encrypted.subarray(0, 16).reduce((sum, byte) => sum + byte, 0) % 3;
    hash = await sha(([256, 384, 512] as const)[remainder]!, encrypted);
    if (round >= 63 && encrypted.at(-1)! <= round - 31) return hash.subarray(0, 32);
  }
}

async function sha(bits: 256 | 384 | 512, bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest(`SHA-${bits}`, copy(bytes)));
}

const ESCAPED: Record<string, string> = { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' };

/** The string that comes right after a match, hexadecimal or in brackets (7.3.4); null when there is none. */
function stringAfter(text: string, pattern: RegExp): Uint8Array | null {
  const found = pattern.exec(text);
  if (!found) return null;
  const rest = text.slice(found.index + found[0].length);
  const hex = /^<([0-9a-fA-F\s]*)>/.exec(rest)?.[1];
  if (hex !== undefined) return fromHex(hex.replace(/\s/g, ''));
  return rest.startsWith('(') ? fromLiteral(rest.slice(1)) : null;
}

/** From behind the opening bracket to the one that closes it. */
function fromLiteral(text: string): Uint8Array | null {
  const bytes: number[] = [];
  let depth = 1;
  for (const [token] of text.matchAll(/\\[0-7]{1,3}|\\?\r\n|\\?./gs)) {
    if (token === '(') depth += 1;
    if (token === ')') depth -= 1;
    if (depth === 0) return new Uint8Array(bytes);
    if (/^\\[0-7]/.test(token)) bytes.push(Number.parseInt(token.slice(1), 8) & 255);
    else if (token === '\r\n' || token === '\r') bytes.push(10);
    else if (/^\\[\r\n]/.test(token)) continue;
    else if (token.startsWith('\\')) bytes.push((ESCAPED[token[1]!] ?? token[1]!).charCodeAt(0));
    else bytes.push(token.charCodeAt(0));
  }
  return null;
}

function fromHex(hex: string): Uint8Array {
  return new Uint8Array((hex.match(/../g) ?? []).map((pair) => Number.parseInt(pair, 16)));
}

function join(...parts: (Uint8Array | number[])[]): Uint8Array {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function startsWith(bytes: Uint8Array, start: Uint8Array): boolean {
  return bytes.length >= start.length && start.every((byte, index) => bytes[index] === byte);
}

/** Web Crypto wants bytes of their own. */
function copy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
