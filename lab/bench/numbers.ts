/** The median, minimum and maximum of repeated measurements. */
export interface Spread {
  median: number;
  min: number;
  max: number;
  count: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  return {
    median: percentile(sorted, 0.5),
    min: sorted[0] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
    count: sorted.length,
  };
}

/**
 * Returns the percentile by the nearest-rank method; `share` is from 0 to 1, and `sorted` ascends. The median of an even count is
 * the mean of the middle two.
 */
export function percentile(sorted: readonly number[], share: number): number {
  if (sorted.length === 0) return Number.NaN;
  if (share === 0.5 && sorted.length % 2 === 0) {
    const middle = sorted.length / 2;
    return (sorted[middle - 1]! + sorted[middle]!) / 2;
  }
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)]!;
}
