import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { everything, lapelPin } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
} from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { mergeCommand } from '../people/mergeCommands.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { diffCommand } from './commands.ts';
import { diffOf } from './diffJoin.ts';

/** These tests are about one contact of several joins: siblings with the same email, a person who pays again, merged contacts. */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;
const pay = async (person: Partial<StudentDetails>) => {
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', person);
  await deliver(server);
  return uuid;
};
/** Asserts that a contact's status is `member` in HubSpot, or that staff have a notice about the join that quotes the status. */
async function isMemberOrTold(uuid: string, id: string) {
  const status = await statusOf(id);
  const notices = await noticesOf(server, uuid);
  assert.ok(
    status === 'member' || notices.some((text) => text.includes(`"${status}"`)),
    `HubSpot says ${status}; the notices are ${JSON.stringify(notices)}`,
  );
}

test('of two siblings who share a created contact the second one stays a member when the first one is refunded, or staff are told', async () => {
  const personalEmail = 'a1@example.com';
  const ada = await pay({ personalEmail, firstName: 'Ada' });
  const ben = await pay({ personalEmail, firstName: 'Ben' });
  const { id } = (await server.hubspot.findByEmail(personalEmail))!;
  await refundJoin(server.deps, ada, everything);
  await deliver(server);
  await isMemberOrTold(ben, id);
});

test('of two siblings who share an imported contact the second one stays a member when the first one is refunded, or staff are told', async () => {
  const personalEmail = 'a2@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Mother' });
  const ada = await pay({ personalEmail, firstName: 'Ada' });
  const ben = await pay({ personalEmail, firstName: 'Ben' });
  await refundJoin(server.deps, ada, everything);
  await deliver(server);
  await isMemberOrTold(ben, id);
});

test('a sibling whose payment made the contact a member stays one when the invited one is refunded, or staff are told', async () => {
  const personalEmail = 'a3@example.com';
  const id = await newContact(server, personalEmail, {
    firstname: 'Sam',
    lastname: 'Okafor',
    invitation_code: 'SIBLING3',
  });
  const client = server.client();
  const own = await orderingJoin(client, 'SIBLING3', { personalEmail, firstName: 'Sam' });
  const intent = await openIntent(client, own);
  const begun = await client.call('beginPayment', {
    params: { uuid: own },
    body: { revision: intent.revision },
  });
  assert.equal(begun.status, 200);
  const sibling = await pay({ personalEmail, firstName: 'Kim' });
  assert.equal(await statusOf(id), 'member');
  assert.deepEqual(await noticesOf(server, sibling), []);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  await deliver(server);
  await refundJoin(server.deps, own, everything);
  await deliver(server);
  await isMemberOrTold(sibling, id);
});

test('who pays with the email of a member is told to staff with a refund, and no link that would be refused', async (t) => {
  const personalEmail = 'a4@example.com';
  const id = await newContact(server, personalEmail, { membership_status: 'member' });
  const uuid = await pay({ personalEmail });
  const [notice] = await noticesOf(server, uuid);
  assert.match(notice!, /status in HubSpot is "member" .* operator -- refund \S+ --upgrade --items all$/);
  const { code, out } = await runCommand(t, server, mergeCommand, [uuid, id]);
  assert.equal(code, 1);
  assert.match(out, /is a member already, as HubSpot says\. Give the join back: npm run operator -- refund/);
});

test('of a join whose money went back before HubSpot was told of it, no notice asks staff to link it', async (t) => {
  const personalEmail = 'a6@example.com';
  await newContact(server, personalEmail, { membership_status: 'prospect' });
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  for (const notice of await noticesOf(server, uuid)) {
    const args = / person merge (\S+) (\S+)$/.exec(notice)?.slice(1);
    if (!args) continue;
    const { code, out } = await runCommand(t, server, mergeCommand, args);
    assert.equal(code, 0, `${notice}\n→ ${out}`);
  }
});

test('who was refunded and pays again by a school code is a member in HubSpot, as who paid twice and got one back', async (t) => {
  const personalEmail = 'again@example.com';
  const { uuid: first } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(personalEmail))!;
  await refundJoin(server.deps, first, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'former');
  const { uuid: second } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  const { out } = await runCommand(t, server, diffCommand, [first]);
  const notices = await noticesOf(server, second);
  assert.equal(
    await statusOf(id),
    'member',
    `contacts diff of the first join: ${out}; notices of the second: ${notices}`,
  );
});

for (const [way, code] of [
  ['by a code of their own', 'ANEWBYCODE'],
  ["by a school's code", 'LINCOLN2026'],
] as const)
  test(`who joined ${way}, was refunded and has joined anew by a school's code has not paid twice: the notice names a link, and that works`, async (t) => {
    const personalEmail = `anew.${code.toLowerCase()}@example.com`;
    if (code !== 'LINCOLN2026')
      await newContact(server, personalEmail, {
        firstname: 'Jordan',
        lastname: 'Rivera',
        invitation_code: code,
      });
    const { uuid: first } = await paidJoin(server, server.client(), code, { personalEmail });
    await deliver(server);
    const { id } = (await server.hubspot.findByEmail(personalEmail))!;
    await refundJoin(server.deps, first, everything);
    await deliver(server);
    const { uuid: second } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
    await deliver(server);
    assert.equal(await statusOf(id), 'member', 'by the second join alone');
    const notices = await noticesOf(server, second);
    assert.deepEqual(
      notices.filter((notice) => notice.includes(`operator -- refund ${second}`)),
      [],
    );
    const args = / person merge (\S+) (\S+)$/.exec(notices.join('\n'))!.slice(1);
    assert.deepEqual(args, [second, id]);
    const { code: exit, out } = await runCommand(t, server, mergeCommand, args);
    assert.equal(exit, 0, out);
    await refundJoin(server.deps, second, everything);
    await deliver(server);
    assert.equal(await statusOf(id), 'former');
  });

test('the one whose contact it is is linked to it, though a sibling with the same email paid first', async (t) => {
  const personalEmail = 'mother@example.com';
  const bens = await newContact(server, personalEmail, { firstname: 'Ben', lastname: 'Rivera' });
  await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail, firstName: 'Ada' });
  await deliver(server);
  const { uuid: ben } = await paidJoin(server, server.client(), 'LINCOLN2026', {
    personalEmail,
    firstName: 'Ben',
  });
  await deliver(server);
  const [notice] = await noticesOf(server, ben);
  const args = / person merge (\S+) (\S+)$/.exec(notice!)!.slice(1);
  assert.deepEqual(args, [ben, bens]);
  const { code, out } = await runCommand(t, server, mergeCommand, args);
  assert.equal(code, 0, `${notice}\n→ ${out}`);
});

test('whose payment made a contact a member stays one when that contact is merged into a prospect, or staff are told', async () => {
  const personalEmail = 'merged@example.com';
  const id = await newContact(server, personalEmail);
  const other = await newContact(server, 'merged.other@example.com', { membership_status: 'prospect' });
  const { uuid } = await paidJoin(server, server.client(), 'LINCOLN2026', { personalEmail });
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  const status = (await atHubspot(server, merged.id, 'membership_status')).membership_status;
  const notices = await noticesOf(server, uuid);
  assert.ok(
    status === 'member' || notices.some((text) => text.includes(`"${status}"`)),
    `${status}; ${notices}`,
  );
});

test('whose contact is merged in HubSpot while their bank asks them is a member there once they have paid', async () => {
  const personalEmail = 'paying@example.com';
  const id = await newContact(server, personalEmail, { invitation_code: 'PAYING1' });
  const other = await newContact(server, 'paying.other@example.com');
  const client = server.client();
  const uuid = await orderingJoin(client, 'PAYING1', { personalEmail });
  const intent = await openIntent(client, uuid);
  assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
  const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
    primaryObjectId: other,
    objectIdToMerge: id,
  });
  await server.deps.contacts.refresh(merged.id);
  await deliver(server);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  await deliver(server);
  const { crm_refusal } = await server.deps.database
    .selectFrom('join_session')
    .select('crm_refusal')
    .where('uuid', '=', uuid)
    .executeTakeFirstOrThrow();
  assert.equal(
    (await atHubspot(server, merged.id, 'membership_status')).membership_status,
    'member',
    `${crm_refusal}; notices ${await noticesOf(server, uuid)}`,
  );
});

test('what one with the same email gave is not said of a contact that buys by itself since', async () => {
  const personalEmail = 'told@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Ben', membership_status: 'member' });
  const client = server.client();
  const ada = await orderingJoin(client, 'LINCOLN2026', { personalEmail, firstName: 'Ada' });
  await client.call('setSessionProduct', {
    params: { uuid: ada },
    body: { productUuid: '0b6f2f0e-58f1-4d38-9a4e-3f5a9f1f0020' },
  });
  await payOrder(server, client, ada);
  await deliver(server);
  await upgradeByLink(server, id);
  await deliver(server);
  const told = await atHubspot(server, id, 'amount_paid', 'donation_amount', 'membership_name');
  const diff = await diffOf({ ...server.deps, database: server.background }, server.hubspot, ada);
  assert.deepEqual(
    diff?.changes,
    [],
    `HubSpot has ${JSON.stringify(told)}, nothing is due, and something is to be written`,
  );
});

test('what one with the same email gets back leaves a blank for what another one has bought', async () => {
  const personalEmail = 'pins@example.com';
  const id = await newContact(server, personalEmail, { firstname: 'Mother' });
  const payWithPin = async (firstName: string) => {
    const client = server.client();
    const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail, firstName });
    await client.call('setSessionProduct', { params: { uuid }, body: { productUuid: lapelPin } });
    await payOrder(server, client, uuid);
    await deliver(server);
    return uuid;
  };
  const ada = await payWithPin('Ada');
  await payWithPin('Ben');
  const items = async () => (await atHubspot(server, id, 'store_items')).store_items;
  assert.equal(await items(), 'Lapel Pin');
  await refundJoin(server.deps, ada, { membership: false, ineligible: false, upgrade: false, items: 'all' });
  await deliver(server);
  assert.equal(await items(), 'Lapel Pin', 'of Ben');
});

test('the upgrade of a sibling with the same email is not said of the invited contact once they have paid', async () => {
  const personalEmail = 'upgraded.sibling@example.com';
  const id = await newContact(server, personalEmail, { invitation_code: 'UPSIBLING' });
  const client = server.client();
  const own = await orderingJoin(client, 'UPSIBLING', { personalEmail, firstName: 'Sam' });
  const intent = await openIntent(client, own);
  assert.equal((await beginPayment(client, own, intent.revision)).status, 200);
  const sibling = server.client();
  const kim = await paidJoin(server, sibling, 'LINCOLN2026', { personalEmail, firstName: 'Kim' });
  assert.equal((await charge(sibling, kim.uuid, kim.intentId)).data.status, 'succeeded');
  const told = async () => {
    await deliver(server);
    const held = await atHubspot(server, id, 'membership_name', 'upgrade_name', 'amount_paid');
    return [held.membership_name, held.upgrade_name || null, held.amount_paid];
  };
  assert.deepEqual(await told(), ['Membership', 'Distinguished Member upgrade', '110.00']);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, own, intent)).data.status, 'succeeded');
  assert.deepEqual(await told(), ['Membership', null, '65.00']);
});

test('a refund and a merge of the same person’s contact do not kill one another', async (t) => {
  for (let turn = 0; turn < 8; turn++) {
    const personalEmail = `lock${turn}@example.com`;
    const code = `LOCK${turn}`;
    const id = await newContact(server, personalEmail, { invitation_code: code });
    const other = await newContact(server, `lock${turn}.other@example.com`);
    const first = await paidJoin(server, server.client(), code, { personalEmail });
    await refundJoin(server.deps, first.uuid, everything);
    await deliver(server);
    const second = await paidJoin(server, server.client(), code, { personalEmail });
    await deliver(server);
    const [low] = [first.uuid, second.uuid].sort();
    const holder = await lockHolder(t, server);
    await holder.query('select from join_session where uuid = $1 for update', [low]);
    const refunding = refundJoin(
      { ...server.deps, database: server.background },
      second.uuid,
      everything,
    ).then(
      () => 'refunded',
      (error: Error) => error.message,
    );
    await waiting(holder, 1);
    const merged = await askHubspot(server.hubspotUrl, 'POST', '/merge', {
      primaryObjectId: other,
      objectIdToMerge: id,
    });
    const merging = server.deps.contacts.refresh(merged.id).catch((error: Error) => error.message);
    await waiting(holder, 2);
    await holder.query('commit');
    assert.deepEqual([await refunding, await merging], ['refunded', 'known'], `turn ${turn}`);
  }
});
