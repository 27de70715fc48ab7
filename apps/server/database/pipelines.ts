import { setTimeout as pause } from 'node:timers/promises';
import type { Client, QueryConfig, QueryResult, QueryResultRow } from 'pg';

/** Connections that are kept in use; more are opened only while these are held up. */
const USUAL = 3;
/** A connection whose first statement takes longer (ms) gets no others behind it: it may wait for a lock. */
const HELD_UP_AFTER_MS = 100;
/** A connection that nobody used for so long (ms) is not trusted: what lies between may have forgotten it without a word. */
const IDLE_MS = 10_000;
/** A connection whose other end does not say goodbye is left after so long (ms). */
const GOODBYE_MS = 1_000;

interface Pipeline {
  client: Client;
  /** Rejects when the database cannot be reached. */
  opening: Promise<unknown>;
  isOpen: boolean;
  underWay: number;
  /** When the statement that is first in line became that, or when the last one was done (ms). */
  since: number;
}

/**
 * Single statements on few connections, each sent without waiting for the answers of those before it
 * (https://node-postgres.com/features/pipelining). Each is a transaction of its own, and fails alone. A transaction is not for
 * here; and nothing within one may wait for a statement here, which could stand behind one that waits for that transaction's locks.
 */
export class Pipelines {
  readonly #make: () => Client;
  readonly #most: number;
  readonly #heldUpAfterMs: number;
  readonly #open = new Set<Pipeline>();
  #isEnded = false;

  /** `make` gives a client that is not connected yet, with `pipeline: true`. */
  constructor(
    make: () => Client,
    { most, heldUpAfterMs = HELD_UP_AFTER_MS }: { most: number; heldUpAfterMs?: number },
  ) {
    this.#make = make;
    this.#most = most;
    this.#heldUpAfterMs = heldUpAfterMs;
  }

  /** A statement with a `query_timeout` that is not answered in time ends its connection: so pg does with pipelines. */
  async query<Row extends QueryResultRow>(statement: QueryConfig): Promise<QueryResult<Row>> {
    if (this.#isEnded) throw new Error('The connections to the database were ended.');
    const pipeline = this.#choose();
    if (pipeline.underWay++ === 0) pipeline.since = performance.now();
    try {
      if (!pipeline.isOpen) await pipeline.opening;
      return await pipeline.client.query<Row>(statement);
    } finally {
      pipeline.underWay--;
      pipeline.since = performance.now();
      if (pipeline.underWay === 0 && this.#open.size > USUAL) void this.#close(pipeline);
    }
  }

  /** Waits for what is under way; what is asked later rejects. */
  async end(): Promise<void> {
    this.#isEnded = true;
    await Promise.all([...this.#open].map((pipeline) => this.#close(pipeline)));
  }

  /** The one with the fewest statements under way. */
  #choose(): Pipeline {
    const now = performance.now();
    let best: Pipeline | undefined;
    let free = 0;
    for (const pipeline of this.#open) {
      const ms = now - pipeline.since;
      if (pipeline.underWay === 0 && ms > IDLE_MS) {
        void this.#close(pipeline);
        continue;
      }
      if (pipeline.underWay > 0 && ms >= this.#heldUpAfterMs) continue;
      free++;
      if (!best || pipeline.underWay < best.underWay) best = pipeline;
    }
    if (best && (best.underWay === 0 || free >= USUAL)) return best;
    if (this.#open.size < this.#most) return this.#add();
    return best ?? [...this.#open].reduce((a, b) => (b.underWay < a.underWay ? b : a));
  }

  #add(): Pipeline {
    const client = this.#make();
    const pipeline: Pipeline = {
      client,
      opening: client.connect().then(
        () => {
          pipeline.isOpen = true;
        },
        (error: unknown) => {
          this.#open.delete(pipeline);
          throw error;
        },
      ),
      isOpen: false,
      underWay: 0,
      since: performance.now(),
    };
    // One that breaks (a database restart) fails what is under way on it, and the next statement opens another.
    client.on('error', () => this.#open.delete(pipeline));
    client.on('end', () => this.#open.delete(pipeline));
    this.#open.add(pipeline);
    return pipeline;
  }

  async #close(pipeline: Pipeline): Promise<void> {
    this.#open.delete(pipeline);
    await pipeline.opening.catch(() => {});
    const ended = pipeline.client.end();
    await (pipeline.underWay === 0 ? Promise.race([ended, pause(GOODBYE_MS)]) : ended);
  }
}
