import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  openIntent,
  orderingJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { linkCommand } from './commands.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

const everything = { membership: true, ineligible: false, upgrade: true, items: 'all' } as const;
const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

async function contactOf(email: string, properties: Record<string, string> = {}): Promise<string> {
  const outcomes = await server.hubspot.createContacts([
    { mark: email, id: null, properties: { email, ...properties } },
  ]);
  const outcome = outcomes.get(email);
  assert.ok(outcome?.kind === 'written');
  return outcome.id;
}
async function paidSchoolJoin(person: Partial<StudentDetails>): Promise<string> {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', person);
  await payOrder(server, client, uuid);
  return uuid;
}

test('who paid twice and gets one of the two back is a member in HubSpot until the other one ends, whichever it is', async () => {
  for (const [index, order] of [
    [0, 1],
    [1, 0],
  ].entries()) {
    const personalEmail = `twice${index}@example.com`;
    const joins: string[] = [];
    for (let time = 0; time < 2; time++) {
      joins.push(await paidSchoolJoin({ personalEmail }));
      await deliver(server);
    }
    const { id } = (await server.hubspot.findByEmail(personalEmail))!;
    await refundJoin(server.deps, joins[order[0]!]!, everything);
    await deliver(server);
    assert.equal(await statusOf(id), 'member', `join ${order[0]} is refunded`);
    await refundJoin(server.deps, joins[order[1]!]!, everything);
    await deliver(server);
    assert.equal(await statusOf(id), 'former', 'both are refunded');
  }
});

test('who paid by a school code and by a link of their own stays a member in HubSpot when the school join goes back', async () => {
  const personalEmail = 'linked.too@example.com';
  const id = await contactOf(personalEmail, { firstname: 'Jordan', lastname: 'Rivera' });
  const client = server.client();
  const started = await client.call('initiateCheckout', { body: { hubspotContactId: id } });
  const uuid = started.data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  const school = await paidSchoolJoin({ personalEmail });
  await deliver(server);
  assert.equal(await statusOf(id), 'member', 'by the school join, where nothing stood');
  await payByCard(server, intent.id);
  await reportPayment(client, uuid, intent);
  await deliver(server);
  await refundJoin(server.deps, school, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
});

test('a join is not linked to a contact who is a member already: its refund would end what it has not begun', async (t) => {
  const id = await contactOf('member.already@example.com', { membership_status: 'member' });
  const uuid = await paidSchoolJoin({ personalEmail: 'member.already@example.com' });
  await deliver(server);
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, id]);
  assert.equal(code, 1, out);
  assert.match(out, /member already/);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
});

test('a join whose money went back is not linked: it makes nobody former who is something else', async (t) => {
  const id = await contactOf('prospect.still@example.com', { membership_status: 'prospect' });
  const uuid = await paidSchoolJoin({ personalEmail: 'prospect.still@example.com' });
  await refundJoin(server.deps, uuid, everything);
  const { code } = await runCommand(t, server, linkCommand, [uuid, id]);
  await deliver(server);
  assert.deepEqual([code, await statusOf(id)], [1, 'prospect']);
});
