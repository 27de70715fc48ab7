import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  type Answered,
  type Interruptible,
  otherConnections,
  paidCalls,
  startInterruptible,
} from '../../../../tests/harness/interruptible.ts';
import { startServerProcess } from '../../../../tests/harness/serverProcess.ts';
import { isLong } from '../../../../tests/harness/testLength.ts';
import { until } from '../../../../tests/harness/until.ts';
import { NO_DATABASE } from '../http/errors.ts';

let database: Interruptible;
before(async () => {
  database = await startInterruptible();
});
after(() => database.close());

async function restart(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
  await database.end(signal);
  await database.begin();
}

test('no server ends when its database restarts or ends its connections, and every call is answered', async (t) => {
  const { arranged } = database;
  const calls = await paidCalls(arranged);
  const servers = await Promise.all([startServerProcess(arranged), startServerProcess(arranged)]);
  t.after(() => Promise.all(servers.map((server) => server.kill())));
  const answers: Answered[] = [];
  let isOver = false;
  const asking = servers.flatMap((server) =>
    [calls.statement, calls.transaction, calls.transaction].map(async (call) => {
      while (!isOver) answers.push(await call(server));
    }),
  );
  const interruptions = [
    () => restart('SIGINT'),
    () => database.admin(`select pg_terminate_backend(pid) ${otherConnections}`),
    () => restart('SIGQUIT'),
    () => database.admin(`select pg_terminate_backend(pid) ${otherConnections}`),
  ];
  for (const interrupt of isLong ? [...interruptions, ...interruptions] : interruptions) {
    const sofar = answers.length;
    await interrupt();
    await until(() => answers.length > sofar + 20 && answers.at(-1)!.status === 200);
  }
  isOver = true;
  await Promise.all(asking);
  assert.deepEqual(
    servers.map((server) => server.ended()),
    [null, null],
  );
  const failed = answers.filter(({ status }) => status !== 200);
  assert.ok(failed.length > 0, 'no call met an interruption');
  for (const { status, body, retryAfter } of failed) {
    assert.deepEqual([status, body.message, retryAfter], [503, NO_DATABASE, '5']);
    assert.equal(body.reference, body.requestId!.slice(0, 8));
  }
  for (const server of servers)
    for (const call of [calls.statement, calls.transaction]) assert.equal((await call(server)).status, 200);
});
