import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import pLimit, { type LimitFunction } from 'p-limit';
import type { Inspection } from '#documents/inspectDocument.ts';
import { isBuilt, serverFolder } from '../platform/serverFolder.ts';
import type { Answer, Job } from './inspectorProcess.ts';

/** Inspects uploaded files in child processes, which can be killed if a file takes too long. */
export interface Inspector {
  /**
   * Returns the type of a file, or why the file is refused. `unchecked`: the inspection took too long or too much memory. Only
   * one file of each `sender` is inspected at a time, and senders take turns, so a sender with many files does not delay the
   * others.
   */
  inspect(job: Job, sender: string): Promise<Inspection>;
}

/** The number of child processes: half of the processors, but one to four. The other processors are for requests of joiners. */
const PROCESSES = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));
/**
 * The maximum processor time of an inspection (ms): a hundred times that of the slowest accepted file, plus the time for reading
 * the file at 20 MB/s. Elapsed time is not used, because on a busy machine it is long even for a sound file.
 */
const patienceMs = ({ sizeBytes }: Job) => 15_000 + sizeBytes / 20_000;
/**
 * An inspection whose elapsed time is this many times its maximum processor time is considered hung, and ended. On systems other
 * than Linux this is the only limit.
 */
const HANGS_AFTER = 8;
/** The heap limit of a child process. V8 ends a process that exceeds it. */
const MOST_HEAP_MB = 128;
/**
 * The maximum memory (bytes) of a child process: V8's heap and the buffers outside it. The largest accepted files take 270 MB. A
 * small PDF or archive can unpack to gigabytes.
 */
const MOST_MEMORY_BYTES = 400_000_000;
/** A child process whose memory (bytes) has grown beyond this is ended after its file. */
const KEPT_MEMORY_BYTES = 150_000_000;
const LOOK_MS = 100;
const program = join(serverFolder, isBuilt ? 'dist/inspector.js' : 'documents/inspectorProcess.ts');

export function openInspector({
  processes = PROCESSES,
  patience = patienceMs,
  start = startProcess,
}: {
  processes?: number;
  /** Returns the maximum processor time for inspecting a file (ms). */
  patience?: (job: Job) => number;
  start?: () => ChildProcess;
} = {}): Inspector {
  const turns = pLimit(processes);
  const ofSender = new Map<string, LimitFunction>();
  let idle: ChildProcess[] = [];

  async function look(job: Job): Promise<Inspection> {
    idle = idle.filter(isAlive);
    const inspector = idle.pop() ?? start();
    const over = new AbortController();
    const most = patience(job);
    const before = processorMs(inspector.pid);
    const hang = setTimeout(() => inspector.kill('SIGKILL'), HANGS_AFTER * most);
    const looks = setInterval(() => {
      const isOver =
        residentBytes(inspector.pid) > MOST_MEMORY_BYTES || processorMs(inspector.pid) - before > most;
      if (isOver) inspector.kill('SIGKILL');
    }, LOOK_MS);
    try {
      inspector.send(job);
      const [answer] = (await Promise.race([
        once(inspector, 'message', { signal: over.signal }),
        once(inspector, 'exit', { signal: over.signal }).then(endOf),
      ])) as [Answer];
      // A process does not always release the memory that a large file took.
      if (residentBytes(inspector.pid) > KEPT_MEMORY_BYTES) inspector.kill('SIGKILL');
      else idle.push(inspector);
      if ('failed' in answer) throw new Error(`Looking at a document failed: ${answer.failed}`);
      return answer.inspection;
    } finally {
      clearTimeout(hang);
      clearInterval(looks);
      over.abort();
    }
  }

  return {
    async inspect(job, sender) {
      const own = ofSender.get(sender) ?? pLimit(1);
      ofSender.set(sender, own);
      try {
        return await own(() => turns(() => look(job)));
      } finally {
        if (own.activeCount + own.pendingCount === 0) ofSender.delete(sender);
      }
    },
  };
}

function isAlive({ connected, exitCode, signalCode }: ChildProcess): boolean {
  return connected && exitCode === null && signalCode === null;
}

/** Returns the memory of a process (bytes); 0 if it has ended, and on systems other than Linux. */
function residentBytes(pid: number | undefined): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** The unit of times in /proc (ms): Linux counts 100 clock ticks a second on every processor that Node.js runs on. */
const TICK_MS = 10;

/** Returns the processor time of a process so far (ms); 0 if it has ended, and on systems other than Linux. */
function processorMs(pid: number | undefined): number {
  try {
    // The name of the program, in parentheses, may contain spaces. User and system time are the 14th and the 15th field.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return TICK_MS * (Number(fields[11]) + Number(fields[12]));
  } catch {
    return 0;
  }
}

/**
 * Returns `unchecked` if a signal ended a child process (at our limits, at V8's heap limit, or from the operating system).
 * Throws if the process exited by itself.
 */
function endOf([code, signal]: (number | string | null)[]): [Answer] {
  if (signal === null) throw new Error(`What looks at documents ended with ${code}.`);
  return [{ inspection: { fault: 'unchecked' } }];
}

/**
 * Starts a child process. Because the child parses strangers' files, it gets none of our environment variables and may not write
 * files. The child ends when this process ends.
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
  // A message could not be sent because the process has ended. The exit event, which `look` awaits, has the cause.
  inspector.on('error', () => {});
  inspector.unref();
  inspector.channel?.unref();
  return inspector;
}
