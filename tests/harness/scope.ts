import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { type Child, startChild } from '../../tools/local/child.ts';

export interface Program<Ready> extends Child {
  process: ChildProcess;
  /** The program's first IPC message. */
  ready: Ready;
}

/**
 * Keeps track of everything that is started through it. `end` stops everything. Callers call `end` when they are done, after a
 * failure, and on Ctrl-C.
 */
export class Scope {
  /** Aborts when everything is to be stopped. */
  readonly signal: AbortSignal;
  readonly #onStart: (pid: number) => void;
  readonly #stops: (() => Promise<unknown> | unknown)[] = [];

  constructor(signal: AbortSignal = new AbortController().signal, onStart: (pid: number) => void = () => {}) {
    this.signal = signal;
    this.#onStart = onStart;
  }

  /** Returns an inner scope. It ends with this one, or earlier when its own `end` is called. */
  inner(): Scope {
    const inner = new Scope(this.signal, this.#onStart);
    this.onEnd(() => inner.end());
    return inner;
  }

  onEnd(stop: () => Promise<unknown> | unknown): void {
    this.#stops.push(stop);
  }

  /** Stops everything in reverse order of starting. Does nothing when called again. */
  async end(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) await stop();
  }

  /**
   * Starts a TypeScript program of ours; resolves with its first IPC message. Its output goes to the file `log`, or to the
   * terminal. Its environment variables are PATH, HOME and `env` only.
   */
  async start<Ready>(
    file: string,
    {
      env = {},
      args = [],
      flags = [],
      log,
    }: { env?: Record<string, string>; args?: string[]; flags?: string[]; log?: string } = {},
  ): Promise<Program<Ready>> {
    this.signal.throwIfAborted();
    const { PATH = '', HOME = '' } = process.env;
    const output = log === undefined ? undefined : openSync(log, 'a');
    try {
      const { child, ready } = await startChild<Ready>(file, {
        env: { PATH, HOME, ...env },
        args,
        flags,
        ...(output !== undefined && { output }),
        started: (started) => {
          this.onEnd(() => started.stop());
          if (started.process.pid) this.#onStart(started.process.pid);
        },
      });
      return { ...child, ready };
    } finally {
      if (output !== undefined) closeSync(output);
    }
  }
}
