import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import {
  type Answered,
  type Interruptible,
  otherConnections,
  paidCalls,
  startInterruptible,
} from '../../../../tests/harness/interruptible.ts';
import {
  launchServerProcess,
  startServerProcess,
  withSettings,
} from '../../../../tests/harness/serverProcess.ts';
import { isLong, onlyLong } from '../../../../tests/harness/testLength.ts';
import { until } from '../../../../tests/harness/until.ts';
import { freePort } from '../../../../tools/local/ports.ts';
import { NO_DATABASE } from '../http/errors.ts';
import { connect as connectDatabase } from './client.ts';
import { migrate } from './migrate.ts';
import { sentenceOf } from './whenReached.ts';

let database: Interruptible;
before(async () => {
  database = await startInterruptible();
});
after(() => database.close());

/** Returns the HTTP status of a URL; null if the connection is refused. */
async function statusOf(url: string): Promise<number | null> {
  return fetch(url).then(
    ({ status }) => status,
    () => null,
  );
}

test('a server that starts without its database answers 503 meanwhile, and serves as soon as it is there', async (t) => {
  const { arranged } = database;
  const port = (await freePort())!;
  const url = `http://127.0.0.1:${port}`;
  await database.end('SIGINT');
  const server = launchServerProcess(withSettings(arranged, { PORT: String(port), LOG_LEVEL: 'info' }));
  t.after(() => server.kill());
  await until(async () => (await statusOf(`${url}/healthz`)) === 200);

  const readiness = await fetch(`${url}/readyz`);
  assert.deepEqual(
    [readiness.status, await readiness.json()],
    [503, { ready: false, missing: ['database'] }],
  );
  const call = await fetch(`${url}/api/public/eligibility/check`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ invitationCode: 'HONOR101', isTOLA: true }),
  });
  assert.deepEqual([call.status, call.headers.get('retry-after')], [503, '5']);
  const { requestId, ...failure } = (await call.json()) as { requestId: string };
  assert.deepEqual(failure, {
    success: false,
    status: 'error',
    code: 'unavailable',
    message: NO_DATABASE,
    reference: requestId.slice(0, 8),
  });
  const page = await fetch(`${url}/registration/checkout`);
  assert.deepEqual([page.status, page.headers.get('retry-after')], [503, '5']);
  assert.match(page.headers.get('content-type')!, /^text\/html/);
  const html = await page.text();
  assert.match(html, /<h1>One moment, please<\/h1>/);
  assert.match(html, /Collegiate Honor Society/);
  const [, shown] = /Reference: ([0-9a-f]{8})</.exec(html) ?? [];
  assert.ok(page.headers.get('x-request-id')!.startsWith(shown!));
  await until(() => server.log().some(({ reqId }) => String(reqId).startsWith(shown!)));

  await database.begin();
  assert.equal(await server.listening, url);
  assert.equal(await statusOf(`${url}/readyz`), 200);
  assert.equal((await fetch(`${url}/api/public/site`)).status, 200);
  await until(() => server.log().some(({ msg }) => msg === 'listening'));
  const told = server.log().filter(({ msg }) => /^(waiting for )?the database/.test(String(msg)));
  assert.deepEqual(
    told.map(({ msg }) => msg),
    ['waiting for the database', 'the database was reached'],
  );
});

test('a wait that is over ends with a sentence that names the setting and no password', async () => {
  const { arranged } = database;
  const nowhere = `postgres://induct:secret@127.0.0.1:${await freePort()}/induct`;
  const server = launchServerProcess(
    withSettings(arranged, { DATABASE_URL: nowhere, DATABASE_WAIT_SECONDS: '1' }),
  );
  await assert.rejects(server.listening);
  assert.equal(server.ended(), 1);
  assert.match(
    server.output(),
    /The database at 127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED .*Waited 1 s for it \(DATABASE_WAIT_SECONDS\)/,
  );
  assert.doesNotMatch(server.output(), /secret|\n +at /);
});

test('a server that waits for its database stops when it is told to', async () => {
  const { arranged } = database;
  const nowhere = `postgres://induct@127.0.0.1:${await freePort()}/induct`;
  const server = launchServerProcess(withSettings(arranged, { DATABASE_URL: nowhere, LOG_LEVEL: 'warn' }));
  await until(() => server.log().length > 0);
  assert.equal(await server.stop(), 0);
});

test('settings that do not fit the database end the start at once, with a sentence', async () => {
  const { arranged } = database;
  for (const [change, sentence] of [
    [{ pathname: '/nothing' }, /names a database that 127\.0\.0\.1:\d+ does not have/],
    [{ search: 'sslmode=require' }, /does not fit the database at .*: The server does not support SSL/],
  ] as const) {
    const { href } = Object.assign(new URL(arranged.deps.config.databaseUrl), change);
    const refused = await migrate(href).catch((error: unknown) => sentenceOf(error, href));
    assert.match(String(refused), sentence);
  }
  const wrong = Object.assign(new URL(arranged.deps.config.databaseUrl), { password: 'wrong' });
  const server = launchServerProcess(withSettings(arranged, { DATABASE_URL: wrong.href }));
  await assert.rejects(server.listening);
  assert.equal(server.ended(), 1);
  assert.match(server.output(), /does not let us in: password authentication failed/);
  assert.doesNotMatch(server.output(), /\n +at /);
});

test('a connection that breaks while it migrates only begins the wait', { skip: onlyLong }, async (t) => {
  const { arranged } = database;
  const holder = new pg.Client({ connectionString: arranged.deps.config.databaseUrl });
  holder.on('error', () => {});
  await holder.connect();
  // Locks the table, so that the server's query for the applied migrations waits for the lock.
  await holder.query('begin; lock table migration');
  const server = launchServerProcess(withSettings(arranged, { LOG_LEVEL: 'warn' }));
  t.after(() => server.kill());
  const waiting = "select from pg_locks where not granted and relation = 'migration'::regclass";
  await until(async () => (await holder.query(waiting)).rowCount === 1);
  await database.end('SIGQUIT');
  await until(() => server.log().some(({ msg }) => msg === 'waiting for the database'));
  await database.begin();
  assert.equal(await statusOf(`${await server.listening}/readyz`), 200);
});

async function restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  await database.end(signal);
  await database.begin();
}

test('a server does not end when its database restarts or ends its connections, and every call is answered', async (t) => {
  const { arranged } = database;
  const calls = await paidCalls(arranged);
  const server = await startServerProcess(arranged);
  t.after(() => server.kill());
  const answers: Answered[] = [];
  let isOver = false;
  const asking = [calls.statement, calls.transaction, calls.transaction].map(async (call) => {
    while (!isOver) answers.push(await call(server));
  });
  const interruptions = [
    () => restart('SIGINT'),
    () => database.admin(`select pg_terminate_backend(pid) ${otherConnections}`),
    () => restart('SIGQUIT'),
  ];
  for (const interrupt of isLong ? [...interruptions, ...interruptions] : interruptions) {
    const sofar = answers.length;
    await interrupt();
    await until(() => answers.length > sofar + 20 && answers.at(-1)!.status === 200);
  }
  isOver = true;
  await Promise.all(asking);
  assert.equal(server.ended(), null);
  const failed = answers.filter(({ status }) => status !== 200);
  assert.ok(failed.length > 0, 'no call met an interruption');
  for (const { status, body, retryAfter } of failed) {
    assert.deepEqual([status, body.message, retryAfter], [503, NO_DATABASE, '5']);
    assert.equal(body.reference, body.requestId!.slice(0, 8));
  }
  for (const call of [calls.statement, calls.transaction]) assert.equal((await call(server)).status, 200);
});

/**
 * Starts a TCP proxy between a server and its database. While the proxy is cut, it drops all bytes but keeps connections open.
 * `cut` returns a function that ends the cut and closes all connections.
 */
async function network(databaseUrl: string) {
  const address = new URL(databaseUrl);
  const [host, port] = [address.hostname, Number(address.port)];
  const sockets = new Set<Socket>();
  let isCut = false;
  const proxy = createServer({ allowHalfOpen: true }, (near) => {
    const far = connect({ port, host, allowHalfOpen: true });
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.on('data', (bytes) => isCut || to.write(bytes));
      from.on('end', () => isCut || to.end());
      from.on('error', () => {});
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
    }
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  address.port = String((proxy.address() as AddressInfo).port);
  return {
    url: address.href,
    cut() {
      isCut = true;
      return () => {
        isCut = false;
        for (const socket of sockets) socket.destroy();
      };
    },
    close() {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

for (const hanging of isLong
  ? (['its processes stand still', 'the network swallows what is sent'] as const)
  : (['the network swallows what is sent'] as const))
  test(`when a database does not answer since ${hanging}, calls end in time with a sentence and a reference`, async (t) => {
    const { arranged } = database;
    const calls = await paidCalls(arranged);
    const between = await network(arranged.deps.config.databaseUrl);
    t.after(() => between.close());
    const server = await startServerProcess(
      withSettings(arranged, { DATABASE_URL: between.url, LOG_LEVEL: 'info' }),
    );
    t.after(() => server.kill());
    assert.equal((await calls.statement(server)).status, 200);
    assert.equal((await calls.transaction(server)).status, 200);

    const goOn = hanging === 'its processes stand still' ? await database.hang() : between.cut();
    try {
      const first = await Promise.all(
        Array.from({ length: 30 }, (_, index) =>
          index % 2 === 0 ? calls.statement(server) : calls.transaction(server),
        ),
      );
      const second = await Promise.all([calls.statement(server), calls.transaction(server)]);
      const ended = [...first, ...second];
      for (const { status, body, retryAfter } of ended)
        assert.deepEqual([status, body.message, retryAfter], [503, NO_DATABASE, '5']);
      const lineOf = ({ body }: (typeof ended)[number], msg: string) =>
        server.log().find((line) => line.msg === msg && String(line.reqId).startsWith(body.reference!));
      await until(() => ended.every((call) => lineOf(call, 'the database did not answer a call')));
    } finally {
      goOn();
    }
    await until(async () => (await calls.transaction(server)).status === 200);
    assert.equal((await calls.statement(server)).status, 200);
  });

test('connections whose other end hears no goodbye are left all the same', async () => {
  const between = await network(database.arranged.deps.config.databaseUrl);
  const away = connectDatabase(between.url);
  try {
    await Promise.all([1, 2, 3].map((number) => sql`select ${number}::int`.execute(away)));
    between.cut();
    await away.destroy();
  } finally {
    between.close();
  }
});

test('a server is not ready while its database or its storage is away, or lacks a migration, and says which', async (t) => {
  const { arranged } = database;
  const server = await startServerProcess(
    withSettings(arranged, { STORAGE_URL: 'file:///proc/nothing/here' }),
  );
  t.after(() => server.kill());
  const { url } = server;
  const missing = async () =>
    ((await (await fetch(`${url}/readyz`)).json()) as { missing: string[] }).missing;
  assert.deepEqual(await missing(), ['storage']);
  const last = 'select max(name) from migration';
  const rows = await database.admin(`delete from migration where name = (${last}) returning *`);
  assert.equal(rows.length, 1);
  await until(async () => (await missing()).includes('migrations'));
  assert.equal((await fetch(`${url}/readyz`)).status, 503);
  await database.end('SIGINT');
  await until(async () => (await missing()).includes('database'));
  assert.equal((await fetch(`${url}/healthz`)).status, 200);
  assert.equal((await fetch(`${url}/api/health`)).status, 200);
  await database.begin();
  const row = JSON.stringify(rows[0]);
  await database.admin(`insert into migration select * from json_populate_record(null::migration, '${row}')`);
});

test('a server all of whose connections are busy is ready: to send its calls to another server would only move the load', async () => {
  const { arranged } = database;
  // Each of the ten connections for calls is held until `release` is called.
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const held = Array.from({ length: 10 }, async () => {
    const { promise: isHeld, resolve: hold } = Promise.withResolvers<void>();
    const ended = arranged.deps.database.connection().execute(async () => {
      hold();
      await released;
    });
    await isHeld;
    return { ended };
  });
  const holders = await Promise.all(held);
  await assert.rejects(sql`select`.execute(arranged.deps.database), 'no connection for calls is free');
  const ready = await fetch(`${arranged.url}/readyz`);
  release();
  await Promise.all(holders.map(({ ended }) => ended));
  assert.deepEqual(await ready.json(), { ready: true, missing: [] });
});
