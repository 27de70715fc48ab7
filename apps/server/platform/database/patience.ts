/** Database timeouts (ms). */
export interface Patience {
  /** The timeout for opening a connection, or for getting a free one from the pool. */
  connectMs: number;
  /**
   * PostgreSQL's own `statement_timeout`, which cancels a statement that waits for a lock or a disk. It is less than `answerMs`, so
   * that PostgreSQL's error arrives before our timeout.
   */
  statementMs: number;
  /** Our own timeout for the answer to a statement, after which the connection is closed. */
  answerMs: number;
}

export const patience = {
  /** The timeouts for joiners' calls, which are answered within five seconds even if the database hangs and the machine is busy. */
  ofCalls: { connectMs: 2_500, statementMs: 2_500, answerMs: 3_000 },
  /** The timeouts for background work and commands, whose statements may read all rows. */
  ofWork: { connectMs: 10_000, statementMs: 60_000, answerMs: 65_000 },
} as const satisfies Record<string, Patience>;

/** The upper limit (ms) of timeouts while the database does not answer: from a statement's timeout to the next answer. */
export const SILENT_MS = 1_000;

/**
 * Shortens timeouts while the database does not answer, because otherwise each call would wait for the full time. From `begin` to
 * `end` no timeout is longer than SILENT_MS.
 */
export class Silence {
  readonly #patience: Patience;
  #isSilent = false;

  constructor(waits: Patience) {
    this.#patience = waits;
  }

  begin(): void {
    this.#isSilent = true;
  }

  end(): void {
    this.#isSilent = false;
  }

  get connectMs(): number {
    return this.#now(this.#patience.connectMs);
  }

  get answerMs(): number {
    return this.#now(this.#patience.answerMs);
  }

  #now(ms: number): number {
    return this.#isSilent ? Math.min(ms, SILENT_MS) : ms;
  }
}
