import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { endsOf } from '../../tests/harness/endsOf.ts';
import { startInterruptible } from '../../tests/harness/interruptible.ts';
import { type Failure, startJoiners } from '../../tests/harness/joiners.ts';
import { nginxProgram, startNginx } from '../../tests/harness/nginx.ts';
import { type ServerProcess, startServerProcess, withSettings } from '../../tests/harness/serverProcess.ts';
import { onlyLong } from '../../tests/harness/testLength.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';
import { until } from '../../tests/harness/until.ts';
import { freePort } from '../../tools/local/ports.ts';
import { reconcile } from './books/reconcile.ts';
import { NO_DATABASE } from './platform/http/errors.ts';

/** How many joiners are simulated at the same time. */
const JOINERS = 8;
const ROUNDS = 5;
/** How long (ms) the database hangs (HANGS_MS), and how long it is down (GONE_MS). */
const HANGS_MS = 20_000;
const GONE_MS = 60_000;
const isMissing = !nginxProgram && 'nginx is not installed (apt-get install nginx-light)';

test('the example of a proxy keeps no log of who called, nor of links that open a join', {
  skip: isMissing,
}, async (t) => {
  const server = await startTestServer();
  t.after(() => server.close());
  const port = Number(new URL(server.url).port);
  const nginx = await startNginx([port, port]);
  t.after(() => nginx.close());
  const secret = 'pi_1_secret_2';
  await fetch(`${nginx.url}/registration/post-payment?payment_intent_client_secret=${secret}`);
  // nginx writes its access log before it closes a connection, so the log is complete after this request.
  await fetch(`${nginx.url}/healthz`, { headers: { connection: 'close' } });
  assert.equal(nginx.accessLog(), '');
});

test('two servers behind nginx lose nothing and nobody, whatever is restarted, killed, hung or gone', {
  skip: onlyLong || isMissing,
  timeout: 900_000,
}, async (t) => {
  const atEnd = endsOf(t);
  const database = await startInterruptible({ durable: true });
  atEnd(() => database.close());
  const { arranged } = database;
  const ports = [(await freePort())!, (await freePort())!] as const;
  const start = (port: number) =>
    startServerProcess(
      withSettings(arranged, { PORT: String(port), TRUST_PROXY: '127.0.0.1', LOG_LEVEL: 'error' }),
    );
  const servers: ServerProcess[] = await Promise.all(ports.map(start));
  atEnd(() => Promise.all(servers.map((server) => server.kill())));
  const nginx = await startNginx(ports);
  atEnd(() => nginx.close());

  const joiners = startJoiners(arranged, nginx.url, JOINERS);
  atEnd(() => joiners.leave());
  const { joined, broken } = joiners;
  /**
   * Runs `work`, then waits until the joiners together have finished two more joins for each joiner. Returns the failures during
   * that time.
   */
  const during = async (work: () => Promise<unknown>): Promise<Failure[]> => {
    joiners.failures = [];
    await Promise.race([work(), broken]);
    const sofar = joined.length;
    await Promise.race([until(() => joined.length >= sofar + 2 * JOINERS), broken]);
    return joiners.failures;
  };

  for (let round = 0; round < ROUNDS; round++) {
    for (const index of [0, 1]) {
      const restarted = await during(async () => {
        assert.equal(await servers[index]!.stop(), 0);
        servers[index] = await start(ports[index]!);
      });
      assert.deepEqual(ofNginx(restarted), [], nginx.log());
      const killed = await during(async () => {
        await servers[index]!.kill();
        servers[index] = await start(ports[index]!);
      });
      assert.ok(ofNginx(killed).length <= JOINERS, `not only what was under way: ${JSON.stringify(killed)}`);
    }
    const restart = await during(async () => {
      await database.end('SIGINT');
      await database.begin();
    });
    const hung = await during(async () => {
      const goOn = await database.hang();
      await pause(HANGS_MS).finally(goOn);
    });
    const gone = await during(async () => {
      await database.end('SIGQUIT');
      await pause(GONE_MS);
      await database.begin();
    });
    for (const failed of [hung, gone]) assert.ok(failed.some(({ text }) => text === NO_DATABASE));
    assert.deepEqual(ofNginx([...restart, ...hung, ...gone]), [], nginx.log());
    assert.deepEqual(
      servers.map((server) => server.ended()),
      [null, null],
    );
  }
  await joiners.finish();

  const members = await database.admin<{ count: number }>(
    `select count(*)::int from membership where type = 'membership' and standing = 'active'`,
  );
  assert.deepEqual(members, [{ count: joined.length }]);
  const { differences } = await reconcile(arranged.deps, { graceMinutes: 0 });
  assert.deepEqual(differences, []);
});

/** Returns those failures that nginx itself answered with its own HTML page, because it reached no server. */
function ofNginx(failures: readonly Failure[]): Failure[] {
  return failures.filter(({ isOurs }) => !isOurs);
}
