import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';

/** A Node program of ours that runs beside us. */
export interface Child {
  process: ChildProcess;
  /** Settles with the reason when it has ended. */
  ended: Promise<string>;
  /** Asks it to end, and makes it when it takes too long. */
  stop(): Promise<void>;
}

/** Programs start in half the time when what they are made of was compiled before. */
export const compiledCode = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../../node_modules/.cache/compiled'),
};
/** How long a child may take to finish what it does unless told otherwise (ms). */
const usualPatience = 6000;

/**
 * Starts a TypeScript program and gives its first message, which says that it is ready. It gets a process group of its
 * own, so that Ctrl-C reaches us alone and we end everything in order; it ends by itself when we are gone (`disconnect`).
 * Rejects with {@link NotReady} when it ends before.
 */
export async function startChild<Ready>(
  file: string,
  options: {
    env: NodeJS.ProcessEnv;
    args?: string[];
    /** The descriptor of an open file for what it prints, or `pipe` for whoever reads its streams. Default: our own output. */
    output?: number | 'pipe';
    started?: (child: Child) => void;
    /** How long it may take to finish what it does when it is asked to end (ms). */
    patience?: number;
  },
): Promise<{ child: Child; ready: Ready }> {
  const output = options.output ?? 'inherit';
  const { patience = usualPatience } = options;
  const program = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', file, ...(options.args ?? [])],
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

/** A child ended before it was ready. It has said why on standard error itself. */
export class NotReady extends Error {
  constructor(file: string, reason: string) {
    super(`${file} ended before it was ready (${reason}).`);
  }
}
