import type { Remedy } from '#core/remedy.ts';

/**
 * Thrown if a use case cannot do what staff asked. The message gives the reason, and names no command or button: the command line
 * and the desk each show the remedy in their own way.
 */
export class Failed extends Error {
  readonly remedy: Remedy | null;
  constructor(message: string, remedy: Remedy | null = null) {
    super(message);
    this.remedy = remedy;
  }
}

/**
 * Thrown if the result of a trial run that staff have seen is out of date, so nothing was done. `now` is the trial's current
 * result, which can be shown to staff for a new decision.
 */
export class Changed<Seen> extends Failed {
  readonly now: Seen;
  constructor(message: string, now: Seen) {
    super(message);
    this.now = now;
  }
}
