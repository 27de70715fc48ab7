import { pino } from 'pino';
import type { Config } from '../server/platform/config/config.ts';
import { patience } from '../server/platform/database/patience.ts';
import { createLog } from '../server/platform/http/logging.ts';
import { wire } from '../server/wire.ts';
import type { StaffWired } from './command.ts';

/**
 * Connects everything for a command of the member of staff who is named in the settings. A command may wait longer for a statement
 * than a call may.
 */
export async function wireForStaff(config: Config): Promise<StaffWired> {
  const wired = await wire(config, createLog('warn', pino.destination(2)), { waits: patience.ofWork });
  return { ...wired, deps: { ...wired.deps, actor: config.operatorName } };
}
