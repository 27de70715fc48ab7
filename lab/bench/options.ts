import { parseTyped } from '../../tools/local/parseTyped.ts';

export const names = [
  'server',
  'growth',
  'rush',
  'browser',
  'uploads',
  'strangers',
  'abuse',
  'soak',
] as const;
export type BenchmarkName = (typeof names)[number];

export interface Options {
  benchmarks: readonly BenchmarkName[];
  /** Whether to make a short run. It shows that the benchmarks work, but its figures are only rough. */
  isQuick: boolean;
  /** How often each side is measured. */
  repeat: number;
  /** How long one measurement under load takes (s). */
  seconds: number;
  /** How long the warm-up before each measurement under load takes (s). */
  warmUpSeconds: number;
  /** The numbers of joins in the databases of `growth`, the smaller first. */
  sessions: readonly [number, number];
  /** How long `rush` and `soak` take (minutes); undefined: each has its own default. */
  minutes: number | undefined;
  /** How many joins begin in a second in the benchmark `rush`, in which many people join at once. */
  perSecond: number;
  /** The file to which the results are written. */
  out: string;
}

const usage = `npm run lab -- bench [${names.join('] [')}]
  without a name      all of them, one after the other
  --quick             small and rough, into out/bench-quick.md
  --repeat N          how often each side is measured (5)
  --seconds N         how long one measurement under load takes (8)
  --sessions N        the larger database of "growth" (1000000)
  --minutes N         how long "rush" (5) and "soak" (10) take
  --per-second N      joins that arrive in a second of "rush" (20)`;

/** Reads the command line. Throws a sentence when an argument is wrong. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: 'string' } as const;
  const { values, positionals } = parseTyped('npm run lab -- bench', {
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      ...{ repeat: text, seconds: text, sessions: text, minutes: text, 'per-second': text },
    },
  });
  for (const name of positionals)
    if (!names.includes(name as BenchmarkName))
      throw new Error(`There is no benchmark "${name}".\n\n${usage}`);
  const read = (name: 'repeat' | 'seconds' | 'sessions' | 'minutes' | 'per-second') => {
    const value = values[name];
    if (value === undefined) return undefined;
    if (!/^[1-9]\d*$/.test(value)) throw new Error(`--${name} must be a whole number, not "${value}".`);
    return Number(value);
  };
  const isQuick = values.quick;
  const many = read('sessions') ?? (isQuick ? 20_000 : 1_000_000);
  return {
    benchmarks: positionals.length > 0 ? (positionals as BenchmarkName[]) : names,
    isQuick,
    repeat: read('repeat') ?? (isQuick ? 1 : 5),
    seconds: read('seconds') ?? (isQuick ? 2 : 8),
    warmUpSeconds: isQuick ? 1 : 2,
    sessions: [Math.min(isQuick ? 1_000 : 10_000, many), many],
    minutes: read('minutes') ?? (isQuick ? 1 : undefined),
    perSecond: read('per-second') ?? 20,
    out: isQuick ? 'out/bench-quick.md' : 'lab/bench/RESULTS.md',
  };
}
