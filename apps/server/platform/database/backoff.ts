import { type RawBuilder, sql } from 'kysely';

/**
 * SQL for how long (seconds) to wait after a try that failed: `first` after the first, twice as long after each further one, at most
 * `longest`. A part of it is random, so that what failed together is not tried together again. `tries`: how many have failed.
 */
export function backoff(
  tries: RawBuilder<number> | number,
  { first, longest }: { first: number; longest: number },
): RawBuilder<number> {
  return sql<number>`(least(${longest}::float, ${first}::float * power(2, greatest(least(${tries}, 20) - 1, 0))) * (0.75 + random() / 4))`;
}
