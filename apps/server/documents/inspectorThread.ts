import { parentPort } from 'node:worker_threads';
import type { Inspection } from '#core/inspectDocument.ts';
import { inspectFile } from './inspectFile.ts';

/** A file that has arrived. Its name is our own. */
export interface Job {
  path: string;
  sizeBytes: number;
}
/** What it is, or a failure of ours. */
export type Answer = { inspection: Inspection } | { failed: string };

parentPort!.on('message', ({ path, sizeBytes }: Job) => {
  const answer = (given: Answer) => parentPort!.postMessage(given);
  inspectFile(path, sizeBytes).then(
    (inspection) => answer({ inspection }),
    (error: Error) => answer({ failed: error.stack ?? error.message }),
  );
});
