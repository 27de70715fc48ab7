import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type Interruptible, startInterruptible } from '../../../../tests/harness/interruptible.ts';
import { launchServerProcess, withSettings } from '../../../../tests/harness/serverProcess.ts';
import { until } from '../../../../tests/harness/until.ts';
import { freePort } from '../../../../tools/local/ports.ts';
import { NO_DATABASE } from '../http/errors.ts';

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
  const told = server.log().filter(({ msg }) => /^the database/.test(String(msg)));
  assert.deepEqual(
    told.map(({ msg }) => msg),
    ['the database is waited for', 'the database was reached'],
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
    /The database at 127\.0\.0\.1:\d+ cannot be reached: connect ECONNREFUSED .*waited for 1 s \(DATABASE_WAIT_SECONDS\)/,
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

for (const [what, change, sentence] of [
  [
    'a wrong password',
    (url: URL) => {
      url.password = 'wrong';
    },
    /does not let us in: password authentication failed/,
  ],
  [
    'a database that does not exist',
    (url: URL) => {
      url.pathname = '/nothing';
    },
    /names a database that 127\.0\.0\.1:\d+ does not have/,
  ],
  [
    'TLS that the database does not speak',
    (url: URL) => {
      url.searchParams.set('sslmode', 'require');
    },
    /does not fit the database at 127\.0\.0\.1:\d+: The server does not support SSL connections/,
  ],
] as const)
  test(`${what} ends the start at once, with a sentence`, async () => {
    const { arranged } = database;
    const url = new URL(arranged.deps.config.databaseUrl);
    change(url);
    const server = launchServerProcess(withSettings(arranged, { DATABASE_URL: url.href }));
    await assert.rejects(server.listening);
    assert.equal(server.ended(), 1);
    assert.match(server.output(), sentence);
    assert.doesNotMatch(server.output(), /\n +at /);
  });

test('a connection that breaks while it migrates only begins the wait', async (t) => {
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
  await until(() => server.log().some(({ msg }) => msg === 'the database is waited for'));
  await database.begin();
  assert.equal(await statusOf(`${await server.listening}/readyz`), 200);
});
