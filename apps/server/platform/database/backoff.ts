import { type RawBuilder, sql } from 'kysely';

/**
 * SQL for how long (seconds) to wait after a failed try: `first` after the first failure, twice as long after each further one,
 * at most `longest`. `tries` is the number of failed tries. Part of the time is random, so that tasks that failed together are
 * not all retried at the same moment.
 */
export function backoff(
  tries: RawBuilder<number> | number,
  { first, longest }: { first: number; longest: number },
): RawBuilder<number> {
  return sql<number>`(least(${longest}::float, ${first}::float * power(2, greatest(least(${tries}, 20) - 1, 0))) * (0.75 + random() / 4))`;
}
