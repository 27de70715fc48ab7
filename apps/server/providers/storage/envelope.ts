import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Secrets } from '../../platform/config/secrets.ts';
import type { DataKey } from './encryption.ts';
import { DocumentFault } from './storage.ts';

/**
 * The format of a document's envelope: its data key, encrypted by a document key (AES-256-GCM with a random nonce; the document's
 * name and the document key's id are authenticated). One line of text: the format's name, the document key's id, then nonce,
 * encrypted data key and tag together as Base64.
 */
const ENVELOPE = /^induct envelope 1 ([0-9a-f]{8}) ([A-Za-z0-9+/]{80})\n$/;
const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export interface DocumentKeys {
  /** The id of the document key that encrypts new envelopes. */
  currentId: string;
  /** The ids of the other document keys, which only decrypt envelopes. */
  otherIds: readonly string[];
  /** Makes a random data key for a document, and its envelope. */
  make(name: string): { dataKey: DataKey; envelope: string };
  /** Decrypts the data key in an envelope. Throws {@link DocumentFault}. */
  open(envelope: string, name: string): DataKey;
  /**
   * Returns a new envelope, in which the current document key encrypts the data key. Returns null if the given envelope already
   * uses the current document key. Throws {@link DocumentFault}.
   */
  rewrap(envelope: string, name: string): string | null;
}

/** Returns the id of a document key: the first eight hexadecimal digits of a hash, which do not reveal the key. */
export function idOfKey(secret: string): string {
  return createHash('sha256')
    .update(`induct document key\n${secret.toLowerCase()}`)
    .digest('hex')
    .slice(0, 8);
}

/** Returns the id of the document key that encrypted an envelope. Throws {@link DocumentFault} if the text is not an envelope. */
export function keyIdOf(envelope: string, name: string): string {
  const id = ENVELOPE.exec(envelope)?.[1];
  if (id === undefined) throw changed(name);
  return id;
}

/** Makes document keys from secrets of 64 hexadecimal digits, of which the first is the current key. */
export function documentKeys(secrets: Secrets): DocumentKeys {
  const keys = new Map(secrets.map((secret) => [idOfKey(secret), Buffer.from(secret, 'hex')]));
  const [currentId, ...otherIds] = keys.keys() as Iterable<string> as [string, ...string[]];
  const wrap = ({ key, name }: DataKey) => {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, keys.get(currentId)!, nonce);
    cipher.setAAD(boundTo(currentId, name));
    const wrapped = Buffer.concat([nonce, cipher.update(key), cipher.final(), cipher.getAuthTag()]);
    return `induct envelope 1 ${currentId} ${wrapped.toString('base64')}\n`;
  };
  const open = (envelope: string, name: string): DataKey => {
    const id = keyIdOf(envelope, name);
    const key = keys.get(id);
    if (key === undefined) throw lacksKey(name, id);
    const wrapped = Buffer.from(ENVELOPE.exec(envelope)![2]!, 'base64');
    const decipher = createDecipheriv(CIPHER, key, wrapped.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(boundTo(id, name));
    decipher.setAuthTag(wrapped.subarray(-TAG_BYTES));
    try {
      const dataKey = decipher.update(wrapped.subarray(NONCE_BYTES, -TAG_BYTES));
      return { key: Buffer.concat([dataKey, decipher.final()]), name };
    } catch (cause) {
      throw changed(name, cause);
    }
  };
  return {
    currentId,
    otherIds,
    make(name) {
      const dataKey = { key: randomBytes(32), name };
      return { dataKey, envelope: wrap(dataKey) };
    },
    open,
    rewrap: (envelope, name) => (keyIdOf(envelope, name) === currentId ? null : wrap(open(envelope, name))),
  };
}

export function lacksKey(name: string, id: string): DocumentFault {
  return new DocumentFault(
    `Document ${name} is encrypted with the key ${id}, which is neither DOCUMENT_KEY nor DOCUMENT_KEY_ALSO.`,
    {
      keyNotice: `Documents are encrypted with the key ${id}, which is neither DOCUMENT_KEY nor DOCUMENT_KEY_ALSO, and cannot be read: docs/run.md, "Encrypt documents".`,
    },
  );
}

function changed(name: string, cause?: unknown): DocumentFault {
  return new DocumentFault(`The envelope of document ${name} was changed in the storage.`, { cause });
}

function boundTo(id: string, name: string): Buffer {
  return Buffer.from(`induct envelope 1 ${id} ${name}`);
}
