import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { DataKey } from './encryption.ts';

export interface StoredFile {
  /** The document's name in the storage. */
  key: string;
  /** Size (bytes) and hash of the unencrypted document, even if it is stored encrypted. */
  sizeBytes: number;
  sha256: Buffer;
}

/** A file that has been received and is not stored yet. Its temporary file is removed when `put` ends. */
export interface Arrived extends StoredFile {
  /** The path of the temporary file, which is encrypted if `dataKey` is not null. */
  path: string;
  handle: FileHandle;
  dataKey: DataKey | null;
  /** Reads the unencrypted document from its beginning. */
  pieces(): AsyncIterable<Buffer>;
}

/** Thrown if storing a file would use the disk's reserve. */
export class StorageFull extends Error {}
/** Thrown if the storage has no document under this key. */
export class NotStored extends Error {}
/** Thrown if the storage service does not answer or refuses access. */
export class StorageDown extends Error {}
/**
 * Thrown if a document cannot be read because its document key is missing or because it was changed in the storage. The message
 * is for staff.
 */
export class DocumentFault extends Error {
  /**
   * The notice to staff. It is the same for all documents with the same fault, so that staff do not get one for each document.
   */
  readonly notice: string;
  /** Whether the only fault is that the document's key is not among the settings. */
  readonly isKeyMissing: boolean;
  constructor(message: string, { cause, keyNotice }: { cause?: unknown; keyNotice?: string } = {}) {
    super(message, { cause });
    this.notice = keyNotice ?? message;
    this.isKeyMissing = keyNotice !== undefined;
  }
}

/** Stores files in a folder or a bucket, without encrypting them. arrive.ts defines the files' names. */
export interface ByteStore {
  /**
   * Stores bytes, and resolves when they are stored durably. Stores nothing if `check` throws or anything fails. Throws {@link
   * StorageDown}, and {@link StorageFull} if the reserve would be used. Reserves space for `expectedBytes` at once or, if their
   * number is unknown (null), as the bytes arrive. Without `name`, makes a new name; with the name of an existing file, replaces
   * that file atomically.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
    name?: string,
  ): Promise<StoredFile>;
  /** Rejects if files cannot be stored or read at present. */
  reach(): Promise<void>;
  /** Returns the free bytes that no running upload has reserved. */
  room(): Promise<number>;
  /** Returns the bytes of a file. Rejects with {@link NotStored} if there is none. */
  read(name: string): Promise<Readable>;
  has(name: string): Promise<boolean>;
  /** Removes a file. Also resolves if there is none. */
  remove(name: string): Promise<void>;
  /**
   * Yields the names of all files last written before `time`. An incomplete file, which a crash left, is listed as `NAME.part`.
   */
  olderThan(time: Date): AsyncIterable<string>;
}

/** How a document is stored: unencrypted (`plain`), or encrypted with the current document key or with another one. */
export type How = 'plain' | 'current' | 'other';

export interface Storage extends Pick<ByteStore, 'reach' | 'room'> {
  /**
   * Like `put` of {@link ByteStore}. With document keys, the document is encrypted while it arrives, and is never written to disk
   * unencrypted.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
  ): Promise<StoredFile>;
  /**
   * Returns the unencrypted document. Throws {@link NotStored} or {@link DocumentFault}. The stream may also fail with {@link
   * DocumentFault}; if the document's hash is not `sha256`, the stream fails before its last bytes.
   */
  read(key: string, sha256?: Buffer): Promise<Readable>;
  /** Removes a document, or a file that {@link olderThan} lists. Also resolves if there is none. */
  remove(name: string): Promise<void>;
  /**
   * Yields the keys of documents last written before `time`, and the names of files that a crash left: incomplete files, and
   * envelopes without a document.
   */
  olderThan(time: Date): AsyncIterable<string>;
  /** Returns how a document is stored. Throws {@link NotStored} and {@link DocumentFault}. */
  how(key: string): Promise<How>;
  /**
   * Encrypts an unencrypted document with the current key. If the document is encrypted with another key, replaces its envelope
   * by an envelope of the current key. Before anything is replaced, calls `hold` once: it must lock the document against removal
   * and other encryption until `encrypt` settles. Throws like `put` and `read`.
   */
  encrypt(key: string, hold: () => Promise<void>): Promise<void>;
  /**
   * Returns a document's stored bytes for a backup. `envelope` is null if they are unencrypted. Throws {@link NotStored}, or
   * {@link DocumentFault} if the envelope is missing.
   */
  readStored(key: string): Promise<{ bytes: Readable; envelope: string | null }>;
  /** Decrypts what {@link readStored} returned. Throws {@link DocumentFault}, also while the bytes are read. */
  open(key: string, bytes: AsyncIterable<Buffer>, envelope: string | null): AsyncIterable<Buffer>;
  /**
   * Stores what {@link readStored} returned, and replaces a document of the same key. `check` gets the hash of the given bytes.
   * Unencrypted bytes are encrypted if there are document keys.
   */
  putStored(
    key: string,
    bytes: AsyncIterable<Buffer>,
    envelope: string | null,
    check: (file: Arrived) => Promise<void>,
    expectedBytes: number,
  ): Promise<void>;
}
