import type { Database } from '../platform/database/client.ts';
import type { Log } from '../platform/deps.ts';
import type { TellTrouble } from '../providers/trouble.ts';
import { tellStaff } from './tellStaff.ts';

/**
 * Returns a function that logs a provider's failure. If staff have to act (`notice` is not null), it logs an error and writes the
 * notice. The function never throws, because its caller is already handling the failure.
 */
export function troubleTeller(database: Database, log: Log): TellTrouble {
  return async ({ notice, remedy = null, ...facts }) => {
    if (notice === null) {
      log.warn(facts, 'a provider did not do a call');
      return;
    }
    log.error(facts, 'a provider refuses a call');
    try {
      await tellStaff(database, {
        kind: 'provider_trouble',
        subject: null,
        params: { text: notice, provider: facts.provider },
        remedy,
      });
    } catch (error) {
      log.error({ err: error, provider: facts.provider, call: facts.call }, 'a notice could not be written');
    }
  };
}
