import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deliver } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { membershipOnly } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { paidJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { reconcile } from '../settlement/reconcile.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const atCrm = (method: string, path: string, body?: object) =>
  askHubspot(server.hubspotUrl, method, path, body);

async function person(code: string): Promise<string> {
  const properties = { email: `${code.toLowerCase()}@example.com`, firstname: 'Ada', invitation_code: code };
  return (await atCrm('POST', '', { properties })).id;
}

test('of two merged contacts who are members, the upgrade of one stays held on the membership of the other when staff give its own back', async () => {
  const [one, two] = [await person('MERGEDONE'), await person('MERGEDTWO')];
  const client = server.client();
  const { uuid: first, intentId } = await paidJoin(server, client, 'MERGEDONE', {
    personalEmail: 'mergedone@example.com',
  });
  assert.equal((await charge(client, first, intentId)).data.status, 'succeeded');
  const { uuid: second } = await paidJoin(server, server.client(), 'MERGEDTWO', {
    personalEmail: 'mergedtwo@example.com',
  });
  await deliver(server);
  const merged = (await atCrm('POST', '/merge', { primaryObjectId: two, objectIdToMerge: one })).id;
  await server.deps.contacts.refresh(one);
  await server.deps.contacts.refresh(merged);
  const told = (await Promise.all([first, second].map((uuid) => noticesOf(server, uuid)))).flat();
  assert.ok(
    told.some((notice) => notice.includes('Give one of them back')),
    JSON.stringify(told),
  );

  await refundJoin(server.deps, first, membershipOnly);
  assert.deepEqual(
    (await membershipsOf(server, second)).map(({ standing }) => standing),
    ['active'],
  );
  const notices = await noticesOf(server, first);
  assert.deepEqual(
    notices.filter((notice) => notice.includes('the membership below it has ended')),
    [],
  );
  const { differences } = await reconcile(server.deps, { graceMinutes: 0 });
  assert.deepEqual(
    differences.filter(({ subject }) => subject === first),
    [],
  );
});
