import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Inspection } from '#documents/inspectDocument.ts';
import { isBuilt, serverFolder } from '../platform/serverFolder.ts';
import type { Answer, Job } from './inspectorProcess.ts';

/** Looks into documents that have arrived, in processes that can be ended whatever they are doing. */
export interface Inspector {
  /**
   * What a file is, or why it cannot be taken: `unchecked` when looking at it took too long. `sender` is whose it is: each has
   * one file looked at at a time, and the senders take turns, so that nobody waits for all files of somebody else.
   */
  inspect(job: Job, sender: string): Promise<Inspection>;
}

/** Half of the processors stay with those who join. */
const PROCESSES = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
/** A hundred times what the slowest file takes that the limits let through, and what a slow disk needs to be read (20 MB/s). */
const patienceMs = ({ sizeBytes }: Job) => 15_000 + sizeBytes / 20_000;
/** What a process may keep in its heap. One that wants more ends. */
const MOST_HEAP_MB = 128;
const program = join(serverFolder, isBuilt ? 'dist/inspector.js' : 'documents/inspectorProcess.ts');

interface Waiting extends PromiseWithResolvers<Inspection> {
  job: Job;
}

export function openInspector({
  processes = PROCESSES,
  patience = patienceMs,
  start = startProcess,
}: {
  processes?: number;
  /** How long a file may take from when it is its turn (ms). */
  patience?: (job: Job) => number;
  start?: () => ChildProcess;
} = {}): Inspector {
  /** By sender, in the order of their turns. */
  const queues = new Map<string, Waiting[]>();
  const served = new Set<string>();
  let idle: ChildProcess[] = [];

  function next(): void {
    if (served.size >= processes) return;
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
    const inspector = idle.filter(({ connected }) => connected).at(-1) ?? start();
    idle = idle.filter((each) => each !== inspector);
    const over = new AbortController();
    const timer = setTimeout(() => inspector.kill('SIGKILL'), patience(job));
    try {
      inspector.send(job);
      const [answer] = (await Promise.race([
        once(inspector, 'message', { signal: over.signal }),
        once(inspector, 'exit', { signal: over.signal }).then(endOf),
      ])) as [Answer];
      if (inspector.connected) idle.push(inspector);
      if ('failed' in answer) throw new Error(`Looking at a document failed: ${answer.failed}`);
      return answer.inspection;
    } finally {
      clearTimeout(timer);
      over.abort();
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

/** A signal ends a process that takes too long or too much memory: by us, by V8 or by the system. */
function endOf([code, signal]: (number | string | null)[]): [Answer] {
  if (signal === null) throw new Error(`What looks at documents ended with ${code}.`);
  return [{ inspection: { fault: 'unchecked' } }];
}

/** It has no settings of ours, and may read only: what it reads comes from strangers. It ends with this process. */
function startProcess(): ChildProcess {
  const inspector = fork(program, {
    env: {},
    execArgv: [
      '--disable-warning=ExperimentalWarning',
      `--max-old-space-size=${MOST_HEAP_MB}`,
      '--permission',
      '--allow-fs-read=*',
    ],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  inspector.unref();
  inspector.channel!.unref();
  return inspector;
}
