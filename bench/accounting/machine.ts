import { cpus, release, totalmem } from 'node:os';
import type pg from 'pg';

/** What was measured on, as one line. */
export async function describeMachine(database?: pg.Client): Promise<string> {
  const [cpu] = cpus();
  const parts = [
    `${cpus().length} cores of ${cpu?.model.trim() ?? 'an unknown processor'}`,
    `${Math.round(totalmem() / 2 ** 30)} GB`,
    `${process.platform} ${release().split('-')[0]}`,
    `Node ${process.versions.node}`,
  ];
  if (database) {
    const { rows } = await database.query<{ server_version: string }>('show server_version');
    parts.push(`PostgreSQL ${rows[0]!.server_version.split(' ')[0]}`);
  }
  return parts.join(', ');
}
