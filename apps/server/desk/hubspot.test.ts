import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { startDesk } from '../../../tests/harness/desk.ts';
import { deskPeopleOn } from '../../../tests/harness/deskPeople.ts';
import { newMember } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const desk = await startDesk(server);
after(() => desk.close());
const [robin, sam] = [await desk.signedIn('staff'), await desk.signedIn('staff')];
const { idOf, somebody, personAt } = deskPeopleOn(server);

async function member(code = 'LINCOLN2026') {
  const person = somebody();
  const { uuid } = await newMember(server, code, person);
  const id = await idOf(uuid);
  return { uuid, person, id, params: { id: String(id) } };
}
const isDue = async (uuid: string) =>
  (
    await sql`
      select from crm_delivery join join_session using (person_id)
      where uuid = ${uuid} and refusal is null and due_at is not null`.execute(database)
  ).rows.length === 1;

test('what HubSpot refused of a person is sent again, of everybody only if nobody is named', async () => {
  const [one, other] = [await member(), await member()];
  await deliver(server);
  for (const { uuid } of [one, other]) await setDelivery(server, uuid, sql`refusal = 'no such property'`);
  const { data } = await robin.call('retryAtHubspot', { body: { person: one.id, trial: true } });
  assert.deepEqual(
    [data.verb, data.lines[0]],
    ['Send to HubSpot again', 'HubSpot refused it: no such property'],
  );
  assert.equal((await robin.act('retryAtHubspot', { body: { person: one.id } })).status, 200);
  assert.deepEqual([await isDue(one.uuid), await isDue(other.uuid)], [true, false]);
  assert.deepEqual((await personAt(robin, one.id)).problems, []);
  const shown = await robin.call('retryAtHubspot', { body: { person: null, trial: true } });
  assert.match(
    shown.data.lines[0],
    new RegExp(`^Join 1 of Ann ${other.person.lastName} \\(contact \\d+\\): no such property$`),
  );
  const all = await robin.act('retryAtHubspot', { body: { person: null } });
  assert.equal(all.status, 200);
  assert.equal(await isDue(other.uuid), true);
  const none = await robin.act('retryAtHubspot', { body: { person: null } });
  assert.deepEqual([none.status, none.message], [409, 'HubSpot refuses nothing: nothing is sent again.']);
});

test('a person is linked to the contact of the same person, which then has what was bought', async () => {
  const contact = await newContact(server, 'other.mail@example.com', { firstname: 'Annie' });
  const { id, uuid, person, params } = await member();
  await deliver(server);
  const body = { contact };
  const { data } = await robin.call('linkContact', { params, body: { ...body, trial: true } });
  assert.equal(data.verb, 'Link to the contact');
  assert.match(data.lines[0], new RegExp(`^Remains: Annie, .*contact ${contact}, `));
  assert.match(
    data.lines[1],
    new RegExp(`^Becomes the same: Ann ${person.lastName}, .* holds a membership by join 1 of`),
  );
  assert.equal(
    data.lines[2],
    `What was bought is written into contact ${contact}, with name, address and email.`,
  );
  assert.equal((await personAt(robin, id)).id, id, 'a trial changes nothing');
  const presses = await Promise.all(
    [robin, sam].map((browser) =>
      browser.call('linkContact', { params, body: { ...body, seen: data.seen } }),
    ),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  await deliver(server);
  const held = await atHubspot(server, contact, 'firstname', 'membership_status');
  assert.deepEqual([held.firstname, held.membership_status], ['Ann', 'member']);
  assert.equal((await personAt(robin, id)).contactId, contact);
  assert.equal(await idOf(uuid), (await personAt(robin, id)).id);
});

test('no person is linked to an unknown contact, their own, or one beside that which a code named', async () => {
  const { params } = await member('HONOR104');
  const contact = await newContact(server, 'second.contact@example.com', {});
  for (const [given, sentence] of [
    ['999999999', /^HubSpot knows no contact/],
    ['104', /one person already/],
    [contact, /^Both are contacts in HubSpot/],
  ] as const) {
    const answer = await robin.act('linkContact', { params, body: { contact: given } });
    assert.deepEqual([answer.status, sentence.test(answer.message!)], [409, true], answer.message!);
  }
  assert.equal((await robin.act('linkContact', { params, body: { contact: 'x' } })).status, 400);
});

test('of two who say that persons are one and two at once, the second looks again', async () => {
  const person = somebody();
  const [one, other, third] = await Promise.all(
    [1, 2, 3].map(async () => idOf((await newMember(server, 'LINCOLN2026', person)).uuid)),
  );
  const params = { id: String(one) };
  const trial = async (name: 'joinPersons' | 'keepApart', other: number) =>
    (await robin.call(name, { params, body: { other, trial: true } })).data.seen;
  const asOne = { other: other!, seen: await trial('joinPersons', other!) };
  assert.equal((await sam.act('keepApart', { params, body: { other } })).status, 200);
  const { status, shown } = await robin.call('joinPersons', { params, body: asOne });
  assert.deepEqual(
    [status, shown?.lines.includes('Staff have said that they are two, though they are alike.')],
    [409, true],
  );
  const [asThird, apart] = [await trial('joinPersons', third!), await trial('keepApart', third!)];
  const presses = await Promise.all([
    robin.call('joinPersons', { params, body: { other: third, seen: asThird } }),
    sam.call('keepApart', { params, body: { other: third, seen: apart } }),
  ]);
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
});

test('two who are likely the same are said to be one person, or two', async () => {
  const person = somebody();
  const [one, other, third] = await Promise.all(
    [1, 2, 3].map(async () => idOf((await newMember(server, 'LINCOLN2026', person)).uuid)),
  );
  const params = { id: String(one) };
  const apart = { other: third };
  assert.equal((await robin.act('keepApart', { params, body: apart })).status, 200);
  const likely = async (id: number) => (await personAt(robin, id)).others.map((each) => each.id);
  assert.deepEqual(await likely(one!), [other]);
  const { data } = await robin.call('joinPersons', { params, body: { other, trial: true } });
  assert.deepEqual(
    [data.verb, data.lines.includes('Both hold one, and pay for both until you give one back.')],
    ['Join them', true],
  );
  const body = { other, seen: data.seen };
  const presses = await Promise.all(
    [robin, sam].map((browser) => browser.call('joinPersons', { params, body })),
  );
  assert.deepEqual(presses.map(({ status }) => status).sort(), [200, 409]);
  assert.equal((await personAt(robin, one!)).id, (await personAt(robin, other!)).id);
  const again = await robin.act('keepApart', { params, body: { other } });
  assert.deepEqual([again.status, again.message], [409, 'They are one person already.']);
  assert.equal((await robin.act('joinPersons', { params, body: { other: 999_999 } })).status, 404);
});
