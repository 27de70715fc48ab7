/** So many pieces of work, begun evenly over a time (ms), whatever the ones before do: as strangers come. Resolves when all are done. */
export async function paced(
  count: number,
  overMs: number,
  work: (index: number) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (let index = 0; index < count; index++) {
    const wait = began + (index * overMs) / count - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const done = work(index);
    // It is thrown when the others have begun.
    done.catch(() => {});
    running.push(done);
  }
  await Promise.all(running);
}

/** What a process of strangers is told and tells; `failed` is a sentence. */
export type Told<Result> = { result: Result } | { failed: string };

/** Answers each job of the parent process. */
export function answerJobs<Job, Result>(run: (job: Job) => Promise<Result>): void {
  process.on('message', (job: Job) => {
    run(job).then(
      (result) => process.send!({ result }),
      (error: Error) => process.send!({ failed: error.message }),
    );
  });
  process.once('disconnect', () => process.exit(0));
  process.once('SIGTERM', () => process.exit(0));
  process.send!('ready');
}
