import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { placeCluster } from '../../tests/harness/database.ts';
import { temporaryFolder } from '../../tests/harness/temporaryFolder.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { until } from '../../tests/harness/until.ts';
import { startPostgres } from './postgres.ts';

/** Makes a data folder that a PostgreSQL has already used, since a first start takes long. */
function usedFolder(t: TestContext): string {
  const folder = temporaryFolder(t);
  placeCluster(folder);
  return folder;
}

test('a fresh folder gets a durable server that asks for a password and keeps it to itself', async (t) => {
  const dataDir = join(temporaryFolder(t), 'data');
  const server = await startPostgres({ dataDir });
  t.after(() => server.stop());
  assert.deepEqual(
    await ask(
      server.url,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('server_encoding') as encoding, current_setting('full_page_writes') as pages,
      current_setting('unix_socket_directories') as sockets, lower('É') as lower`,
    ),
    { fsync: 'on', commit: 'on', encoding: 'UTF8', pages: 'on', sockets: '', lower: 'é' },
  );
  const stranger = new URL(server.url);
  stranger.password = 'guess';
  await assert.rejects(ask(stranger.href, 'select 1'), /password authentication failed/);
  assert.equal(statSync(join(dataDir, 'postgres/connection.json')).mode & 0o777, 0o600);
  assert.equal(statSync(join(dataDir, 'postgres')).mode & 0o777, 0o700);
});

test('what was written is there after stop and start, at the same address', async (t) => {
  const dataDir = usedFolder(t);
  const first = await startPostgres({ dataDir });
  await ask(first.url, 'create table kept as select 1 as one');
  await first.stop();
  await assert.rejects(ask(first.url, 'select 1'), /ECONNREFUSED/);
  const second = await startPostgres({ dataDir });
  t.after(() => second.stop());
  assert.equal(second.url, first.url);
  assert.deepEqual(await ask(second.url, 'select one from kept'), { one: 1 });
});

test('a server that a killed process has left is stopped, and what was committed is there at the same address', async (t) => {
  const dataDir = usedFolder(t);
  const left = await startPostgres({ dataDir });
  await ask(left.url, 'create table kept as select 1 as one');
  const server = await startPostgres({ dataDir });
  t.after(() => server.stop());
  await left.lost;
  assert.equal(server.url, left.url);
  assert.deepEqual(await ask(server.url, 'select one from kept'), { one: 1 });
});

test('kill -9 of the server is noticed, and what was committed is there after the next start', {
  skip: onlyLong,
}, async (t) => {
  const dataDir = usedFolder(t);
  const first = await startPostgres({ dataDir });
  await ask(first.url, 'create table kept as select 1 as one');
  process.kill(first.pid, 'SIGKILL');
  await first.lost;
  const second = await startPostgres({ dataDir });
  t.after(() => second.stop());
  assert.equal(second.url, first.url);
  assert.deepEqual(await ask(second.url, 'select one from kept'), { one: 1 });
});

test('kill -9 of one connection makes the server recover without being lost', {
  skip: onlyLong,
}, async (t) => {
  const dataDir = usedFolder(t);
  const server = await startPostgres({ dataDir, durable: false });
  t.after(() => server.stop());
  const clients = [1, 2].map(() => new pg.Client({ connectionString: server.url }));
  const ended = clients.map(
    (client) => new Promise<void>((done) => client.on('error', () => {}).on('end', done)),
  );
  for (const client of clients) await client.connect();
  const { rows } = await clients[0]!.query<{ pid: number }>('select pg_backend_pid() as pid');
  process.kill(rows[0]!.pid, 'SIGKILL');
  // Until the server has noticed that a process of its own was killed, it accepts connections, and then ends them. It ends the
  // second connection when it has noticed that.
  await Promise.all(ended);
  await until(() =>
    ask(server.url, 'select').then(
      () => true,
      () => false,
    ),
  );
  assert.equal(await Promise.race([server.lost.then(() => 'lost'), 'runs']), 'runs');
  assert.deepEqual(await ask(server.url, 'select 1 as one'), { one: 1 });
});

test('a pid file whose number now belongs to another program is cleared', async (t) => {
  const dataDir = usedFolder(t);
  await (await startPostgres({ dataDir })).stop();
  // PostgreSQL ignores a lock file that names its own parent or a process of another user. So the test starts another process of
  // this user.
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1e6)'], { stdio: 'ignore' });
  t.after(() => other.kill('SIGKILL'));
  writeFileSync(
    join(dataDir, 'postgres/postmaster.pid'),
    `${other.pid}\n${join(dataDir, 'postgres')}\n0\n1\n\n\n\nready\n`,
  );
  const server = await startPostgres({ dataDir });
  await server.stop();
});

test('a copied data folder starts a server of its own beside the original', { skip: onlyLong }, async (t) => {
  const folder = temporaryFolder(t);
  placeCluster(join(folder, 'a'));
  const original = await startPostgres({ dataDir: join(folder, 'a') });
  t.after(() => original.stop());
  await ask(original.url, 'checkpoint');
  cpSync(join(folder, 'a'), join(folder, 'b'), { recursive: true });
  chmodSync(join(folder, 'b/postgres'), 0o700);
  const copy = await startPostgres({ dataDir: join(folder, 'b') });
  t.after(() => copy.stop());
  assert.notEqual(new URL(copy.url).port, new URL(original.url).port);
});

test('a data folder that was half made when its maker was killed is made again', {
  skip: onlyLong,
}, async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'postgres.new'));
  writeFileSync(join(dataDir, 'postgres.new/PG_VERSION'), '18\n');
  const server = await startPostgres({ dataDir, durable: false });
  t.after(() => server.stop());
  assert.deepEqual(await ask(server.url, 'select 1 as one'), { one: 1 });
  assert.equal(existsSync(join(dataDir, 'postgres.new')), false);
});

test('a folder of another PostgreSQL is refused with a sentence', async (t) => {
  const dataDir = temporaryFolder(t);
  mkdirSync(join(dataDir, 'postgres'));
  writeFileSync(join(dataDir, 'postgres/PG_VERSION'), '16\n');
  await assert.rejects(
    startPostgres({ dataDir }),
    /was made by PostgreSQL 16 and this is 18: move that folder away/,
  );
});

const asRoot = { skip: process.getuid?.() !== 0 && 'needs root' };

test(
  'root where user namespaces are refused: an unprivileged account, also for a folder only root may enter',
  asRoot,
  async (t) => {
    // Only root may enter the parent folder, which has mode 700. The data must therefore be placed elsewhere.
    const dataDir = join(temporaryFolder(t), 'data');
    const first = await startPostgres({ dataDir, refuseNamespaces: true });
    await ask(first.url, 'create table kept as select 1 as one');
    if (process.platform === 'linux')
      assert.doesNotMatch(readFileSync(`/proc/${first.pid}/status`, 'utf8'), /^Uid:\s+0\s/m);
    await first.stop();
    const second = await startPostgres({ dataDir });
    assert.deepEqual(await ask(second.url, 'select one from kept'), { one: 1 });
    await second.stop();
    rmSync(dirname(realpathSync(join(dataDir, 'postgres'))), { recursive: true });
  },
);

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query(sql);
    return rows[0];
  } finally {
    await client.end();
  }
}
