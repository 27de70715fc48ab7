import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Inspection } from '#documents/inspectDocument.ts';
import type { Answer, Job } from './inspectorThread.ts';

/** Looks into documents that have arrived, on threads that can be ended whatever they are doing. */
export interface Inspector {
  /**
   * What a file is, or why it cannot be taken: `unchecked` when looking at it took too long. `sender` is whose it is: each has
   * one file looked at at a time, and the senders take turns, so that nobody waits for all files of somebody else.
   */
  inspect(job: Job, sender: string): Promise<Inspection>;
}

/** Half of the processors stay with those who join. */
const THREADS = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
/** A hundred times what the slowest file takes that the limits let through, and what a slow disk needs to be read (20 MB/s). */
const patienceMs = ({ sizeBytes }: Job) => 15_000 + sizeBytes / 20_000;
/** What a thread may keep. One that wants more ends alone, and not the server. */
const MOST_HEAP_MB = 128;

interface Waiting extends PromiseWithResolvers<Inspection> {
  job: Job;
}

export function openInspector({
  threads = THREADS,
  patience = patienceMs,
  start = startThread,
}: {
  threads?: number;
  /** How long a file may take from when it is its turn (ms). */
  patience?: (job: Job) => number;
  start?: () => Worker;
} = {}): Inspector {
  /** By sender, in the order of their turns. */
  const queues = new Map<string, Waiting[]>();
  const served = new Set<string>();
  const idle: Worker[] = [];

  function next(): void {
    if (served.size >= threads) return;
    const sender = queues.keys().find((name) => !served.has(name));
    if (sender === undefined) return;
    const queue = queues.get(sender)!;
    const { job, resolve, reject } = queue.shift()!;
    served.add(sender);
    look(job)
      .then(resolve, reject)
      .finally(() => {
        served.delete(sender);
        // Behind all who came meanwhile.
        queues.delete(sender);
        if (queue.length > 0) queues.set(sender, queue);
        next();
      });
    next();
  }

  async function look(job: Job): Promise<Inspection> {
    const thread = idle.pop() ?? start();
    thread.ref();
    const ended = new AbortController();
    const timer = setTimeout(() => ended.abort(), patience(job));
    try {
      // Rejects with what ends the thread, too.
      const answered = once(thread, 'message', { signal: ended.signal }) as Promise<[Answer]>;
      thread.postMessage(job);
      const [answer] = await answered;
      thread.unref();
      idle.push(thread);
      if ('failed' in answer) throw new Error(`Looking at a document failed: ${answer.failed}`);
      return answer.inspection;
    } catch (error) {
      if (!idle.includes(thread)) await thread.terminate();
      const isTooMuch = (error as { code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (!ended.signal.aborted && !isTooMuch) throw error;
      return { fault: 'unchecked' };
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    inspect(job, sender) {
      const waiting: Waiting = { job, ...Promise.withResolvers<Inspection>() };
      const queue = queues.get(sender);
      if (queue) queue.push(waiting);
      else queues.set(sender, [waiting]);
      next();
      return waiting.promise;
    },
  };
}

function startThread(): Worker {
  return new Worker(new URL('./inspectorThread.ts', import.meta.url), {
    name: 'inspector',
    resourceLimits: { maxOldGenerationSizeMb: MOST_HEAP_MB },
  });
}
