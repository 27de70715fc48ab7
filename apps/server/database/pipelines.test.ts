import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import { type TestDatabase, testDatabase } from '../../../local/testing/database.ts';
import { until } from '../../../local/testing/startedInduct.ts';
import { Pipelines } from './pipelines.ts';

let made: TestDatabase;
before(async () => {
  made = await testDatabase();
});
after(() => made.drop());

const connecting = (connectionString = made.url) => new pg.Client({ connectionString, pipeline: true });

/** Pipelines that are ended with the test. */
function pipelinesFor(
  t: { after(done: () => Promise<void>): void },
  {
    most = 10,
    make = () => connecting(),
    ...rest
  }: { most?: number; make?: () => pg.Client; heldUpAfterMs?: number } = {},
): Pipelines {
  const pipelines = new Pipelines(make, { most, ...rest });
  t.after(() => pipelines.end());
  return pipelines;
}

const pidOf = async (pipelines: Pipelines): Promise<number> =>
  (await pipelines.query<{ pid: number }>({ text: 'select pg_backend_pid() as pid' })).rows[0]!.pid;

test('a hundred statements at once share three connections; each has its own answer or its own fault', async (t) => {
  const pipelines = pipelinesFor(t);
  const asked = await Promise.allSettled(
    Array.from({ length: 100 }, (_, number) =>
      pipelines.query<{ quotient: number; pid: number }>({
        text: 'select 5040 / $1::int as quotient, pg_backend_pid() as pid',
        values: [number % 8],
      }),
    ),
  );
  const pids = new Set<number>();
  for (const [number, answer] of asked.entries()) {
    if (number % 8 === 0) {
      assert.equal(answer.status === 'rejected' && answer.reason.code, '22012', 'divided by zero');
    } else {
      assert.ok(answer.status === 'fulfilled');
      assert.equal(answer.value.rows[0]!.quotient, 5040 / (number % 8));
      pids.add(answer.value.rows[0]!.pid);
    }
  }
  assert.equal(pids.size, 3);
});

test('a statement alone uses the connection that is there', async (t) => {
  const pipelines = pipelinesFor(t);
  const first = await pidOf(pipelines);
  assert.equal(await pidOf(pipelines), first);
});

test('a statement does not stand behind those that wait for a lock; what was opened for it is closed again', async (t) => {
  const pipelines = pipelinesFor(t, { heldUpAfterMs: 0 });
  const holder = new pg.Client({ connectionString: made.url });
  await holder.connect();
  t.after(() => holder.end());
  await holder.query('select pg_advisory_lock(7)');
  const waiting = Array.from({ length: 5 }, () =>
    pipelines.query<{ pid: number }>({
      text: 'select pg_advisory_xact_lock($1), pg_backend_pid() as pid',
      values: [7],
    }),
  );
  const passing = await pidOf(pipelines);
  await holder.query('select pg_advisory_unlock(7)');
  const pids = (await Promise.all(waiting)).map(({ rows }) => rows[0]!.pid);
  assert.equal(new Set([...pids, passing]).size, 6);
  const others =
    'select count(*)::int from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()';
  await until(async () => (await holder.query<{ count: number }>(others)).rows[0]!.count === 3, 5000);
});

test('with no more connections to open, a statement waits its turn', async (t) => {
  const pipelines = pipelinesFor(t, { most: 2, heldUpAfterMs: 0 });
  const pids = await Promise.all(Array.from({ length: 20 }, () => pidOf(pipelines)));
  assert.equal(new Set(pids).size, 2);
});

test('a connection that breaks fails what is under way on it, and the next statement opens another', async (t) => {
  const pipelines = pipelinesFor(t, { most: 1 });
  const before = await pidOf(pipelines);
  const broken = await Promise.allSettled([
    pipelines.query({ text: 'select pg_terminate_backend(pg_backend_pid())' }),
    pidOf(pipelines),
    pidOf(pipelines),
  ]);
  assert.deepEqual(
    broken.map(({ status }) => status),
    ['rejected', 'rejected', 'rejected'],
  );
  assert.notEqual(await pidOf(pipelines), before);
});

test('a database that cannot be reached is said to be so, and is asked again', async (t) => {
  let isThere = false;
  const pipelines = pipelinesFor(t, {
    make: () => connecting(isThere ? made.url : 'postgres://nobody@127.0.0.1:1/none'),
  });
  const refused = await Promise.allSettled([pidOf(pipelines), pidOf(pipelines)]);
  for (const answer of refused)
    assert.equal(answer.status === 'rejected' && answer.reason.code, 'ECONNREFUSED');
  isThere = true;
  assert.ok((await pidOf(pipelines)) > 0);
});

test('a connection that was idle for long is not used again', async (t) => {
  const pipelines = pipelinesFor(t);
  const before = await pidOf(pipelines);
  const now = performance.now();
  t.mock.method(performance, 'now', () => now + 10_001);
  assert.notEqual(await pidOf(pipelines), before);
});

test('the end waits for what is under way, and nothing is asked after it', async () => {
  const pipelines = new Pipelines(connecting, { most: 10 });
  const asked = Array.from({ length: 10 }, () => pidOf(pipelines));
  await pipelines.end();
  assert.equal((await Promise.all(asked)).length, 10);
  await assert.rejects(pidOf(pipelines), /ended/);
});
