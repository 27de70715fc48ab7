import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { isMember } from '#core/people.ts';
import { atHubspot, deliver, makeDue, newContact } from '../../../tests/harness/deliver.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { everything, failRefund, lapelPin, membershipOnly } from '../../../tests/harness/refunds.ts';
import {
  details,
  newMember,
  newOrder,
  openIntent,
  payByCard,
  payOrder,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { correctPerson, previewCorrection } from '../people/correctPerson.ts';
import { holdings } from '../session/members.ts';
import { deliveriesOf } from './deliveries.ts';
import type { HubspotClient } from './hubspot/client.ts';
import { CrmUnavailable } from './hubspot/errors.ts';
import { pushDue } from './push.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps, background, hubspot } = server;
const work = { ...deps, database: background };
const { atContact, invited, paid, personOf } = identityOn(server);

async function told(id: string): Promise<[status: string | null, amount: number]> {
  const { membership_status, amount_paid } = await atHubspot(server, id, 'membership_status', 'amount_paid');
  return [membership_status ?? null, Number(amount_paid)];
}

/**
 * Lets a first server send the joins that are due, and delays its call to HubSpot. During the delay `happens` changes another
 * join of the contact and returns that join's uuid, and a second server sends the change. Only then does the first server's call
 * reach HubSpot.
 */
async function overtaking(happens: () => Promise<string>): Promise<void> {
  const [sending, arrives] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow: HubspotClient = {
    ...hubspot,
    async updateContacts(writes) {
      sending.resolve();
      await arrives.promise;
      return hubspot.updateContacts(writes);
    },
  };
  await makeDue(background);
  const late = pushDue({ ...work, hubspot: slow });
  await sending.promise;
  try {
    const uuid = await happens();
    await sql`update crm_delivery set due_at = now() where due_at is not null and person_id in ${deliveriesOf(sql`(${uuid}::uuid)`)}`.execute(
      background,
    );
    await pushDue(work);
  } finally {
    arrives.resolve();
    await late;
  }
}

const isMemberHere = async (id: string) => {
  const { person } = await deps.database
    .selectFrom('person')
    .select(holdings('person.id').as('person'))
    .where('contact_id', '=', id)
    .executeTakeFirstOrThrow();
  return isMember(person, 'staff');
};

test('who joins again while HubSpot is being told that their first membership has ended is a member there', async () => {
  const { uuid } = await newMember(server, 'HONOR101', { personalEmail: 'first@example.com' });
  await deliver(server);
  await refundJoin(deps, uuid, membershipOnly);
  await overtaking(async () => {
    const again = await newMember(server, 'HONOR101', { personalEmail: 'second@example.com' });
    return again.uuid;
  });
  assert.equal(await isMemberHere('101'), true);
  assert.equal(await deliver(server), 1, 'it is told anew, once');
  assert.deepEqual(await told('101'), ['member', 65]);
});

test('who buys the upgrade by a link while HubSpot is being told of a refund has paid both there', async () => {
  const { client, uuid } = await newOrder(server, 'HONOR102', { personalEmail: 'upgrading@example.com' });
  await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
  await payOrder(server, client, uuid);
  await deliver(server);
  await refundJoin(deps, uuid, { membership: false, ineligible: false, upgrade: false, items: 'all' });
  await overtaking(async () => (await upgradeByLink(server, '102')).uuid);
  assert.equal(await deliver(server), 1, 'it is told anew, once');
  assert.deepEqual(await told('102'), ['member', 110]);
});

test('a contact that pays while HubSpot is being told that one with the same email has ended is a member there', async () => {
  const personalEmail = 'beside.overtaken@example.com';
  const id = await newContact(server, personalEmail);
  const client = server.client();
  const own = (await client.call('initiateCheckout', { body: { hubspotContactId: id } })).data
    .joinSessionUuid;
  const intent = await openIntent(client, own);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid: own }, body })).status, 200);
  const { uuid } = await newMember(server, 'LINCOLN2026', { personalEmail });
  await deliver(server);
  assert.deepEqual(await told(id), ['member', 65]);
  await refundJoin(deps, uuid, everything);
  await overtaking(async () => {
    await payByCard(server, intent.id);
    assert.equal(await confirmPayment(deps, intent.id), 'succeeded');
    return own;
  });
  await deliver(server);
  assert.deepEqual(await told(id), ['member', 65]);
});

/**
 * Lets a first server send the joins that are due. During its call to HubSpot a join changes (`happens`), and a second server
 * takes the joins that have become due. The second server continues only after the first has recorded what it sent.
 */
async function takenMeanwhile(happens: () => Promise<unknown>): Promise<void> {
  let second: Promise<unknown> | undefined;
  const [isTaken, isNoted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await makeDue(background);
  const waiting: HubspotClient = {
    ...hubspot,
    async getPropertyNames() {
      isTaken.resolve();
      await isNoted.promise;
      return hubspot.getPropertyNames();
    },
  };
  const first: HubspotClient = {
    ...hubspot,
    async updateContacts(writes) {
      await happens();
      second = pushDue({ ...work, hubspot: waiting });
      await Promise.race([second, isTaken.promise]);
      return hubspot.updateContacts(writes);
    },
  };
  await pushDue({ ...work, hubspot: first });
  isNoted.resolve();
  await second;
  await deliver(server);
}

test('who is a member again while HubSpot is being told that they are none is a member there', async () => {
  const { uuid, intentId } = await newMember(server, 'HONOR103', { personalEmail: 'again@example.com' });
  await deliver(server);
  await refundJoin(deps, uuid, membershipOnly);
  await takenMeanwhile(() => failRefund(server, intentId));
  assert.deepEqual(await told('103'), ['member', 65]);
});

test('who takes a correction back and pays while HubSpot is being told of it has the first details there', async () => {
  const { client, uuid } = await newOrder(server, 'HONOR104');
  await deliver(server);
  const submit = async (city: string) => {
    const { status } = await client.call('submitDetails', { params: { uuid }, body: details({ city }) });
    assert.equal(status, 200);
    await client.call('setMembership', { params: { uuid }, body: { membershipId: 1 } });
  };
  await submit('Dallas');
  await takenMeanwhile(async () => {
    await submit('Austin');
    await payOrder(server, client, uuid);
  });
  const { city } = await atHubspot(server, '104', 'city');
  assert.deepEqual([city, await told('104')], ['Austin', ['member', 65]]);
});

/**
 * Tries to send to HubSpot. With `isTaken`, HubSpot writes the values and each answer is lost; otherwise each request is lost.
 */
async function loseAnswer(t: TestContext, isTaken: boolean): Promise<void> {
  const { updateContacts } = hubspot;
  const mock = t.mock.method(
    hubspot,
    'updateContacts',
    async (writes: Parameters<typeof updateContacts>[0]) => {
      if (isTaken) await updateContacts(writes);
      throw new CrmUnavailable('no answer');
    },
  );
  for (let round = 0; round < 3; round++) await pushDue(work);
  assert.ok(mock.mock.callCount() > 0);
  mock.mock.restore();
}

const heldAt = async (id: string) =>
  (await atContact(id, ['membership_status', 'membership_name', 'amount_paid', 'store_items'])).map(
    (value) => value || null,
  );

const named = { firstname: 'Jordan', lastname: 'Rivera' };
for (const [isTaken, lost] of [
  [true, 'answer'],
  [false, 'request'],
] as const) {
  test(`who leaves a contact after the ${lost} about their purchase was lost leaves nothing there`, async (t) => {
    for (const how of ['correction', 'merge']) {
      const email = `lost.${lost}.${how}@example.com`;
      const { id } = await invited(email, named);
      const into = await invited(`into.${email}`, { firstname: 'Jo' });
      const { uuid } = await paid({ personalEmail: email });
      await loseAnswer(t, isTaken);
      if (how === 'merge') await mergeNow(server, uuid, into.id);
      else {
        const change = { personalEmail: `right.${email}` };
        const person = await personOf(uuid);
        const seen = await previewCorrection(deps, person.id, change);
        await correctPerson(deps, person.id, change, { seen, resends: false });
      }
      await deliver(server);
      assert.deepEqual(await heldAt(id), [null, null, null, null], how);
    }
  });

  test(`items that are refunded after the ${lost} about them was lost are not said of the contact`, async (t) => {
    const email = `lost.${lost}.items@example.com`;
    const { id, code } = await invited(email, named);
    const { client, uuid } = await newOrder(server, code, { personalEmail: email });
    await deliver(server);
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
    await payOrder(server, client, uuid);
    await loseAnswer(t, isTaken);
    await refundJoin(deps, uuid, { membership: false, ineligible: false, upgrade: false, items: 'all' });
    await deliver(server);
    assert.deepEqual(await heldAt(id), ['member', 'Membership', '65.00', null]);
  });
}
