import assert from 'node:assert/strict';
import { test } from 'node:test';
import { orderingJoin, orderLines } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';

const server = await sharedServer();

test('a checkout link sells the default membership, or what it names, at its price', async () => {
  const client = server.client();
  const start = async (body: object) =>
    (await client.call('initiateCheckout', { body: { hubspotContactId: '103', ...body } })).data
      .joinSessionUuid;
  assert.deepEqual(await orderLines(client, await start({})), [['membership', '65.00']]);
  assert.deepEqual(await orderLines(client, await start({ mainProductId: 2 })), [['membership', '89.00']]);
  assert.deepEqual(
    await orderLines(client, await start({ mainProductId: 1, overrideMainPriceCents: 2000 })),
    [['membership', '20.00']],
  );
  const uuid = await start({ mainProductId: null, upsellProductId: null, overrideMainPriceCents: null });
  assert.equal((await client.call('getCheckoutDetails', { params: { uuid } })).data.isCheckoutOnly, true);
});

const joins = () => server.deps.database.selectFrom('join_session').select('uuid').execute();
const refusedLinks: [object, number, RegExp][] = [
  [{ overrideMainPriceCents: 1999 }, 400, /costs at least \$20\.00/],
  [{ mainProductId: 30 }, 404, /cannot be bought/],
  [{ mainProductId: 999 }, 404, /cannot be bought/],
  [{ upsellProductId: 1 }, 404, /not an upgrade/],
  [{ hubspotContactId: '999999' }, 404, /Failed to initiate checkout\./],
  // These are not ids of HubSpot: 103 with leading zeros, and two numbers that are not below 2^63.
  [{ hubspotContactId: '0103' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '00000000000000000103' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '9223372036854775808' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: '99999999999999999999' }, 404, /Failed to initiate checkout\./],
  [{ hubspotContactId: 'abc' }, 400, /problem with your request/],
  [{ hubspotContactId: '105' }, 409, /already a member/],
];
for (const [change, expected, sentence] of refusedLinks)
  test(`a checkout link with ${JSON.stringify(change)} is refused with ${expected}, and starts no join`, async () => {
    const before = await joins();
    const { status, message } = await server
      .client()
      .call('initiateCheckout', { body: { hubspotContactId: '103', ...change } });
    assert.equal(status, expected);
    assert.match(message ?? '', sentence);
    assert.deepEqual(await joins(), before);
  });

test('who comes by a checkout link is told what the fee buys and who is eligible; who saw the membership screen is not', async () => {
  const client = server.client();
  const unseen = async (uuid: string) =>
    (await client.call('getCheckoutDetails', { params: { uuid } })).data.unseen;
  const { data } = await client.call('initiateCheckout', {
    body: { hubspotContactId: '103', mainProductId: 1 },
  });
  assert.equal(data.programme, 'high-school');
  const told = await unseen(data.joinSessionUuid);
  assert.equal(told?.features[0]?.description, 'Lifetime membership, no renewals');
  assert.deepEqual(told?.eligibility?.rules, ['SAT 1300+', 'ACT 27+', 'Cumulative GPA 3.5+']);
  const upgrade = await client.call('initiateCheckout', {
    body: { hubspotContactId: '105', mainProductId: 10 },
  });
  const toMember = await unseen(upgrade.data.joinSessionUuid);
  assert.equal(toMember?.features.length, 4);
  assert.equal(toMember?.eligibility, null, 'a member is eligible');
  assert.equal(await unseen(await orderingJoin(client)), null);
});

test('a member may still be sold an upgrade by link', async () => {
  const client = server.client();
  const { data } = await client.call('initiateCheckout', {
    body: { hubspotContactId: '105', mainProductId: 10 },
  });
  assert.deepEqual(await orderLines(client, data.joinSessionUuid), [['membership_upgrade', '45.00']]);
  const { products } = (await client.call('getCheckoutDetails', { params: { uuid: data.joinSessionUuid } }))
    .data;
  const removed = await client.call('deleteSessionProduct', {
    params: { sessionProductUuid: products[0]!.sessionProductUuid! },
  });
  assert.deepEqual(
    [removed.status, removed.message],
    [409, 'The membership can be changed but not removed.'],
  );
});
