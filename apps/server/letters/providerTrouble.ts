import type { Database } from '../platform/database/client.ts';
import type { Log } from '../platform/deps.ts';
import type { ReportTrouble } from '../providers/trouble.ts';
import { notifyStaff } from './notifyStaff.ts';

/**
 * Returns a function that logs a provider's failure. If staff have to act (`notice` is not null), it logs an error and writes the
 * notice. The function never throws, because its caller is already handling the failure.
 */
export function troubleReporter(database: Database, log: Log): ReportTrouble {
  return async ({ notice, remedy = null, ...facts }) => {
    if (notice === null) {
      log.warn(facts, 'a provider did not do a call');
      return;
    }
    log.error(facts, 'a provider refuses a call');
    try {
      await notifyStaff(database, {
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
