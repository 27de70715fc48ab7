import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { proofDueAt } from '#core/specified.ts';
import { details, orderingJoin, paidJoin, payOrder } from '../../../tests/harness/steps.ts';
import { type Client, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, chargesOf, declineSavedCard } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { dayOf } from '../society/texts.ts';

const nothing = { membership: false, ineligible: false, upgrade: false, items: 'none' } as const;

const server = await sharedServer();

test('the receipt lists what was paid for the membership, the gifts and the upgrade, with its card', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client);
  await client.call('setCustomDonation', { params: { uuid }, body: { amount: 7.5 } });
  const { intentId: id } = await payOrder(server, client, uuid);
  // Nine in the evening in the society's time zone.
  await sql`update payment set succeeded_at = '2026-11-04 03:00 UTC' where intent_id = ${id}`.execute(
    server.deps.database,
  );
  await client.call('createUpgradeCharge', { params: { uuid }, body: { paymentIntent: id, amount: 4500 } });
  const { receipt } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.equal(receipt?.name, 'Jordan Rivera');
  assert.deepEqual(
    receipt?.payments.map(({ lines, amount, refunded, card }) => ({ lines, amount, refunded, card })),
    [
      {
        lines: [
          { name: 'Membership', amount: 6500 },
          { name: 'Donation to scholarships', amount: 750 },
        ],
        amount: 7250,
        refunded: 0,
        card: { brand: 'Visa', last4: '4242' },
      },
      {
        lines: [{ name: 'Distinguished Member upgrade', amount: 4500 }],
        amount: 4500,
        refunded: 0,
        card: { brand: 'Visa', last4: '4242' },
      },
    ],
  );
  const [first] = receipt!.payments;
  assert.deepEqual([first?.reference, first?.paidAt], [id, '2026-11-03']);
});

test('the receipt names no upgrade whose charge was declined and given up', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await declineSavedCard(server, uuid, 'insufficient_funds');
  await charge(client, uuid, intentId);
  await client.call('skipUpgrade', { params: { uuid }, body: {} });
  assert.deepEqual(
    (await chargesOf(server, uuid)).map(({ status }) => status),
    ['canceled'],
  );
  const { receipt } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.deepEqual(
    receipt?.payments.map(({ reference }) => reference),
    [intentId],
  );
});

test('the welcome tells of a membership that was refunded and of an upgrade that was', async () => {
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client);
  await client.call('createUpgradeCharge', {
    params: { uuid },
    body: { paymentIntent: intentId, amount: 4500 },
  });
  const standings = async () => {
    const { memberships } = (await client.call('getWelcome', { params: { uuid } })).data;
    return memberships.map(({ name, standing }) => `${name}: ${standing}`);
  };
  assert.deepEqual(await standings(), ['Membership: active', 'Distinguished Member upgrade: active']);
  await refundJoin(server.deps, uuid, { ...nothing, upgrade: true });
  assert.deepEqual(await standings(), ['Membership: active', 'Distinguished Member upgrade: refunded']);
  await refundJoin(server.deps, uuid, { ...nothing, membership: true });
  assert.deepEqual(await standings(), ['Membership: refunded', 'Distinguished Member upgrade: refunded']);
});

/** Makes a paid join that began by self-nomination. */
async function nominated(client: Client) {
  const body = { hasConfirmedEligibility: true, isTOLA: true };
  const { uuid } = (await client.call('initiateSelfNomination', { body })).data;
  await client.call('submitDetails', { params: { uuid }, body: details() });
  await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  return payOrder(server, client, uuid);
}

test('who nominated herself owes a transcript, and none once her membership was refunded', async () => {
  const client = server.client();
  const { uuid } = await nominated(client);
  const owed = async () => {
    const { owesTranscript, proofDue } = (await client.call('getWelcome', { params: { uuid } })).data;
    return [owesTranscript, proofDue];
  };
  const join = await server.deps.database
    .selectFrom('join_session')
    .select('paid_at')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.deepEqual(await owed(), [true, dayOf(server.deps.society, proofDueAt(join.paid_at!))]);
  await refundJoin(server.deps, uuid, { ...nothing, membership: true, ineligible: true });
  assert.deepEqual(await owed(), [false, null]);
});

test('who keeps an upgrade of a membership that was refunded owes no transcript', async () => {
  const client = server.client();
  const { uuid, intentId } = await nominated(client);
  await charge(client, uuid, intentId);
  await refundJoin(server.deps, uuid, { ...nothing, membership: true, ineligible: true });
  const { memberships, owesTranscript } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.deepEqual(
    memberships.map(({ standing }) => standing),
    ['refunded', 'active'],
  );
  assert.equal(owesTranscript, false);
});

test('an email that no mail server takes is named to its member, with the one that is written to instead', async () => {
  const unwritable = async (client: Client, uuid: string) =>
    (await client.call('getWelcome', { params: { uuid } })).data.unwritable;
  const client = server.client();
  const { uuid } = await paidJoin(server, client, undefined, { personalEmail: 'un.writable@gmail..com' });
  assert.deepEqual(await unwritable(client, uuid), {
    email: 'un.writable@gmail..com',
    writtenTo: 'jordan.rivera@example.com',
  });
  const { email } = (await client.call('getWelcome', { params: { uuid } })).data;
  assert.equal(email, 'jordan.rivera@example.com', 'where letters go');
  await sql`update payment set receipt_email = null where session_uuid = ${uuid}`.execute(
    server.deps.database,
  );
  assert.deepEqual((await unwritable(client, uuid))?.writtenTo, null);
  const known = server.client();
  const ofContact = await paidJoin(server, known, 'HONOR103', { personalEmail: '.sam@example.com' });
  assert.deepEqual(await unwritable(known, ofContact.uuid), {
    email: '.sam@example.com',
    writtenTo: 'sam.okafor@example.com',
  });
  const usual = server.client();
  const { uuid: written } = await paidJoin(server, usual, undefined, { personalEmail: 'usual@example.com' });
  assert.equal(await unwritable(usual, written), null);
});
