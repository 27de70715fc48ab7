import { setTimeout as pause } from 'node:timers/promises';
import type pg from 'pg';
import { patience } from '../../apps/server/platform/database/patience.ts';
import { connectToPrimary } from '../../apps/server/platform/database/primary.ts';

const TIMES = { connectionTimeoutMillis: 2_000, query_timeout: 3_000 };

export interface Gap {
  from: number;
  to: number;
}

/**
 * Inserts a row into the database ten times a second. Its record of the acknowledged inserts shows when writes failed and whether
 * an acknowledged insert was lost.
 */
export class Prober {
  readonly #url: string;
  /** Each number whose commit was acknowledged, with the time of the acknowledgement (ms, `performance.now`). */
  readonly #acknowledged = new Map<number, number>();
  #isOver = false;
  #running: Promise<void> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  async start(): Promise<void> {
    const { client } = await connectToPrimary(this.#url);
    await client.query('create table probe (number int primary key)').finally(() => client.end());
    this.#running = this.#run();
  }

  async #run(): Promise<void> {
    let client: pg.Client | null = null;
    for (let number = 0; !this.#isOver; number++) {
      try {
        client ??= (await connectToPrimary(this.#url, TIMES)).client;
        await client.query('insert into probe values ($1)', [number]);
        this.#acknowledged.set(number, performance.now());
      } catch {
        void client?.end().catch(() => {});
        client = null;
      }
      await pause(100);
    }
    void client?.end().catch(() => {});
  }

  /**
   * Returns the periods after `since` (ms, `performance.now`) in which no commit was acknowledged. Leaves out periods that are
   * shorter than the server's statement timeout.
   */
  gaps(since: number): Gap[] {
    const times = [since, ...[...this.#acknowledged.values()].filter((time) => time > since)];
    return times
      .slice(1)
      .map((to, index) => ({ from: times[index]!, to }))
      .filter(({ from, to }) => to - from > patience.ofCalls.statementMs);
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  /** Returns how many commits were acknowledged, and which of them the database does not have. */
  async count(): Promise<{ acknowledged: number; lost: number[] }> {
    const { client } = await connectToPrimary(this.#url);
    const { rows } = await client
      .query<{ number: number }>('select number from probe')
      .finally(() => client.end());
    const there = new Set(rows.map(({ number }) => number));
    const numbers = [...this.#acknowledged.keys()];
    return { acknowledged: numbers.length, lost: numbers.filter((number) => !there.has(number)) };
  }
}
