import { mkdir, statfs } from 'node:fs/promises';
import { StorageFull } from './storage.ts';

/** What one file may write before the disk is looked at again. */
const SLICE_BYTES = 4 * 1_048_576;
/** What a file takes besides its bytes: its name, and the rest of its last block. */
const BESIDES_BYTES = 16_384;

/**
 * The room of a folder's disk beside its reserve, shared out to the files that arrive at the same time. What one was promised is
 * not there for another one, written or not: between looking at a disk and writing to it, all of them would fit.
 */
export interface Room {
  /** How many bytes may still be promised. */
  left(): Promise<number>;
  /**
   * Room for a file of so many bytes, all of them promised at once; null when that is not known, and it is promised a slice
   * after the other. Throws {@link StorageFull}.
   */
  claim(expectedBytes: number | null): Promise<Claim>;
}
export interface Claim {
  /** To be waited for before so many bytes are written. Throws {@link StorageFull}, also when others fill the disk. */
  take(bytes: number): Promise<void>;
  /** So many of the bytes that were taken are on the disk now, and the disk knows it. */
  written(bytes: number): void;
  /** Nothing more will be written. */
  release(): void;
}

/** Of one claim: promised and not looked up, looked up and not taken, taken and not written. */
interface Promised {
  expected: number;
  granted: number;
  taken: number;
}

/** `free` tells how many bytes a folder's disk has for us. */
export function roomOf(folder: string, reserveBytes: number, free = freeBytes): Room {
  const claims = new Set<Promised>();
  const sum = (bytesOf: (claim: Promised) => number) =>
    claims.values().reduce((all, claim) => all + bytesOf(claim), 0);
  const beingWritten = () => sum(({ granted, taken }) => BESIDES_BYTES + granted + taken);
  const promised = () => beingWritten() + sum(({ expected }) => expected);

  /** One at a time, and counted before the disk is asked: what is written meanwhile counts twice then, and never not at all. */
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
      /** Of what a file was promised, the disk must still have as much; what it was not must fit beside all promises. */
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

/** The folder is made when there is none. */
async function freeBytes(folder: string): Promise<number> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
