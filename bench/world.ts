import { mkdirSync, rmSync } from 'node:fs';
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
  /** A new, empty database; its address. */
  createDatabase(name: string): Promise<string>;
  /** A connection of our own, closed at the end. */
  connect(url: string): Promise<pg.Client>;
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
  scope.onEnd(() => rmSync(dataDir, { recursive: true, force: true }));
  scope.onEnd(() => postgres.stop());

  const connect = async (url: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    scope.onEnd(() => client.end());
    return client;
  };
  const admin = await connect(postgres.url);
  await admin.query('create extension if not exists pg_stat_statements');
  await admin.query("alter system set pg_stat_statements.track = 'none'");
  await admin.query('alter system set compute_query_id = off');
  await admin.query('select pg_reload_conf()');
  return {
    ...bench,
    postgres,
    connect,
    generator: await startGenerator(scope),
    async createDatabase(name) {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`create database ${name}`);
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      return url.href;
    },
  };
}
