import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { sql } from 'kysely';
import pg from 'pg';
import { newContact } from '../../../../tests/harness/deliver.ts';
import { openIntent, orderingJoin, paidJoin, payOrder, startJoin } from '../../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../../tests/harness/upgrades.ts';
import { refundJoin } from '../../paying/refunds/refundJoin.ts';
import { sendDueLinks } from './sendLinks.ts';

const server = await sharedServer();
const { deps } = server;

/** Requests links for this email and makes the letters due. Returns the join and the recipient of each letter. */
async function linksFor(email: string): Promise<string[][]> {
  await deps.database.deleteFrom('letter').where('kind', '=', 'link').execute();
  assert.equal((await server.client().call('sendPassLinks', { body: { email } })).status, 200);
  await sendDueLinks(deps);
  const letters = await deps.database
    .selectFrom('letter')
    .select(['session_uuid', 'email'])
    .where('kind', '=', 'link')
    .orderBy('session_uuid')
    .execute();
  return letters.map(({ session_uuid, email: to }) => [session_uuid!, to!]);
}

test('"Send me my link" mails one for each person whose join has the email, and forgets who asked', async () => {
  const email = 'family@example.com';
  const person = (firstName: string) => ({ firstName, personalEmail: 'Family@example.com' });
  const [client, abandoned] = [server.client(), server.client()];
  await orderingJoin(abandoned, 'LINCOLN2026', person('Ana'));
  const { uuid: paid } = await paidJoin(server, client, 'LINCOLN2026', person('Ana'));
  const begun = await orderingJoin(client, 'LINCOLN2026', person('Ben'));
  const again = await orderingJoin(server.client(), 'LINCOLN2026', person('Ana'));
  assert.deepEqual(
    await linksFor(` ${email} `),
    [paid, begun].sort().map((uuid) => [uuid, 'Family@example.com']),
  );
  await refundJoin(deps, paid, { membership: true, ineligible: false, upgrade: false, items: 'none' });
  assert.deepEqual(
    (await linksFor(email)).map(([uuid]) => uuid),
    [again, begun].sort(),
    'the newest that was left behind takes its place',
  );
  assert.deepEqual(await linksFor('nobody@example.com'), []);
  assert.deepEqual(await deps.database.selectFrom('pass_request').selectAll().execute(), []);
});

test('an email gets four links at most: to the join that is paid, and to those that were begun last', async () => {
  const person = (firstName: string) => ({ firstName, personalEmail: 'many@example.com' });
  const { uuid: paid } = await paidJoin(server, server.client(), 'LINCOLN2026', person('Ana'));
  const begun: string[] = [];
  for (const name of ['Ben', 'Cleo', 'Dan', 'Eve'])
    begun.push(await orderingJoin(server.client(), 'LINCOLN2026', person(name)));
  assert.deepEqual(
    (await linksFor('many@example.com')).map(([uuid]) => uuid),
    [paid, ...begun.slice(1)].sort(),
  );
});

test('a request that a backup brought back is forgotten, and nothing is sent for it', async () => {
  const email = 'restored.request@example.com';
  const uuid = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: email });
  for (const minutes of [61, 59])
    await sql`insert into pass_request (email, created_at) values (${email}, now() - make_interval(mins => ${minutes}))`.execute(
      deps.database,
    );
  assert.equal(await sendDueLinks(deps), 2);
  const letters = await sql`select from letter where kind = 'link' and session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.equal(letters.rows.length, 1);
  assert.deepEqual(await deps.database.selectFrom('pass_request').selectAll().execute(), []);
});

test('of more requests than are taken at a time, the oldest come first', async () => {
  const { database } = deps;
  await sql`
    insert into pass_request (email, created_at)
    select 'nobody' || age || '@example.com', now() - make_interval(mins => age) from generate_series(1, 25) as age`.execute(
    database,
  );
  assert.equal(await sendDueLinks(deps), 20);
  const { rows } = await sql<{ age: string }>`
    select substring(email from '\\d+') as age from pass_request order by created_at desc`.execute(database);
  assert.deepEqual(
    rows.map(({ age }) => age),
    ['1', '2', '3', '4', '5'],
  );
  assert.equal(await sendDueLinks(deps), 5);
});

test("an email that only a contact has leads to no join of that contact's id", async () => {
  const { data } = await server.client().call('initJoin', { params: { id: '104' }, body: {} });
  const { data: contact } = await server.client().call('getContact', { params: { uuid: data.uuid } });
  const email = contact.personalEmail ?? contact.email;
  assert.ok(email);
  assert.deepEqual(await linksFor(email), []);
  // An email that was typed only for a receipt gets no link before the payment.
  const checkout = await server.client().call('initiateCheckout', { body: { hubspotContactId: '104' } });
  await openIntent(server.client(), checkout.data.joinSessionUuid);
  await sql`update payment set receipt_email = 'typed@example.com' where session_uuid = ${checkout.data.joinSessionUuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('typed@example.com'), []);
});

test('who paid by a checkout link and gave no details gets the link at the email of the receipt', async () => {
  const { uuid } = await upgradeByLink(server, '105');
  await sql`update payment set receipt_email = 'Receipt.Of@example.com' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('receipt.of@example.com'), [[uuid, 'Receipt.Of@example.com']]);
});

test('whom a checkout link was paid for gets the link at their own email, which the payer was not shown', async () => {
  const id = await newContact(server, 'paid.for@example.com');
  await server.deps.contacts.refresh(id);
  const client = server.client();
  const { data } = await client.call('initiateCheckout', { body: { hubspotContactId: id } });
  const uuid = data.joinSessionUuid;
  assert.deepEqual(await linksFor('paid.for@example.com'), []);
  await payOrder(server, client, uuid);
  assert.deepEqual(await linksFor('Paid.For@example.com'), [[uuid, 'paid.for@example.com']]);
});

test('the email that a receipt went to leads to no join whose details give another email', async () => {
  await startJoin(server.client());
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail: 'joiner@example.com',
  });
  await sql`update payment set receipt_email = 'payer@example.com' where session_uuid = ${uuid}`.execute(
    deps.database,
  );
  assert.deepEqual(await linksFor('payer@example.com'), []);
  assert.deepEqual(await linksFor('joiner@example.com'), [[uuid, 'joiner@example.com']]);
});

test('whether an email is known is told by neither words nor status nor the work that is done', async () => {
  await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'known@example.com' });
  const ask = async (email: string) => {
    const statements: string[] = [];
    const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
    const watched = mock.method(
      pg.Client.prototype,
      'query',
      function (this: pg.Client, ...given: unknown[]) {
        const [first] = given as [string | { text: string }];
        statements.push(typeof first === 'string' ? first : first.text);
        return query.apply(this, given);
      },
    );
    try {
      const { status, message, data } = await server.client().call('sendPassLinks', { body: { email } });
      return { status, message, data, statements };
    } finally {
      watched.mock.restore();
    }
  };
  const known = await ask('known@example.com');
  assert.equal(known.status, 200);
  assert.ok(known.statements.length > 0);
  assert.deepEqual(await ask('nobody@example.com'), known);
  await sendDueLinks(deps);
});

test('requests for links are limited by email, however it is spelt, silently, and by address', async (t) => {
  limitWith(t, server, { LIMIT_PASS_LINKS_PER_EMAIL: '2/60', LIMIT_PASS_LINKS_PER_ADDRESS: '5/60' });
  const ask = (email: string) => server.client().call('sendPassLinks', { body: { email } });
  const answers = [];
  for (const spelt of ['often@example.com', ' Often@example.com', 'OFTEN@EXAMPLE.COM'])
    answers.push((await ask(spelt)).body);
  assert.deepEqual(answers[2], answers[0]);
  const { rows } = await sql`select from pass_request where email = 'often@example.com'`.execute(
    deps.database,
  );
  assert.equal(rows.length, 2);
  assert.equal((await ask('not an email')).status, 400);
  await ask('a@example.com');
  await ask('b@example.com');
  assert.equal((await ask('c@example.com')).status, 429);
  await sendDueLinks(deps);
});

test('of two servers that look at once, one makes the letters of a request due', async () => {
  await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'once@example.com' });
  await server.client().call('sendPassLinks', { body: { email: 'once@example.com' } });
  const taken = await Promise.all([1, 2, 3].map(() => sendDueLinks(deps)));
  assert.equal(
    taken.reduce((sum, count) => sum + count, 0),
    1,
  );
});
