import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import pg from 'pg';
import { testDatabase } from '../../tests/harness/database.ts';
import { Scope } from '../../tests/harness/scope.ts';
import { startTestServer } from '../../tests/harness/testServer.ts';
import { type Flow, ourFlow } from './flow.ts';
import { openLoop } from './load.ts';
import { invite, startFloor } from './subjects.ts';

/** Makes every call of a join, as the load generator does. Returns their names. */
async function joinOnce(flow: Flow, number: number): Promise<string[]> {
  const arrival = { count: 1, perSecond: 1, paying: true };
  const { calls, failures } = await openLoop(flow, () => number, arrival);
  assert.deepEqual(failures, []);
  return calls.map(({ call }) => call);
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

test('floor and ours make the same calls: a join of ours ends as a member, one of the floor leaves its rows', async (t) => {
  const server = await startTestServer({ LIMITS: 'on', TRUST_PROXY: '127.0.0.1' });
  const made = await testDatabase();
  const scope = new Scope();
  const [ours, floor] = [await connect(server.deps.config.databaseUrl), await connect(made.url)];
  t.after(async () => {
    await Promise.all([ours.end(), floor.end(), scope.end(), server.close()]);
    await made.drop();
  });
  await invite(ours, 1, 2);
  const names = await joinOnce(ourFlow(server.url, server.stripeUrl), 2);
  const { rows } = await ours.query(
    'select state, contact_id from join_session join person on person.id = person_id',
  );
  assert.deepEqual(rows, [{ state: 'paid', contact_id: '5000000002' }]);
  assert.equal((await ours.query('select from membership where is_held')).rowCount, 1);

  const { flow } = await startFloor(scope, { url: made.url, client: floor });
  assert.deepEqual(
    await joinOnce(flow, 7),
    names.filter((name) => name !== 'beginPayment'),
  );
  const left = await floor.query(
    `select email, join_session.status as session, first_name, membership_product_id as product,
       session_product.amount_cents as donation, payment.status
     from join_session join session_product on session_product.session_id = join_session.id join payment on payment.session_id = join_session.id`,
  );
  const session = { email: 'new7@example.org', session: 'membership', first_name: 'Ada', product: 1 };
  assert.deepEqual(left.rows, [{ ...session, donation: 500, status: 'succeeded' }]);
});

test('in the open loop a join does not wait for the one before, and a failed one is told', async (t) => {
  let first: (() => void) | undefined;
  const server = createServer((request, response) => {
    if (request.url === '/0') first = () => response.end('{}');
    else {
      response.writeHead(409).end('no');
      first?.();
    }
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.after(() => server.close());
  const flow: Flow = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    order: (browser, number) => browser.send('order', 'GET', `/${number}`),
    pay: async () => {},
  };
  let person = 0;
  const { calls, failures } = await openLoop(flow, () => person++, {
    count: 2,
    perSecond: 100,
    paying: false,
  });
  assert.deepEqual(
    calls.map(({ call }) => call),
    ['order'],
  );
  assert.deepEqual(failures, ['GET /1: 409 no']);
});
