import { parseArgs } from 'node:util';

export const names = ['server', 'growth', 'start', 'browser', 'uploads', 'strangers', 'soak'] as const;
export type BenchmarkName = (typeof names)[number];

/** What was asked for at the command line. */
export interface Options {
  benchmarks: readonly BenchmarkName[];
  /** Small and rough, to see that everything works. */
  quick: boolean;
  /** How often each side is measured. */
  repeat: number;
  /** How long one measurement under load takes (s), and the warm-up before it. */
  seconds: number;
  warmUpSeconds: number;
  /** How many joins at the same time, one after the other. */
  concurrencies: readonly number[];
  /** Sizes of the database for `growth`, the smallest first. */
  sessions: readonly number[];
  /** How long the soak takes (minutes). */
  minutes: number;
  /** Whether Lighthouse is downloaded for `browser` where it is missing. */
  lighthouse: boolean;
  /** The file that the results go to. */
  out: string;
}

export const usage = `npm run bench -- [${names.join('] [')}]
  without a name      all of them, one after the other
  --quick             small and rough, into out/bench-quick.md
  --repeat N          how often each side is measured
  --seconds N         how long one measurement under load takes
  --concurrency N     only so many joins at a time, not 1, 16 and 64
  --sessions N        the largest database of "growth"
  --minutes N         how long "soak" takes
  --lighthouse        download Lighthouse for "browser", into out/lighthouse
  --out FILE          where the results go (bench/RESULTS.md)`;

/** Throws a sentence. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      lighthouse: { type: 'boolean', default: false },
      repeat: { type: 'string' },
      seconds: { type: 'string' },
      concurrency: { type: 'string' },
      sessions: { type: 'string' },
      minutes: { type: 'string' },
      out: { type: 'string' },
    },
  });
  for (const name of positionals)
    if (!names.includes(name as BenchmarkName))
      throw new Error(`There is no benchmark "${name}".\n\n${usage}`);
  const { quick } = values;
  const number = (name: Exclude<keyof typeof values, 'quick' | 'lighthouse' | 'out'>, usual: number) => {
    const value = values[name];
    if (value === undefined) return usual;
    if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} must be a whole number, not "${value}".`);
    return Number(value);
  };
  const large = number('sessions', quick ? 20_000 : 1_000_000);
  return {
    benchmarks: positionals.length > 0 ? (positionals as BenchmarkName[]) : names,
    quick,
    repeat: number('repeat', quick ? 1 : 5),
    seconds: number('seconds', quick ? 2 : 8),
    warmUpSeconds: quick ? 1 : 2,
    concurrencies: values.concurrency === undefined ? [1, 16, 64] : [number('concurrency', 16)],
    sessions: [Math.min(quick ? 1_000 : 10_000, large), large],
    minutes: number('minutes', quick ? 1 : 10),
    lighthouse: values.lighthouse,
    out: values.out ?? (quick ? 'out/bench-quick.md' : 'bench/RESULTS.md'),
  };
}
