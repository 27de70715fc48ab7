import type { Config } from '../config/config.ts';

/** How long a stopping server continues the calls in progress (ms). */
export const FINISH_MS = 20_000;
/** How long background work may take after that (ms) before it is abandoned; the next start resumes it. */
const REST_MS = 3_000;

/** The longest time from the signal to the end of the process (ms). */
export function stopMs({ stopDelaySeconds }: Pick<Config, 'stopDelaySeconds'>): number {
  return stopDelaySeconds * 1_000 + FINISH_MS + REST_MS;
}

/** A /readyz poll within this time (ms) means that a load balancer watches. */
const WATCHED_MS = 60_000;

/** Whether the server is stopping, and whether a load balancer polls /readyz and should notice first. */
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
