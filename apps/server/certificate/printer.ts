import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isBuilt, serverFolder } from '../platform/serverFolder.ts';
import type { Answer, Job, Result } from './printerThread.ts';

/** Makes papers on a thread. A paper takes about 100 ms, during which joiners would otherwise wait. */
export interface Printer {
  /** Returns the PDF's bytes, or for the job `missing` the characters that the typeface lacks. */
  print<Kind extends keyof Result>(job: Extract<Job, { kind: Kind }>): Promise<Result[Kind]>;
}

const program = join(serverFolder, isBuilt ? 'dist/printer.js' : 'certificate/printerThread.ts');

/** Heap limit of the thread. Without it V8 would let a busy thread grow to hundreds of megabytes. */
const MOST_HEAP_MB = 96;

/**
 * Opens the printer. Its thread starts with the first job, and does the jobs one by one. If the thread fails, all waiting jobs
 * fail.
 */
export function openPrinter(): Printer {
  let thread: Worker | null = null;
  let jobs = 0;
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();

  function start(): Worker {
    const started = new Worker(program, {
      execArgv: ['--disable-warning=ExperimentalWarning'],
      resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB, maxYoungGenerationSizeMb: 8 },
    });
    started.on('message', ({ id, ...answer }: Answer) => {
      const job = waiting.get(id);
      waiting.delete(id);
      // An idle thread must not keep the process running.
      if (waiting.size === 0) started.unref();
      if ('failed' in answer) job?.reject(new Error(`A paper could not be made: ${answer.failed}`));
      else job?.resolve(answer.result);
    });
    const end = (error: Error) => {
      if (thread === started) thread = null;
      for (const { reject } of waiting.values()) reject(error);
      waiting.clear();
    };
    started.on('error', end);
    started.on('exit', (code) => end(new Error(`The thread that makes papers ended with ${code}.`)));
    return started;
  }

  return {
    async print(job) {
      thread ??= start();
      const id = ++jobs;
      const answered = Promise.withResolvers<unknown>();
      waiting.set(id, answered);
      thread.ref();
      thread.postMessage({ id, job });
      return (await answered.promise) as never;
    },
  };
}
