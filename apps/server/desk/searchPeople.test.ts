import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import type { DeskData } from '#contract/deskSchemas.ts';
import { newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { dueLetters } from '../letters/dueLetters.ts';
import { NOBODY } from './presentPersonOf.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const browser = await desk.signedIn('staff');
const { idOf, somebody, orderedPin, personAt: shownAt } = deskPeopleOn(server);

type Found = DeskData<'searchPeople'>;

async function search(text: string, more: { next?: string; atHubspot?: true } = {}): Promise<Found> {
  const { data, status, message } = await browser.call('searchPeople', { body: { text, ...more } });
  assert.equal(status, 200, message!);
  return data;
}
const personAt = (id: number) => shownAt(browser, id);

test('a search answers one row for each person, with their newest join, whatever they are found by', async () => {
  const person = somebody();
  const { client, uuid } = await orderedPin(person);
  const { intentId } = await payOrder(server, client, uuid);
  const id = await idOf(uuid);
  const { memberNumber } = (await search(person.lastName)).rows[0]!;
  assert.match(memberNumber!, /^\w{4}-\w{4}$/);
  await sql`update payment set card_last4 = '7777' where intent_id = ${intentId}`.execute(database);
  for (const text of [
    person.lastName,
    person.lastName.slice(0, 6),
    person.personalEmail,
    intentId,
    memberNumber!,
    '7777 77',
    uuid,
  ]) {
    const { rows } = await search(text);
    const row = rows.find((each) => each.id === id);
    assert.deepEqual(
      { ...row, paidAt: null },
      {
        id,
        name: `Ann ${person.lastName}`,
        email: person.personalEmail,
        programme: 'Honor Scholars',
        state: 'paid',
        paidAt: null,
        memberNumber,
      },
      text,
    );
    assert.ok(row!.paidAt);
    assert.equal(rows.filter((each) => each.id === id).length, 1, text);
  }
});

test('who was invited and has not begun to join is found by name, contact and code; an erased one is not', async () => {
  await sql`insert into person (contact_id, profile, email, words) values
    ('880900', '{"firstName": "Inès", "lastName": "Waiting"}', 'ines@example.com', 'ines waiting ines@example.com')`.execute(
    database,
  );
  await sql`insert into invitation (code, person_id) values ('UNUSED880900', (select id from person where contact_id = '880900'))`.execute(
    database,
  );
  for (const text of ['ines', 'INÈS', 'ines@example.com', '880900', 'unused880900']) {
    const { rows } = await search(text);
    assert.deepEqual(
      rows.map(({ name, email, state, programme, memberNumber }) => [
        name,
        email,
        state,
        programme,
        memberNumber,
      ]),
      [['Inès Waiting', 'ines@example.com', null, null, null]],
      text,
    );
  }
  const person = await personAt((await search('880900')).rows[0]!.id);
  assert.equal(person.standing, 'Not a member: invited, and has not begun to join.');
  assert.deepEqual(person.codes, [{ code: 'UNUSED880900', isUsed: false }]);
  assert.deepEqual([person.joins, person.story, person.letters], [[], [], []]);
  await sql`update person set erased_at = now() where contact_id = '880900'`.execute(database);
  assert.deepEqual((await search('880900')).rows, []);
  assert.equal((await browser.call('getPerson', { params: { id: String(person.id) } })).message, NOBODY);
});

for (const [by, named] of [
  ['number', (contact: string) => contact],
  ['email', (_: string, email: string) => email.toUpperCase()],
  ['name', (_: string, __: string, name: string) => `notread ${name}`],
  ['name, the last one first', (_: string, __: string, name: string) => `${name}, Notread`],
  ['a part of the last name', (_: string, __: string, name: string) => name.slice(0, -1)],
] as const)
  test(`a contact who was not read yet is found by ${by}, if HubSpot answers`, async (t) => {
    const lastname = `Yet${by.replaceAll(/\W/g, '')}`;
    const email = `${lastname.toLowerCase()}@example.com`;
    const contact = await newContact(server, email, { firstname: 'Notread', lastname });
    const text = named(contact, email, lastname);
    t.after(() => server.hubspotFault(null));
    await server.hubspotFault({ kind: 'status', status: 503, times: 20 });
    // If the database knows nobody, the search answers without waiting for HubSpot.
    const { rows, atHubspot } = await search(text);
    assert.deepEqual([rows, atHubspot], [[], null]);
    assert.equal((await search(text, { atHubspot: true })).atHubspot, 'unavailable');
    await server.hubspotFault(null);
    await sql`update crm_budget set blocked_until = '-infinity', failures = 0`.execute(database);
    const [found] = (await search(text, { atHubspot: true })).rows;
    assert.deepEqual([found?.name, found?.state], [`Notread ${lastname}`, null]);
    assert.equal((await personAt(found!.id)).contactId, contact);
  });

test('a search for what nobody is called finds nobody, whatever it is made of', async () => {
  for (const text of [
    'nobody',
    'a\u0000b',
    '\u202eann nobody',
    "'; --",
    '%',
    '0000 99999',
    'pi_none',
    '9'.repeat(200),
  ])
    assert.deepEqual((await search(text)).rows, [], text);
  for (const text of ['', '  ', '\u0000', 'x'.repeat(201)])
    assert.equal((await browser.call('searchPeople', { body: { text } })).status, 400, text);
});

test('a search goes on where it ended, the newest first, with everybody once', async () => {
  await sql`insert into person (contact_id, profile, email, words, created_at)
    select (770000 + n)::text, json_build_object('firstName', 'Page', 'lastName', 'Turner' || n), null, 'page turner' || n,
      '2020-01-01'::timestamptz + make_interval(secs => n / 3) from generate_series(1, 120) n`.execute(
    database,
  );
  const names: (string | null)[] = [];
  let next: string | undefined;
  const sizes: number[] = [];
  do {
    const page = await search('page turner', next === undefined ? {} : { next });
    sizes.push(page.rows.length);
    names.push(...page.rows.map(({ name }) => name));
    next = page.next ?? undefined;
  } while (next !== undefined);
  assert.deepEqual(sizes, [50, 50, 20]);
  assert.deepEqual(
    names,
    Array.from({ length: 120 }, (_, index) => `Page Turner${120 - index}`),
  );
  for (const bad of ['x', '1', '1-', '-1-1', "1-1'", '9'.repeat(150)])
    assert.equal(
      (await browser.call('searchPeople', { body: { text: 'page', next: bad } })).status,
      400,
      bad,
    );
});

test('whose letters are refused, what HubSpot refuses and whose refunds wait are listed', async () => {
  const { client, uuid } = await orderedPin();
  const { intentId } = await payOrder(server, client, uuid);
  const id = await idOf(uuid);
  const listed = async (queue: string) => {
    const { data } = await browser.call('getWaiting', { query: { queue } });
    return (data as Found).rows.map((row) => row.id);
  };
  for (const queue of ['letters', 'hubspot', 'refunds']) assert.ok(!(await listed(queue)).includes(id));
  await dueLetters(database, deps, [{ kind: 'portal', sessionUuid: uuid, occasion: 'refused' }]);
  await sql`update letter set refusal = '550 no' where session_uuid = ${uuid} and occasion = 'refused'`.execute(
    database,
  );
  await setDelivery(server, uuid, sql`refusal = 'no scope', due_since = now()`);
  await sql`insert into refund (intent_id, amount_cents, reason, status) values (${intentId}, 50, 'requested', 'due')`.execute(
    database,
  );
  for (const queue of ['letters', 'hubspot', 'refunds']) assert.ok((await listed(queue)).includes(id), queue);
  assert.equal((await browser.call('getWaiting', { query: { queue: 'money' } })).status, 400);
});
