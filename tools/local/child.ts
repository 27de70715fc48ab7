import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A Node program of this project that runs as a child process. */
export interface Child {
  process: ChildProcess;
  /** Resolves when the child has ended, with the reason. */
  ended: Promise<string>;
  /** Asks the child to end, and kills it when that takes too long. */
  stop(): Promise<void>;
}

/** The setting for Node's compile cache, which halves the time in which programs start. */
export const compiledCode = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled'),
};
/** The default time that a child may take to end (ms). */
const usualPatience = 6000;

/**
 * Starts a TypeScript program, and resolves with the program's first IPC message, which means that the program is ready. The
 * child gets its own process group. So Ctrl-C reaches only this process, which then ends everything in order. If this process
 * dies, the child ends by itself (`disconnect`). Rejects with {@link NotReady} when the child ends before it is ready.
 */
export async function startChild<Ready>(
  file: string,
  options: {
    env: NodeJS.ProcessEnv;
    args?: string[];
    /** Flags for Node itself. */
    flags?: string[];
    /**
     * The descriptor of an open file for the child's output, or `pipe` for a caller that reads its streams. Default: this
     * process's own output.
     */
    output?: number | 'pipe';
    started?: (child: Child) => void;
    /** How long the child may take to end after it is asked to (ms). */
    patience?: number;
  },
): Promise<{ child: Child; ready: Ready }> {
  const output = options.output ?? 'inherit';
  const { patience = usualPatience } = options;
  const program = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', ...(options.flags ?? []), file, ...(options.args ?? [])],
    {
      env: { ...compiledCode, ...options.env },
      detached: true,
      stdio: ['ignore', output, output, 'ipc'],
    },
  );
  const ended = new Promise<string>((done) => {
    program.once('error', (error) => done(error.message));
    program.once('exit', (code, signal) => done(signal ? `signal ${signal}` : `exit code ${code}`));
  });
  const child: Child = {
    process: program,
    ended,
    async stop() {
      if (program.exitCode !== null || program.signalCode !== null) return;
      program.kill('SIGTERM');
      const timer = setTimeout(() => program.kill('SIGKILL'), patience);
      await ended;
      clearTimeout(timer);
    },
  };
  options.started?.(child);
  const message = new Promise<Ready>((done) => program.once('message', (value) => done(value as Ready)));
  const first = await Promise.race([
    message.then((ready) => ({ ready })),
    ended.then((reason) => ({ reason })),
  ]);
  if ('reason' in first) throw new NotReady(file, first.reason);
  return { child, ready: first.ready };
}

/** Thrown when a child ended before it was ready. The child has printed the reason on standard error. */
export class NotReady extends Error {
  constructor(file: string, reason: string) {
    super(`${file} ended before it was ready (${reason}).`);
  }
}
