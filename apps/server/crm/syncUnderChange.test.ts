import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { sql } from 'kysely';
import { askHubspot, type HubspotContact } from '../../../tests/harness/providers.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reportNothing } from '../providers/trouble.ts';
import { noBudget } from './hubspot/budget.ts';
import { type HubspotClient, hubspotClient } from './hubspot/client.ts';
import { syncContacts } from './syncContacts.ts';

const CONTACTS = 230;

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
let hubspot: HubspotClient;
before(async () => {
  const { config, society } = server.deps;
  hubspot = hubspotClient(
    config.providers.hubspot,
    society.crm.fields,
    noBudget,
    'background',
    reportNothing,
  );
});
const batch = async (path: 'create' | 'update', inputs: object[]) => {
  const results: { id: string }[] = [];
  for (let from = 0; from < inputs.length; from += 100) {
    const part = { inputs: inputs.slice(from, from + 100) };
    const answer = await askHubspot<{ results: HubspotContact[] }>(
      server.hubspotUrl,
      'POST',
      `/batch/${path}`,
      part,
    );
    results.push(...answer.results);
  }
  return results.map(({ id }) => id);
};
const create = (word: string) =>
  batch(
    'create',
    Array.from({ length: CONTACTS }, (_, n) => ({
      properties: { email: `${word}${n}@example.com`, firstname: 'Before' },
    })),
  );
const rename = (ids: readonly string[], firstname: string) =>
  batch(
    'update',
    ids.map((id) => ({ id, properties: { firstname } })),
  );
const mirrored = async (ids: readonly string[]) => {
  const { rows } = await sql<{ name: string; count: number }>`
    select coalesce(profile ->> 'firstName', '?') as name, count(*)::int as count from person
    where contact_id = any(${ids}) group by 1 order by 1`.execute(server.background);
  return Object.fromEntries(rows.map(({ name, count }) => [name, count]));
};
const sync = (client = hubspot) =>
  syncContacts({ ...server.deps, database: server.background, hubspot: client });

test('a sync loses nobody who changes while it reads, wherever it is', async () => {
  await sync();
  const ids = await create('moving');
  // Renames one contact after the other, so that each has a different time of change.
  for (const id of ids) await rename([id], 'Edited');
  let pages = 0;
  const busy: HubspotClient = {
    ...hubspot,
    async changedContacts(...args) {
      const page = await hubspot.changedContacts(...args);
      // Changes contacts that were read and others that are yet to be read.
      if (pages++ < 2) await rename([...ids.slice(pages * 7, pages * 7 + 5), ids.at(-pages)!], 'Twice');
      return page;
    },
  };
  await sync(busy);
  await sync();
  assert.ok(pages >= 3, `${pages} pages`);
  assert.deepEqual(await mirrored(ids), { Edited: CONTACTS - 12, Twice: 12 });
});

test('a whole page of contacts that changed in one moment, as by an import, is passed, and those after it are read', async () => {
  const ids = await create('import');
  await sync();
  // The stand-in gives all contacts of a batch the same time of change. A batch of 100 contacts fills a whole page.
  await rename(ids, 'Imported');
  const [later] = await batch('create', [{ properties: { email: 'later@example.com', firstname: 'Later' } }]);
  await sync();
  assert.deepEqual(await mirrored([...ids, later!]), { Imported: CONTACTS, Later: 1 });
});

test('a sync of many minutes has reached the time at which it began', async () => {
  await sync();
  const began = Date.now();
  let minutes = 0;
  const now = () => new Date(began + 60_000 * minutes++);
  await syncContacts({ ...server.deps, database: server.background, hubspot, now });
  const { reached_at } = await server.background
    .selectFrom('schedule')
    .select('reached_at')
    .where('name', '=', 'contacts sync')
    .executeTakeFirstOrThrow();
  assert.equal(reached_at!.getTime(), began);
});

test('a change that the search of HubSpot did not show yet is read by the next sync', async () => {
  const [id] = await batch('create', [{ properties: { email: 'unseen@example.com', firstname: 'Before' } }]);
  await sync();
  await rename([id!], 'Unseen');
  // Simulates that the previous run came 50 s after the change, while HubSpot's search did not show the change yet.
  await sql`update schedule set reached_at = now() + interval '50 seconds' where name = 'contacts sync'`.execute(
    server.background,
  );
  await sync();
  assert.deepEqual(await mirrored([id!]), { Unseen: 1 });
});

test('a first sync that ends while it looks at contacts that are listed no more looks at them again', async () => {
  const [id] = await batch('create', [{ properties: { email: 'purged@example.com', firstname: 'Before' } }]);
  await sync();
  await askHubspot(server.hubspotUrl, 'DELETE', `/${id}`);
  // HubSpot lists neither contacts that were deleted for good, nor contacts that were deleted long ago.
  const listing: HubspotClient = { ...hubspot, deletedContacts: async () => ({ ids: [], after: null }) };
  const ending: HubspotClient = {
    ...listing,
    async readContacts() {
      throw new Error('ends here');
    },
  };
  const work = { ...server.deps, database: server.background, hubspot: ending };
  await assert.rejects(syncContacts(work, { fromScratch: true }), /ends here/);
  await sync(listing);
  const { deleted_at } = await server.background
    .selectFrom('person')
    .select('deleted_at')
    .where('contact_id', '=', id!)
    .executeTakeFirstOrThrow();
  assert.ok(deleted_at);
});

test('a contact with characters that no database keeps stops neither its own join nor the sync of others', async () => {
  const [odd] = await batch('create', [
    {
      properties: {
        email: 'odd@example.com',
        firstname: 'Jor\ud800dan',
        lastname: 'Ri\0vera',
        invitation_code: 'ODDNAME1',
      },
    },
  ]);
  const [other] = await batch('create', [{ properties: { email: 'other@example.com', firstname: 'Ada' } }]);
  const client = server.client();
  const checked = await client.call('checkEligibility', { body: { invitationCode: 'ODDNAME1' } });
  assert.deepEqual([checked.status, checked.data?.contactId], [200, odd]);
  const body = { contactId: odd!, invitationCode: 'ODDNAME1', isTOLA: true };
  assert.equal((await client.call('initiateJoin', { body })).status, 200);

  await sync();
  const kept = await server.background
    .selectFrom('person')
    .select('profile')
    .where('contact_id', 'in', [odd!, other!])
    .orderBy('id')
    .execute();
  assert.deepEqual(
    kept.map(({ profile }) => [profile.firstName, profile.lastName]),
    [
      ['Jor\ufffddan', 'Rivera'],
      ['Ada', null],
    ],
  );
});
