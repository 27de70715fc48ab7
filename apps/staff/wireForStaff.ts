import { pino } from 'pino';
import type { Config } from '../server/platform/config/config.ts';
import type { Database } from '../server/platform/database/client.ts';
import { patience } from '../server/platform/database/patience.ts';
import { createLog } from '../server/platform/http/logging.ts';
import { wire } from '../server/wire.ts';
import type { StaffDeps } from './command.ts';

/**
 * Connects everything that a command needs, on behalf of the member of staff who is named in the settings. Database timeouts are
 * longer than for calls.
 */
export async function wireForStaff(config: Config): Promise<{ deps: StaffDeps; database: Database }> {
  const log = createLog('warn', pino.destination(2));
  const { deps, database } = await wire(config, log, { waits: patience.ofWork });
  return { deps: { ...deps, actor: config.operatorName }, database };
}
