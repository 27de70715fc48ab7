import { closedLoop, type Load } from './load.ts';
import { spreadOf } from './numbers.ts';
import { atMost, type Verdict } from './report.ts';
import type { Subject } from './subjects.ts';
import { cpuSecondsOf, memoryOf, watchOthers } from './usage.ts';
import type { World } from './world.ts';

/** One measurement of one side under load. */
export interface Run extends Load {
  joinsPerSecond: number;
  /** The CPU time that the measured server's process used for one join (ms). */
  nodeMs: number;
  /** The CPU time that PostgreSQL used for one join (ms). */
  postgresMs: number;
  /** How much CPU other programs used meanwhile, on average (cores). */
  otherCores: number;
  /** The peak resident memory of the server (bytes). */
  rssBytes: number;
}

/** The metrics by which two sides under load are compared. */
export const runMetrics = {
  'joins/s': (run: Run) => run.joinsPerSecond,
  'CPU ms a join': ({ nodeMs, postgresMs }: Run) => nodeMs + postgresMs,
  'of that, node': (run: Run) => run.nodeMs,
  'p99 of a call, ms': (run: Run) => run.callP99,
  'memory, MB': ({ rssBytes }: Run) => rssBytes / 1e6,
};

/** A number of joins per second that no server reaches. It determines how many people are prepared. */
const FASTEST = 2_000;
const SAMPLE_MS = 500;

/**
 * Measures one side once: runs joins up to their order, on a database that was just vacuumed. Cleans up afterwards, so that the
 * next measurement is not affected.
 */
export async function measure(world: World, subject: Subject, concurrency: number): Promise<Run> {
  const { seconds, warmUpSeconds } = world.options;
  const nextPerson = await subject.people((seconds + warmUpSeconds) * FASTEST);
  await subject.database.query('vacuum (analyze)');
  await subject.database.query('checkpoint');
  const cpuSeconds = () => [cpuSecondsOf(subject.pid), cpuSecondsOf(world.postgres.pid)] as const;
  let [before, after] = [cpuSeconds(), cpuSeconds()];
  let others = watchOthers();
  let otherCores = 0;
  const memory = sampleMemory(subject.pid, SAMPLE_MS);
  const how = { concurrency, warmUpMs: warmUpSeconds * 1000, measureMs: seconds * 1000 };
  const load = await closedLoop(subject.flow, nextPerson, how, {
    begins() {
      before = cpuSeconds();
      others = watchOthers();
    },
    ends() {
      after = cpuSeconds();
      otherCores = others();
    },
  }).finally(() => memory.stop());
  await subject.settle();
  const forOneJoin = (part: 0 | 1) => ((after[part] - before[part]) * 1000) / load.joins;
  return {
    ...load,
    joinsPerSecond: load.joins / load.seconds,
    nodeMs: forOneJoin(0),
    postgresMs: forOneJoin(1),
    otherCores,
    rssBytes: Math.max(...memory.samples),
  };
}

/** Samples the resident memory of a process (bytes), now and every `everyMs` until it is stopped. */
export function sampleMemory(pid: number, everyMs = 1000): { samples: number[]; stop(): void } {
  const samples = [memoryOf(pid, 'now')];
  const timer = setInterval(() => samples.push(memoryOf(pid, 'now')), everyMs);
  return { samples, stop: () => clearInterval(timer) };
}

/**
 * Checks that memory stayed flat: compares the second half of the samples with the first, without the first tenth, in which the
 * server warms up.
 */
export function flatMemory(samples: readonly number[], during: string): Verdict {
  const steady = samples.slice(Math.ceil(samples.length / 10));
  const half = Math.ceil(steady.length / 2);
  const [first, second] = [spreadOf(steady.slice(0, half)), spreadOf(steady.slice(half))];
  const growth = spreadOf([(100 * second.median) / first.median - 100]);
  return atMost(`memory in the second half of ${during}, above the first (%)`, 5, growth);
}
