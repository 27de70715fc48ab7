import type { FastifyBaseLogger } from 'fastify';
import type { Config } from './config/config.ts';
import type { Database } from './database/client.ts';
import type { Actor } from './database/transaction.ts';
import type { BrowserCookie } from './http/browserCookie.ts';

/** The dependencies that every use case may use. Each room adds its own in its deps.ts; wire.ts builds all of them. */
export interface Deps {
  database: Database;
  /** The member of staff for whom a use case works. Code that acts for staff passes on their name: `{ ...deps, actor }`. */
  actor: Actor;
  config: Config;
  now(): Date;
  log: Log;
  /**
   * A random name of this installation. It distinguishes our payments from those of other installations on the same Stripe
   * account. It is stored in the database, so that it stays the same when addresses and keys change.
   */
  environment: string;
  browser: BrowserCookie;
  /** Returns a keyed hash of the {@link countedAddress}, so that callers can be counted without storing their addresses. */
  hashAddress(address: string): string;
}

/** The dependencies of a use case that only a member of staff may call. */
export type ByStaff<Needed extends Pick<Deps, 'actor'>> = Needed & { actor: string };

/** Structured logging. Must not be given personal data, client secrets or complete session uuids. */
export type Log = FastifyBaseLogger;
