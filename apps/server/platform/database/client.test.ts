import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Kysely, sql } from 'kysely';
import pg from 'pg';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { connect, type Database } from './client.ts';
import { postpone, reach, takeTurn } from './schedule.ts';
import { transaction } from './transaction.ts';
import type { Tables } from './types.ts';
import { asUnavailable, DatabaseUnavailable } from './unavailable.ts';

let made: TestDatabase;
let shared: Database;
before(async () => {
  made = await testDatabase();
  shared = connect(made.url);
});
after(async () => {
  await shared.destroy();
  await made.drop();
});

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

const codeIsAway = (code: string) => {
  const error = Object.assign(new pg.DatabaseError('no', 2, 'error'), { code });
  const thrown = asUnavailable(error);
  assert.ok(thrown === error || thrown instanceof DatabaseUnavailable);
  return thrown !== error;
};

test('an error of PostgreSQL is told from a database that is away or in trouble', () => {
  for (const code of [
    '08006', // connection_failure
    '25P03', // idle_in_transaction_session_timeout
    '25P04', // transaction_timeout
    '28P01', // invalid_password
    '3D000', // invalid_catalog_name
    '53100', // disk_full
    '53300', // too_many_connections
    '57014', // query_canceled
    '57P01', // admin_shutdown
    '57P03', // cannot_connect_now
    '58030', // io_error
    '25006', // read_only_sql_transaction
    '55P03', // lock_not_available
  ])
    assert.ok(codeIsAway(code), code);
  for (const code of [
    '22P02', // invalid_text_representation
    '23505', // unique_violation
    '25P02', // in_failed_sql_transaction
    '40P01', // deadlock_detected
    '42P01', // undefined_table
    '55006', // object_in_use
  ])
    assert.ok(!codeIsAway(code), code);
});

/** Returns for each of these tasks in how many minutes it is due, and whether `reach` has recorded a time for it. */
async function standing(...names: string[]) {
  const { rows } = await sql<{ name: string; minutes: number; reached: boolean }>`
    select name, round(extract(epoch from due_at - now()) / 60)::int as minutes, reached_at is not null as reached
    from schedule where name = any(${names}) order by name`.execute(shared);
  return rows.map(({ name, minutes, reached }) => `${name} ${minutes}${reached ? ' reached' : ''}`);
}

test('of several processes one takes a task that is due, and a task is due once its time has come', async () => {
  const turns = await Promise.all(Array.from({ length: 5 }, () => takeTurn(shared, 'once', 60)));
  assert.equal(turns.filter((turn) => turn !== null).length, 1);
  assert.equal(await takeTurn(shared, 'once', 60), null);
  await postpone(shared, 'once', 0);
  const again = await Promise.all(Array.from({ length: 5 }, () => takeTurn(shared, 'once', 60)));
  assert.equal(again.filter((turn) => turn !== null).length, 1);
});

test('a task that is claimed, postponed or done moves no other', async () => {
  await takeTurn(shared, 'a', 600);
  await takeTurn(shared, 'b', 1_200);
  assert.deepEqual(await standing('a', 'b'), ['a 10', 'b 20']);
  await postpone(shared, 'a', 3_600);
  assert.deepEqual(await standing('a', 'b'), ['a 60', 'b 20']);
  await reach(shared, 'b', new Date());
  assert.deepEqual(await standing('a', 'b'), ['a 60', 'b 20 reached']);
});

test('a task is told what it has reached, by its next claim', async () => {
  const at = new Date('2026-03-01T10:00:00Z');
  assert.equal((await takeTurn(shared, 'events of a test', 0))!.reachedAt, null);
  await reach(shared, 'events of a test', at);
  assert.deepEqual((await takeTurn(shared, 'events of a test', 0))!.reachedAt, at);
});
