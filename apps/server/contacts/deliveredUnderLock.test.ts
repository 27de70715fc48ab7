import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { newContact } from '../../../tests/harness/deliver.ts';
import { waiting } from '../../../tests/harness/locks.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import type { HubspotClient } from '../providers/hubspot/client.ts';
import { pushDue } from './push.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

test('what HubSpot has taken is noted of the joins of one payer in the order in which a payment locks them', async () => {
  const joins: { uuid: string; contact: string }[] = [];
  for (const code of ['LOCKED101', 'LOCKED102']) {
    const contact = await newContact(server, `${code}@example.com`, { invitation_code: code });
    const { uuid } = await paidJoin(server, server.client(), code);
    joins.push({ uuid, contact });
  }
  const [first, second] = joins.sort((a, b) => (a.uuid < b.uuid ? -1 : 1));
  // Makes the join with the higher uuid the first to be sent.
  await sql`
    update join_session set crm_next_try_at = now() - make_interval(mins => case uuid when ${second!.uuid} then 2 else 1 end)`.execute(
    server.background,
  );
  const { late } = await server.deps.database.transaction().execute(async (trx) => {
    const lock = (uuid: string) =>
      trx.selectFrom('join_session').select('uuid').where('uuid', '=', uuid).forUpdate();
    const hubspot: HubspotClient = {
      ...server.hubspot,
      async updateContacts(writes) {
        await lock(first!.uuid).execute();
        return server.hubspot.updateContacts(writes);
      },
    };
    const late = pushDue({ ...server.deps, database: server.background }, hubspot);
    await waiting(trx, 1);
    assert.equal((await lock(second!.uuid).noWait().execute()).length, 1);
    const contact = trx
      .selectFrom('person')
      .select('contact_id as id')
      .where('contact_id', '=', second!.contact)
      .forUpdate();
    assert.equal((await contact.noWait().execute()).length, 1);
    // The promise is returned in an object: if the callback returned the promise itself, the transaction would wait for its result.
    return { late };
  });
  assert.equal((await late).taken, 2);
});
