import type { Config } from '../config/config.ts';

/** How long a stopping server continues calls that are running (ms). */
export const FINISH_MS = 20_000;
/** How long background work may take after that before it is abandoned (ms). The next start resumes it. */
const REST_MS = 3_000;

/** Returns the longest time from the signal to the end of the process (ms). */
export function stopMs({ stopDelaySeconds }: Pick<Config, 'stopDelaySeconds'>): number {
  return stopDelaySeconds * 1_000 + FINISH_MS + REST_MS;
}

/** If /readyz was polled within this time (ms), a load balancer is watching. */
const WATCHED_MS = 60_000;

/** Knows whether the server is stopping, and whether a load balancer polls /readyz and must notice before the port closes. */
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
