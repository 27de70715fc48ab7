import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

export interface StoredFile {
  /** The storage's name of it. */
  key: string;
  sizeBytes: number;
  sha256: Buffer;
}

/** A file that has arrived but is not stored yet. It exists only during the check. */
export interface Arrived extends StoredFile {
  handle: FileHandle;
  path: string;
}

/** Storing more would use the disk's reserve. */
export class StorageFull extends Error {}
/** The storage has nothing under a key. */
export class NotStored extends Error {}
/** The storage service does not answer, or refuses access. */
export class StorageDown extends Error {}

/** Storage of documents. */
export interface Storage {
  /**
   * Resolves when the bytes are durable. Stores nothing if `check` throws or anything fails. Throws {@link StorageDown}, and
   * {@link StorageFull} before the reserve is used. Space for `expectedBytes` is reserved at once; for an unknown size (null), as the
   * file arrives. The key is a new one; a restore names the one of before, and what is stored under it is replaced.
   */
  put(
    bytes: Readable,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
    key?: string,
  ): Promise<StoredFile>;
  /** Rejects when documents cannot be stored or read at present. */
  reach(): Promise<void>;
  /** Free bytes beyond those reserved for uploads in progress. */
  room(): Promise<number>;
  /** Throws {@link NotStored}. */
  read(key: string): Promise<Readable>;
  /** Removing a file that is gone is no error. */
  remove(key: string): Promise<void>;
  /** Everything last written before `time`, including incomplete files that a crash left (`KEY.part`). */
  olderThan(time: Date): AsyncIterable<string>;
}
