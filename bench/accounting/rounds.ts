import { type Spread, spreadOf } from './numbers.ts';

/** A measurement in which other programs took more than this of one core does not count. */
export const NOISE_CORES = 0.25;

/** What several measurements of the same things, taken in turn, say. */
export interface Rounds<Round> {
  /** Those that count. */
  kept: readonly Round[];
  all: readonly Round[];
  /** What other programs took of one core, in each measurement of all rounds. */
  otherCores: readonly number[];
  /** True when too few were quiet, and all had to count. */
  isNoisy: boolean;
}

/** Both sides of a round, each first in every other: what one leaves behind may fall into the next. */
export async function eachFirstInTurn<Ours, Other>(
  round: number,
  ours: () => Promise<Ours>,
  other: () => Promise<Other>,
): Promise<{ ours: Ours; other: Other }> {
  return round % 2 === 1
    ? { ours: await ours(), other: await other() }
    : { other: await other(), ours: await ours() };
}

/** Leaves out what was disturbed by other programs, as long as two undisturbed measurements remain, or the only one. */
export function quietOnes<Round>(
  all: readonly Round[],
  otherCores: (round: Round) => number[],
): Rounds<Round> {
  const quiet = all.filter((round) => otherCores(round).every((cores) => cores <= NOISE_CORES));
  const isNoisy = quiet.length < Math.min(2, all.length);
  return { kept: isNoisy ? all : quiet, all, otherCores: all.flatMap(otherCores), isNoisy };
}

export function spreadBy<Round>(rounds: Rounds<Round>, of: (round: Round) => number): Spread {
  return spreadOf(rounds.kept.map(of));
}

/** How many measurements counted, as a sentence. */
export function tellRounds(sets: readonly Rounds<unknown>[]): string {
  const all = sets.reduce((sum, set) => sum + set.all.length, 0);
  const kept = sets.reduce((sum, set) => sum + set.kept.length, 0);
  const noisy = sets.filter(({ isNoisy }) => isNoisy).length;
  const { median, max } = spreadOf(sets.flatMap(({ otherCores }) => otherCores));
  return [
    `${kept} of ${all} rounds counted; a round in which other programs took more than ${NOISE_CORES} of a core does not.`,
    `Others took ${median.toFixed(2)} of a core (median of all rounds), ${max.toFixed(2)} at most.`,
    ...(noisy > 0
      ? [`**For ${noisy} of ${sets.length} comparisons too few rounds were quiet, and all of them counted.**`]
      : []),
  ].join(' ');
}
