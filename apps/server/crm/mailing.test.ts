import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, deliveryOf } from '../../../tests/harness/deliver.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { afterEachIn, beforeEachIn } from '../../../tests/harness/hooks.ts';
import { requestsTo } from '../../../tests/harness/providers.ts';
import { details } from '../../../tests/harness/steps.ts';
import { startTestServer, type TestServer } from '../../../tests/harness/testServer.ts';
import type { LinkTarget } from '../session/links.ts';
import { hubspotIsToHear } from './hubspotIsToHear.ts';
import { pushDue } from './push.ts';

let server: TestServer;
beforeEachIn(import.meta.filename, async () => {
  server = await startTestServer();
});
afterEachIn(import.meta.filename, () => server.close());

const outage = () => server.hubspotFault({ kind: 'cut', times: 1_000_000 });

/** Ends the outage of HubSpot and the pause in our calls that followed from it. */
async function recovery(): Promise<void> {
  await server.hubspotFault(null);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.deps.database,
  );
}

/** Creates contacts in HubSpot that the mirror does not have. Returns their ids. */
async function mailed(count: number): Promise<string[]> {
  const ids: string[] = [];
  for (let first = 0; first < count; first += 100) {
    const writes = Array.from({ length: Math.min(100, count - first) }, (_, index) => ({
      mark: String(first + index),
      id: null,
      properties: {
        email: `mailed${first + index}@example.com`,
        firstname: `Mailed${first + index}`,
        lastname: 'Rivera',
        middlename: 'Lee',
      },
    }));
    for (const outcome of (await server.hubspot.createContacts(writes)).values()) {
      assert.ok(outcome.kind === 'written');
      ids.push(outcome.id);
    }
  }
  return ids;
}

const sign = (target: LinkTarget) => server.deps.links.sign(target, new Date(Date.now() + 86_400_000));

/** For each kind of link: the call that a page makes when the link is opened. */
const press = {
  init: (id: string, isSigned = true) =>
    server.client().call('initJoin', {
      params: { id },
      body: isSigned ? sign({ kind: 'init', contactId: id }) : {},
    }),
  checkout: (id: string, isSigned = true) =>
    server.client().call('initiateCheckout', {
      body: {
        hubspotContactId: id,
        mainProductId: 1,
        ...(isSigned ? sign({ kind: 'checkout', contactId: id, parameters: { mp: '1' } }) : {}),
      },
    }),
  resume: async (id: string, isSigned = true) => {
    const form = new FormData();
    const signature = isSigned ? sign({ kind: 'resume', contactId: id }) : {};
    for (const [name, value] of Object.entries({ contactId: id, ...signature })) form.append(name, value);
    form.append('file', new Blob([new Uint8Array(pdf())]), 'resume.pdf');
    const response = await server.client().fetch('/api/public/upload-resume', { method: 'POST', body: form });
    await response.arrayBuffer();
    return response;
  },
};
const kinds = ['init', 'checkout', 'resume'] as const;

async function mirrored(id: string) {
  const { rows } = await sql<{ name: string | null; is_filled: boolean }>`
    select profile ->> 'firstName' as name, fetched_at is not null as is_filled from person where contact_id = ${id}`.execute(
    server.deps.database,
  );
  return rows[0];
}

test('80 contacts that HubSpot knows and the mirror does not press their signed links at once, and all get in', async () => {
  const ids = await mailed(80);
  const answers = await Promise.all(ids.map((id, index) => press[kinds[index % 2]!](id)));
  assert.deepEqual(
    answers.map(({ status }) => status),
    ids.map(() => 200),
  );
  await recovery();
  await deliver(server);
  for (const [index, id] of ids.entries())
    assert.deepEqual(await mirrored(id), { name: `Mailed${index}`, is_filled: true });
  const limited = (await requestsTo(server.hubspotUrl)).filter(({ status }) => status === 429);
  assert.deepEqual(limited, []);
});

for (const kind of kinds)
  test(`in an outage a signed ${kind} link goes on with the id alone, and the contact is filled afterwards`, async () => {
    const ids = await mailed(10);
    await outage();
    const answers = await Promise.all(ids.map((id) => press[kind](id)));
    assert.deepEqual(
      answers.map(({ status }) => status),
      ids.map(() => 200),
    );
    await recovery();
    assert.equal(await deliver(server), 10);
    assert.deepEqual(await mirrored(ids[3]!), { name: 'Mailed3', is_filled: true });
    assert.equal(await deliver(server), 0);
  });

for (const kind of kinds)
  test(`in an outage an unsigned ${kind} link to a contact that nobody knows is told to come back, and leaves nothing`, async () => {
    const [id] = await mailed(1);
    await outage();
    const answer = await press[kind](id!, false);
    assert.equal(answer.status, 503);
    assert.match(answer.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal(await mirrored(id!), undefined);
    await recovery();
    assert.equal((await press[kind](id!, false)).status, 200);
  });

test('an unsigned link to a contact that the mirror has goes on in an outage', async () => {
  const [id] = await mailed(1);
  assert.equal(await server.deps.contacts.refresh(id!), 'known');
  await outage();
  assert.equal((await press.init(id!, false)).status, 200);
});

test('what was typed during the outage is written to HubSpot afterwards, and nothing there is blanked', async () => {
  const [id] = await mailed(1);
  await outage();
  const client = server.client();
  const { uuid } = (
    await client.call('initJoin', { params: { id: id! }, body: sign({ kind: 'init', contactId: id! }) })
  ).data;
  assert.equal((await client.call('getContact', { params: { uuid } })).data.firstName, null);
  await recovery();
  await deliver(server);
  const body = details({ firstName: 'Typed', middleName: '' });
  assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
  assert.equal((await client.call('getContact', { params: { uuid } })).data.firstName, 'Typed');
  await deliver(server);
  assert.deepEqual(await atHubspot(server, id!, 'firstname', 'middlename', 'city'), {
    firstname: 'Typed',
    middlename: 'Lee',
    city: 'Austin',
    ...(await restOf(id!)),
  });
});

/** Returns the properties that HubSpot itself has added to a contact. */
async function restOf(id: string) {
  const { firstname, middlename, city, ...rest } = await atHubspot(server, id, 'firstname');
  return rest;
}

test('a join that waits for its contact writes no blanks, before and after it is filled', async () => {
  const [id] = await mailed(1);
  await outage();
  assert.equal((await press.checkout(id!)).status, 200);
  await recovery();
  await hubspotIsToHear(server.deps.database, sql`(select person_id from join_session)`);
  await deliver(server);
  const held = await atHubspot(server, id!, 'firstname', 'middlename', 'lastname', 'email');
  assert.deepEqual(
    [held.firstname, held.middlename, held.lastname, held.email],
    ['Mailed0', 'Lee', 'Rivera', 'mailed0@example.com'],
  );
});

test('a signed link to a contact whom HubSpot does not know joins as an imported one does, and staff see the refusal', async () => {
  const client = server.client();
  const id = '987654321';
  const started = await client.call('initJoin', {
    params: { id },
    body: sign({ kind: 'init', contactId: id }),
  });
  assert.equal(started.status, 200);
  const { uuid } = started.data;
  assert.equal((await client.call('submitDetails', { params: { uuid }, body: details() })).status, 200);
  await deliver(server);
  assert.match((await deliveryOf(server, uuid)).refusal!, /does not know contact 987654321/);
  assert.equal((await press.init('987654322', false)).status, 404, 'an unsigned one is a guess');
});

test('a signed link to a contact whom HubSpot turns out not to know is asked for once, and joins all the same', async () => {
  await outage();
  const id = '987654321';
  assert.equal((await press.init(id)).status, 200);
  await recovery();
  assert.equal(await deliver(server), 1);
  assert.equal(await deliver(server), 0);
  assert.deepEqual(await mirrored(id), { name: null, is_filled: false });
});

test('a wrong signature makes no contact, whether HubSpot answers or not', async () => {
  const { exp } = sign({ kind: 'init', contactId: '55501' });
  const guess = () => server.client().call('initJoin', { params: { id: '55501' }, body: { exp, sig: 'x' } });
  assert.equal((await guess()).status, 403);
  await outage();
  assert.equal((await guess()).status, 403);
  assert.equal(await mirrored('55501'), undefined);
});

test('a checkout link holds for the contact, products and price that it was signed for, and for no others', async () => {
  const [id, other] = await mailed(2);
  const parameters = { mp: '1', usp: '10', c: '4500' };
  const signature = sign({ kind: 'checkout', contactId: id!, parameters });
  const given = { mainProductId: 1, upsellProductId: 10, overrideMainPriceCents: 4500, ...signature };
  const follow = (change: object) =>
    server.client().call('initiateCheckout', { body: { hubspotContactId: id, ...given, ...change } });
  assert.equal((await follow({})).status, 200);
  for (const change of [
    { hubspotContactId: other },
    { mainProductId: 2 },
    { upsellProductId: 11 },
    { upsellProductId: null },
    { overrideMainPriceCents: 2000 },
    { overrideMainPriceCents: null },
  ])
    assert.equal((await follow(change)).status, 403, JSON.stringify(change));
});

test('an upgrade is for members: whether somebody is one is waited for, not denied', async () => {
  const [id] = await mailed(1);
  await outage();
  const answer = await server.client().call('initiateCheckout', {
    body: {
      hubspotContactId: id,
      mainProductId: 10,
      ...sign({ kind: 'checkout', contactId: id!, parameters: { mp: '10' } }),
    },
  });
  assert.equal(answer.status, 503);
});

test('while HubSpot is down what is to be filled waits, and asks no more often than the budget lets it', async () => {
  const [id] = await mailed(1);
  await outage();
  assert.equal((await press.init(id!)).status, 200);
  await sql`update crm_budget set tokens = 15, blocked_until = '-infinity', failures = 0`.execute(
    server.deps.database,
  );
  assert.equal((await pushDue(server.deps)).taken, 1);
  assert.equal((await pushDue(server.deps)).taken, 0);
});
