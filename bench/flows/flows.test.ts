import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import pg from 'pg';
import { startTestServer } from '../../apps/server/testing/testServer.ts';
import { STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import { testDatabase } from '../../local/testing/database.ts';
import { Connection } from '../load/connection.ts';
import { invite } from '../people.ts';
import { Scope } from '../scope.ts';
import { ordered } from '../servers.ts';
import { Browser, type Join } from './flow.ts';
import { everyStep, type FlowSettings, seenFrom, stepsOf } from './flows.ts';

const floorFolder = resolve(import.meta.dirname, '../floor');

/** A connection that is ended before its database is. */
async function connect(t: TestContext, url: string, end: () => Promise<void>): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  t.after(async () => {
    await client.end();
    await end();
  });
  return client;
}

/** Makes every call of a join, as the load generator does, and gives their names. */
async function joinOnce(flow: FlowSettings, url: string, number: number): Promise<string[]> {
  const connection = new Connection(url);
  const join: Join = {
    number,
    browser: new Browser(connection, seenFrom(flow, number)),
    id: '',
    intent: undefined,
  };
  const steps = stepsOf(flow);
  try {
    for (const step of steps) await step.run(join);
  } finally {
    connection.close();
  }
  return steps.map(({ name }) => name);
}

test('the flow that is measured is a whole join of ours: it ends as a member', async (t) => {
  const server = await startTestServer({ LIMITS: 'on', TRUST_PROXY: '127.0.0.1' });
  const database = await connect(t, server.deps.config.databaseUrl, () => server.close());
  await invite(database, { first: 1, last: 2 });
  const flow: FlowSettings = {
    server: 'ours',
    ...ordered(),
    stripe: { url: server.stripeUrl, secretKey: STRIPE_SECRET_KEY },
  };
  assert.deepEqual(await joinOnce(flow, server.url, 2), everyStep);
  const { rows } = await database.query('select state, contact_id from join_session');
  assert.deepEqual(rows, [{ state: 'paid', contact_id: '5000000002' }]);
  assert.equal((await database.query('select from membership where is_held')).rowCount, 1);
});

test('the floor does the same calls with its eleven statements, and one join leaves its rows', async (t) => {
  const made = await testDatabase();
  const scope = new Scope(new AbortController().signal, () => {});
  const database = await connect(t, made.url, async () => {
    await scope.end();
    await made.drop();
  });
  await database.query('create schema floor');
  await database.query('set search_path = floor');
  await database.query(readFileSync(resolve(floorFolder, 'schema.sql'), 'utf8'));
  const { ready } = await scope.start<{ listening: string }>(resolve(floorFolder, 'server.ts'), {
    env: { DATABASE_URL: `${made.url}?options=-c%20search_path%3Dfloor` },
  });
  const names = await joinOnce({ server: 'floor' }, ready.listening, 7);
  assert.deepEqual(
    names,
    everyStep.filter((name) => name !== 'begin' && name !== 'card'),
  );
  const { rows } = await database.query(
    `select email, join_session.status as session, first_name, membership_product_id, session_product.amount_cents as donation, payment.status
     from join_session join session_product on session_product.session_id = join_session.id join payment on payment.session_id = join_session.id`,
  );
  assert.deepEqual(rows, [
    {
      email: 'new7@example.org',
      session: 'membership',
      first_name: 'Ada',
      membership_product_id: 1,
      donation: 500,
      status: 'succeeded',
    },
  ]);
});
