import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

/**
 * The longest time (ms) that a transaction waits for all of its locks together. A transaction keeps each lock until it ends.
 * While a statement waits for a table's exclusive lock, PostgreSQL queues all later statements on that table behind it. Queued
 * statements of calls are cancelled after 2.5 s (patience.ts), so this time must be shorter. The time must be longer than
 * PostgreSQL's `deadlock_timeout` (1 s), because an autovacuum of the table gives way only to a statement that has waited longer
 * than that (https://www.postgresql.org/docs/current/routine-vacuuming.html#AUTOVACUUM).
 */
const WAIT_MS = 2_000;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;
/** The interval (ms) in which the onlooker, a second connection, asks for whom the transaction waits. */
const LOOK_MS = 100;
/** The SQLSTATEs `lock_not_available` and `deadlock_detected`. */
const HELD_UP = ['55P03', '40P01'];
/** The SQLSTATE `query_canceled`. */
const CANCELED = '57014';

interface Blocker {
  pid: number;
  application_name: string;
  /** Null if our database user may not see it. */
  state: string | null;
  /** How long (s) the blocker's transaction has been running; null like `state`. */
  seconds: number | null;
}

/**
 * Runs transactions that change tables which calls use at the same time. `address` is the URL of the host to which `client` is
 * connected. {@link SharedTables.close} must be called at the end.
 */
export class SharedTables {
  readonly #client: pg.Client;
  readonly #address: string;
  readonly #tell: (sentence: string) => void;
  #onlooker: Promise<pg.Client> | null = null;
  #seen: Blocker[] = [];
  /** Whether the onlooker has cancelled the transaction's statement because the transaction had waited for {@link WAIT_MS}. */
  #isEnded = false;

  constructor(client: pg.Client, address: string, tell: (sentence: string) => void) {
    this.#client = client;
    this.#address = address;
    this.#tell = tell;
  }

  /**
   * Runs `work` in a transaction. If the transaction waits for locks longer than {@link WAIT_MS}, or PostgreSQL ends it to
   * resolve a deadlock, rolls back and retries after a pause, for as long as that takes. Before each pause `tell` gets a sentence
   * that says for whom `what` waits. Other errors are thrown after a rollback.
   */
  async change(what: string, work: () => Promise<void>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const stop = await this.#look();
      try {
        await this.#client.query(`begin; set local lock_timeout = ${WAIT_MS}`);
        await work();
        await this.#client.query('commit');
        return;
      } catch (error) {
        await this.#client.query('rollback');
        const { code = '' } = error as pg.DatabaseError;
        if (!HELD_UP.includes(code) && !(code === CANCELED && this.#isEnded)) throw error;
      } finally {
        stop();
      }
      this.#tell(
        `${what} waits for ${nameOf(this.#seen)}. It has let go of all tables, so that servers go on, and is run again in ${pauseMs / 1_000} s.`,
      );
      await pause(pauseMs);
    }
  }

  async close(): Promise<void> {
    await this.#onlooker?.then((client) => client.end()).catch(() => {});
  }

  /**
   * Starts asking, on the onlooker's connection, for whom the transaction waits, since after an error PostgreSQL can no longer
   * tell. Cancels the transaction's statement when the transaction has waited for {@link WAIT_MS} in all, because `lock_timeout`
   * applies to each lock separately. Returns a function that stops the asking.
   */
  async #look(): Promise<() => void> {
    this.#seen = [];
    this.#isEnded = false;
    const { rows } = await this.#client.query<{ pid: number }>('select pg_backend_pid() as pid');
    const { pid } = rows[0]!;
    let waitedMs = 0;
    let lastLook = performance.now();
    const timer = setInterval(() => {
      this.#ask(pid)
        .then((isWaiting) => {
          const now = performance.now();
          if (isWaiting) waitedMs += now - lastLook;
          lastLook = now;
          return waitedMs >= WAIT_MS ? this.#end(pid) : undefined;
        })
        // If the onlooker gets no answer, the sentence for staff names nobody, and `lock_timeout` alone limits the wait.
        .catch(() => {});
    }, LOOK_MS);
    return () => clearInterval(timer);
  }

  /** Asks for whom the transaction waits, and returns whether it waits for anybody. */
  async #ask(pid: number): Promise<boolean> {
    this.#onlooker ??= open(this.#address);
    const { rows } = await (await this.#onlooker).query<Blocker>(
      `select pid, application_name, state, extract(epoch from now() - xact_start)::int as seconds
        from pg_stat_activity where pid = any(pg_blocking_pids($1))`,
      [pid],
    );
    if (rows.length > 0) this.#seen = rows;
    return rows.length > 0;
  }

  /** Cancels the transaction's statement if that statement still waits for its lock. */
  async #end(pid: number): Promise<void> {
    this.#isEnded = true;
    await (await this.#onlooker)?.query(
      'select pg_cancel_backend($1) where cardinality(pg_blocking_pids($1)) > 0',
      [pid],
    );
  }
}

async function open(address: string): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: address,
    connectionTimeoutMillis: WAIT_MS,
    query_timeout: WAIT_MS,
  });
  // Without a listener the `error` event of a broken connection would end the process.
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** Describes the transactions that hold the locks, without the text of their statements, which may name people. */
function nameOf(blockers: readonly Blocker[]): string {
  if (blockers.length === 0) return 'another transaction';
  return blockers
    .map(({ pid, application_name, state, seconds }) => {
      const known = [application_name, state].filter(Boolean).join(', ');
      return `process ${pid} of PostgreSQL${known && ` (${known})`}${seconds === null ? '' : `, whose transaction began ${seconds} s ago`}`;
    })
    .join(' and ');
}
