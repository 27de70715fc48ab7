import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { StillTelling, tellingHubspot, tellingHubspotNothing } from './fence.ts';

const { background } = await sharedServer();

test('rounds that tell HubSpot go on side by side, and none begins while somebody is erased', async () => {
  const both = await tellingHubspot(background, () => tellingHubspot(background, async () => 'both'));
  assert.equal(both, 'both');
  const during = await tellingHubspotNothing(background, () =>
    tellingHubspot(background, async () => 'told'),
  );
  assert.equal(during, null);
  assert.equal(await tellingHubspot(background, async () => 'told'), 'told');
});

test('what failed within is thrown, and the lock is free again', async () => {
  const broken = async () => {
    throw new Error('broken');
  };
  await assert.rejects(tellingHubspotNothing(background, broken), /broken/);
  await assert.rejects(tellingHubspot(background, broken), /broken/);
  assert.equal(await tellingHubspotNothing(background, async () => 'done'), 'done');
});

test('what was done stays done though the connection that held the lock is gone at the end', async () => {
  const done = await tellingHubspotNothing(background, async () => {
    await sql`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and objid = 23062 and database = (select oid from pg_database where datname = current_database())`.execute(
      background,
    );
    return 'done';
  });
  assert.equal(done, 'done');
});

test('whoever waits for calls to HubSpot that take too long is told so, and does nothing', async () => {
  let isDone = false;
  const erase = () =>
    tellingHubspotNothing(
      background,
      async () => {
        isDone = true;
      },
      0.05,
    );
  await tellingHubspot(background, () => assert.rejects(erase(), StillTelling));
  assert.equal(isDone, false);
});
