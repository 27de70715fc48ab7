import { sql } from 'kysely';
import type { Database } from '../database/client.ts';
import type { Log } from '../deps.ts';

/** The kind of the notice about a provider that refuses our calls. */
export const PROVIDER_TROUBLE = 'provider_trouble';

/** A call that a provider did not do, for a reason that is not the joiner's, the card's or one record's. Nothing in it is of a person. */
export interface ProviderTrouble {
  provider: 'Stripe' | 'HubSpot';
  /** Method and address, without ids and query. */
  call: string;
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** The provider's own word for the cause, as MISSING_SCOPES. */
  code: string | null;
  /** The parameter or property that it names. */
  param: string | null;
  /** What the provider finds the call by: Stripe's request id, HubSpot's correlation id. */
  requestId: string | null;
  /** For staff: what is wrong and what to do, the same text for the same cause. Null when it ends by itself. */
  notice: string | null;
}

export type TellTrouble = (trouble: ProviderTrouble) => Promise<void>;

/**
 * Writes each trouble to the log, as an error where somebody has to do something, and a notice to staff once for each cause
 * and hour, in all processes together. A cause is its notice's text. Never fails: its caller is busy with the trouble itself.
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
        // Two processes that meet the same cause at once tell it once.
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

/** For the doctor, who tells what it meets itself. */
export const tellNobody: TellTrouble = async () => {};
