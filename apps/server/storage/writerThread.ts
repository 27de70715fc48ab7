import { createHash } from 'node:crypto';
import { writeSync } from 'node:fs';
import { type MessagePort, parentPort } from 'node:worker_threads';

/** A file to write, and where its bytes come from. */
export interface Job {
  fd: number;
  /** Gets {@link Told}, each of which is answered by an {@link Answer}, in turn. */
  port: MessagePort;
}
/** Bytes to append, whose memory is given over, or null for the checksum of them all. */
export type Told = Uint8Array<ArrayBuffer> | null;
/** The memory back, the checksum, or what went wrong (an error would lose its code on the way). */
export type Answer = Uint8Array<ArrayBuffer> | { message: string; code: string | undefined };

/**
 * Larger writes get larger blocks of memory for the file, and those the host of a virtual machine may have taken back in
 * the meantime: to be given them again takes several times as long as the write (docs/performance.md).
 */
const WRITE_BYTES = 32_768;

parentPort!.on('message', ({ fd, port }: Job) => {
  const hash = createHash('sha256');
  port.on('message', (told: Told) => {
    const answer = (given: Answer, moved: ArrayBuffer[] = []) => port.postMessage(given, moved);
    try {
      if (told === null) return answer(hash.digest());
      for (let at = 0; at < told.length; ) {
        // A disk that is nearly full takes less than it was given.
        const written = writeSync(fd, told, at, Math.min(WRITE_BYTES, told.length - at));
        hash.update(told.subarray(at, at + written));
        at += written;
      }
      answer(told, [told.buffer]);
    } catch (error) {
      const { message, code } = error as NodeJS.ErrnoException;
      answer({ message, code });
    }
  });
});
