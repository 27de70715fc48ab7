/** Database timeouts (ms). */
export interface Patience {
  /** For a connection, including a wait for the pool. */
  connectMs: number;
  /** PostgreSQL's own `statement_timeout`, for statements that wait for a lock or a disk. Below `answerMs`, so that its error arrives. */
  statementMs: number;
  /** For any answer. */
  answerMs: number;
}

export const patience = {
  /** For joiners: when the database hangs, a call is answered within five seconds, even on a busy machine. */
  ofCalls: { connectMs: 2_500, statementMs: 2_500, answerMs: 3_000 },
  /** For background work and commands, whose statements may read every join. */
  ofWork: { connectMs: 10_000, statementMs: 60_000, answerMs: 65_000 },
} as const satisfies Record<string, Patience>;

/** The longest wait while the database last did not answer (ms). */
const SILENT_MS = 1_000;

/** Remembers that the last statement timed out. Further statements, of the same call or the next, then wait less. */
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
