import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../../tests/harness/testServer.ts';
import { charge } from '../../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../../paying/confirmPayment.ts';

const server = await sharedServer();
const { deps } = server;

const tokenOf = (uuid: string) => new URL(deps.passes.address(uuid)).hash.slice(1);

/** Returns a client (a browser) whose user has proven to be the joiner, by the code that was mailed for the join. */
async function provenBrowser(uuid: string): Promise<Client> {
  const client = server.client();
  const token = tokenOf(uuid);
  await client.call('sendPassCode', { body: { token } });
  const { occasion } = await deps.database
    .selectFrom('letter')
    .select('occasion')
    .where('session_uuid', '=', uuid)
    .where('kind', '=', 'code')
    .orderBy('created_at', 'desc')
    .executeTakeFirstOrThrow();
  const proof = { token, code: deps.passes.code(uuid, occasion) };
  assert.equal((await client.call('provePassByCode', { body: proof })).status, 200);
  return client;
}

/** Makes a join that a stranger began in one browser, and that its joiner then opened by a link in another browser. */
async function provenElsewhere(personalEmail: string) {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger, 'LINCOLN2026', { personalEmail });
  return { stranger, uuid, joiner: await provenBrowser(uuid) };
}

const isOffered = async (client: Client, uuid: string) =>
  (await client.call('getUpgradeDetails', { params: { uuid } })).data?.isEligibleForUpgrade ?? false;

/** Returns which personal data of a paid join a browser gets. */
async function seenBy(client: Client, uuid: string) {
  const params = { uuid };
  const { data: welcome } = await client.call('getWelcome', { params });
  return {
    name: !!welcome?.firstName,
    receipt: !!welcome?.receipt,
    papers: !!welcome?.papers,
    certificate: (await client.fetch(`/api/public/join-session/${uuid}/certificate.pdf`)).status,
    press: (await client.call('getPressRelease', { params })).status,
    verification: (await client.call('setVerification', { params, body: { isVerifiable: true } })).status,
    pass: (await client.call('openPass', { body: { token: tokenOf(uuid) } })).data.join !== null,
  };
}

const EVERYTHING = {
  name: true,
  receipt: true,
  papers: true,
  certificate: 200,
  press: 200,
  verification: 200,
  pass: true,
};
const NOTHING = {
  name: false,
  receipt: false,
  papers: false,
  certificate: 404,
  press: 404,
  verification: 404,
  pass: false,
};

test("who began a join in somebody's name sees nothing of it and charges no card, once its joiner has opened it by its link and paid", async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger);
  const joiner = await provenBrowser(uuid);
  const paid = await payOrder(server, joiner, uuid);
  assert.deepEqual(await seenBy(joiner, uuid), EVERYTHING);
  assert.deepEqual(await seenBy(stranger, uuid), NOTHING);
  assert.equal(await isOffered(stranger, uuid), false);
  for (const options of [{}, { charge: false }])
    assert.equal((await charge(stranger, uuid, paid.intentId, options)).status, 404);
  assert.equal(await isOffered(joiner, uuid), true);
  assert.equal((await charge(joiner, uuid, paid.intentId)).data.status, 'succeeded');
});

test("who knew a join's uuid before it was paid, and so its client secret, sees nothing of it and charges no card afterwards", async () => {
  const began = server.client();
  const stranger = server.client();
  const uuid = await orderingJoin(began, 'LINCOLN2026', { personalEmail: 'another.browser@example.com' });
  const intent = await openIntent(stranger, uuid);
  await payByCard(server, intent.id);
  await confirmPayment(deps, intent.id);
  assert.equal((await reportPayment(stranger, uuid, intent)).data.status, 'succeeded');
  assert.deepEqual(await seenBy(stranger, uuid), NOTHING);
  assert.equal((await charge(stranger, uuid, intent.id)).status, 404);
  assert.equal((await reportPayment(began, uuid, intent)).data.status, 'succeeded');
  assert.deepEqual(await seenBy(began, uuid), EVERYTHING);
  assert.equal((await charge(began, uuid, intent.id)).data.status, 'succeeded');
});

test('the client secret of a payment that another browser made opens nothing after such a proof', async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger);
  const intent = await openIntent(stranger, uuid);
  const joiner = await provenBrowser(uuid);
  await payOrder(server, joiner, uuid);
  for (const other of [stranger, server.client()]) {
    assert.equal((await reportPayment(other, uuid, intent)).data.status, 'succeeded');
    assert.deepEqual(await seenBy(other, uuid), NOTHING);
    assert.equal(await isOffered(other, uuid), false);
  }
});

test('a code goes on with a join that its joiner has opened by its link only where they did', async () => {
  const stranger = server.client();
  const uuid = await orderingJoin(stranger, 'HONOR101');
  const joiner = await provenBrowser(uuid);
  const again = async (client: Client) => {
    const body = { contactId: '101', invitationCode: 'HONOR101', isTOLA: true };
    return (await client.call('initiateJoin', { body })).data.uuid;
  };
  assert.notEqual(await again(stranger), uuid);
  assert.equal(await again(joiner), uuid);
});

test('the browser that paid keeps its join when its joiner opens it by its link elsewhere as well', async () => {
  const laptop = server.client();
  const uuid = await orderingJoin(laptop);
  const { intentId } = await payOrder(server, laptop, uuid);
  const phone = await provenBrowser(uuid);
  assert.deepEqual(await seenBy(phone, uuid), EVERYTHING);
  assert.deepEqual(await seenBy(laptop, uuid), EVERYTHING);
  assert.equal(await isOffered(phone, uuid), false);
  assert.equal((await charge(laptop, uuid, intentId)).data.status, 'succeeded');
});

test('who began a join and proves to be its joiner in the same browser goes on there', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await provenBrowser(uuid);
  const body = { token: tokenOf(uuid), lastName: 'Rivera', zipcode: '78701' };
  assert.equal((await client.call('provePassByName', { body })).status, 200);
  const { intentId } = await payOrder(server, client, uuid);
  assert.equal(await isOffered(client, uuid), true);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
});

test('after a proof no call of who began a join ends a payment that its joiner is making', async () => {
  const { stranger, uuid, joiner } = await provenElsewhere('authenticating@example.com');
  const intent = await openIntent(joiner, uuid);
  await beginPayment(joiner, uuid, intent.revision);
  const confirmation = {
    payment_method: 'pm_card_authenticationRequired',
    return_url: server.url,
    use_stripe_sdk: 'true',
  };
  await server.stripe('POST', `/v1/payment_intents/${intent.id}/confirm`, confirmation);
  await sql`update join_session set paying_since = now() - interval '20 seconds' where uuid = ${uuid}`.execute(
    deps.database,
  );
  const params = { uuid };
  for (const other of [stranger, server.client()])
    for (const answer of [
      await other.call('submitDetails', { params, body: details() }),
      await other.call('releasePayment', { params, body: {} }),
      await other.call('setMembership', { params, body: { membershipId: 2 } }),
      await other.call('setCustomDonation', { params, body: { amount: '5.00' } }),
      await other.call('setSessionProduct', {
        params,
        body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0030' },
      }),
    ])
      assert.ok(answer.status === 404 || answer.status === 409, answer.message ?? '');
  const { body } = await server.stripe('GET', `/v1/payment_intents/${intent.id}`);
  assert.equal((body as never as { status: string }).status, 'requires_action');
  assert.equal((await joiner.call('releasePayment', { params, body: {} })).data.state, 'ordering');
});
