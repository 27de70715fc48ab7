import type { Config } from '../config/config.ts';

/** How long a stopping server lets running calls continue (ms). */
export const FINISH_MS = 20_000;
/** How long (ms) background work may take after FINISH_MS, before the process ends. The next start resumes unfinished work. */
const REST_MS = 3_000;

/** Returns the maximum time (ms) from SIGTERM to the end of the process. */
export function stopMs({ stopDelaySeconds }: Pick<Config, 'stopDelaySeconds'>): number {
  return stopDelaySeconds * 1_000 + FINISH_MS + REST_MS;
}

/** If /readyz was requested within this time (ms), a load balancer polls it. */
const WATCHED_MS = 60_000;

/**
 * Knows whether the server is stopping, and whether a load balancer polls /readyz. A load balancer that polls must see 503 before
 * the port closes.
 */
export class Stopping {
  #hasBegun = false;
  #askedAt = Number.NEGATIVE_INFINITY;

  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  get isWatched(): boolean {
    return performance.now() - this.#askedAt < WATCHED_MS;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  noteAsked(): void {
    this.#askedAt = performance.now();
  }
}
