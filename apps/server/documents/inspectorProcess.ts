import type { Inspection } from '#documents/inspectDocument.ts';
import { inspectFile } from './inspectFile.ts';

/** An uploaded file to be inspected. The path contains no user input. */
export interface Job {
  path: string;
  /** The unencrypted size (bytes), even if the file is encrypted. */
  sizeBytes: number;
  /** The data key of the file, as hexadecimal digits; null if the file is not encrypted. The key is never written to a disk. */
  dataKey?: { key: string; name: string } | null;
}
/** The result of an inspection, or the message of an unexpected error. */
export type Answer = { inspection: Inspection } | { failed: string };

process.on('message', ({ path, sizeBytes, dataKey = null }: Job) => {
  const answer = (given: Answer) => process.send!(given);
  inspectFile(path, sizeBytes, dataKey && { ...dataKey, key: Buffer.from(dataKey.key, 'hex') }).then(
    (inspection) => answer({ inspection }),
    (error: Error) => answer({ failed: error.stack ?? error.message }),
  );
});
process.once('disconnect', () => process.exit());
// A service manager sends these signals to all processes of the service. This process ignores them, since the stopping server
// still needs running inspections.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
