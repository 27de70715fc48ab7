import type { Config } from '../config.ts';

/** How long a server that stops goes on with the calls under way (ms). */
export const FINISH_MS = 20_000;
/** What is left then, as a round of background work, is given up after so long (ms): it is finished after the next start. */
const REST_MS = 3_000;

/** Within this time (ms) a server that is told to stop has ended. */
export function stopMs({ stopDelaySeconds }: Pick<Config, 'stopDelaySeconds'>): number {
  return stopDelaySeconds * 1_000 + FINISH_MS + REST_MS;
}

/** Who asked so long ago (ms) whether the server is ready is taken to ask again. */
const WATCHED_MS = 60_000;

/** Whether the server is told to stop, and whether somebody watches who is to notice before it does. */
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
