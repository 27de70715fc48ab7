import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { fillDue } from './fillContacts.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

test('a contact that HubSpot refuses to read holds up no other, and is not asked for again and again', async () => {
  const refused = '150';
  for (const id of ['101', '102', refused, '103', '104'])
    await sql`
      insert into person (contact_id, fill_at) values (${id}, now())
      on conflict (contact_id) do update set fill_at = now(), fetched_at = null`.execute(server.background);
  await server.hubspotFault({
    kind: 'status',
    status: 400,
    path: '/crm/objects/*/contacts/batch/read',
    about: `"${refused}"`,
    body: { category: 'VALIDATION_ERROR', message: 'no' },
    times: 1_000,
  });
  const work = { ...server.deps, database: server.background };
  await fillDue(work);
  const { rows } = await sql<{ id: string; is_filled: boolean; minutes: number | null }>`
    select contact_id as id, fetched_at is not null as is_filled, floor(extract(epoch from fill_at - now()) / 60)::int as minutes
    from person where contact_id in ('101', '102', '103', '104', ${refused}) order by contact_id`.execute(
    server.background,
  );
  assert.deepEqual(
    rows.map(({ id, is_filled, minutes }) => [id, is_filled, minutes]),
    [
      ['101', true, null],
      ['102', true, null],
      ['103', true, null],
      ['104', true, null],
      [refused, false, 59],
    ],
  );
  await server.hubspotFault(null);
  await sql`update person set fill_at = now() where contact_id = ${refused}`.execute(server.background);
  assert.deepEqual(await fillDue(work), { taken: 1, more: false });
});

test('of more contacts than one batch has, those that have waited longest come first', async () => {
  await sql`
    insert into person (contact_id, fill_at) select (7000 + n)::text, now() - make_interval(mins => n) from generate_series(1, 101) n`.execute(
    server.background,
  );
  const work = { ...server.deps, database: server.background };
  assert.deepEqual(await fillDue(work), { taken: 100, more: true });
  const { rows } = await sql<{
    id: string;
  }>`select contact_id as id from person where fill_at is not null and contact_id ~ '^7'`.execute(
    server.background,
  );
  assert.deepEqual(rows, [{ id: '7001' }]);
  await fillDue(work);
});

test('a contact is due again until HubSpot has answered', async () => {
  await sql`insert into person (contact_id, fill_at) values ('105', now())
    on conflict (contact_id) do update set fill_at = now(), fetched_at = null`.execute(server.background);
  const work = { ...server.deps, database: server.background };
  const row = async () =>
    (
      await sql<{ is_due: boolean; is_filled: boolean }>`
        select fill_at is not null as is_due, fetched_at is not null as is_filled from person where contact_id = '105'`.execute(
        server.background,
      )
    ).rows[0];
  await server.hubspotFault({ kind: 'cut', path: '/crm/objects/*/contacts/batch/read', times: 1_000 });
  await fillDue(work);
  assert.deepEqual(await row(), { is_due: true, is_filled: false });
  await server.hubspotFault(null);
  await sql`update person set fill_at = now() where contact_id = '105'`.execute(server.background);
  await fillDue(work);
  assert.deepEqual(await row(), { is_due: false, is_filled: true });
});
