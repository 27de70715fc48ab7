import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { environmentOfTool } from '../platform/config/config.ts';
import { BackupFault } from './manifest.ts';

type Tool = 'pg_dump' | 'pg_restore';

/**
 * Throws {@link BackupFault} unless PostgreSQL's tool is on PATH and of the server's major version: an older one refuses the
 * server, and what a newer one writes or sends an older server does not take back (docs/decisions/0042).
 */
export async function requireTool(tool: Tool, serverMajor: number): Promise<void> {
  const hint = `Put the client tools of PostgreSQL ${serverMajor} on PATH (on Debian postgresql-client-${serverMajor}, in /usr/lib/postgresql/${serverMajor}/bin).`;
  const { stdout } = await promisify(execFile)(tool, ['--version'], { env: environmentOfTool() }).catch(
    () => {
      throw new BackupFault(`${tool} was not found. ${hint}`);
    },
  );
  // "pg_dump (PostgreSQL) 18.4 (Debian …)"
  const major = Number(/\) (\d+)/.exec(stdout)?.[1]);
  if (major !== serverMajor)
    throw new BackupFault(
      `${tool} is of PostgreSQL ${major}, ${major < serverMajor ? 'older' : 'newer'} than the server, which is ${serverMajor}. ${hint}`,
    );
}

/**
 * Starts the tool on a database at a single host. The password goes by its environment, since arguments are seen by everybody on the machine.
 * `ended` rejects with a {@link BackupFault} that has the tool's own words.
 */
export function startTool(
  tool: Tool,
  args: readonly string[],
  databaseAddress: string,
): { process: ChildProcess; ended: Promise<void> } {
  const address = new URL(databaseAddress);
  const password = decodeURIComponent(address.password);
  address.password = '';
  // Known to the driver alone.
  address.searchParams.delete('uselibpqcompat');
  const child = spawn(tool, [`--dbname=${address.href}`, ...args], {
    env: environmentOfTool(password === '' ? {} : { PGPASSWORD: password }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let words = '';
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-2_000);
  });
  const ended = once(child, 'close').then(([code]) => {
    if (code !== 0) throw new BackupFault(`${tool} failed: ${words.trim() || `it ended with ${code}`}`);
  });
  // It is thrown to whoever waits for it.
  ended.catch(() => {});
  return { process: child, ended };
}

/** Major version of a server from what it says of itself (`server_version_num`): 180004 is 18. */
export const majorOf = (versionNumber: string) => Math.floor(Number(versionNumber) / 10_000);
