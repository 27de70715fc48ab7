import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atHubspot, deliver, newContact, setDelivery } from '../../../tests/harness/deliver.ts';
import { lockHolder, waiting } from '../../../tests/harness/locks.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import { newOrder, openIntent, orderingJoin, payByCard, payOrder } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { membershipByLink } from '../../../tests/harness/upgrades.ts';
import { confirmPayment } from '../paying/confirmPayment.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { CrmUnavailable } from './hubspot/errors.ts';
import { pushDue } from './push.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });

const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

async function paidSchoolJoin(person: Partial<StudentDetails>): Promise<string> {
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', person);
  await payOrder(server, client, uuid);
  return uuid;
}

test('a join is not linked to a contact who is a member already: its refund would end what it has not begun', async (t) => {
  const id = await newContact(server, 'member.already@example.com', { membership_status: 'member' });
  const uuid = await paidSchoolJoin({ personalEmail: 'member.already@example.com' });
  await deliver(server);
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, id]);
  assert.equal(code, 1, out);
  assert.match(out, /member already/);
  await refundJoin(server.deps, uuid, everything);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
});

test('a join whose money went back is not joined with a member: it makes nobody former who is something else', async (t) => {
  const id = await newContact(server, 'prospect.still@example.com', { membership_status: 'member' });
  const uuid = await paidSchoolJoin({ personalEmail: 'prospect.still@example.com' });
  await refundJoin(server.deps, uuid, everything);
  const { code } = await runCommand(t, server, 'person merge', [uuid, id]);
  await deliver(server);
  assert.deepEqual([code, await statusOf(id)], [1, 'member']);
});

test('of two contacts that a join is linked to at once it gets one', async (t) => {
  const uuid = await paidSchoolJoin({ personalEmail: 'two.at.once@example.com' });
  const holder = await lockHolder(t, server);
  await holder.query('select from join_session where uuid = $1 for update', [uuid]);
  const links = ['102', '104'].map((id) => mergeNow(server, uuid, id).then(() => id));
  const ends = Promise.allSettled(links);
  await waiting(holder, 2);
  await holder.query('commit');
  const [linked, ...more] = (await ends).flatMap((end) => (end.status === 'fulfilled' ? [end.value] : []));
  assert.deepEqual(more, []);
  assert.equal((await membershipsOf(server, uuid))[0]?.contact_id, linked);
});

test('the contact with the same email, or the one that the join had created, is no member any more when it is linked to another', async (t) => {
  const told = ['membership_status', 'membership_name', 'amount_paid', 'paid_at', 'join_stage'];
  const blanksOf = async (id: string) => {
    const held = await atHubspot(server, id, ...told);
    return told.map((property) => held[property] || null);
  };
  const same = await newContact(server, 'same.email@example.com', { city: 'Austin' });
  for (const email of ['same.email@example.com', 'created.by.it@example.com']) {
    const uuid = await paidSchoolJoin({ personalEmail: email });
    await deliver(server);
    const before = (await server.hubspot.findByEmail(email))!.id;
    assert.equal(await statusOf(before), 'member');
    const id = await newContact(server, `right.${email}`);
    const { code, out } = await runCommand(t, server, 'person merge', [uuid, id]);
    assert.equal(code, 0, out);
    await deliver(server);
    assert.deepEqual([await blanksOf(before), await statusOf(id)], [told.map(() => null), 'member']);
    assert.equal((await atHubspot(server, id, 'city')).city, 'Austin', 'which is told of the person, too');
  }
  assert.equal((await atHubspot(server, same, 'city')).city, 'Austin');
});

test('where HubSpot takes no change of the contact that a linked join leaves, staff see it, and the other one is told', async (t) => {
  const email = 'left.in.outage@example.com';
  const before = await newContact(server, email);
  const uuid = await paidSchoolJoin({ personalEmail: email });
  await deliver(server);
  const id = await newContact(server, `right.${email}`);
  assert.equal((await runCommand(t, server, 'person merge', [uuid, id])).code, 0);
  await server.hubspotFault({
    kind: 'status',
    status: 400,
    path: '/crm/objects/*/contacts/batch/update',
    about: `"${before}"`,
    times: 100,
  });
  await deliver(server);
  await server.hubspotFault(null);
  assert.deepEqual([await statusOf(before), await statusOf(id)], ['member', 'member']);
  assert.match((await runCommand(t, server, 'contacts failed', [])).out, new RegExp(`contact ${before}  `));
  assert.equal((await runCommand(t, server, 'contacts retry', ['all'])).code, 0);
  await deliver(server);
  assert.deepEqual([(await statusOf(before)) || null, await statusOf(id)], [null, 'member']);
});

test('the contact with the same email is left by a linked join, and the other one told, though an answer of HubSpot is lost', async (t) => {
  const email = 'lost.answer@example.com';
  await newContact(server, email);
  const uuid = await paidSchoolJoin({ personalEmail: email });
  await deliver(server);
  const before = (await server.hubspot.findByEmail(email))!.id;
  const id = await newContact(server, `right.${email}`);
  assert.equal((await runCommand(t, server, 'person merge', [uuid, id])).code, 0);
  const update = server.hubspot.updateContacts;
  const lost = t.mock.method(
    server.hubspot,
    'updateContacts',
    async (...given: Parameters<typeof update>) => {
      lost.mock.restore();
      await update(...given);
      throw new CrmUnavailable('no answer');
    },
  );
  for (let time = 0; time < 2; time++) await deliver(server);
  assert.deepEqual([(await statusOf(before)) || null, await statusOf(id)], [null, 'member']);
  assert.deepEqual(await noticesOf(server, uuid), []);
});

test('a join whose person was erased is linked to nobody', async (t) => {
  const uuid = await paidSchoolJoin({ personalEmail: 'erased.before@example.com' });
  await sql`update join_session set erased_at = now() where uuid = ${uuid}`.execute(server.deps.database);
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, '102']);
  assert.equal(code, 1);
  assert.match(out, new RegExp(`${uuid}, or the person was erased`));
});

test('a join that HubSpot refused is sent again to the contact that it is linked to', async (t) => {
  const id = await newContact(server, 'refused.before@example.com', { membership_status: 'prospect' });
  const uuid = await paidSchoolJoin({ personalEmail: 'refused.before@example.com' });
  await setDelivery(server, uuid, sql`refusal = 'refused', tries = 5`);
  await deliver(server);
  assert.equal(await statusOf(id), 'prospect');
  assert.equal((await runCommand(t, server, 'person merge', [uuid, id])).code, 0);
  await deliver(server);
  assert.equal(await statusOf(id), 'member');
});

test('what HubSpot was told while a membership ended does not make its contact a member again', async (t) => {
  await deliver(server);
  const id = await newContact(server, 'ended.meanwhile@example.com');
  const { uuid } = await membershipByLink(server, id);
  const real = server.hubspot.updateContacts.bind(server.hubspot);
  const told = t.mock.method(
    server.hubspot,
    'updateContacts',
    async (...args: Parameters<typeof real>) => {
      const outcomes = await real(...args);
      await refundJoin(server.deps, uuid, everything);
      return outcomes;
    },
    { times: 1 },
  );
  await pushDue({ ...server.deps, database: server.background });
  assert.deepEqual([told.mock.callCount(), await statusOf(id)], [1, 'member']);
  const { is_member } = await server.deps.database
    .selectFrom('person')
    .select('is_member')
    .where('contact_id', '=', id)
    .executeTakeFirstOrThrow();
  assert.equal(is_member, false);
  await deliver(server);
  assert.equal(await statusOf(id), 'former');
});

test('a second payment that is yet to go back is not told as money that was paid', async () => {
  const client = server.client();
  const personalEmail = 'second.payment@example.com';
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail });
  const { id } = await openIntent(client, uuid);
  await sql`update payment set status = 'canceled' where intent_id = ${id}`.execute(server.deps.database);
  await payOrder(server, client, uuid);
  await payByCard(server, id);
  await server.stripeFault({ kind: 'status', status: 503, method: 'POST', path: '/v1/refunds', times: 9 });
  assert.equal(await confirmPayment(server.deps, id), 'refunded');
  await server.stripeFault(null);
  await deliver(server);
  const contact = (await server.hubspot.findByEmail(personalEmail))!;
  assert.equal((await atHubspot(server, contact.id, 'amount_paid')).amount_paid, '65.00');
});
