import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sharedServer } from '../../../../tests/harness/testServer.ts';
import { postpone, reach, takeTurn } from './schedule.ts';

const server = await sharedServer();
const { database } = server.deps;

/** Returns for each of these tasks in how many minutes it is due, and whether `reach` has recorded a time for it. */
async function standing(...names: string[]) {
  const { rows } = await sql<{ name: string; minutes: number; reached: boolean }>`
    select name, round(extract(epoch from due_at - now()) / 60)::int as minutes, reached_at is not null as reached
    from schedule where name = any(${names}) order by name`.execute(database);
  return rows.map(({ name, minutes, reached }) => `${name} ${minutes}${reached ? ' reached' : ''}`);
}

test('of several processes one takes a task that is due, and a task is due once its time has come', async () => {
  const turns = await Promise.all(Array.from({ length: 5 }, () => takeTurn(database, 'once', 60)));
  assert.equal(turns.filter((turn) => turn !== null).length, 1);
  assert.equal(await takeTurn(database, 'once', 60), null);
  await postpone(database, 'once', 0);
  const again = await Promise.all(Array.from({ length: 5 }, () => takeTurn(database, 'once', 60)));
  assert.equal(again.filter((turn) => turn !== null).length, 1);
});

test('a task that is claimed, postponed or done moves no other', async () => {
  await takeTurn(database, 'a', 600);
  await takeTurn(database, 'b', 1_200);
  assert.deepEqual(await standing('a', 'b'), ['a 10', 'b 20']);
  await postpone(database, 'a', 3_600);
  assert.deepEqual(await standing('a', 'b'), ['a 60', 'b 20']);
  await reach(database, 'b', new Date());
  assert.deepEqual(await standing('a', 'b'), ['a 60', 'b 20 reached']);
});

test('a task is told what it has reached, by its next claim', async () => {
  const at = new Date('2026-03-01T10:00:00Z');
  assert.equal((await takeTurn(database, 'events of a test', 0))!.reachedAt, null);
  await reach(database, 'events of a test', at);
  assert.deepEqual((await takeTurn(database, 'events of a test', 0))!.reachedAt, at);
});
