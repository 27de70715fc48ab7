import { sql } from 'kysely';
import type { Log } from '../deps.ts';
import type { Database } from '../platform/database/client.ts';
import type { TellTrouble } from '../providers/trouble.ts';

/** The kind of the notices about a provider that refuses our calls. */
export const PROVIDER_TROUBLE = 'provider_trouble';

/**
 * Returns a function that logs a provider's failure. If staff have to act (`notice` is not null), it logs an error and writes the
 * notice: the same text once an hour, for all processes together. The function never throws, because its caller is already
 * handling the failure.
 */
export function troubleTeller(database: Database, log: Log): TellTrouble {
  return async ({ notice, ...facts }) => {
    if (notice === null) {
      log.warn(facts, 'a provider did not do a call');
      return;
    }
    log.error(facts, 'a provider refuses a call');
    try {
      await database.transaction().execute(async (trx) => {
        // The lock ensures that two processes that fail for the same cause at the same time write only one notice.
        await sql`select pg_advisory_xact_lock(hashtextextended(${notice}, 0))`.execute(trx);
        await sql`
          insert into staff_notice (kind, message)
          select ${PROVIDER_TROUBLE}, ${notice}
          where not exists (
            select from staff_notice where kind = ${PROVIDER_TROUBLE} and message = ${notice} and created_at > now() - interval '1 hour')`.execute(
          trx,
        );
      });
    } catch (error) {
      log.error({ err: error, provider: facts.provider, call: facts.call }, 'a notice could not be written');
    }
  };
}
