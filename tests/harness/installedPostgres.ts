import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import pg from 'pg';
import { isProgram } from '../../tools/local/findProgram.ts';
import { freePort } from '../../tools/local/ports.ts';
import { choosePostgresAccount } from '../../tools/local/postgresAccount.ts';
import { until } from './until.ts';

/**
 * The programs that tests need from an installed PostgreSQL. The PostgreSQL that `npm start` uses comes from npm packages, which
 * have no client tools.
 */
const programs = ['pg_dump', 'pg_restore', 'initdb', 'postgres'];
const OLDEST_MAJOR = 15;
const places = [
  ...globSync('/usr/lib/postgresql/*/bin'),
  ...globSync('/opt/homebrew/opt/postgresql@*/bin'),
  ...(process.env.PATH ?? '').split(delimiter),
];
/** The folder of the newest installed PostgreSQL, 15 or newer, that has its client tools; undefined if there is none. */
export const postgresPrograms = places
  .filter((place) => programs.every((program) => isProgram(join(place, program))))
  .map((place) => ({ place, major: majorOf(place) }))
  .filter(({ major }) => major >= OLDEST_MAJOR)
  .sort((one, other) => other.major - one.major)[0]?.place;

function majorOf(place: string): number {
  const told = execFileSync(join(place, 'postgres'), ['--version'], { encoding: 'utf8' });
  return Number(/\) (\d+)/.exec(told)?.[1]);
}

/** Why a test that saves or restores a database is skipped; false when it can run. */
export const lacksPostgres: string | false =
  postgresPrograms === undefined && 'no PostgreSQL with pg_dump is installed here (postgresql, 15 or newer)';

export interface InstalledPostgres {
  url: string;
  /** The major version of the server and its tools. */
  major: number;
  /** A PATH on which the tools of this PostgreSQL are found first. */
  path: string;
  /** Creates a new, empty database and returns its URL. */
  emptyDatabase(): Promise<string>;
  stop(): Promise<void>;
}

/** Starts the PostgreSQL that is installed on this system. Its databases are not durable, and are removed when it is stopped. */
export async function startInstalledPostgres(): Promise<InstalledPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'induct-postgres-'));
  const account = choosePostgresAccount({ dataDir, native: dirname(postgresPrograms!) });
  const cluster = account.place(join(dataDir, 'cluster'));
  mkdirSync(cluster, { mode: 0o700 });
  account.give(cluster);
  const secret = join(dirname(cluster), 'password');
  writeFileSync(secret, 'of a test');
  account.give(secret);
  const start = (program: 'initdb' | 'postgres', args: string[]): ChildProcess => {
    const { file, args: all, options } = account.command(program, args);
    return spawn(file, all, { ...options, stdio: 'ignore' });
  };
  const initdb = start('initdb', [
    `--pgdata=${cluster}`,
    '--username=induct',
    `--pwfile=${secret}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    '--locale=C',
    '--no-sync',
  ]);
  const [code] = await once(initdb, 'close');
  if (code !== 0) throw new Error(`initdb ended with ${code}`);
  const port = (await freePort())!;
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    max_connections: '100',
    fsync: 'off',
  };
  const server = start('postgres', [
    '-D',
    cluster,
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]);
  const ended = once(server, 'close');
  const address = (database: string) => `postgres://induct:of%20a%20test@127.0.0.1:${port}/${database}`;
  const ask = async (statement: string) => {
    const client = new pg.Client({ connectionString: address('postgres') });
    await client.connect();
    await client.query(statement).finally(() => client.end());
  };
  await until(isUp);
  let databases = 0;
  return {
    url: address('postgres'),
    major: majorOf(postgresPrograms!),
    path: [postgresPrograms!, process.env.PATH].join(delimiter),
    async emptyDatabase() {
      const name = `empty_${++databases}`;
      await ask(`create database ${name}`);
      return address(name);
    },
    async stop() {
      // SIGQUIT ends PostgreSQL immediately, without a clean shutdown, because its data are no longer needed.
      server.kill('SIGQUIT');
      await ended;
      rmSync(dirname(cluster), { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };

  async function isUp(): Promise<boolean> {
    if (server.exitCode !== null) throw new Error(`PostgreSQL ended with ${server.exitCode}`);
    return ask('select').then(
      () => true,
      () => false,
    );
  }
}
