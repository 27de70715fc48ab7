import { createHash } from 'node:crypto';
import type { Remembered } from '../shared/gateway.ts';
import { ApiError } from './errors.ts';
import type { Store } from './store.ts';

/** How long a key is kept (s). Keys may be removed once they are this old (https://docs.stripe.com/api/idempotent_requests). */
const KEPT_FOR = 24 * 60 * 60;
const LONGEST_KEY = 255;

export interface Answer {
  status: number;
  body: object;
  headers?: Record<string, string>;
}

/**
 * Idempotency keys as in the v1 API. If the work of a request began, the first answer is stored, even if it is an error or a
 * decline. For a day, a repetition of the request with the same key gets this answer.
 */
export class IdempotencyKeys {
  readonly #store: Store;
  readonly #inFlight = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  static fingerprint(method: string, path: string, body: string): string {
    return createHash('sha256').update(`${method} ${path}\n${body}`).digest('hex');
  }

  /** Marks the key as in use until `release`. Returns an error when the key is too long or already in use. */
  claim(key: string): ApiError | undefined {
    if (key.length > LONGEST_KEY) {
      return new ApiError(400, {
        type: 'invalid_request_error',
        message: `Idempotency keys can have up to ${LONGEST_KEY} characters, but you passed one of ${key.length}.`,
      });
    }
    if (this.#inFlight.has(key)) {
      return new ApiError(409, {
        type: 'idempotency_error',
        code: 'idempotency_key_in_use',
        message: `There is currently another in-progress request using this Idempotent Key (that probably means you submitted twice, and the other request is still going through): ${key}. Please try again later.`,
      });
    }
    this.#inFlight.add(key);
    return undefined;
  }

  release(key: string): void {
    this.#inFlight.delete(key);
  }

  /**
   * Returns the stored answer if the same request was answered under this key before. Throws if the key was used for a different
   * request.
   */
  replay(key: string, fingerprint: string, now: number): Answer | undefined {
    const { database } = this.#store;
    database.prepare('delete from idempotency where time <= ?').run(now - KEPT_FOR);
    const row = database.prepare('select fingerprint, status, body from idempotency where key = ?').get(key);
    if (!row) return undefined;
    if (row.fingerprint !== fingerprint) {
      throw new ApiError(400, {
        type: 'idempotency_error',
        message: `Keys for idempotent requests can only be used with the same parameters they were first used with. Try using a key other than '${key}' if you meant to execute a different request.`,
      });
    }
    return {
      status: row.status as number,
      body: JSON.parse(row.body as string),
      headers: { 'idempotent-replayed': 'true' },
    };
  }

  /**
   * Returns the data about a key that shared/gateway.ts needs: whether a request with this fingerprint was answered under it, and
   * a function that stores an answer. `clock` is in milliseconds.
   */
  memoryOf(key: string, fingerprint: string, clock: () => number): Remembered {
    const now = () => Math.floor(clock() / 1000);
    return {
      isAnswered: () =>
        this.#store.database
          .prepare('select 1 from idempotency where key = ? and fingerprint = ? and time > ?')
          .get(key, fingerprint, now() - KEPT_FOR) !== undefined,
      keep: ({ status, body }) => this.keep(key, fingerprint, { status, body: body! }, now()),
    };
  }

  keep(key: string, fingerprint: string, answer: Answer, now: number): void {
    this.#store.database
      .prepare(
        'insert or replace into idempotency (key, fingerprint, status, body, time) values (?, ?, ?, ?, ?)',
      )
      .run(key, fingerprint, answer.status, JSON.stringify(answer.body), now);
  }
}
