/** Database timeouts (ms). */
export interface Patience {
  /** For opening a connection, or waiting for a free one of the pool. */
  connectMs: number;
  /**
   * PostgreSQL's own `statement_timeout`, which ends statements that wait for a lock or a disk. Less than `answerMs`, so that
   * PostgreSQL's error still arrives.
   */
  statementMs: number;
  /** For the answer to any statement. */
  answerMs: number;
}

export const patience = {
  /** For joiners' calls, which are answered within five seconds even if the database hangs and the machine is busy. */
  ofCalls: { connectMs: 2_500, statementMs: 2_500, answerMs: 3_000 },
  /** For background work and commands, whose statements may read all joins. */
  ofWork: { connectMs: 10_000, statementMs: 60_000, answerMs: 65_000 },
} as const satisfies Record<string, Patience>;

/** The timeout (ms) while the database has not answered the last statement. */
const SILENT_MS = 1_000;

/**
 * Remembers that the last statement timed out. Until a statement is answered again, the timeout of all callers is at most
 * SILENT_MS.
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
