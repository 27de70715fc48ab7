import { notifyStaff } from '../letters/notifyStaff.ts';
import type { DocumentFault } from '../providers/storage/storage.ts';
import type { Deps } from './deps.ts';

/** Logs that a document cannot be read, and gives staff a notice for each cause. */
export async function reportUnreadable(
  { database, log }: Pick<Deps, 'database' | 'log'>,
  err: DocumentFault,
): Promise<void> {
  log.error({ err }, 'a document cannot be read');
  const params = { text: err.notice };
  await notifyStaff(database, { kind: 'unreadable_document', subject: null, params, remedy: null });
}
