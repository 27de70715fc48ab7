import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import {
  type Interruptible,
  paidCalls,
  startInterruptible,
} from '../../../../tests/harness/interruptible.ts';
import { startServerProcess, withSettings } from '../../../../tests/harness/serverProcess.ts';
import { until } from '../../../../tests/harness/until.ts';
import { NO_DATABASE } from '../http/errors.ts';
import { connect as connectDatabase } from './client.ts';

let database: Interruptible;
before(async () => {
  database = await startInterruptible();
});
after(() => database.close());

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

for (const hanging of ['its processes stand still', 'the network swallows what is sent'] as const)
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
