import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver, deliveryOf, newContact, refillBudget } from '../../../tests/harness/deliver.ts';
import { pdf } from '../../../tests/harness/documents.ts';
import { beforeEachIn } from '../../../tests/harness/hooks.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { requestsTo } from '../../../tests/harness/providers.ts';
import { details } from '../../../tests/harness/steps.ts';
import { sharedServer, startTestServer, type TestServer } from '../../../tests/harness/testServer.ts';
import type { LinkTarget } from '../session/links.ts';
import { pushDue } from './push.ts';
import { queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
beforeEachIn(import.meta.filename, async () => {
  await recovery();
  await sql`delete from crm_delivery`.execute(server.deps.database);
});

const outage = () => server.hubspotFault({ kind: 'cut', times: 1_000_000 });

/** Ends the outage of HubSpot and the pause in our calls that followed from it. */
async function recovery(): Promise<void> {
  await server.hubspotFault(null);
  await refillBudget(server);
}

let contacts = 0;
/** Creates a contact in HubSpot that the mirror does not have. Returns its id. */
function mailed(at: TestServer = server): Promise<string> {
  const email = `mailed${++contacts}@example.com`;
  return newContact(at, email, { firstname: 'Mailed', lastname: 'Rivera', middlename: 'Lee' });
}

const tomorrow = () => new Date(Date.now() + 86_400_000);
const sign = (target: LinkTarget) => server.deps.links.sign(target, tomorrow());

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
async function mirrored(id: string, { deps } = server) {
  const { rows } = await sql<{ name: string | null; is_filled: boolean }>`
    select profile ->> 'firstName' as name, fetched_at is not null as is_filled from person where contact_id = ${id}`.execute(
    deps.database,
  );
  return rows[0];
}

test('more contacts than HubSpot may be asked for at once press their signed links, and all get in', async (t) => {
  const limited = await startTestServer();
  t.after(() => limited.close());
  const ids: string[] = [];
  while (ids.length < 30) ids.push(await mailed(limited));
  const press = (id: string) => {
    const signature = limited.deps.links.sign({ kind: 'init', contactId: id }, tomorrow());
    return limited.client().call('initJoin', { params: { id }, body: signature });
  };
  for (const { status } of await Promise.all(ids.map(press))) assert.equal(status, 200);
  await deliver(limited);
  for (const id of ids) assert.deepEqual(await mirrored(id, limited), { name: 'Mailed', is_filled: true });
  assert.deepEqual(
    (await requestsTo(limited.hubspotUrl)).filter(({ status }) => status === 429),
    [],
  );
});

for (const kind of ['init', 'checkout', 'resume'] as const)
  test(`in an outage a signed ${kind} link goes on with the id alone and is filled afterwards; an unsigned one is told to come back`, async () => {
    const [id, unknown] = [await mailed(), await mailed()];
    await outage();
    assert.equal((await press[kind](id)).status, 200);
    const unsigned = await press[kind](unknown, false);
    assert.equal(unsigned.status, 503);
    assert.match(unsigned.headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    assert.equal(await mirrored(unknown), undefined);
    await recovery();
    assert.equal(await deliver(server), 1);
    assert.deepEqual(await mirrored(id), { name: 'Mailed', is_filled: true });
    assert.equal(await deliver(server), 0);
    assert.equal((await press[kind](unknown, false)).status, 200);
  });

test('an unsigned link to a contact that the mirror has goes on in an outage', async () => {
  const id = await mailed();
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await outage();
  assert.equal((await press.init(id, false)).status, 200);
});

test('what was typed during the outage is written to HubSpot afterwards, and nothing there is blanked', async () => {
  const id = await mailed();
  await outage();
  const client = server.client();
  const { uuid } = (
    await client.call('initJoin', { params: { id: id }, body: sign({ kind: 'init', contactId: id }) })
  ).data;
  assert.equal((await client.call('getContact', { params: { uuid } })).data.firstName, null);
  await recovery();
  await deliver(server);
  const body = details({ firstName: 'Typed', middleName: '' });
  assert.equal((await client.call('submitDetails', { params: { uuid }, body })).status, 200);
  assert.equal((await client.call('getContact', { params: { uuid } })).data.firstName, 'Typed');
  await deliver(server);
  const { firstname, middlename, city } = await atHubspot(server, id, 'firstname', 'middlename', 'city');
  assert.deepEqual([firstname, middlename, city], ['Typed', 'Lee', 'Austin']);
});

test('a join that waits for its contact writes no blanks, before and after it is filled', async () => {
  const id = await mailed();
  await outage();
  assert.equal((await press.checkout(id)).status, 200);
  await recovery();
  await queuePersonsForHubspot(server.deps.database, sql`(${personId(id)})`);
  await deliver(server);
  const held = await atHubspot(server, id, 'firstname', 'middlename', 'lastname', 'email');
  assert.deepEqual(
    [held.firstname, held.middlename, held.lastname, held.email],
    ['Mailed', 'Lee', 'Rivera', `mailed${contacts}@example.com`],
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
  const id = '987654320';
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
  const [id, other] = [await mailed(), await mailed()];
  const parameters = { mp: '1', usp: '10', c: '4500' };
  const signature = sign({ kind: 'checkout', contactId: id, parameters });
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
  const id = await mailed();
  await outage();
  const answer = await server.client().call('initiateCheckout', {
    body: {
      hubspotContactId: id,
      mainProductId: 10,
      ...sign({ kind: 'checkout', contactId: id, parameters: { mp: '10' } }),
    },
  });
  assert.equal(answer.status, 503);
});

test('while HubSpot is down what is to be filled waits, and asks no more often than the budget lets it', async () => {
  const id = await mailed();
  await outage();
  assert.equal((await press.init(id)).status, 200);
  await refillBudget(server);
  assert.equal((await pushDue(server.deps)).taken, 1);
  assert.equal((await pushDue(server.deps)).taken, 0);
});
