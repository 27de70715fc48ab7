import type { FileHandle } from 'node:fs/promises';
import type { Readable } from 'node:stream';

export interface StoredFile {
  /** How the storage finds it again. */
  key: string;
  sizeBytes: number;
  sha256: Buffer;
}

/** Bytes that have arrived and are not kept yet. The file is only there while it is looked at. */
export interface Arrived extends StoredFile {
  handle: FileHandle;
  path: string;
}

/** The disk is as full as it may become. */
export class StorageFull extends Error {}
/** The service that keeps the documents does not answer, or refuses us. */
export class StorageDown extends Error {}

/** Where documents are kept. */
export interface Storage {
  /**
   * Answers only when the bytes are safe. What `check` throws about them, or a failure in the middle, keeps nothing.
   * Throws {@link StorageFull} before the reserve is touched, and {@link StorageDown}. Room for `expectedBytes` is kept from the
   * beginning; for a file whose length nobody knows, as it arrives.
   */
  put(
    bytes: Readable,
    check: (file: Arrived) => Promise<void>,
    expectedBytes?: number | null,
  ): Promise<StoredFile>;
  /** Rejects when documents could not be kept or read now. */
  reach(): Promise<void>;
  /** How many more bytes may come, beside those that are expected already. */
  room(): Promise<number>;
  read(key: string): Promise<Readable>;
  /** Nothing is wrong when it is gone already. */
  remove(key: string): Promise<void>;
  /** Everything put here that was last written to before `time`: also what a crash left half written, as `KEY.part`. */
  olderThan(time: Date): AsyncIterable<string>;
}
