import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Inspection } from '#documents/inspectDocument.ts';
import { isBuilt, serverFolder } from '../platform/serverFolder.ts';
import type { Answer, Job } from './inspectorProcess.ts';

/** Inspects uploaded documents in child processes, which can be killed at any time. */
export interface Inspector {
  /**
   * Returns the type of a file, or why it is refused: `unchecked` when the inspection took too long or too much memory. One file of
   * each `sender` is inspected at a time, and senders take turns, so that nobody waits for all files of another sender.
   */
  inspect(job: Job, sender: string): Promise<Inspection>;
}

/** The number of inspector processes: half of the processors stay free for requests of joiners. */
const PROCESSES = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
/**
 * The timeout of an inspection (ms): a hundred times as long as the slowest file within the limits takes, plus the time to read the
 * file from a disk of 20 MB/s.
 */
const patienceMs = ({ sizeBytes }: Job) => 15_000 + sizeBytes / 20_000;
/** The heap limit of a process, beyond which V8 ends it. */
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
  /** How long inspecting a file may take (ms). */
  patience?: (job: Job) => number;
  start?: () => ChildProcess;
} = {}): Inspector {
  /** The waiting files by sender, in the order of the senders' turns. */
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
        // Puts the sender behind all waiting senders.
        queues.delete(sender);
        if (queue.length > 0) queues.set(sender, queue);
        next();
      });
    next();
  }

  async function look(job: Job): Promise<Inspection> {
    idle = idle.filter(isAlive);
    const inspector = idle.pop() ?? start();
    const over = new AbortController();
    const timer = setTimeout(() => inspector.kill('SIGKILL'), patience(job));
    try {
      inspector.send(job);
      const [answer] = (await Promise.race([
        once(inspector, 'message', { signal: over.signal }),
        once(inspector, 'exit', { signal: over.signal }).then(endOf),
      ])) as [Answer];
      idle.push(inspector);
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

function isAlive({ connected, exitCode, signalCode }: ChildProcess): boolean {
  return connected && exitCode === null && signalCode === null;
}

/** The answer for a process that ended by a signal (our timeout, V8's heap limit or the system): the file counts as unchecked. */
function endOf([code, signal]: (number | string | null)[]): [Answer] {
  if (signal === null) throw new Error(`What looks at documents ended with ${code}.`);
  return [{ inspection: { fault: 'unchecked' } }];
}

/**
 * Starts a child process without our environment variables and without permission to write, since it parses files from strangers.
 * It ends with this process.
 */
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
  // This error means that a message could not be sent to the process; its exit tells how it ended.
  inspector.on('error', () => {});
  inspector.unref();
  inspector.channel?.unref();
  return inspector;
}
