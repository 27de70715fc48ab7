import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { type RunningPostgres, startPostgres } from '../local/postgres.ts';
import { type Generator, startGenerator } from './load/load.ts';
import type { Options } from './options.ts';
import type { Scope } from './scope.ts';

/** What a benchmark works with. */
export interface Bench {
  options: Options;
  scope: Scope;
  /** A folder of the benchmark's own, on the disk of the checkout: in memory, an fsync would cost nothing. */
  folder: string;
  /** Tells the person at the terminal how it goes. */
  say(line: string): void;
}

/** A PostgreSQL for all sides of a comparison, and the load generator. */
export interface World extends Bench {
  postgres: RunningPostgres;
  generator: Generator;
}

/** The PostgreSQL that comes with the project, as `npm start` runs it: fsync on. Statements are counted only when asked for. */
export async function startWorld(bench: Bench): Promise<World> {
  const { scope, folder } = bench;
  const dataDir = join(folder, 'database');
  mkdirSync(dataDir, { recursive: true });
  const postgres = await startPostgres({
    dataDir,
    settings: { shared_preload_libraries: 'pg_stat_statements' },
  });
  scope.onEnd(() => postgres.stop());
  const world: World = { ...bench, postgres, generator: await startGenerator(scope) };
  await switchCounting(world, false);
  return world;
}

/** The same, for what is ended before the rest: `end` ends what was started with it. */
export function innerWorld(world: World): World & { end(): Promise<void> } {
  const scope = world.scope.inner();
  return { ...world, scope, end: () => scope.end() };
}

/** A connection of our own, closed at the end. */
export async function connectTo(world: World, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  // When everything is ended in the middle, the server may go first.
  client.on('error', () => {});
  await client.connect();
  world.scope.onEnd(() => client.end());
  return client;
}

/** A new, empty database in place of one of that name; its address. */
export async function createDatabase(world: World, name: string): Promise<string> {
  await asAdmin(world, async (admin) => {
    await admin.query(`drop database if exists ${name} with (force)`);
    await admin.query(`create database ${name}`);
  });
  const url = new URL(world.postgres.url);
  url.pathname = `/${name}`;
  return url.href;
}

/** Whether statements are counted (pg_stat_statements), on connections that are made from now on. */
export async function switchCounting(world: World, isOn: boolean): Promise<void> {
  await asAdmin(world, async (admin) => {
    await admin.query(`alter system set pg_stat_statements.track = ${isOn ? 'top' : 'none'}`);
    await admin.query(`alter system set pg_stat_statements.track_planning = ${isOn ? 'on' : 'off'}`);
    await admin.query(`alter system set compute_query_id = ${isOn ? 'on' : 'off'}`);
    await admin.query('select pg_reload_conf()');
  });
}

async function asAdmin(world: World, work: (admin: pg.Client) => Promise<void>): Promise<void> {
  const admin = new pg.Client({ connectionString: world.postgres.url });
  await admin.connect();
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
