import pg from 'pg';
import { addressesOf, maybeStandby, placeOf } from '../config/databaseUrl.ts';
import { patience } from './patience.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

/** Times (ms) of a connection of its own. Without them a single host is waited for as long as it takes. */
export type Times = Pick<pg.ClientConfig, 'connectionTimeoutMillis' | 'query_timeout'>;

export interface PrimaryConnection {
  client: pg.Client;
  /** Of its host alone. */
  address: string;
}

/**
 * Connects to the host of a DATABASE_URL that takes writes. Several are asked at once, so that one that is silent delays nobody
 * (docs/decisions/0045). A single one is asked where `target_session_attrs` says so: a proxy may lead to a standby for a moment, which has
 * what was never acknowledged. Throws what a single host says that is not asked; else what is wrong with user, password or database, or a
 * {@link DatabaseUnavailable} that names each host.
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

/** Rejects with {@link DatabaseUnavailable} on a standby, and where `default_transaction_read_only` is on. */
export async function refuseReadOnly(client: pg.ClientBase, answerMs: number): Promise<void> {
  // As in client.ts, the types do not know it of a statement.
  const config: pg.QueryConfig & { query_timeout: number } = {
    text: 'show transaction_read_only',
    query_timeout: answerMs,
  };
  const { rows } = await client.query<{ transaction_read_only: 'on' | 'off' }>(config);
  if (rows[0]!.transaction_read_only === 'on') throw new DatabaseUnavailable('it takes no writes');
}

async function open(address: string, times: Times): Promise<PrimaryConnection> {
  const client = new pg.Client({ connectionString: address, ...times });
  // Without a listener a broken connection would end the process; the statement under way fails all the same.
  client.on('error', () => {});
  try {
    await client.connect();
    return { client, address };
  } catch (error) {
    end(client);
    throw error;
  }
}

/** Not waited for: the other end may be gone. */
function end(client: pg.Client): void {
  void client.end().catch(() => {});
}

/** Of several hosts the one that takes writes, remembered until it is doubted. */
export class Primary {
  readonly #databaseUrl: string;
  #found: Promise<string> | null = null;

  constructor(databaseUrl: string) {
    this.#databaseUrl = databaseUrl;
  }

  /** Its address. Whoever asks meanwhile gets the same answer. Rejects as {@link connectToPrimary} does. */
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

  /** A connection to it broke, was not made, or took no writes. */
  doubt(): void {
    this.#found = null;
  }
}
