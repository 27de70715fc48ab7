import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { DataKey } from './encryption.ts';

export interface StoredFile {
  /** The document's name in the storage. */
  key: string;
  /** The size of the unencrypted document, even if it is stored encrypted. The same holds for the hash. */
  sizeBytes: number;
  sha256: Buffer;
}

/** A file that has arrived but is not stored yet. It exists only while it is being checked. */
export interface Arrived extends StoredFile {
  /** The temporary file. It is encrypted if there is a data key. */
  path: string;
  handle: FileHandle;
  dataKey: DataKey | null;
  /** Reads the unencrypted document from its beginning. */
  pieces(): AsyncIterable<Buffer>;
}

/** Storing more would use the disk's reserve. */
export class StorageFull extends Error {}
/** The storage has no document under this key. */
export class NotStored extends Error {}
/** The storage service does not answer, or refuses access. */
export class StorageDown extends Error {}
/**
 * A document cannot be read, because its key is missing or because it was changed in the storage. The message is a sentence for
 * staff.
 */
export class DocumentFault extends Error {
  /** The notice for staff, which is sent once for any number of documents with the same fault. */
  readonly notice: string;
  /** Whether the document is intact and only its key is missing from ours. */
  readonly isKeyMissing: boolean;
  constructor(message: string, { cause, keyNotice }: { cause?: unknown; keyNotice?: string } = {}) {
    super(message, { cause });
    this.notice = keyNotice ?? message;
    this.isKeyMissing = keyNotice !== undefined;
  }
}

/** A place that stores bytes unchanged: a folder, or a bucket. Its names are those of {@link arrive}. */
export interface ByteStore {
  /**
   * Resolves when the bytes are stored durably. Stores nothing if `check` throws or anything fails. Throws {@link StorageDown}, and
   * {@link StorageFull} before the reserve is used. Reserves space for `expectedBytes` at once, or as the file arrives if the size
   * is unknown (null). Without `name` it makes a new name. With the name of an existing file it replaces that file atomically.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
    name?: string,
  ): Promise<StoredFile>;
  /** Rejects if documents cannot be stored or read at present. */
  reach(): Promise<void>;
  /** Returns the free bytes that running uploads have not reserved. */
  room(): Promise<number>;
  /** Throws {@link NotStored}. */
  read(name: string): Promise<Readable>;
  has(name: string): Promise<boolean>;
  /** A file that does not exist is no error. */
  remove(name: string): Promise<void>;
  /** Lists all files last written before `time`, including incomplete files that a crash left (`NAME.part`). */
  olderThan(time: Date): AsyncIterable<string>;
}

/** How a document is stored: unencrypted (`plain`), encrypted by the current key, or encrypted by another one of our keys. */
export type How = 'plain' | 'current' | 'other';

export interface Storage extends Pick<ByteStore, 'reach' | 'room'> {
  /**
   * Like `put` of {@link ByteStore}. With a key, a document is encrypted while it arrives, so that no disk holds it unencrypted.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
  ): Promise<StoredFile>;
  /**
   * Returns the unencrypted document. Throws {@link NotStored} and {@link DocumentFault}. Reading the stream may throw
   * {@link DocumentFault}, too. If the document does not have the hash `sha256`, this happens before its last bytes.
   */
  read(key: string, sha256?: Buffer): Promise<Readable>;
  /** Removes a document, or any other name that {@link olderThan} lists. A name that does not exist is no error. */
  remove(name: string): Promise<void>;
  /**
   * Lists the keys of documents last written before `time`, and the names of what a crash left: incomplete files, and envelopes
   * without a document.
   */
  olderThan(time: Date): AsyncIterable<string>;
  /** Throws {@link NotStored} and {@link DocumentFault}. */
  how(key: string): Promise<How>;
  /**
   * Encrypts a document with the current key: encrypts an unencrypted one, and replaces the envelope of an encrypted one. Calls
   * `hold` once, before anything is replaced. From the end of `hold` until this promise settles nobody else may remove or encrypt
   * the document. Throws as `put` and `read` do.
   */
  encrypt(key: string, hold: () => Promise<void>): Promise<void>;
  /** Returns a document as it is stored, for a backup. Throws {@link NotStored}, or {@link DocumentFault} without its envelope. */
  readStored(key: string): Promise<{ bytes: Readable; envelope: string | null }>;
  /** Decrypts what {@link readStored} returned. Throws {@link DocumentFault}, also while the bytes are being read. */
  open(key: string, bytes: AsyncIterable<Buffer>, envelope: string | null): AsyncIterable<Buffer>;
  /**
   * Stores what {@link readStored} returned, and replaces what is stored under the key. `check` gets the hash of the bytes that
   * were passed in. An unencrypted document is encrypted if there is a key.
   */
  putStored(
    key: string,
    bytes: AsyncIterable<Buffer>,
    envelope: string | null,
    check: (file: Arrived) => Promise<void>,
    expectedBytes: number,
  ): Promise<void>;
}
