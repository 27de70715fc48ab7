/** How long the database is waited for (ms). */
export interface Patience {
  /** For a connection, also one that is in use. */
  connectMs: number;
  /** Until PostgreSQL itself cancels a statement: it waits for a lock, or for a disk. Less than `answerMs`, so that this is an answer. */
  statementMs: number;
  /** For an answer at all. */
  answerMs: number;
}

export const patience = {
  /** A joiner waits: a call that meets a silent database is to be answered within five seconds, on a busy machine too. */
  ofCalls: { connectMs: 2_500, statementMs: 2_500, answerMs: 3_000 },
  /** Nobody waits, and a statement may be about all joins. */
  ofWork: { connectMs: 10_000, statementMs: 60_000, answerMs: 65_000 },
} as const satisfies Record<string, Patience>;

/** While the database answered nobody, the next one waits so long at most (ms). */
const SILENT_MS = 1_000;

/** Whether the database was last silent: then whoever asks again within the same call, or in the next one, waits less. */
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
