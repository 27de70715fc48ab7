import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  runOperator,
  settingsOf,
  startServerProcess,
  withSettings,
} from '../../../../tests/harness/serverProcess.ts';
import { atSeveral, type Pair, startPair } from '../../../../tests/harness/standby.ts';
import { paidJoin } from '../../../../tests/harness/steps.ts';
import { onlyLong } from '../../../../tests/harness/testLength.ts';
import { browser, startTestServer, type TestServer } from '../../../../tests/harness/testServer.ts';
import { until } from '../../../../tests/harness/until.ts';
import { freePort } from '../../../../tools/local/ports.ts';
import { NO_DATABASE } from '../http/errors.ts';
import { connect, type Database } from './client.ts';
import { connectToPrimary } from './primary.ts';
import { DatabaseUnavailable } from './unavailable.ts';

let pair: Pair;
let server: TestServer;
/** The name of the test's database, and a DATABASE_URL with both hosts, of which the standby comes first. */
let name: string;
let url: string;
before(async () => {
  pair = await startPair();
  server = await startTestServer({}, { postgresUrl: pair.primary.url });
  name = new URL(server.deps.config.databaseUrl).pathname.slice(1);
  url = atSeveral(name, pair.standby, pair.primary);
});
after(async () => {
  await server.close();
  await pair.close();
});

const portOf = ({ url }: { url: string }) => Number(new URL(url).port);
const portAsked = async (database: Database) =>
  (await sql<{ port: number }>`select inet_server_port() as port`.execute(database)).rows[0]!.port;
const write = (database: Database) => sql`create temporary table written ()`.execute(database);

/**
 * Makes the primary read-only or writable. Open connections take on the change a moment later, when the server has reloaded its
 * configuration.
 */
const setReadOnly = async (value: 'on' | 'off') => {
  await pair.ask(pair.primary, `alter system set default_transaction_read_only = ${value}`);
  await pair.ask(pair.primary, 'select pg_reload_conf()');
};
const isReadOnly = async (database: Database) =>
  (await sql<{ told: string }>`select current_setting('transaction_read_only') as told`.execute(database))
    .rows[0]!.told === 'on';

test('of several hosts the one that takes writes is asked, whatever their order', async (t) => {
  for (const hosts of [
    [pair.standby, pair.primary],
    [pair.primary, pair.standby],
  ]) {
    const database = connect(atSeveral('induct', ...hosts));
    t.after(() => database.destroy());
    assert.equal(await portAsked(database), portOf(pair.primary));
    const { client, address } = await connectToPrimary(atSeveral('induct', ...hosts));
    await client.end();
    assert.equal(Number(new URL(address).port), portOf(pair.primary));
  }
});

test('a single address that asks for writes is not used while it leads to a standby, as a proxy may after a failover', async (t) => {
  const database = connect(atSeveral('induct', pair.standby));
  t.after(() => database.destroy());
  await assert.rejects(portAsked(database), /no host takes writes/);
  await assert.rejects(connectToPrimary(atSeveral('induct', pair.standby)), /no host takes writes/);
});

test('a host that is silent, or is not there, delays nobody', async (t) => {
  const nobody = { url: `postgres://127.0.0.1:${await freePort()}` };
  // An address that RFC 5737 reserves for documentation: connecting to it times out or fails.
  const silent = { url: 'postgres://192.0.2.1:5432' };
  const database = connect(atSeveral('induct', pair.standby, nobody, silent, pair.primary));
  t.after(() => database.destroy());
  assert.equal(await portAsked(database), portOf(pair.primary));
});

test('where no host takes writes, each is named with its reason; a wrong password is told as one', async () => {
  const nobody = { url: `postgres://127.0.0.1:${await freePort()}` };
  const words = new RegExp(
    `no host takes writes \\(127\\.0\\.0\\.1:${portOf(pair.standby)}: it takes no writes; 127\\.0\\.0\\.1:${portOf(nobody)}: connect ECONNREFUSED`,
  );
  await assert.rejects(connectToPrimary(atSeveral('induct', pair.standby, nobody)), (error) => {
    assert.ok(error instanceof DatabaseUnavailable);
    assert.match(error.message, words);
    return true;
  });
  const wrong = atSeveral('induct', pair.standby, pair.primary).replace(/:[^:@]+@/, ':wrong@');
  await assert.rejects(connectToPrimary(wrong), { code: '28P01' });
});

test('a connection to a host that takes no writes any more is given up', async (t) => {
  t.after(() => setReadOnly('off'));
  const alone = connect(pair.primary.url, { connections: 1 });
  const several = connect(atSeveral('induct', pair.standby, pair.primary), { connections: 1 });
  t.after(() => Promise.all([alone.destroy(), several.destroy()]));
  const pidOf = async (database: Database) =>
    (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database)).rows[0]!.pid;
  const [pid] = [await pidOf(alone), await pidOf(several)];

  await setReadOnly('on');
  await until(async () => (await isReadOnly(alone)) && (await isReadOnly(several)));
  await assert.rejects(write(alone), DatabaseUnavailable);
  await assert.rejects(write(several), DatabaseUnavailable);
  assert.notEqual(await pidOf(alone), pid);
  await assert.rejects(pidOf(several), /no host takes writes/);

  await setReadOnly('off');
  await until(() =>
    pidOf(several).then(
      () => true,
      () => false,
    ),
  );
  await write(several);
});

test('a new connection to a host that has stopped to take writes is not used', async (t) => {
  const several = connect(atSeveral('induct', pair.standby, pair.primary), { connections: 2 });
  t.after(() => several.destroy());
  t.after(() => setReadOnly('off'));
  await several.connection().execute(async (first) => {
    await portAsked(first);
    await setReadOnly('on');
    await until(() => isReadOnly(first));
    await assert.rejects(portAsked(several), /^Error: it takes no writes/);
  });
});

test('when the primary dies and the standby is promoted, a server goes on with the new one and has lost nothing', {
  skip: onlyLong,
}, async (t) => {
  const running = await startServerProcess(withSettings(server, { DATABASE_URL: url, LOG_LEVEL: 'error' }));
  t.after(() => running.kill());
  const client = browser(running.url);
  const { uuid } = await paidJoin(server, client);
  const welcome = () => client.call('getWelcome', { params: { uuid } });
  assert.equal((await welcome()).status, 200);

  await pair.crash();
  // Revives the primary even if the test fails, since cleaning up needs both servers.
  t.after(() => pair.revive());
  const failed = await welcome();
  assert.deepEqual([failed.status, failed.message], [503, NO_DATABASE]);
  const operator = () => runOperator({ ...settingsOf(server), DATABASE_URL: url }, ['find', uuid]);
  const away = await operator();
  assert.equal(away.code, 1);
  assert.match(
    away.output,
    /^The database at 127\.0\.0\.1:\d+, 127\.0\.0\.1:\d+ cannot be reached: no host takes writes/,
  );

  await pair.promote();
  await until(async () => (await welcome()).status === 200);
  await paidJoin(server, browser(running.url));
  assert.equal((await operator()).code, 0);
  const promoted = { url: atSeveral(name, pair.standby) };
  assert.equal((await pair.ask(promoted, 'select from membership')).length, 2);
  assert.equal(running.ended(), null);
});
