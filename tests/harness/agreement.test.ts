import assert from 'node:assert/strict';
import { test } from 'node:test';
import pg from 'pg';
import { pushDue } from '../../apps/server/crm/push.ts';
import { disagreements, untilSent } from './agreement.ts';
import { makeDue } from './deliver.ts';
import { paidJoin } from './steps.ts';
import { startTestServer } from './testServer.ts';

test('Stripe, the database and HubSpot agree on a join, until one of them is changed', async (t) => {
  const server = await startTestServer();
  const database = new pg.Client({ connectionString: server.deps.config.databaseUrl });
  await database.connect();
  t.after(async () => {
    await database.end();
    await server.close();
  });
  const { intentId } = await paidJoin(server, server.client(), 'HONOR102');
  await makeDue(server.background);
  await pushDue(server.deps);
  await untilSent(database, 5_000);
  // In the demo data, HubSpot already has contact 105 as a member.
  const before = ['HubSpot takes 105 for a member'];
  assert.deepEqual(await disagreements(database, server), { lines: before, members: 1 });

  await database.query('update payment set amount_cents = amount_cents + 1');
  const { lines } = await disagreements(database, server);
  assert.deepEqual(lines, [
    `${intentId} 6500 is only at Stripe`,
    `${intentId} 6501 is not at Stripe`,
    ...before,
  ]);

  await database.query('delete from membership');
  assert.deepEqual((await disagreements(database, server)).lines.slice(2), [
    'HubSpot takes 102 for a member',
    'HubSpot takes 105 for a member',
  ]);
});
