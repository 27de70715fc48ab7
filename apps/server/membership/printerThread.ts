import { parentPort } from 'node:worker_threads';
import type { Paper } from '#core/paper.ts';
import { type Certificate, drawCertificate, drawPicture } from './drawCertificate.ts';
import { drawPressRelease } from './drawPressRelease.ts';
import type { PressRelease } from './pressRelease.ts';
import { openTypeface } from './typeface.ts';

export type Job =
  | { kind: 'certificate'; certificate: Certificate; paper: Paper }
  | { kind: 'picture'; certificate: Certificate }
  | { kind: 'pressRelease'; release: PressRelease; paper: Paper }
  | { kind: 'missing'; text: string };

export interface Result {
  certificate: Uint8Array;
  /** SVG. */
  picture: string;
  pressRelease: Uint8Array;
  missing: string[];
}

/** The result of a job, or the message of an unexpected error. */
export type Answer = { id: number } & ({ result: Result[keyof Result] } | { failed: string });

parentPort?.on('message', ({ id, job }: { id: number; job: Job }) => {
  const answer = (given: { result: Result[keyof Result] } | { failed: string }) =>
    parentPort!.postMessage({ id, ...given });
  perform(job).then(
    (result) => answer({ result }),
    (error: Error) => answer({ failed: error.stack ?? error.message }),
  );
});

async function perform(job: Job): Promise<Result[keyof Result]> {
  const typeface = await openTypeface();
  switch (job.kind) {
    case 'certificate':
      return drawCertificate(typeface, job.certificate, job.paper);
    case 'picture':
      return drawPicture(typeface, job.certificate);
    case 'pressRelease':
      return drawPressRelease(typeface, job.release, job.paper);
    case 'missing':
      return typeface.missing(job.text);
  }
}
