import type { Load, People } from '../load/load.ts';
import type { Options } from '../options.ts';
import type { Subject } from '../servers.ts';
import type { World } from '../world.ts';
import { machineBusySeconds, proportionalBytes, usageOf } from './processTree.ts';

export type Part = 'node' | 'postgres' | 'stripe' | 'hubspot' | 'generator';

/** One measurement of one side. */
export interface Run {
  load: Load;
  joinsPerSecond: number;
  /** Processor time of each part for one join (ms). */
  cpuMs: Record<Part, number>;
  /** What programs that do not belong to the measurement took of one core; 0.25 is a quarter. */
  otherCores: number;
  /** The most resident memory of the server's processes during the measurement, and the proportional at its end (bytes). */
  rssBytes: number;
  pssBytes: number;
}

export interface Measured {
  concurrency: number;
  steps: readonly string[];
}

/** More joins in a second than any side will reach, without and with paying: enough people are made ready for them. */
const FASTEST = 2_000;
const FASTEST_PAYING = 200;
const SAMPLE_MS = 250;

/** Measures one side once: on a tidy database, and with nothing left over for the next measurement. */
export async function measure(
  world: World,
  subject: Subject,
  { concurrency, steps }: Measured,
): Promise<Run> {
  const willPay = steps.includes('card');
  const people = await subject.people(mostJoins(world.options, willPay), willPay);
  await subject.tidy();
  const run = await underLoad(world, subject, { concurrency, steps, people, ...world.options });
  await subject.settle();
  return run;
}

/** Puts one side under load, after a warm-up, and accounts for what it took. */
export async function underLoad(
  world: World,
  subject: Subject,
  {
    concurrency,
    steps,
    people,
    seconds,
    warmUpSeconds,
  }: Measured & { people: People; seconds: number; warmUpSeconds: number },
): Promise<Run> {
  const { node, postgres, stripe, hubspot } = subject.pids;
  const watched = { node, postgres, stripe, hubspot, generator: [world.generator.pid] };
  const rssOf = () => sum(node, (pid) => usageOf(pid).rssBytes);
  const look = () => ({
    cpu: Object.fromEntries(
      Object.entries(watched).map(([part, pids]) => [part, sum(pids, (pid) => usageOf(pid).cpuSeconds)]),
    ) as Record<Part, number>,
    own: process.cpuUsage(),
    busy: machineBusySeconds(),
  });
  let before: ReturnType<typeof look> | undefined;
  let after: ReturnType<typeof look> | undefined;
  let rssBytes = 0;
  let pssBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  let load: Load;
  try {
    load = await world.generator.run(
      {
        flow: subject.flow,
        steps,
        urls: subject.urls,
        concurrency,
        people,
        warmUpMs: warmUpSeconds * 1000,
        measureMs: seconds * 1000,
      },
      {
        begins() {
          before = look();
          timer = setInterval(() => {
            rssBytes = Math.max(rssBytes, rssOf());
          }, SAMPLE_MS);
        },
        ends() {
          after = look();
          rssBytes = Math.max(rssBytes, rssOf());
          pssBytes = sum(node, proportionalBytes);
        },
      },
    );
  } finally {
    clearInterval(timer);
  }
  const used = Object.fromEntries(
    Object.keys(watched).map((part) => [part, after!.cpu[part as Part] - before!.cpu[part as Part]]),
  ) as Record<Part, number>;
  const own = (after!.own.user + after!.own.system - before!.own.user - before!.own.system) / 1e6;
  const ours = own + sum(Object.values(used), (seconds) => seconds);
  return {
    load,
    joinsPerSecond: load.joins / load.seconds,
    cpuMs: Object.fromEntries(
      Object.entries(used).map(([part, seconds]) => [part, (seconds * 1000) / load.joins]),
    ) as Record<Part, number>,
    otherCores: Math.max(0, (after!.busy - before!.busy - ours) / load.seconds),
    rssBytes,
    pssBytes,
  };
}

/** How many people one measurement may need. */
export function mostJoins(
  { seconds, warmUpSeconds }: Pick<Options, 'seconds' | 'warmUpSeconds'>,
  willPay: boolean,
): number {
  return (seconds + warmUpSeconds) * (willPay ? FASTEST_PAYING : FASTEST);
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
