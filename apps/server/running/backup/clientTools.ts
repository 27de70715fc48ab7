import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { environmentOfTool } from '../../platform/config/config.ts';
import { BackupFault } from './manifest.ts';

type Tool = 'pg_dump' | 'pg_restore';

/**
 * Throws {@link BackupFault} unless PostgreSQL's client program `tool` is on PATH and has the server's major version. An older
 * program refuses a newer server, and an older server does not accept the output of a newer program (docs/decisions/0024).
 */
export async function requireTool(tool: Tool, serverMajor: number): Promise<void> {
  const hint = `Put the client tools of PostgreSQL ${serverMajor} on PATH (on Debian postgresql-client-${serverMajor}, in /usr/lib/postgresql/${serverMajor}/bin).`;
  const { stdout } = await promisify(execFile)(tool, ['--version'], { env: environmentOfTool() }).catch(
    () => {
      throw new BackupFault(`${tool} was not found. ${hint}`);
    },
  );
  // The output is, for example, "pg_dump (PostgreSQL) 18.4 (Debian …)".
  const major = Number(/\) (\d+)/.exec(stdout)?.[1]);
  if (major !== serverMajor)
    throw new BackupFault(
      `${tool} is of PostgreSQL ${major}, ${major < serverMajor ? 'older' : 'newer'} than the server, which is ${serverMajor}. ${hint}`,
    );
}

/**
 * Starts `pg_dump` or `pg_restore` (`tool`) on the database at `databaseAddress`, a URL with a single host. The password is
 * passed in an environment variable, because every user of the machine can see the arguments of a process. If the program fails,
 * the returned promise `ended` rejects with a {@link BackupFault} that contains the program's standard error.
 */
export function startTool(
  tool: Tool,
  args: readonly string[],
  databaseAddress: string,
): { process: ChildProcess; ended: Promise<void> } {
  const address = new URL(databaseAddress);
  const password = decodeURIComponent(address.password);
  address.password = '';
  translateParameters(address.searchParams);
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
  // Marks the rejection as handled; the caller gets it by awaiting `ended`.
  ended.catch(() => {});
  return { process: child, ended };
}

/** Parameters of a database URL that only the package pg knows, not libpq. */
const OF_PG_ALONE = [
  'uselibpqcompat',
  'statement_timeout',
  'lock_timeout',
  'idle_in_transaction_session_timeout',
  'query_timeout',
];
/** The values of pg's parameter `ssl`, each with the `sslmode` of the same meaning. libpq has only `sslmode`. */
const SSL_MODES = new Map([
  ['true', 'require'],
  ['1', 'require'],
  ['0', 'disable'],
  ['no-verify', 'no-verify'],
]);

/**
 * Translates the parameters of a DATABASE_URL from those of pg (pg-connection-string) to those of libpq. PostgreSQL's tools
 * refuse a URL with an unknown parameter.
 */
function translateParameters(parameters: URLSearchParams): void {
  for (const name of OF_PG_ALONE) parameters.delete(name);
  const ssl = SSL_MODES.get(parameters.get('ssl') ?? '');
  if (ssl !== undefined) {
    parameters.delete('ssl');
    if (!parameters.has('sslmode')) parameters.set('sslmode', ssl);
  }
  if (parameters.get('sslmode') !== 'no-verify') return;
  // libpq's `require` encrypts without verifying the certificate, as `no-verify` does. But with a file of CAs libpq would verify
  // it, so that parameter is removed.
  parameters.set('sslmode', 'require');
  parameters.delete('sslrootcert');
}

/** Returns the major version from a server's `server_version_num`: 180004 → 18. */
export const majorOf = (versionNumber: string) => Math.floor(Number(versionNumber) / 10_000);
