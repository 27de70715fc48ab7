import { spawn } from 'node:child_process';
import { globSync } from 'node:fs';
import { resolve } from 'node:path';
import { findProgram } from '../local/findProgram.ts';
import { machineBusySeconds, usageOf } from './accounting/processTree.ts';
import type { World } from './world.ts';

/** The floor's statements without any server: what the database alone allows. */
export interface PgbenchRun {
  joinsPerSecond: number;
  /** Processor time of PostgreSQL for one join (ms). */
  postgresMs: number;
  otherCores: number;
}

const script = resolve(import.meta.dirname, 'floor/join.pgbench');

/** pgbench, on the PATH or among Debian's packages of PostgreSQL; undefined when it is not installed. */
export const findPgbench = (): string | undefined =>
  findProgram('pgbench', ...globSync('/usr/lib/postgresql/*/bin/pgbench').sort().reverse());

/** Runs it on the floor's database. */
export async function runPgbench(
  world: World,
  program: string,
  { databaseUrl, concurrency }: { databaseUrl: string; concurrency: number },
): Promise<PgbenchRun> {
  const { signal } = world.scope;
  const { hostname, port, username, password, pathname } = new URL(databaseUrl);
  const postgres = () => usageOf(world.postgres.pid).cpuSeconds;
  const before = { postgres: postgres(), busy: machineBusySeconds(), own: process.cpuUsage() };
  const began = performance.now();
  const child = spawn(
    program,
    [
      '--no-vacuum',
      '--protocol=prepared',
      `--client=${concurrency}`,
      `--time=${world.options.seconds}`,
      `--file=${script}`,
    ],
    {
      env: {
        PGHOST: hostname,
        PGPORT: port,
        PGUSER: username,
        PGPASSWORD: password,
        PGDATABASE: pathname.slice(1),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
    },
  );
  let output = '';
  let pgbenchSeconds = 0;
  const look = setInterval(() => {
    pgbenchSeconds = Math.max(pgbenchSeconds, usageOf(child.pid!).cpuSeconds);
  }, 50);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const code = await new Promise<number | null>((done, fail) =>
    child.once('error', fail).once('close', done),
  ).finally(() => clearInterval(look));
  const seconds = (performance.now() - began) / 1000;
  const joins = Number(/transactions actually processed: (\d+)/.exec(output)?.[1]);
  const tps = Number(/tps = ([\d.]+)/.exec(output)?.[1]);
  if (code !== 0 || !joins || !tps) throw new Error(`pgbench failed:\n${output}`);
  const own = process.cpuUsage(before.own);
  const used = postgres() - before.postgres;
  const others = machineBusySeconds() - before.busy - used - pgbenchSeconds - (own.user + own.system) / 1e6;
  return {
    joinsPerSecond: tps,
    postgresMs: (used * 1000) / joins,
    otherCores: Math.max(0, others / seconds),
  };
}
