import { type Spread, spreadOf } from './numbers.ts';
import { figure, spread, table } from './report.ts';
import type { Bench } from './world.ts';

/** A round does not count if other programs used more CPU than this on average (cores). */
const NOISE_CORES = 0.25;

/** One measurement of one side. `otherCores`: how much CPU other programs used during it, on average (cores). */
interface Sample {
  otherCores: number;
}

/** The two sides of a comparison: how each is measured, the name of each, and the metrics by name. */
interface Sides<S extends Sample> {
  title: string;
  ours: () => Promise<S>;
  other: () => Promise<S>;
  names: readonly [other: string, ours: string];
  metrics: Record<string, (sample: S) => number>;
  rounds?: number;
}

export interface Comparison {
  /**
   * Divides, in each round that other programs did not disturb ({@link quietRounds}), our value of this metric by the other
   * side's. Returns the spread of these ratios.
   */
  ratio(metric: string): Spread;
  /** All metrics as a table, and how many rounds counted. */
  report: string;
}

/**
 * Measures two sides, one after the other in each round, after a warm-up round. The sides take turns in being the first of a
 * round, since one measurement may affect the next.
 */
export async function compare<S extends Sample>(
  { say, options }: Bench,
  { title, ours, other, names, metrics, rounds = options.repeat }: Sides<S>,
): Promise<Comparison> {
  const all: { ours: S; other: S }[] = [];
  for (let round = 0; round <= rounds; round++) {
    const first = await (round % 2 === 1 ? ours() : other());
    const second = await (round % 2 === 1 ? other() : ours());
    const pair = round % 2 === 1 ? { ours: first, other: second } : { ours: second, other: first };
    if (round > 0) all.push(pair);
    const [[name, metric]] = Object.entries(metrics) as [[string, (sample: S) => number]];
    say(`${title}, round ${round}: ${name} ${figure(metric(pair.ours))} of ${figure(metric(pair.other))}`);
  }
  const { kept, note } = quietRounds(all, (pair) => Math.max(pair.ours.otherCores, pair.other.otherCores));
  const ratio = (name: string) => {
    const metric = metrics[name]!;
    return spreadOf(kept.map((pair) => metric(pair.ours) / metric(pair.other)));
  };
  const rows = Object.entries(metrics).map(([name, metric]) => [
    name,
    figure(spreadOf(kept.map((pair) => metric(pair.other))).median),
    figure(spreadOf(kept.map((pair) => metric(pair.ours))).median),
    spread(ratio(name)),
  ]);
  return { ratio, report: `${table([title, ...names, 'ratio'], rows)}\n\n${note}` };
}

/** Leaves out the rounds that other programs disturbed. Keeps all rounds if fewer than two undisturbed ones would remain. */
export function quietRounds<Round>(
  all: readonly Round[],
  otherCores: (round: Round) => number,
): { kept: readonly Round[]; note: string } {
  const quiet = all.filter((round) => otherCores(round) <= NOISE_CORES);
  const isNoisy = quiet.length < Math.min(2, all.length);
  const kept = isNoisy ? all : quiet;
  const { median, max } = spreadOf(all.map(otherCores));
  const counted = `${kept.length} of ${all.length} rounds counted`;
  const noisy = isNoisy ? ', **the disturbed ones too, since too few were quiet**' : '';
  const note = `${counted}${noisy}; other programs used ${median.toFixed(2)} of a core (median), ${max.toFixed(2)} at most.`;
  return { kept, note };
}
