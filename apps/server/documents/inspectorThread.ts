import { existsSync, readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { basename } from 'node:path';
import { parentPort } from 'node:worker_threads';
import type { Inspection } from '#documents/inspectDocument.ts';
import { inspectFile } from './inspectFile.ts';

/** Where Linux tells a thread its number. */
const THREAD = '/proc/thread-self';

/** A file that has arrived. Its name is our own. */
export interface Job {
  path: string;
  sizeBytes: number;
}
/** What it is, or a failure of ours. */
export type Answer = { inspection: Inspection } | { failed: string };

// Those who join come first. Linux has a priority for each thread, by its number; elsewhere this one is like any other.
if (existsSync(THREAD)) setPriority(Number(basename(readlinkSync(THREAD))), constants.priority.PRIORITY_LOW);

parentPort!.on('message', ({ path, sizeBytes }: Job) => {
  const answer = (given: Answer) => parentPort!.postMessage(given);
  inspectFile(path, sizeBytes).then(
    (inspection) => answer({ inspection }),
    (error: Error) => answer({ failed: error.stack ?? error.message }),
  );
});
