import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { contactIdOf, deliver } from '../../tests/harness/deliver.ts';
import { personId } from '../../tests/harness/personId.ts';
import { runCommand } from '../../tests/harness/runCommand.ts';
import { details, openIntent, payOrder, startJoin } from '../../tests/harness/steps.ts';
import { sharedServer } from '../../tests/harness/testServer.ts';
import { syncContacts } from '../server/crm/syncContacts.ts';

const server = await sharedServer();

const PIN = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';
const find = (t: TestContext, ...args: string[]) => runCommand(t, server, 'find', args);

async function order(person: Parameters<typeof details>[0], code = 'LINCOLN2026') {
  const client = server.client();
  const uuid = await startJoin(client, code);
  const params = { uuid };
  await client.call('submitDetails', { params, body: details(person) });
  await client.call('setMembership', { params, body: { membershipId: 1 } });
  await client.call('setSessionProduct', { params, body: { productUuid: PIN } });
  return { client, uuid };
}

test('a join is found by the name of its joiner, first or last or both, whole or begun, in any case', async (t) => {
  const { uuid } = await order({
    firstName: 'Zoë',
    lastName: "O'Neill-Smith",
    personalEmail: 'zoe@example.com',
  });
  for (const name of ['zoë', 'ZOË', "o'neill", "O'Neill-Smith", 'smith', 'zo nei', 'neill zoë', 'Zoë O'])
    assert.match(
      (await find(t, ...name.split(' '))).out,
      new RegExp(`^${uuid} .* Zoë O'Neill-Smith `, 'm'),
      name,
    );
  for (const name of ['oneal', 'zoe q', 'xzoë', "'", '%', ':*', '& |', '\\', 'nobody'])
    assert.equal((await find(t, ...name.split(' '))).code, 1, name);
  assert.equal((await find(t)).code, 2);
});

test('of several joins of one person the newest comes first', async (t) => {
  const person = { lastName: 'Again', personalEmail: 'again@example.com' };
  const joins = [(await order(person)).uuid, (await order(person)).uuid, (await order(person)).uuid];
  const { out } = await find(t, 'again@example.com');
  assert.deepEqual(out.match(/^[\da-f-]{36}/gm), joins.toReversed());
});

test('a join is found by the id of the contact that it created in HubSpot', async (t) => {
  const person = { lastName: 'Created', personalEmail: 'created@example.com' };
  const { client, uuid } = await order(person);
  await payOrder(server, client, uuid);
  await deliver(server);
  const { out } = await find(t, await contactIdOf(server, uuid));
  assert.match(out, new RegExp(`^${uuid} .* Created `, 'm'));
});

test('a join without details is found by the name and the email address that its contact has', async (t) => {
  const client = server.client();
  const started = await client.call('initiateCheckout', {
    body: { hubspotContactId: '103', mainProductId: 1 },
  });
  const { joinSessionUuid: uuid } = started.data;
  for (const text of ['okafor', 'Sam Ok', 'sam.okafor@example.com', '103']) {
    const { out } = await find(t, text);
    assert.match(out, new RegExp(`^${uuid} .* Sam Okafor .*ordering$`, 'm'), text);
    assert.match(out, /^ {2}Membership {2}\$65\.00 {2}not paid$/m);
  }
});

test('a join is found by any email address that it has: of the joiner, of the school, of the receipt', async (t) => {
  const { client, uuid } = await order({
    lastName: 'Receipt',
    personalEmail: 'Pat+One@Example.com',
    schoolEmail: 'pat@school.example',
  });
  const { id } = await openIntent(client, uuid);
  await server.deps.database
    .updateTable('payment')
    .set({ receipt_email: 'Parent@Example.com' })
    .where('intent_id', '=', id)
    .execute();
  for (const email of ['pat+one@example.com', 'PAT@school.example', 'parent@example.com'])
    assert.match((await find(t, email)).out, new RegExp(`^${uuid}`, 'm'), email);
  for (const part of ['one@example.com', 'pat@school', 'pat+one', 'school.example'])
    assert.match((await find(t, part)).out, new RegExp(`^${uuid}`, 'm'), part);
});

test('what was bought is shown line by line, with what went back of each', async (t) => {
  const { client, uuid } = await order({ firstName: 'Line\u001b[2J', lastName: 'Byline' });
  const { intentId } = await payOrder(server, client, uuid);
  const lines = JSON.stringify([{ line: 0, productId: 1, name: 'Membership', cents: 6500 }]);
  for (const status of ['failed', 'canceled'] as const)
    await server.deps.database
      .insertInto('refund')
      .values({ intent_id: intentId, amount_cents: 6500, reason: 'requested', status, lines })
      .execute();
  await runCommand(t, server, 'refund', [uuid, '--items', '30', '--no-membership']);
  for (const text of [intentId, uuid]) assert.match((await find(t, text)).out, new RegExp(`^${uuid}`, 'm'));
  const { out } = await find(t, 'byline');
  const [head, payment, ...shown] = out.trimEnd().split('\n');
  assert.match(head!, /Line\[2J Byline {2}high-school {2}paid$/);
  assert.match(
    payment!,
    /^ {2}pi_\w+ {2}join {2}\$77\.00 {2}succeeded, \$12\.00 refunded, membership active, number \w{4}-\w{4}$/,
  );
  assert.deepEqual(shown, ['    Membership  $65.00', '    Lapel Pin  $12.00, $12.00 refunded']);
});

test('what is on its way back is shown as what went back is', async (t) => {
  const { client, uuid } = await order({ firstName: 'Pending', lastName: 'Backer' });
  await payOrder(server, client, uuid);
  await server.stripeControl('refunds', { answer: 'pending' });
  t.after(() => server.stripeControl('refunds', { answer: 'succeeded' }));
  await runCommand(t, server, 'refund', [uuid, '--items', '30', '--no-membership']);
  const { out } = await find(t, 'backer');
  assert.match(out, /^ {4}Lapel Pin {2}\$12\.00, \$12\.00 refunded$/m);
});

test('a member number finds its join, however it was read out', async (t) => {
  const { client, uuid } = await order({ firstName: 'Number', lastName: 'Bearer' });
  await payOrder(server, client, uuid);
  const { number } = (await client.call('getWelcome', { params: { uuid } })).data.papers!;
  for (const text of [number, number.replace('-', '').toLowerCase(), number.replace('-', ' ')]) {
    const { out, code } = await find(t, text);
    assert.equal(code, 0, text);
    assert.match(out, new RegExp(`^${uuid} .* Number Bearer `, 'm'));
    assert.match(out, new RegExp(`membership active, number ${number}$`, 'm'));
  }
  assert.equal((await find(t, '0000-0000')).code, 1);
});

test("a code finds its own joins: a person's, and a school's", async (t) => {
  const { uuid } = await order({}, 'HONOR104');
  assert.match((await find(t, 'honor104')).out, new RegExp(`^${uuid}`, 'm'));
  assert.doesNotMatch((await find(t, 'lincoln2026')).out, new RegExp(`^${uuid}`, 'm'));
  assert.equal((await find(t, 'lincoln2026')).code, 0);
});

test('a join is found by its code even if the code leads to another contact now', async (t) => {
  const { uuid } = await order({}, 'HONOR104');
  const leadTo = (contactId: string) =>
    server.deps.database
      .updateTable('invitation')
      .set({ person_id: personId(contactId) })
      .where('code', '=', 'HONOR104')
      .execute();
  await leadTo('103');
  t.after(() => leadTo('104'));
  assert.match((await find(t, 'honor104')).out, new RegExp(`^${uuid}`, 'm'));
});

test('people are found however their names are typed, and by parts of them', async (t) => {
  const given = [
    ['Jörg', 'Müller', 'joerg@example.com'],
    ['Sean', 'O’Brien', 'sean@example.com'],
    ['Ana', 'Núñez', 'ana@example.com'],
    ['Lena', 'Straßer', 'lena@example.com'],
  ] as const;
  for (const [firstName, lastName, personalEmail] of given)
    await order({ firstName, lastName, personalEmail });
  for (const [text, name] of [
    ['muller', 'Jörg Müller'],
    ['OBrien', 'Sean O’Brien'],
    ["o'brien sean", 'Sean O’Brien'],
    ['Nunez', 'Ana Núñez'],
    ['STRASSER', 'Lena Straßer'],
    ['trass', 'Lena Straßer'],
  ] as const)
    assert.ok((await find(t, ...text.split(' '))).out.includes(`  ${name}  `), text);
});

test('who was invited and has no join is found, by name, email, contact id or code, with the code', async (t) => {
  await sql`insert into person (contact_id, profile, email, words) values ('880900', '{"firstName": "Inès", "lastName": "Waiting"}', 'ines@example.com', 'ines waiting ines@example.com')`.execute(
    server.deps.database,
  );
  await sql`insert into invitation (code, person_id) values ('UNUSED880900', ${personId('880900')})`.execute(
    server.deps.database,
  );
  for (const text of ['ines', 'Waiting', 'ines@example.com', '880900', 'unused880900']) {
    const { out, code } = await find(t, text);
    assert.deepEqual(
      [code, out],
      [0, 'contact 880900  Inès Waiting  ines@example.com  no join  UNUSED880900 (unused)\n'],
      text,
    );
  }
});

test('a payment is found by the last four digits of its card and its amount', async (t) => {
  const { client, uuid } = await order({ lastName: 'Cardholder' });
  await payOrder(server, client, uuid);
  for (const text of ['4242 77', '4242 $77.00'])
    assert.match((await find(t, ...text.split(' '))).out, new RegExp(`^${uuid}`, 'm'));
  assert.equal((await find(t, '4242', '77.01')).code, 1);
});

test('the people of the demo’s HubSpot are found once the mirror has them', async (t) => {
  await syncContacts(server.deps);
  for (const text of ['tremblay', 'Amelie', 'AMÉLIE', 'amelie.tremblay@', 'HONOR102'])
    assert.match((await find(t, text)).out, /^contact 102 {2}Amélie Tremblay {2}/m, text);
});
