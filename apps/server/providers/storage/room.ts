import { mkdir, statfs } from 'node:fs/promises';
import { StorageFull } from './storage.ts';

/** The number of bytes that a file of unknown size reserves at a time. */
const SLICE_BYTES = 4 * 1_048_576;
/** Disk space that a file takes in addition to its bytes: its directory entry and the unused rest of its last block. */
const BESIDES_BYTES = 16_384;

/**
 * The free disk space, less the reserve, that running uploads share. Space that an upload has reserved is not available to
 * others, even before the upload has written it. Otherwise several uploads would all count on the same free space.
 */
export interface Room {
  /** Returns how many bytes can still be reserved. */
  left(): Promise<number>;
  /**
   * Reserves space for a file: `expectedBytes` at once or, if the size is unknown (null), slices as the file grows. Throws {@link
   * StorageFull}.
   */
  claim(expectedBytes: number | null): Promise<Claim>;
}
export interface Claim {
  /**
   * To be awaited before this many bytes are written. Throws {@link StorageFull} if there is no space, for example because other
   * programs have filled the disk.
   */
  take(bytes: number): Promise<void>;
  /** Reports that bytes are written. Their reservation ends, since the disk's free space no longer includes them. */
  written(bytes: number): void;
  release(): void;
}

/**
 * The numbers of bytes of one reservation, by their state:
 * - `expected`: reserved.
 * - `granted`: reserved, and found to be free on the disk.
 * - `taken`: being written.
 */
interface Promised {
  expected: number;
  granted: number;
  taken: number;
}

/** `free` returns the free bytes of the disk on which a folder is. */
export function roomOf(folder: string, reserveBytes: number, free = freeBytes): Room {
  const claims = new Set<Promised>();
  const sum = (bytesOf: (claim: Promised) => number) =>
    claims.values().reduce((all, claim) => all + bytesOf(claim), 0);
  const beingWritten = () => sum(({ granted, taken }) => BESIDES_BYTES + granted + taken);
  const promised = () => beingWritten() + sum(({ expected }) => expected);

  /**
   * The last check of the free space. The next check begins when the last one has ended. A check counts the reserved bytes before
   * it reads the disk's free space, so bytes that are written in between are counted twice, which is safe. In the opposite order
   * these bytes would not be counted at all.
   */
  let last: Promise<unknown> = Promise.resolve();
  function look<T>(decide: (free: number, before: { written: number; promised: number }) => T): Promise<T> {
    const looking = last.then(async () => {
      const before = { written: beingWritten(), promised: promised() };
      return decide((await free(folder)) - reserveBytes, before);
    });
    last = looking.catch(() => {});
    return looking;
  }

  return {
    left: () => look((free, { promised }) => Math.max(0, free - promised)),
    async claim(expectedBytes) {
      const claim: Promised = { expected: 0, granted: 0, taken: 0 };
      await look((free, { promised }) => {
        if (free < promised + BESIDES_BYTES + (expectedBytes ?? 1)) throw new StorageFull();
        claim.expected = expectedBytes ?? 0;
        claims.add(claim);
      });
      /**
       * Grants this claim `bytes`, or a slice if that is more. Bytes that the claim has reserved must fit beside what all claims
       * are writing; other bytes must fit beside everything that all claims have reserved.
       */
      const grant = (bytes: number) =>
        look((free, { written, promised }) => {
          const wasPromised = Math.min(claim.expected, Math.max(bytes, SLICE_BYTES));
          const isPromised = wasPromised >= bytes;
          const granted = isPromised ? wasPromised : Math.max(bytes, Math.min(SLICE_BYTES, free - promised));
          if (free < (isPromised ? written : promised) + granted) throw new StorageFull();
          claim.expected -= isPromised ? wasPromised : 0;
          claim.granted += granted;
        });
      return {
        async take(bytes) {
          if (claim.granted < bytes) await grant(bytes - claim.granted);
          claim.granted -= bytes;
          claim.taken += bytes;
        },
        written(bytes) {
          claim.taken -= bytes;
        },
        release() {
          claims.delete(claim);
        },
      };
    },
  };
}

/** Returns the free bytes of the disk on which a folder is. Creates the folder if it does not exist. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return statfs(folder);
  });
  return bavail * bsize;
}
