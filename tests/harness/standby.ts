import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { type RunningPostgres, startPostgres } from '../../tools/local/postgres.ts';
import { placeCluster } from './database.ts';
import { until } from './until.ts';

/**
 * Two PostgreSQL servers. The second is a hot standby of the first. The first acknowledges a commit only when the standby has
 * applied it.
 */
export interface Pair {
  primary: RunningPostgres;
  standby: RunningPostgres;
  /** Ends the primary as a crash would. */
  crash(): Promise<void>;
  /** Makes the standby the primary. */
  promote(): Promise<void>;
  /** Starts the crashed server again, as a primary without a standby. */
  revive(): Promise<void>;
  /** Runs a statement on one of the two servers. */
  ask<Row extends pg.QueryResultRow>(at: { url: string }, text: string): Promise<Row[]>;
  close(): Promise<void>;
}

export async function startPair(): Promise<Pair> {
  const folder = mkdtempSync(join(tmpdir(), 'induct-pair-'));
  const [first, second] = [join(folder, 'first'), join(folder, 'second')];
  const settings = { wal_level: 'replica', max_wal_senders: '5', synchronous_commit: 'remote_apply' };
  const start = (dataDir: string, more = {}) =>
    startPostgres({ dataDir, durable: false, settings: { ...settings, ...more } });
  placeCluster(first);
  // The files are copied while the first server is stopped, since the npm packages of PostgreSQL do not contain pg_basebackup.
  await (await start(first)).stop();
  placeCluster(second, join(first, 'postgres'));
  writeFileSync(join(second, 'postgres/standby.signal'), '');
  let primary = await start(first);
  const { hostname, port, username, password } = new URL(primary.url);
  const standby = await start(second, {
    primary_conninfo: `host=${hostname} port=${port} user=${username} password=${password}`,
  });
  const ask = async <Row extends pg.QueryResultRow>({ url }: { url: string }, text: string) => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return (await client.query<Row>(text).finally(() => client.end())).rows;
  };
  await ask(primary, "alter system set synchronous_standby_names = '*'");
  await ask(primary, 'select pg_reload_conf()');
  const attached = "select from pg_stat_replication where sync_state = 'sync'";
  await until(async () => (await ask(primary, attached)).length === 1);
  return {
    get primary() {
      return primary;
    },
    standby,
    ask,
    async crash() {
      process.kill(primary.pid, 'SIGQUIT');
      await primary.lost;
    },
    async promote() {
      await ask(standby, 'select pg_promote()');
      await ask(standby, 'alter system reset synchronous_standby_names');
    },
    async revive() {
      // Starts without a synchronous standby: no other server follows this one, and a commit would wait for a standby forever.
      primary = await start(first, { synchronous_standby_names: '' });
    },
    async close() {
      // Stops the standby first, since a primary that stops waits for its standbys.
      await standby.stop();
      await primary.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Returns the URL of a database on several hosts, in libpq's format. */
export function atSeveral(database: string, ...hosts: readonly { url: string }[]): string {
  const { username, password } = new URL(hosts[0]!.url);
  const all = hosts.map(({ url }) => new URL(url).host).join(',');
  return `postgres://${username}:${password}@${all}/${database}?target_session_attrs=read-write`;
}
