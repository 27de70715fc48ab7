import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { NOT_OFFERED } from '#core/refundRequest.ts';
import { changeSociety } from '../../../../tests/harness/changeSociety.ts';
import { newMember, nominatedOrder, payOrder } from '../../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../../tests/harness/testServer.ts';
import { openRequests } from './readRequests.ts';
import { refundJoin } from './refundJoin.ts';
import { declineRequest } from './requestRefund.ts';

const server = await sharedServer();
const { deps } = server;
const { database } = deps;
const donation25 = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0021';
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

const look = (client: Client, uuid: string) => client.call('getRefundRequest', { params: { uuid } });
const ask = (client: Client, uuid: string, total: number) =>
  client.call('requestRefund', { params: { uuid }, body: { total } });

async function letters(uuid: string): Promise<string[]> {
  const rows = await database
    .selectFrom('letter')
    .select('kind')
    .where('session_uuid', '=', uuid)
    .where('kind', 'in', ['refund-asked', 'refund-declined'])
    .orderBy('kind')
    .execute();
  return rows.map(({ kind }) => kind);
}

/** Makes a member who has given a donation and ordered a pin, for $102 in all. */
async function member(): Promise<{ client: Client; uuid: string }> {
  const client = server.client();
  const person = { personalEmail: `back${Math.random()}@example.com` };
  const uuid = await nominatedOrder(client, { items: [donation25, pin], person });
  await payOrder(server, client, uuid);
  return { client, uuid };
}

test('a member sees what would come back, what is kept and what ends, asks once, and staff have it in their queue', async () => {
  const { client, uuid } = await member();
  const { data } = await look(client, uuid);
  assert.equal(data.whyNot, null);
  assert.deepEqual(data.lines, [
    { name: 'Membership', amount: 6500 },
    { name: 'Lapel Pin', amount: 1200 },
  ]);
  assert.deepEqual(data.kept, [{ name: 'Donation to scholarships', amount: 2500 }]);
  assert.deepEqual([data.total, data.ends, data.answerDays], [7700, ['Membership'], 5]);
  const before = (await openRequests(database, 100)).length;
  const asked = await ask(client, uuid, 7700);
  assert.equal(asked.data.request?.amount, 7700);
  assert.deepEqual(
    (await ask(client, uuid, 7700)).data.request,
    asked.data.request,
    'asked twice is asked once',
  );
  assert.equal((await openRequests(database, 100)).length, before + 1);
  assert.deepEqual(await letters(uuid), ['refund-asked']);
});

test('what was sent by post is kept, and a page with another total is told so', async () => {
  const { client, uuid } = await member();
  await sql`
    insert into shipment (session_uuid, intent_id, line, product_id, goods, shipped_by)
    select session_uuid, intent_id, 2, 30, 'Lapel Pin', 'Staff' from payment where session_uuid = ${uuid}`.execute(
    database,
  );
  const refused = await ask(client, uuid, 7700);
  assert.equal(refused.status, 409);
  assert.match(refused.message!, /it is \$65\.00 now/);
  const { data } = await look(client, uuid);
  assert.deepEqual([data.total, data.request], [6500, null]);
});

test('a refund by staff answers the request; declining it writes to the member, and ends it for good', async () => {
  const accepted = await member();
  await ask(accepted.client, accepted.uuid, 7700);
  const declined = await member();
  await ask(declined.client, declined.uuid, 7700);
  const before = (await openRequests(database, 100)).length;
  const wish = { membership: true, ineligible: false, upgrade: false, items: 'none' } as const;
  await refundJoin(deps, accepted.uuid, wish);
  assert.equal((await openRequests(database, 100)).length, before - 1);
  const staff = { ...deps, actor: 'Sam Staff' };
  await assert.rejects(declineRequest(staff, declined.uuid, ' '), /Say why/);
  await declineRequest(staff, declined.uuid, 'It was printed already.');
  await assert.rejects(declineRequest(staff, declined.uuid, 'Again.'), /no request that waits/);
  await assert.rejects(declineRequest(staff, accepted.uuid, 'Late.'), /no request that waits/);
  const { data } = await look(declined.client, declined.uuid);
  assert.equal(data.request?.declined?.sentence, 'It was printed already.');
  assert.equal((await ask(declined.client, declined.uuid, 7700)).message, NOT_OFFERED.declined);
  assert.deepEqual(await letters(declined.uuid), ['refund-asked', 'refund-declined']);
});

test('a request that leaves the membership is answered once what was asked for goes back', async (t) => {
  changeSociety(t, server, (source) =>
    source.replace('gives: [membership, upgrade, items]', 'gives: [items]'),
  );
  const { client, uuid } = await member();
  const before = (await openRequests(database, 100)).length;
  assert.equal((await ask(client, uuid, 1200)).data.request?.amount, 1200);
  assert.equal((await openRequests(database, 100)).length, before + 1);
  await refundJoin(deps, uuid, { membership: false, ineligible: false, upgrade: false, items: [30] });
  assert.equal((await openRequests(database, 100)).length, before);
  const { data } = await look(client, uuid);
  assert.deepEqual([data.request, data.whyNot], [null, NOT_OFFERED.asked]);
});

test('after the days of the society’s file nothing can be asked for here', async () => {
  const { client, uuid } = await member();
  await sql`update join_session set paid_at = now() - interval '31 days' where uuid = ${uuid}`.execute(
    database,
  );
  assert.equal((await look(client, uuid)).data.whyNot, NOT_OFFERED.over);
  assert.equal((await ask(client, uuid, 7700)).status, 409);
});

test('a stranger sees and asks nothing', async () => {
  const { uuid } = await newMember(server);
  const stranger = server.client();
  assert.equal((await look(stranger, uuid)).status, 404);
  assert.equal((await ask(stranger, uuid, 6500)).status, 404);
});
