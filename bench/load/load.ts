import { resolve } from 'node:path';
import type { FlowSettings } from '../flows/flows.ts';
import type { Program, Scope } from '../scope.ts';

/** What the generator is to do. */
export interface Job {
  flow: FlowSettings;
  /** The names of the flow's steps that are made. */
  steps: readonly string[];
  /** The joiners are divided among these servers. */
  urls: readonly string[];
  /** How many join at the same time. */
  concurrency: number;
  /** Numbers of those who may join, each once. */
  people: People;
  warmUpMs: number;
  measureMs: number;
}

export interface People {
  first: number;
  last: number;
}

/** Milliseconds. */
export interface Latency {
  p50: number;
  p99: number;
}

export interface Load {
  /** How long was measured. */
  seconds: number;
  /** How many joins that were, with parts of those under way. */
  joins: number;
  join: Latency;
  /** Of the calls to the server. */
  call: Latency;
  /** By step. */
  calls: Record<string, Latency>;
}

export interface Generator {
  pid: number;
  /** Calls back when the warm-up is over and when the measured time is, while the joiners are still at it. */
  run(job: Job, at: { begins(): void; ends(): void }): Promise<Load>;
}

type Message = 'measuring' | 'measured' | { load: Load } | { failed: string };

export async function startGenerator(scope: Scope): Promise<Generator> {
  const program: Program<'ready'> = await scope.start(resolve(import.meta.dirname, 'generator.ts'), {});
  const { process: child, ended } = program;
  return {
    pid: child.pid!,
    run(job, at) {
      const outcome = new Promise<Load>((resolve, reject) => {
        const take = (message: Message) => {
          if (message === 'measuring') return at.begins();
          if (message === 'measured') return at.ends();
          child.off('message', take);
          if ('load' in message) resolve(message.load);
          else reject(new Error(message.failed));
        };
        child.on('message', take);
        void ended.then((reason) => reject(new Error(`The load generator ended (${reason}).`)));
      });
      child.send(job);
      return outcome;
    },
  };
}
