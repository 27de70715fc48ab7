import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { connect, type Database } from './client.ts';
import { transaction } from './transaction.ts';
import type { Tables } from './types.ts';
import { DatabaseUnavailable } from './unavailable.ts';

let made: TestDatabase;
before(async () => {
  made = await testDatabase();
});
after(() => made.drop());

const pidOf = async (database: Database): Promise<number> =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database)).rows[0]!.pid;

test('a connection that breaks in the middle of a transaction fails that transaction and nothing else', async (t) => {
  const database = connect(made.url);
  t.after(() => database.destroy());
  const breaker = connect(made.url);
  t.after(() => breaker.destroy());
  const breakOff = async (pid: number) => {
    await sql`select pg_terminate_backend(${pid}, 5000)`.execute(breaker);
  };
  // The connection breaks between two statements of a transaction.
  await assert.rejects(
    database.transaction().execute(async (trx) => {
      await breakOff(await pidOf(trx));
      await new Promise(setImmediate);
      await pidOf(trx);
    }),
  );
  // The connection breaks while a statement of a transaction runs.
  await assert.rejects(
    database.transaction().execute(async (trx) => {
      const pid = await pidOf(trx);
      await Promise.all([sql`select pg_sleep(60)`.execute(trx), breakOff(pid)]);
    }),
  );
  await database.transaction().execute((trx) => pidOf(trx));
});

test('no connection compiles its statements, and a transaction alone knows for whom it works', async (t) => {
  const database = connect(made.url, { connections: 1 });
  t.after(() => database.destroy());
  const settings = (db: Kysely<Tables>) =>
    sql`select current_setting('jit') as jit, current_setting('induct.actor', true) as actor`
      .execute(db)
      .then(({ rows }) => rows);
  assert.deepEqual(await transaction({ database, actor: 'Dana' }, settings), [{ jit: 'off', actor: 'Dana' }]);
  for (const work of [transaction({ database, actor: null }, settings), settings(database)])
    assert.deepEqual(await work, [{ jit: 'off', actor: '' }]);
});

test('who gets no connection, since others have them all, is told so and not that the database is away', async (t) => {
  const waits = { connectMs: 2_000, statementMs: 60_000, answerMs: 60_000 };
  const database = connect(made.url, { connections: 1, waits });
  t.after(() => database.destroy());
  await database.connection().execute(async () => {
    await assert.rejects(pidOf(database), (error) => {
      assert.ok(error instanceof DatabaseUnavailable);
      assert.equal(error.message, 'of 1 connections none became free within 2000 ms');
      return true;
    });
  });
  await pidOf(database);
});

test('a statement that a timeout of the database itself cuts off counts as the database being away, and is no fault of ours', async (t) => {
  const database = connect(made.url);
  t.after(() => database.destroy());
  const holder = connect(made.url);
  t.after(() => holder.destroy());
  const isAway = (error: unknown) => error instanceof DatabaseUnavailable;
  await holder.transaction().execute(async (trx) => {
    await sql`lock table person`.execute(trx);
    // Some hosting providers set `lock_timeout` for every session.
    await assert.rejects(
      database.transaction().execute(async (waiting) => {
        await sql`set local lock_timeout = 50`.execute(waiting);
        await sql`select from person`.execute(waiting);
      }),
      isAway,
    );
  });
  await assert.rejects(
    database.transaction().execute(async (trx) => {
      await sql`set local transaction_timeout = 50`.execute(trx);
      await sql`select pg_sleep(60)`.execute(trx);
    }),
    isAway,
  );
});
