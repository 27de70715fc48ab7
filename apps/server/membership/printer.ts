import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { isBuilt, serverFolder } from '../platform/serverFolder.ts';
import type { Answer, Job, Result } from './printerThread.ts';

/** Makes papers on a worker thread. On the main thread each paper would block all joiners' calls for about 100 ms. */
export interface Printer {
  /** Returns the result of a job: a PDF's bytes, an SVG, or, for the kind `missing`, the characters that the typeface lacks. */
  print<Kind extends keyof Result>(job: Extract<Job, { kind: Kind }>): Promise<Result[Kind]>;
}

const program = join(serverFolder, isBuilt ? 'dist/printer.js' : 'membership/printerThread.ts');

/** The heap limit of the thread. Without a limit V8 would let its heap grow to hundreds of megabytes. */
const MOST_HEAP_MB = 96;

/**
 * Returns the printer. The first job starts its thread, which does the jobs one by one. If the thread ends, all waiting jobs
 * reject, and the next job starts a new thread.
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
      // Without jobs, the thread must not keep the process alive.
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
