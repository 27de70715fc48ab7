import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { DataKey } from './encryption.ts';

export interface StoredFile {
  /** The document's name in the storage. */
  key: string;
  /** The size (bytes) and hash are those of the unencrypted document, even if it is stored encrypted. */
  sizeBytes: number;
  sha256: Buffer;
}

/** A file that has arrived but is not stored yet. It exists only during the checks. */
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
  /** Whether the document is intact and only its document key is not set. */
  readonly isKeyMissing: boolean;
  constructor(message: string, { cause, keyNotice }: { cause?: unknown; keyNotice?: string } = {}) {
    super(message, { cause });
    this.notice = keyNotice ?? message;
    this.isKeyMissing = keyNotice !== undefined;
  }
}

/** A place that stores bytes unchanged: a folder, or a bucket. Names are formed as in arrive.ts. */
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
   * Like `put` of {@link ByteStore}. With document keys, a document is encrypted while it arrives, so that no disk has it
   * unencrypted.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
  ): Promise<StoredFile>;
  /**
   * Returns the unencrypted document. Throws {@link NotStored} and {@link DocumentFault}. Reading the stream may throw
   * {@link DocumentFault}, too: before its last bytes, if the document does not have the hash `sha256`.
   */
  read(key: string, sha256?: Buffer): Promise<Readable>;
  /** Removes a document, or any other name that {@link olderThan} lists. A name that does not exist is no error. */
  remove(name: string): Promise<void>;
  /**
   * Lists the keys of documents last written before `time`, and the names of files that a crash left: incomplete files, and
   * envelopes without a document.
   */
  olderThan(time: Date): AsyncIterable<string>;
  /** Throws {@link NotStored} and {@link DocumentFault}. */
  how(key: string): Promise<How>;
  /**
   * Encrypts a document with the current key, or replaces the envelope of one that is encrypted. Calls `hold` once, before anything
   * is replaced; it must lock the document, so that nobody else removes or encrypts it until this promise settles. Throws as `put`
   * and `read` do.
   */
  encrypt(key: string, hold: () => Promise<void>): Promise<void>;
  /**
   * Returns a document as it is stored, for a backup. Throws {@link NotStored}, or {@link DocumentFault} if its envelope is
   * missing.
   */
  readStored(key: string): Promise<{ bytes: Readable; envelope: string | null }>;
  /** Decrypts a result of {@link readStored}. Throws {@link DocumentFault}, also while the bytes are being read. */
  open(key: string, bytes: AsyncIterable<Buffer>, envelope: string | null): AsyncIterable<Buffer>;
  /**
   * Stores a result of {@link readStored}, replacing any document under the key. `check` gets the hash of the given bytes. An
   * unencrypted document is encrypted if there are document keys.
   */
  putStored(
    key: string,
    bytes: AsyncIterable<Buffer>,
    envelope: string | null,
    check: (file: Arrived) => Promise<void>,
    expectedBytes: number,
  ): Promise<void>;
}
