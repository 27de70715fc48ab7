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

/**
 * How Node runs a server (figures: docs/performance.md). The same stands in the Dockerfile.
 * A nursery of 8 MiB: 2 cost a tenth more time, Node's own 16 more memory and save nothing.
 * What else is set of V8 is set later: apps/server/start.mjs, apps/server/memory.ts.
 */
export const nodeFlags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=8'];
/** Programs start in half the time when what they are made of was compiled before. */
export const compiledCode = {
  NODE_COMPILE_CACHE: join(import.meta.dirname, '../node_modules/.cache/compiled'),
};
/** glibc would give each thread memory of its own, and keep what the compiler of each used at most. */
export const nodeSettings = { MALLOC_ARENA_MAX: '2' };

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
    /** Without {@link nodeFlags} and {@link nodeSettings}: as node alone would run it. */
    bare?: boolean;
    /** The descriptor of an open file for what it prints. Default: our own output. */
    output?: number;
    started?: (child: Child) => void;
    /** How long it may take to finish what it does when it is asked to end (ms). */
    patience?: number;
  },
): Promise<{ child: Child; ready: Ready }> {
  const output = options.output ?? 'inherit';
  const { bare = false, patience = usualPatience } = options;
  const program = spawn(process.execPath, [...(bare ? [] : nodeFlags), file, ...(options.args ?? [])], {
    env: { ...compiledCode, ...(bare ? {} : nodeSettings), ...options.env },
    detached: true,
    stdio: ['ignore', output, output, 'ipc'],
  });
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
