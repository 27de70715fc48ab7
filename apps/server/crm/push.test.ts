import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { pathOf } from '#contract/calls.ts';
import { atHubspot, deliver, editAtHubspot } from '../../../tests/harness/deliver.ts';
import { lockHolder } from '../../../tests/harness/locks.ts';
import { details, newMember, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { postPdf } from '../../../tests/harness/uploads.ts';
import { reviewTranscripts } from '../documents/review.ts';
import { takeDue } from './deliveries.ts';
import { queueForHubspot } from './queuePersonsForHubspot.ts';

const server = await sharedServer();

const push = () => deliver(server);
/** Returns the properties of a contact in HubSpot that these tests compare. */
const contact = (id: string) =>
  atHubspot(
    server,
    id,
    'firstname',
    'middlename',
    'city',
    'email',
    'personal_email',
    'membership_status',
    'membership_name',
    'amount_paid',
    'paid_at',
    'join_stage',
  );

test('an invited join updates its contact with what the member gave, blanks nothing, and leaves the email that it is known by', async () => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR101');
  const { email } = await contact('101');
  const body = details({ city: 'Dallas', middleName: '', personalEmail: 'typed@example.com' });
  await client.call('submitDetails', { params: { uuid }, body });
  assert.equal(await push(), 1);
  const told = await contact('101');
  assert.deepEqual([told.city, told.middlename, told.membership_status ?? null], ['Dallas', 'Alex', null]);
  assert.deepEqual([told.email, told.personal_email], [email, 'typed@example.com']);
  assert.equal(await push(), 0, 'what was delivered is not sent again');
});

test('a join is told while another statement only relies on it to stay', async (t) => {
  const client = server.client();
  const uuid = await startJoin(client, 'HONOR101');
  await client.call('submitDetails', { params: { uuid }, body: details({ city: 'Austin' }) });
  const holder = await lockHolder(t, server);
  // Takes the row lock that PostgreSQL takes when another transaction inserts a row that refers to the join, such as a payment.
  await holder.query('select from join_session where uuid = $1 for key share', [uuid]);
  assert.equal(await push(), 1);
});

test('a record on which HubSpot fails every time keeps no other from being delivered', async () => {
  const emails = Array.from({ length: 12 }, (_, n) => `many${n}@example.com`);
  for (const personalEmail of emails) {
    const client = server.client();
    const uuid = await startJoin(client, 'LINCOLN2026');
    await client.call('submitDetails', { params: { uuid }, body: details({ personalEmail }) });
  }
  const behind = async () => {
    const { rows } = await sql<{ email: string }>`
      select details ->> 'personalEmail' as email from crm_delivery join person on id = person_id
      where due_at is not null and details ->> 'personalEmail' like 'many%'`.execute(server.deps.database);
    return rows.map(({ email }) => email);
  };
  await server.hubspotFault({ kind: 'status', status: 500, about: 'many7@example.com', times: 1000 });
  for (let round = 0; round < 6; round++) await push();
  assert.deepEqual(await behind(), ['many7@example.com']);
  await server.hubspotFault(null);
  await push();
  assert.deepEqual(await behind(), []);
});

test('HubSpot does not say that a transcript was received once all of a join were rejected, until there is another', async () => {
  const { client, uuid } = await newMember(server, 'HONOR104');
  const upload = async () =>
    assert.equal((await postPdf(client, pathOf('uploadTranscript', { uuid }))).status, 200);
  const toldAt = async () => {
    await push();
    return (await atHubspot(server, '104', 'transcript_received_at')).transcript_received_at;
  };
  const isTold = async () => Boolean(await toldAt());
  // Staff enter the date of a transcript that came by post. The join must not remove that date.
  await editAtHubspot(server, '104', { transcript_received_at: '2026-01-01T00:00:00Z' });
  assert.equal(await isTold(), true);
  await upload();
  assert.equal(await isTold(), true);
  await reviewTranscripts(server.deps, uuid, { review: 'rejected', reason: 'unreadable' });
  assert.equal(await isTold(), false);
  await upload();
  const first = await toldAt();
  assert.ok(first);
  await upload();
  assert.equal(await toldAt(), first, 'a second page is no later transcript');
  const { database } = server.deps;
  await sql`update document set removed_at = now() where session_uuid = ${uuid}`.execute(database);
  await queueForHubspot(database, uuid);
  assert.equal(await isTold(), false, 'of files that were removed nobody can decide');
});

test('of more joins than one batch has, those that have waited longest come first, one that failed often by itself', async () => {
  const { background } = server;
  await sql`delete from crm_delivery`.execute(background);
  await sql`
    with persons as (
      insert into person (details) select ${JSON.stringify(details())}::jsonb || jsonb_build_object('firstName', n) from generate_series(1, 102) n
      returning id, (details ->> 'firstName')::int as n)
    insert into crm_delivery (person_id, due_since, due_at, tries)
    select id, now(), now() - make_interval(mins => n), case n when 102 then 50 else 0 end from persons`.execute(
    background,
  );
  const taken = async () =>
    (await takeDue({ ...server.deps, database: background })).rows.map(({ own }) =>
      Number(own.details!.firstName),
    );
  assert.deepEqual(await taken(), [102]);
  assert.deepEqual(
    (await taken()).sort((one, other) => one - other),
    Array.from({ length: 100 }, (_, index) => index + 2),
  );
  assert.deepEqual(await taken(), [1]);
});
