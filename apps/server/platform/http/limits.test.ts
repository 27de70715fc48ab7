import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { readLimits } from '../config/limits.ts';
import { settingReader } from '../config/reader.ts';
import { connect, type Database } from '../database/client.ts';
import { patience } from '../database/patience.ts';
import { browserCookie } from './browserCookie.ts';
import { countedAddress } from './countedAddress.ts';
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

for (const [address, counted] of [
  ['198.51.100.7', '198.51.100.7'],
  ['::ffff:198.51.100.7', '198.51.100.7'],
  ['::ffff:c633:6407', '198.51.100.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:DB8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  // Azure Application Gateway appends the caller's port to X-Forwarded-For.
  ['198.51.100.7:5678', '198.51.100.7'],
  ['[2001:db8:1:2::7]:5678', '2001:db8:1:2::/64'],
  ['[2001:db8:1:2::7]', '2001:db8:1:2::/64'],
  ['[::ffff:198.51.100.7]:443', '198.51.100.7'],
  ['unknown', 'unknown'],
  ['', ''],
] as const)
  test(`${address} is counted as ${counted}`, () => {
    assert.equal(countedAddress(address), counted);
  });

test('an IPv6 address is counted by its first 64 bits, however it is written, and no others', () => {
  const group = fc.nat(0xffff).map((value) => value.toString(16));
  const groups = (count: number) => fc.array(group, { minLength: count, maxLength: count });
  const isMapped = (parts: string[]) => parts.slice(0, 4).every((part) => part === '0');
  fc.assert(
    fc.property(groups(4), groups(4), groups(4), (network, one, two) => {
      fc.pre(!isMapped(network));
      const written = [...network, ...one].join(':');
      assert.equal(countedAddress(written), countedAddress([...network, ...two].join(':')));
      assert.equal(countedAddress(written.toUpperCase()), countedAddress(written));
      const other = [(Number.parseInt(network[0]!, 16) ^ 1).toString(16), ...network.slice(1)];
      assert.notEqual(countedAddress(written), countedAddress([...other, ...one].join(':')));
    }),
  );
});

test('an IPv4 address is the same one within IPv6', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      assert.equal(countedAddress(`::ffff:${address}`), countedAddress(address));
    }),
  );
});

const cookies = browserCookie(['a secret'], false);

function browser() {
  const request = { headers: {} } as FastifyRequest;
  const reply = {
    request,
    header(_: string, value: string) {
      request.headers.cookie = value.split(';')[0]!;
    },
  } as unknown as FastifyReply;
  return { request, reply };
}

test('a cookie holds the last ten joins that were paid or proven, and the last sixteen that were only begun', () => {
  const { request, reply } = browser();
  const sure = Array.from({ length: 12 }, () => randomUUID());
  for (const [index, uuid] of sure.entries()) {
    cookies.giveBegan(reply, uuid);
    if (index !== 5) cookies.givePaid(reply, uuid);
    if (index !== 6) cookies.giveProven(reply, uuid);
  }
  const begun = Array.from({ length: 20 }, () => randomUUID());
  for (const uuid of begun) cookies.giveBegan(reply, uuid);
  assert.deepEqual(
    cookies.joinsOf(request).map(({ uuid }) => uuid),
    [...sure.slice(-10).reverse(), ...begun.slice(-16).reverse()],
  );
  assert.deepEqual(cookies.holdingOf(request, sure[6]!), { began: true, proven: false, paid: true });
  assert.deepEqual(cookies.holdingOf(request, begun[0]!), { began: false, proven: false, paid: false });
  assert.ok(request.headers.cookie!.length < 4096 - 200);
});
