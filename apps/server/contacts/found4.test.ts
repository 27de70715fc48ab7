import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { everything, membershipOnly, standingsOf } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { orderingJoin, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { followPayment } from '../refunds/followPayment.ts';
import { refundJoin } from '../refunds/refundJoin.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const pin = '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030';

const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

test('whose refund fails after they had joined anew and were refunded again is a member in HubSpot, as they are here', async () => {
  const code = 'BACKAGAIN';
  const id = await newContact(server, 'back.again@example.com', {
    firstname: 'Jordan',
    invitation_code: code,
  });
  const join = async (personalEmail: string) => {
    const client = server.client();
    const uuid = await orderingJoin(client, code, { personalEmail });
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: pin } });
    const paid = await payOrder(server, client, uuid);
    await deliver(server);
    return paid;
  };
  const first = await join('back.again@example.com');
  await refundJoin(server.deps, first.uuid, membershipOnly);
  const { body } = await server.stripe('GET', `/v1/refunds?payment_intent=${first.intentId}`);
  const [refund] = (body as unknown as { data: [{ id: string }] }).data;
  await deliver(server);
  assert.equal(await statusOf(id), 'former');

  // They join anew and give another email of theirs.
  const second = await join('back.again@school.example');
  assert.equal(await statusOf(id), 'member');
  // Meanwhile the pin of the first join is given back, so HubSpot is told of that join, too.
  await refundJoin(server.deps, first.uuid, { ...membershipOnly, membership: false, items: 'all' });
  await deliver(server);
  await refundJoin(server.deps, second.uuid, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'former');

  await server.stripeControl(`refunds/${refund.id}/settle`, { status: 'failed' });
  await followPayment(server.deps, first.intentId);
  await deliver(server);
  assert.deepEqual(await standingsOf(server, first.uuid), [{ type: 'membership', standing: 'active' }]);
  const status = await statusOf(id);
  const told = (await noticesOf(server, first.uuid)).filter((notice) => notice.includes(`"${status}"`));
  assert.ok(
    status === 'member' || told.length > 0,
    `the membership is active here, HubSpot says ${status}, and no notice names that`,
  );
});
