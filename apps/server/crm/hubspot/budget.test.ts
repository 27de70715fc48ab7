import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { sql } from 'kysely';
import { type TestDatabase, testDatabase } from '../../../../tests/harness/database.ts';
import { beforeEachIn } from '../../../../tests/harness/hooks.ts';
import { connect, type Database } from '../../platform/database/client.ts';
import { patience } from '../../platform/database/patience.ts';
import { type Budget, sharedBudget } from './budget.ts';

let made: TestDatabase;
let database: Database;
/** The budgets of two processes that share a database. */
let one: Budget;
let two: Budget;
before(async () => {
  made = await testDatabase();
  database = connect(made.url, { waits: patience.ofWork });
});
beforeEachIn(import.meta.filename, async () => {
  await sql`update crm_budget set tokens = 0, failures = 0, blocked_until = '-infinity', refilled_at = now()`.execute(
    database,
  );
  [one, two] = [sharedBudget(database), sharedBudget(database)];
});
after(async () => {
  await database.destroy();
  await made.drop();
});

const pass = (seconds: number) =>
  sql`update crm_budget set refilled_at = refilled_at - make_interval(secs => ${seconds}),
    blocked_until = blocked_until - make_interval(secs => ${seconds})`.execute(database);

/**
 * Counts the calls that the budget allows two processes in `seconds` of simulated time if both ask constantly. `own` is how long
 * the simulation really took (s): tokens were added for this time, too.
 */
async function taken(kind: 'call' | 'search', seconds: number): Promise<{ calls: number; own: number }> {
  const began = performance.now();
  let calls = 0;
  // Asking ten times in each simulated second takes every new token.
  for (let look = 0; look < seconds * 10; look++) {
    await pass(0.1);
    while ((await (look % 2 ? one : two).take(kind, 'joiner')) === 0) calls++;
  }
  return { calls, own: (performance.now() - began) / 1000 };
}

test('from a full bucket, all processes together make no more than 100 calls in ten seconds', async () => {
  await pass(3600);
  const { calls, own } = await taken('call', 10);
  assert.ok(calls <= 100 + 8 * own && calls >= 80, `${calls} calls in ten seconds and ${own}`);
});

test('and no more than four searches in a second', async () => {
  await pass(3600);
  const { calls, own } = await taken('search', 1);
  assert.ok(calls <= 4 + 2.5 * own && calls >= 3, `${calls} searches in a second and ${own}`);
});

test('work that can wait leaves calls for joiners who wait', async () => {
  await pass(3600);
  while ((await one.take('call', 'background')) === 0);
  assert.ok((await two.take('call', 'background')) > 0);
  for (let call = 0; call < 5; call++) assert.equal(await two.take('call', 'joiner'), 0);
});

test('of searches a joiner is always before those who failed lately, and none is lost while no joiner waits', async () => {
  const began = performance.now();
  let suspects = 0;
  const waits: number[] = [];
  for (let look = 0, waitedFrom: number | null = null; look < 200; look++) {
    await pass(0.05);
    // Suspects ask first in each round. A joiner comes every two seconds.
    while ((await one.take('search', 'suspect')) === 0) suspects++;
    if (look % 40 === 20) waitedFrom = look;
    if (waitedFrom === null || (await two.take('search', 'joiner')) > 0) continue;
    waits.push((look - waitedFrom) * 0.05);
    waitedFrom = null;
  }
  const seconds = 10 + (performance.now() - began) / 1000;
  assert.equal(waits.length, 5);
  assert.ok(Math.max(...waits) <= 0.5, `a joiner waited ${waits} s`);
  assert.ok(suspects + 5 >= 22 && suspects + 5 <= 2.4 * seconds + 2, `${suspects} in ${seconds} s`);
});

test('told to wait, every process waits as long', async () => {
  await pass(3600);
  await one.limited('call', 7_000);
  const wait = await two.take('call', 'joiner');
  assert.ok(wait > 0 && wait <= 7_000, `${wait} ms`);
  await pass(7.5);
  assert.equal(await two.take('call', 'joiner'), 0);
});

test('told to wait with all calls, as by a daily limit, every process waits with searches too', async () => {
  await pass(3600);
  await one.limited('search', 1_000);
  assert.equal(await two.take('call', 'joiner'), 0, 'one kind says nothing of the other');
  await one.limited('all', 900_000);
  for (const kind of ['call', 'search'] as const) {
    const wait = await two.take(kind, 'joiner');
    assert.ok(wait > 890_000 && wait <= 900_000, `${kind}: ${wait} ms`);
  }
});

test('a longer wait that HubSpot has asked for is not cut short by a shorter one', async () => {
  await pass(3600);
  await one.limited('all', 900_000);
  await two.limited('call', 1_000);
  const wait = await one.take('call', 'joiner');
  assert.ok(wait > 890_000 && wait <= 900_000, `${wait} ms`);
});

/** HubSpot asks for a wait while other calls are running. Each case is a way in which these calls then end. */
for (const [how, end] of [
  ['an answer', () => one.answered('call')],
  ['failures', () => Promise.all(Array.from({ length: 4 }, () => one.failed('call')))],
] as const)
  test(`a wait that HubSpot has asked for is not cut short by ${how} of calls that were under way`, async () => {
    await pass(3600);
    await one.failed('call');
    await two.limited('all', 900_000);
    await end();
    const wait = await two.take('call', 'joiner');
    assert.ok(wait > 890_000 && wait <= 900_000, `${wait} ms`);
  });

test('after five failures in a row HubSpot is left alone, then one call at a time probes, and an answer opens it for all', async () => {
  await pass(3600);
  for (let failure = 0; failure < 4; failure++) await one.failed('call');
  assert.equal(await two.take('call', 'joiner'), 0, 'four are bad luck');
  await one.failed('call');
  assert.ok((await two.take('call', 'joiner')) > 0);
  await pass(2);
  assert.equal(await two.take('call', 'joiner'), 0, 'the probe');
  assert.ok((await one.take('call', 'joiner')) > 5_000, 'one at a time');
  await two.failed('call');
  assert.ok(
    (await one.take('call', 'joiner')) <= 2_000,
    'the next probe need not wait for the end of this one',
  );
  await pass(2);
  assert.equal(await two.take('call', 'joiner'), 0, 'the next probe');
  await two.answered('call');
  assert.equal(await one.take('call', 'joiner'), 0);
});

test('each failure of a probe makes the next one wait longer, up to a minute', async () => {
  for (let failure = 0; failure < 30; failure++) await one.failed('call');
  const wait = await two.take('call', 'joiner');
  assert.ok(wait >= 29_000 && wait <= 60_000, `${wait} ms`);
});
