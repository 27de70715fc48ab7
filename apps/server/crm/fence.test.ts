import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { identityOn } from '../../../tests/harness/identity.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { type Delivered, type Delivery, delivered, postpone, refuse } from './deliveries.ts';
import { StillTelling, tellingHubspot, tellingHubspotNothing } from './fence.ts';

/**
 * Tests the locks for sending to HubSpot: nothing is sent while somebody is erased, and statements that make persons due lock
 * them in the same order, so that there are no deadlocks.
 */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps, background } = server;

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

const { invited, paid, personOf } = identityOn(server);
const work = { ...deps, database: background };

/**
 * Makes paid joins of two persons who are likely the same, and of a third person whose delivery a transaction locks. Runs `send`,
 * which waits for that lock, concurrently with a refund of the second join, which makes the first two persons due. `send` gets
 * the three persons in another order than that of their ids.
 */
async function besideRefund(
  t: TestContext,
  name: string,
  send: (rows: Delivery[]) => Promise<void>,
): Promise<void> {
  const same = { personalEmail: `${name}@example.com`, firstName: 'Al', lastName: 'Ike' };
  const joins: string[] = [];
  for (const [index, given] of [same, same, { personalEmail: `${name}.third@example.com` }].entries()) {
    const { code } = await invited(`${name}.${index}@example.com`);
    joins.push((await paid(given, code)).uuid);
  }
  const [a, b, c] = await Promise.all(joins.map(async (uuid) => (await personOf(uuid)).id));
  // Writes the rows in another physical order than that of their ids. An update without `order by` would lock them in the
  // physical order.
  for (const id of [b, c, a])
    await sql`
      with former as (delete from crm_delivery where person_id = ${id} returning *)
      insert into crm_delivery (person_id, due_since, due_at, tries) select person_id, now(), now() + interval '1 hour', 1 from former`.execute(
      deps.database,
    );
  await sql`update person set is_member = true where id = any(${[a, b, c]}::bigint[])`.execute(deps.database);
  const holder = await lockHolder(t, server);
  await holder.query('select from crm_delivery where person_id = $1 for update', [c]);
  const rows = [b, c, a].map((personId) => ({ personId, revision: 1 }) as Delivery);
  const telling = send(rows);
  await waiting(holder, 1);
  const refunding = refundJoin(deps, joins[1]!, everything);
  await waiting(holder, 2);
  await holder.query('commit');
  await Promise.all([telling, refunding]);
}

for (const [name, send] of Object.entries({
  postpone: (rows) => postpone(work, rows, { perhapsRecord: true }),
  refuse: (rows) =>
    refuse(
      work,
      rows.map(({ personId }) => ({ personId, reason: 'no' })),
    ),
  delivered: (rows) =>
    delivered(
      work,
      rows.map(
        (row): Delivered => ({
          row,
          properties: {},
          sent: { membershipStatus: 'member' },
          notices: [],
        }),
      ),
    ),
} satisfies Record<string, (rows: Delivery[]) => Promise<void>>))
  test(`no deadlock between ${name} and a refund of likely the same persons`, (t) =>
    besideRefund(t, `locks.${name}`, send));
