import pg from 'pg';
import { addressesOf, maybeStandby, placeOf } from '../config/databaseUrl.ts';
import { patience } from './patience.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

/** The timeouts (ms) of one connection. If they are absent, connecting to a DATABASE_URL with one host never times out. */
export type Times = Pick<pg.ClientConfig, 'connectionTimeoutMillis' | 'query_timeout'>;

export interface PrimaryConnection {
  client: pg.Client;
  /** The URL of the connected host alone, even if DATABASE_URL names several hosts. */
  address: string;
}

/**
 * Connects to the host of a DATABASE_URL that accepts writes.
 * - Several hosts: tries all at once, so that a host that does not answer causes no delay (docs/decisions/0019).
 * - One host: asks whether it accepts writes only if `target_session_attrs` is set. Otherwise its error is thrown unchanged.
 * If no host can be used, throws the error of a host that has refused the user, the password or the database name; if there is no
 * such host, a {@link DatabaseUnavailable} with every host's error.
 */
export async function connectToPrimary(databaseUrl: string, times: Times = {}): Promise<PrimaryConnection> {
  if (!maybeStandby(databaseUrl)) return open(databaseUrl, times);
  const addresses = addressesOf(databaseUrl);
  const ms = patience.ofWork.connectMs;
  const attempts = addresses.map(async (address) => {
    const opened = await open(address, { connectionTimeoutMillis: ms, ...times });
    await refuseReadOnly(opened.client, times.query_timeout ?? ms).catch((error) => {
      end(opened.client);
      throw error;
    });
    return opened;
  });
  try {
    const first = await Promise.any(attempts);
    for (const attempt of attempts)
      attempt.then((opened) => opened !== first && end(opened.client)).catch(() => {});
    return first;
  } catch (error) {
    const { errors } = error as AggregateError;
    const words = errors.map(
      (cause, index) => `${placeOf(addresses[index]!)}: ${(asUnavailable(cause) as Error).message}`,
    );
    throw (
      errors.find((cause) => cause instanceof pg.DatabaseError && /^(28|3D)/.test(cause.code ?? '')) ??
      new DatabaseUnavailable(`no host takes writes (${words.join('; ')})`, { cause: error })
    );
  }
}

/**
 * Rejects with {@link DatabaseUnavailable} if the connection's transactions are read-only: the host is a standby, or
 * `default_transaction_read_only` is on.
 */
export async function refuseReadOnly(client: pg.ClientBase, answerMs: number): Promise<void> {
  // pg's types lack `query_timeout` for a single statement (see client.ts).
  const config: pg.QueryConfig & { query_timeout: number } = {
    text: 'show transaction_read_only',
    query_timeout: answerMs,
  };
  const { rows } = await client.query<{ transaction_read_only: 'on' | 'off' }>(config);
  if (rows[0]!.transaction_read_only === 'on') throw new DatabaseUnavailable('it takes no writes');
}

async function open(address: string, times: Times): Promise<PrimaryConnection> {
  const client = new pg.Client({ connectionString: address, ...times });
  // Without a listener the `error` event of a broken connection would end the process. The listener need not report the error,
  // because the running statement rejects with it.
  client.on('error', () => {});
  try {
    await client.connect();
    return { client, address };
  } catch (error) {
    end(client);
    throw error;
  }
}

/** Closes a connection without waiting, since the other end may be gone. */
function end(client: pg.Client): void {
  void client.end().catch(() => {});
}

/** Finds which host of a DATABASE_URL accepts writes, and remembers it until {@link Primary.doubt} is called. */
export class Primary {
  readonly #databaseUrl: string;
  #found: Promise<string> | null = null;

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  /**
   * Returns the URL of the host that accepts writes. Concurrent callers share one search. Rejects like {@link connectToPrimary}.
   */
  address(waitMs: number): Promise<string> {
    if (this.#found === null) {
      const asked = connectToPrimary(this.#databaseUrl, {
        connectionTimeoutMillis: waitMs,
        query_timeout: waitMs,
      }).then(({ client, address }) => {
        end(client);
        return address;
      });
      this.#found = asked;
      asked.catch(() => {
        if (this.#found === asked) this.#found = null;
      });
    }
    return this.#found;
  }

  /** Forgets the host. To be called when a connection to it broke, could not be opened, or did not accept writes. */
  doubt(): void {
    this.#found = null;
  }
}
