import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { differencesOf, membershipOnly } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  newMember,
  newOrder,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { holdsBought, personOf } from '../session/members.ts';
import { keepContacts } from './followContacts.ts';
import { type ContactMerge, moveContacts } from './followMerges.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { atCrm, person, merge, sync, contactOf, ways } = hubspotPeople(server);
const follow = (merges: ContactMerge[]) =>
  server.background.transaction().execute((trx) => moveContacts(trx, merges));
const argumentsOf = (notice: string) => /operator -- refund (.*)$/.exec(notice)![1]!.split(' ');

test('joins by a personal code are limited, whichever id of its merged contact they name', async (t) => {
  const [kept, old] = [await person(), await person()];
  await server.client().call('checkEligibility', { body: { invitationCode: old.code } });
  const id = await merge(kept.id, old.id);
  await sync();
  limitWith(t, server, { LIMIT_JOINS_PER_CODE: '2/60' });
  const start = async (contactId: string) => {
    const body = { contactId, invitationCode: old.code, isTOLA: true };
    return (await server.client().call('initiateJoin', { body })).status;
  };
  assert.deepEqual(
    [await start(old.id), await start(id), await start(old.id), await start(id)],
    [200, 200, 429, 429],
  );
});

for (const [way, learn] of ways.slice(0, 2))
  test(`after ${way} two merged contacts are one person here: who bought by one cannot buy by the other`, async () => {
    await sync();
    const [one, two] = [await person(), await person()];
    const client = server.client();
    const open = await startJoin(client, two.code);
    // The purchase has not been sent to HubSpot, so only our database has the membership.
    const { uuid } = await newMember(server, one.code);
    const merged = await merge(one.id, two.id);
    await learn(two.id);
    assert.equal((await contactOf(uuid)).contact_id, merged);
    assert.equal((await contactOf(open)).contact_id, merged);
    const gone = [one.id, two.id].filter((id) => id !== merged);
    const { rows } = await sql`
      select distinct profile, email, is_member from person where contact_id = any(${gone})`.execute(
      server.background,
    );
    assert.deepEqual(
      rows,
      [{ profile: {}, email: null, is_member: false }],
      'the other ids say nothing more',
    );
    for (const code of [one.code, two.code]) {
      const { data } = await server.client().call('checkEligibility', { body: { invitationCode: code } });
      assert.equal(data.status, 'failed', `${code} leads to a member`);
    }
    for (const id of [one.id, two.id, merged]) {
      const link = await server.client().call('initJoin', { params: { id }, body: {} });
      assert.equal(link.status, 409, `${id}: ${link.message}`);
      const checkout = await server.client().call('initiateCheckout', { body: { hubspotContactId: id } });
      assert.equal(checkout.status, 409, `${id}: ${checkout.message}`);
    }
  });

test('a link to a contact that was merged before it came here leads to the one that it is now', async () => {
  const [one, two] = [await person(), await person()];
  const merged = await merge(one.id, two.id);
  const { status, data } = await server.client().call('initJoin', { params: { id: two.id }, body: {} });
  assert.equal(status, 200);
  assert.equal((await contactOf(data.uuid)).contact_id, merged);
});

test('links to both contacts of a merge that are opened at once lead to the one that they are now', async () => {
  const [first, one, two] = [await person(), await person(), await person()];
  const merged = await merge(one.id, two.id);
  // The first contact is read alone; the contacts that are requested meanwhile are read together.
  const opened = await Promise.all(
    [first, one, two].map(({ id }) => server.client().call('initJoin', { params: { id }, body: {} })),
  );
  assert.deepEqual(
    opened.map(({ status }) => status),
    [200, 200, 200],
  );
  for (const { data } of opened.slice(1)) assert.equal((await contactOf(data.uuid)).contact_id, merged);
});

test('what is written to a merged contact reaches the one that it is now, its blanks too, and the join is theirs', async () => {
  const fields = server.deps.society.crm.fields;
  const { city } = fields;
  const [one, two] = [await person(), await person()];
  const uuid = await startJoin(server.client(), two.code);
  const other = await startJoin(server.client(), one.code);
  const merged = await merge(one.id, two.id);
  try {
    fields.city = { ...city, write: 'blanks' };
    await server
      .client()
      .call('submitDetails', { params: { uuid }, body: details({ city: 'Dallas', highSchoolGpa: '3.9' }) });
    await deliver(server);
  } finally {
    fields.city = city;
  }
  const held = await atHubspot(server, merged, 'city', 'high_school_gpa');
  assert.deepEqual([held.city, held.high_school_gpa], ['Dallas', '3.9']);
  for (const join of [uuid, other]) assert.equal((await contactOf(join)).contact_id, merged);
  assert.deepEqual([(await contactOf(uuid)).crm_refusal, (await contactOf(uuid)).due], [null, false]);
});

for (const what of ['merged', 'deleted'] as const)
  test(`an update that HubSpot leaves out of its answer since the contact was ${what} reaches the one that there is`, async (t) => {
    const [one, two] = [await person(), await person()];
    const given = { personalEmail: `left.out.${what}@example.com`, city: 'Dallas' };
    const { uuid } = await newMember(server, two.code, given);
    const merged = what === 'merged' ? await merge(one.id, two.id) : null;
    if (what === 'deleted') await atCrm('DELETE', `/${two.id}`);
    await server.hubspotFault({
      kind: 'status',
      status: 200,
      path: '/crm/objects/*/contacts/batch/update',
      about: `"${two.id}"`,
      body: { status: 'COMPLETE', results: [] },
      times: 100,
    });
    t.after(() => server.hubspotFault(null));
    await deliver(server);
    const { due, crm_refusal, own_contact } = await contactOf(uuid);
    assert.deepEqual([due, crm_refusal], [false, null]);
    const held = await atHubspot(server, merged ?? own_contact!, 'city', 'membership_status');
    assert.deepEqual([held.city, held.membership_status], ['Dallas', 'member']);
  });

test('a member whose contact was merged before their upgrade is told to HubSpot is the member that it remains', async () => {
  const [kept, old] = [await person({ membership_status: 'invited' }), await person()];
  const { client, uuid, intentId } = await newMember(server, old.code, {
    personalEmail: 'merged.member@example.com',
  });
  await deliver(server);
  const merged = await merge(kept.id, old.id);
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await deliver(server);
  assert.equal((await atHubspot(server, merged, 'membership_status')).membership_status, 'member');
  const again = await server.client().call('initiateCheckout', { body: { hubspotContactId: merged } });
  assert.equal(again.status, 409, again.message!);
});

test('of two merged contacts who both bought, staff are told once which one to give back', async (t) => {
  const [one, two] = [await person(), await person()];
  const joins: string[] = [];
  for (const { code } of [one, two]) {
    const client = server.client();
    const uuid = await orderingJoin(client, code, { personalEmail: `${code}@example.com` });
    await payOrder(server, client, uuid);
    joins.push(uuid);
  }
  await deliver(server);
  const merged = await merge(one.id, two.id);
  for (let time = 0; time < 2; time++) await server.deps.contacts.refresh(two.id);
  const { out } = await runCommand(t, server, 'notices', []);
  const told = out.split('\n').filter((line) => line.includes(`merged into ${merged}`));
  assert.equal(told.length, 1, out);
  assert.match(
    told[0]!,
    new RegExp(`by join ${joins[0]} and join ${joins[1]}\\. One of them is to be given back`),
  );
});

test('a join that is left over again, after its other one went back, is told anew, and each pair once', async () => {
  const members: { id: string; uuid: string }[] = [];
  for (let count = 0; count < 3; count++) {
    const { id, code } = await person();
    const more = { personalEmail: `${code}@example.com`, lastName: code };
    members.push({ id, uuid: (await newMember(server, code, more)).uuid });
  }
  const [third, one, left] = members as [(typeof members)[0], (typeof members)[0], (typeof members)[0]];
  await deliver(server);
  const told = async () => {
    const notices = await noticesOf(server, left.uuid);
    const named = (join: { uuid: string }) => notices.filter((notice) => notice.includes(join.uuid)).length;
    return [named(one), named(third)];
  };
  const merged = await merge(left.id, one.id);
  await server.deps.contacts.refresh(merged);
  assert.deepEqual(await told(), [1, 0]);
  await refundJoin(server.deps, one.uuid, membershipOnly);
  await deliver(server);
  await server.deps.contacts.refresh(await merge(third.id, merged));
  assert.deepEqual(await told(), [1, 1]);
});

test('of two merged contacts with a membership and an upgrade each, staff are told of both at once', async (t) => {
  const [one, two] = [await person(), await person()];
  const joins: string[] = [];
  for (const { code } of [one, two]) {
    const client = server.client();
    const { uuid, intentId } = await paidJoin(server, client, code, { personalEmail: `${code}@example.com` });
    assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
    joins.push(uuid);
  }
  await merge(one.id, two.id);
  await server.deps.contacts.refresh(two.id);
  const notices = (await Promise.all(joins.map((uuid) => noticesOf(server, uuid)))).flat();
  const [told, ...more] = notices.filter((notice) => notice.includes('One of them is to be given back'));
  assert.deepEqual(more, []);
  assert.match(told!, /both hold a membership and a membership upgrade bought here, by join /);
  const { out, code } = await runCommand(t, server, 'refund', argumentsOf(told!));
  assert.equal(code, 0, out);
  const standings = await Promise.all(joins.map((uuid) => membershipsOf(server, uuid)));
  assert.deepEqual(standings.map((held) => held.map(({ standing }) => standing)).sort(), [
    ['active', 'active'],
    ['refunded', 'refunded'],
  ]);
});

test('HubSpot has the sum of what two merged contacts have bought, and says member while a membership of either is held', async () => {
  const [one, two] = [await person(), await person()];
  const { uuid } = await newMember(server, one.code, { personalEmail: 'one.sum@example.com' });
  await refundJoin(server.deps, uuid, membershipOnly);
  await newMember(server, two.code, { personalEmail: 'two.sum@example.com' });
  await deliver(server);
  // The remaining contact has the properties of the first contact: status `former`, nothing paid.
  const merged = await merge(one.id, two.id);
  for (const id of [one.id, two.id]) await server.deps.contacts.refresh(id);
  await deliver(server);
  const told = await atHubspot(server, merged, 'membership_status', 'membership_name', 'amount_paid');
  assert.deepEqual(
    [told.membership_status, told.membership_name, told.amount_paid],
    ['member', 'Membership', '65.00'],
  );
});

test('a contact that was merged into one that is merged again stands for the last, though HubSpot names the last merge alone', async () => {
  const ids = ['9001', '9002', '9003'];
  for (const [index, present] of ids.entries()) {
    await sql`insert into person (contact_id, fetched_at) values (${present}, now())`.execute(
      server.background,
    );
    if (index > 0) await follow([{ old: ids[index - 1]!, present }]);
  }
  for (const id of ids) {
    const { rows } = await sql<{
      id: string;
    }>`select contact_id as id from person where id = ${personOf(sql`${id}`)}`.execute(server.background);
    assert.equal(rows[0]!.id, '9003', id);
  }
});

test('of two contacts who are both paying when they are merged one pays on, and what the other one pays goes back', async () => {
  const [one, two] = [await person(), await person()];
  const paying = [];
  for (const { id, code } of [one, two]) {
    const client = server.client();
    const uuid = await orderingJoin(client, code, { personalEmail: `${code}@example.com` });
    const intent = await openIntent(client, uuid);
    assert.equal((await beginPayment(client, uuid, intent.revision)).status, 200);
    paying.push({ id, client, uuid, intent });
  }
  const merged = await merge(one.id, two.id);
  assert.equal(await server.deps.contacts.refresh(two.id), 'known');
  for (const { id, uuid } of paying) assert.equal((await contactOf(uuid)).contact_id, id);
  const outcomes = [];
  for (const { client, uuid, intent } of paying) {
    await payByCard(server, intent.id);
    outcomes.push((await reportPayment(client, uuid, intent)).data.status);
  }
  assert.deepEqual(outcomes, ['succeeded', 'refunded']);
  const { uuid } = paying[0]!;
  await server.deps.contacts.refresh(two.id);
  const [membership] = await membershipsOf(server, uuid);
  assert.deepEqual([(await contactOf(uuid)).contact_id, membership?.contact_id], [merged, merged]);
  await deliver(server);
  assert.equal((await atHubspot(server, merged, 'membership_status')).membership_status, 'member');
});

test('a checkout link that is being paid when its contact is merged is told beside a join of the same name and email', async () => {
  const named = { firstname: 'Mina', lastname: 'Okoro', email: 'mina.okoro@example.com' };
  const [kept, old] = [await person(named), await person({ firstname: 'Mina', lastname: 'Okoro' })];
  const elsewhere = { firstName: 'Mina', lastName: 'Okoro', personalEmail: named.email };
  const first = await newMember(server, undefined, elsewhere);
  const client = server.client();
  const started = await client.call('initiateCheckout', { body: { hubspotContactId: old.id } });
  const uuid = started.data.joinSessionUuid;
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await merge(kept.id, old.id);
  await sync();
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).status, 200);
  const [notice, ...more] = await noticesOf(server, uuid);
  assert.match(notice!, new RegExp(`paid by somebody of the same name and email as join ${first.uuid}`));
  assert.deepEqual(more, []);
});

test('merges that are learned of at once move to each what is theirs: what is held, though an earlier one has ended', async () => {
  const merges = [];
  for (let pair = 0; pair < 2; pair++) {
    const [old, present] = [await person(), await person()];
    await server.deps.contacts.refresh(present.id);
    const who = { personalEmail: `${old.code}@example.com` };
    const ended = await newMember(server, old.code, who);
    await refundJoin(server.deps, ended.uuid, membershipOnly);
    const held = await newMember(server, old.code, who);
    merges.push({ old: old.id, present: present.id, joins: [ended.uuid, held.uuid] });
  }
  await follow(merges.map(({ old, present }) => ({ old, present })));
  for (const { present, joins } of merges)
    for (const uuid of joins) assert.equal((await membershipsOf(server, uuid))[0]?.contact_id, present);
});

test('of two merged contacts who are members all that one bought is the other’s, and so is a contact that a join made', async () => {
  const [old, present] = [await person(), await person()];
  const { client, uuid, intentId } = await newMember(server, old.code, { personalEmail: 'old@example.com' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await newMember(server, present.code, { personalEmail: 'present@example.com' });
  const made = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'made@example.com' });
  await deliver(server);
  const olds = [old.id, (await contactOf(made)).own_contact!];
  await follow(olds.map((id) => ({ old: id, present: present.id })));
  assert.deepEqual(
    (await membershipsOf(server, uuid)).map(({ type, contact_id }) => [type, contact_id]).sort(),
    [
      ['membership', present.id],
      ['membership_upgrade', present.id],
    ],
  );
  assert.equal((await contactOf(made)).contact_id, present.id);
});

test('of two merged contacts who are members the upgrade of one stays held on the membership of the other when its own is given back', async () => {
  const [one, two] = [await person(), await person()];
  const client = server.client();
  const first = await paidJoin(server, client, one.code, { personalEmail: `${one.code}@example.com` });
  assert.equal((await charge(client, first.uuid, first.intentId)).data.status, 'succeeded');
  const { uuid: second } = await paidJoin(server, server.client(), two.code, {
    personalEmail: `${two.code}@example.com`,
  });
  const merged = await merge(two.id, one.id);
  await server.deps.contacts.refresh(one.id);
  await server.deps.contacts.refresh(merged);
  const left = async () => (await membershipsOf(server, second)).map(({ contact_id }) => contact_id);
  await refundJoin(server.deps, first.uuid, membershipOnly);
  assert.deepEqual(await left(), [merged]);
  const notices = await noticesOf(server, first.uuid);
  assert.deepEqual(
    notices.filter((notice) => notice.includes('the membership below it has ended')),
    [],
  );
  assert.deepEqual(await differencesOf(server, first.uuid), []);
});

test('a join is linked to the contact that a merged one is now, and all of it is written there', async (t) => {
  const [one, two] = [await person(), await person()];
  const { client, uuid } = await newOrder(server, 'LINCOLN2026', { personalEmail: 'to.link@example.com' });
  await payOrder(server, client, uuid);
  await deliver(server);
  const merged = await merge(one.id, two.id);
  const { code, out } = await runCommand(t, server, 'person merge', [uuid, two.id]);
  assert.equal(code, 0, out);
  assert.equal((await contactOf(uuid)).contact_id, merged);
  await deliver(server);
  const held = await atHubspot(server, merged, 'membership_status', 'amount_paid', 'city');
  assert.deepEqual([held.membership_status, held.amount_paid, held.city], ['member', '65.00', 'Austin']);
});

test('what HubSpot says of a contact moves no code of another one, and ends no membership for an upgrade that went back', async () => {
  const [one, two] = [await person(), await person()];
  const { client, uuid, intentId } = await newMember(server, one.code, { personalEmail: 'one@example.com' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await deliver(server);
  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, upgrade: true });
  const createdAt = new Date().toISOString();
  const contacts = [
    { id: one.id, properties: { membership_status: 'member' }, createdAt },
    { id: two.id, properties: { invitation_code: one.code }, createdAt },
  ];
  const found = new Map(contacts.map((contact) => [contact.id, contact]));
  await keepContacts(server.background, server.deps.society.crm.fields, found);
  const { rows } = await sql<{ contact_id: string; is_member: boolean }>`
    select contact_id, ${holdsBought('person.id', 'membership')} as is_member from invitation join person on id = person_id where code = ${one.code}`.execute(
    server.background,
  );
  assert.deepEqual(rows, [{ contact_id: one.id, is_member: true }]);
});
