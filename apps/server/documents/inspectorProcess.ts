import { existsSync, readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Inspection } from '#documents/inspectDocument.ts';
import { inspectFile } from './inspectFile.ts';

/** Linux has a priority for each thread. */
const THREADS = '/proc/self/task';

/** An uploaded file, under a name of ours. */
export interface Job {
  path: string;
  /** Of the document itself. */
  sizeBytes: number;
  /** By what the file is encrypted, the key as hexadecimal digits; null when it is not. It exists in memory alone. */
  dataKey?: { key: string; name: string } | null;
}
/** The result, or a failure of our own. */
export type Answer = { inspection: Inspection } | { failed: string };

// Answering joiners comes first.
const threads = existsSync(THREADS) ? readdirSync(THREADS).map(Number) : [process.pid];
for (const thread of threads) setPriority(thread, constants.priority.PRIORITY_LOW);

process.on('message', ({ path, sizeBytes, dataKey = null }: Job) => {
  const answer = (given: Answer) => process.send!(given);
  inspectFile(path, sizeBytes, dataKey && { ...dataKey, key: Buffer.from(dataKey.key, 'hex') }).then(
    (inspection) => answer({ inspection }),
    (error: Error) => answer({ failed: error.stack ?? error.message }),
  );
});
process.once('disconnect', () => process.exit());
// Service managers signal all processes of a service: the server still waits for inspections.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
