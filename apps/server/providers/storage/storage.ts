import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { DataKey } from './encryption.ts';

export interface StoredFile {
  /** The storage's name of it. */
  key: string;
  /** Of the document itself, also where it is stored encrypted; and so is its hash. */
  sizeBytes: number;
  sha256: Buffer;
}

/** A file that has arrived but is not stored yet. It exists only during the check. */
export interface Arrived extends StoredFile {
  /** Its file, which is encrypted when there is a data key. */
  path: string;
  handle: FileHandle;
  dataKey: DataKey | null;
  /** The document from its beginning. */
  pieces(): AsyncIterable<Buffer>;
}

/** Storing more would use the disk's reserve. */
export class StorageFull extends Error {}
/** The storage has nothing under a key. */
export class NotStored extends Error {}
/** The storage service does not answer, or refuses access. */
export class StorageDown extends Error {}
/** A document cannot be read: its key is missing, or it is not what was stored. The message is a sentence for staff. */
export class DocumentFault extends Error {
  /** What staff are told once, however many documents it is about. */
  readonly notice: string;
  /** Nothing is wrong with the document, but its key is not among ours. */
  readonly isKeyMissing: boolean;
  constructor(message: string, { cause, keyNotice }: { cause?: unknown; keyNotice?: string } = {}) {
    super(message, { cause });
    this.notice = keyNotice ?? message;
    this.isKeyMissing = keyNotice !== undefined;
  }
}

/** Where bytes are kept, as they are given: a folder, or a bucket. Names are those of {@link arrive}. */
export interface ByteStore {
  /**
   * Resolves when the bytes are durable. Stores nothing if `check` throws or anything fails. Throws {@link StorageDown}, and
   * {@link StorageFull} before the reserve is used. Space for `expectedBytes` is reserved at once; for an unknown size (null), as the
   * file arrives. Without a name it is a new one; what is stored under a name is replaced at once.
   */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
    name?: string,
  ): Promise<StoredFile>;
  /** Rejects when documents cannot be stored or read at present. */
  reach(): Promise<void>;
  /** Free bytes beyond those reserved for uploads in progress. */
  room(): Promise<number>;
  /** Throws {@link NotStored}. */
  read(name: string): Promise<Readable>;
  has(name: string): Promise<boolean>;
  /** Removing a file that is gone is no error. */
  remove(name: string): Promise<void>;
  /** Everything last written before `time`, including incomplete files that a crash left (`NAME.part`). */
  olderThan(time: Date): AsyncIterable<string>;
}

/** How a document is stored: as it is, or encrypted by the current key or another one of ours. */
export type How = 'plain' | 'current' | 'other';

/** Storage of documents. */
export interface Storage extends Pick<ByteStore, 'reach' | 'room'> {
  /** As of {@link ByteStore}; encrypted as it arrives when there is a key, so that nothing else reaches a disk. */
  put(
    bytes: AsyncIterable<Buffer>,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
  ): Promise<StoredFile>;
  /**
   * The document itself. Throws {@link NotStored} and {@link DocumentFault}; what it gives may end with the latter, and does before its
   * last bytes when it does not have the hash that is asked for.
   */
  read(key: string, sha256?: Buffer): Promise<Readable>;
  /** Removing a document that is gone, or another name of {@link olderThan}, is no error. */
  remove(name: string): Promise<void>;
  /**
   * Keys of documents last written before `time`, and names of what is none and was left by a crash: incomplete files, and envelopes
   * without a document.
   */
  olderThan(time: Date): AsyncIterable<string>;
  /** Throws {@link NotStored} and {@link DocumentFault}. */
  how(key: string): Promise<How>;
  /**
   * Stores a document by the current key: a plain one is encrypted, and of one that is encrypted the envelope is replaced. `hold` is called
   * once, before anything is replaced: from its end until this promise ends nobody else may remove or encrypt the document. Throws
   * as `put` and `read` do.
   */
  encrypt(key: string, hold: () => Promise<void>): Promise<void>;
  /** A document as it is stored, for a backup. Throws {@link NotStored}, and {@link DocumentFault} when its envelope is gone. */
  readStored(key: string): Promise<{ bytes: Readable; envelope: string | null }>;
  /** What {@link readStored} gave, as a document again. Throws {@link DocumentFault}; what it gives may end with that. */
  open(key: string, bytes: AsyncIterable<Buffer>, envelope: string | null): AsyncIterable<Buffer>;
  /**
   * Puts back what {@link readStored} gave, and replaces what is stored under the key. The hash that the check sees is that of the bytes
   * given. What was plain is encrypted when there is a key.
   */
  putStored(
    key: string,
    bytes: AsyncIterable<Buffer>,
    envelope: string | null,
    check: (file: Arrived) => Promise<void>,
    expectedBytes: number,
  ): Promise<void>;
}
