import type { Remedy } from '#core/remedy.ts';

/**
 * A use case cannot do what staff asked. The message says why, and names no command or button: each front door offers the remedy in its
 * own way.
 */
export class Failed extends Error {
  readonly remedy: Remedy | null;
  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}

/**
 * What staff have seen in a trial does not hold any more, so nothing was done. `now` is what the same trial returns now, for a front
 * door that asks again.
 */
export class Changed<Seen> extends Failed {
  readonly now: Seen;
  constructor(message: string, now: Seen) {
    super(message);
    this.now = now;
  }
}
