import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type pg from 'pg';
import { migrationState } from '../../platform/database/migrate.ts';
import { patience } from '../../platform/database/patience.ts';
import { connectToPrimary } from '../../platform/database/primary.ts';
import { HUBSPOT_ACCOUNT } from '../../platform/database/secrets.ts';
import type { Answer } from '../../providers/answer.ts';

/** How a server's connection to the database is protected. */
export interface DatabaseLink {
  /** The IP address to which the connection leads; null for a Unix socket. */
  address: string | null;
  /**
   * `unverified`: encrypted, but not proven to lead to our database. Either every certificate is accepted, or the database's
   * certificate is not valid and was accepted because of NODE_TLS_REJECT_UNAUTHORIZED=0.
   */
  tls: 'none' | 'unverified' | 'verified';
}

export interface DatabaseState {
  /** How many migrations the next start of the server will apply. */
  waiting: number;
  /** The last applied migration that this version does not have, because a newer version added it; null if there is none. */
  newer: string | null;
  /** Whether our database user may create tables, which migrations need. */
  mayMigrate: boolean;
  /** Why this version must not run on the database; null if it may. */
  foreign: string | null;
  link: DatabaseLink;
}

const TIMES = { connectionTimeoutMillis: patience.ofWork.connectMs, query_timeout: patience.ofWork.answerMs };

/** Reads the state of a database. Changes nothing. */
export function askDatabase(databaseUrl: string): Promise<Answer<DatabaseState>> {
  return askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<{ may: boolean }>(
      "select has_schema_privilege(current_schema(), 'create') as may",
    );
    const { waiting, newer, foreign } = await migrationState(client);
    return {
      waiting: waiting.length,
      newer: newer.at(-1) ?? null,
      mayMigrate: rows[0]!.may,
      foreign,
      link: linkOf(client),
    };
  });
}

/**
 * Returns how a connection is protected, as seen from our end. PostgreSQL's own view (`pg_stat_ssl`, `inet_server_addr`) would
 * mislead: behind a pooler or NAT it describes only the last part of the path, and a hosted database reports a private address
 * even if the path crosses the Internet.
 */
function linkOf(client: pg.Client): DatabaseLink {
  const stream = client.connection.stream as Socket;
  // pg's types say boolean, but pg keeps the options of a TLS connection here.
  const ssl = client.ssl as boolean | { rejectUnauthorized?: boolean };
  const address = stream.remoteAddress ?? null;
  if (!(stream instanceof TLSSocket)) return { address, tls: 'none' };
  // If rejectUnauthorized is false, pg accepts any certificate, so `authorized` proves nothing. If it is true, the certificate
  // may be invalid nevertheless, because of NODE_TLS_REJECT_UNAUTHORIZED=0.
  const isRequired = typeof ssl !== 'object' || ssl.rejectUnauthorized !== false;
  return { address, tls: isRequired && stream.authorized ? 'verified' : 'unverified' };
}

/** Runs `ask` on a new connection. Returns the result of `ask`, or the reason why there is none. */
export async function askOnce<Said>(
  databaseUrl: string,
  ask: (client: pg.Client) => Promise<Said>,
  times = TIMES,
): Promise<Answer<Said>> {
  try {
    const { client } = await connectToPrimary(databaseUrl, times);
    try {
      return { said: await ask(client) };
    } finally {
      await client.end().catch(() => {});
    }
  } catch (error) {
    return { down: sentenceOf(error) };
  }
}

/** Returns the id of the HubSpot account whose contacts the database has; null if no server has stored it yet. */
export function askKeptAccount(databaseUrl: string): Promise<Answer<string | null>> {
  return askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<{ value: string }>('select value from secret where name = $1', [
      HUBSPOT_ACCOUNT,
    ]);
    return rows[0]?.value ?? null;
  });
}

/**
 * Returns the secret in the database, with which links are signed if LINK_SECRET is not set. Null if there is none yet or the
 * database does not answer.
 */
export async function askLinkSecret(databaseUrl: string): Promise<string | null> {
  const answer = await askOnce(databaseUrl, async (client) => {
    const { rows } = await client.query<{ value: string }>("select value from secret where name = 'link'");
    return rows[0]?.value ?? null;
  });
  return 'said' in answer ? answer.said : null;
}

/**
 * Returns an error's message. If a host name has several addresses, Node throws an AggregateError without a message, with one error
 * for each address.
 */
function sentenceOf(error: unknown): string {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  return first instanceof Error ? first.message : String(first);
}
