import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { readLimits } from '../config/limits.ts';
import { settingReader } from '../config/reader.ts';
import { connect, type Database } from '../database/client.ts';
import { patience } from '../database/patience.ts';
import { countWithin, forgetCounts } from './limits.ts';

let made: TestDatabase;
/** Two connection pools on one database, as two servers have them. */
let servers: Database[];
before(async () => {
  made = await testDatabase();
  // Without a limit on the wait for a free connection: a hundred calls at once share ten.
  const waits = { ...patience.ofWork, connectMs: 0 };
  servers = [connect(made.url, { waits }), connect(made.url, { waits })];
});
after(async () => {
  await Promise.all(servers.map((database) => database.destroy()));
  await made.drop();
});

const limit = { count: 5, minutes: 10 };
const isWithin = (key: string, server = 0) => countWithin(servers[server]!, 'resume', key, limit);

test('of 200 at once, at two servers, as many get through as may', async () => {
  const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => isWithin('at once', n % 2)));
  assert.equal(answers.filter(Boolean).length, limit.count);
});

test('what was counted in the window counts, whichever part of it, and nothing longer', async () => {
  const age = (minutes: number) =>
    sql`update limit_count set window_start = window_start - make_interval(mins => ${minutes}) where key = 'window'`.execute(
      servers[0]!,
    );
  for (let time = 0; time < 3; time++) assert.equal(await isWithin('window'), true);
  await age(5);
  const later = await Promise.all(Array.from({ length: 50 }, () => isWithin('window')));
  assert.equal(later.filter(Boolean).length, 2);
  await age(6);
  assert.equal(await isWithin('window'), true, 'the first three are forgotten');
});

test('what was counted more than a day ago is forgotten', async () => {
  const keys = async () => {
    const { rows } = await sql<{ key: string }>`select key from limit_count where key like 'old%'`.execute(
      servers[0]!,
    );
    return rows.map(({ key }) => key);
  };
  await isWithin('old');
  await isWithin('older');
  await sql`update limit_count set window_start = now() - interval '25 hours' where key = 'older'`.execute(
    servers[0]!,
  );
  await forgetCounts(servers[0]!, null);
  assert.deepEqual(await keys(), ['old']);
});

test('what was counted is kept for a day, and longer for a limit with a longer window', async () => {
  const [database] = servers as [Database];
  await sql`
    insert into limit_count (name, key, window_start, count)
    select 'kept', hours, now() - make_interval(hours => hours), 1 from unnest(array[23, 25, 49]) as age (hours)`.execute(
    database,
  );
  const forget = async (window: string) => {
    await forgetCounts(database, readLimits(settingReader({ LIMIT_RESUMES_PER_ADDRESS: window })));
    const { rows } = await sql<{ key: string }>`
      select key from limit_count where name = 'kept' order by key`.execute(database);
    return rows.map(({ key }) => key);
  };
  assert.deepEqual(await forget('300/2880'), ['23', '25']);
  assert.deepEqual(await forget('300/60'), ['23']);
});
