import { existsSync, readdirSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Inspection } from '#documents/inspectDocument.ts';
import { inspectFile } from './inspectFile.ts';

/** Where Linux lists this process's threads. Each has a scheduling priority of its own, so that of every thread is lowered. */
const THREADS = '/proc/self/task';

/** An uploaded file. Its path does not contain user input. */
export interface Job {
  path: string;
  /** The size of the document itself, also when the file is encrypted. */
  sizeBytes: number;
  /** The key that encrypts the file, as hexadecimal digits; null when the file is not encrypted. The key is only ever in memory. */
  dataKey?: { key: string; name: string } | null;
}
/** The result of an inspection, or an error of our own code. */
export type Answer = { inspection: Inspection } | { failed: string };

// Inspections get a low priority: requests of joiners come first.
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
// Service managers send these signals to all processes of a service, but the server still needs the running inspections.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
