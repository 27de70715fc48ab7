import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { askHubspot } from '../../../tests/harness/providers.ts';
import { differencesOf, everything, membershipOnly } from '../../../tests/harness/refunds.ts';
import { membershipsOf, noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand } from '../../../tests/harness/runCommand.ts';
import {
  beginPayment,
  details,
  openIntent,
  orderingJoin,
  paidJoin,
  payByCard,
  payOrder,
  reportPayment,
  startJoin,
} from '../../../tests/harness/steps.ts';
import { limitWith, sharedServer } from '../../../tests/harness/testServer.ts';
import { charge, upgradeByLink } from '../../../tests/harness/upgrades.ts';
import { noticesCommand } from '../notices/noticesCommand.ts';
import { noBudget } from '../providers/hubspot/budget.ts';
import { hubspotClient, LARGEST_PAGE } from '../providers/hubspot/client.ts';
import { tellNobody } from '../providers/trouble.ts';
import { refundJoin } from '../refunds/refundJoin.ts';
import { presentId } from '../session/members.ts';
import { refundCommand } from '../settlement/refundCommands.ts';
import { failedCommand, linkCommand, retryCommand, statusCommand } from './commands.ts';
import { keepContacts } from './contacts.ts';
import { followMerges } from './followContacts.ts';
import { syncContacts } from './syncContacts.ts';

const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });

const atCrm = (method: string, path: string, body?: object) =>
  askHubspot(server.hubspotUrl, method, path, body);
let people = 0;
/** Creates a contact in HubSpot with an invite code and the properties `more`. */
async function person(more: Record<string, string> = {}): Promise<{ id: string; code: string }> {
  const code = `PERSON${++people}`;
  const { id } = await atCrm('POST', '', {
    properties: { email: `person${people}@example.com`, firstname: 'Ada', invitation_code: code, ...more },
  });
  return { id, code };
}
const merge = async (primary: string, other: string) =>
  (await atCrm('POST', '/merge', { primaryObjectId: primary, objectIdToMerge: other })).id;
const sync = () => {
  const { config, society } = server.deps;
  const hubspot = hubspotClient(
    config.providers.hubspot,
    society.crm.fields,
    noBudget,
    'background',
    tellNobody,
  );
  return syncContacts({ ...server.deps, database: server.background }, hubspot);
};
const contactOf = async (uuid: string) =>
  (
    await sql<{
      contact_id: string | null;
      own_contact: string | null;
      crm_refusal: string | null;
      due: boolean;
    }>`
      select contact_id, case when owns_hubspot_contact then hubspot_contact_id end as own_contact, crm_refusal, profile_revision <> crm_revision as due from join_session where uuid = ${uuid}`.execute(
      server.background,
    )
  ).rows[0]!;
const profileOf = async (id: string) =>
  (await sql<{ profile: object }>`select profile from contact where id = ${id}`.execute(server.background))
    .rows[0]?.profile;
/** Buys a membership by a signed checkout link, and so without student details. `meanwhile` runs before the payment. */
async function boughtByLink(id: string, meanwhile: () => Promise<unknown> = async () => {}): Promise<string> {
  const client = server.client();
  const started = await client.call('initiateCheckout', { body: checkoutLink(id) });
  assert.equal(started.status, 200);
  const uuid = started.data.joinSessionUuid;
  await meanwhile();
  const intent = await openIntent(client, uuid);
  const body = { revision: intent.revision, agreeToPolicies: true };
  assert.equal((await client.call('beginPayment', { params: { uuid }, body })).status, 200);
  await payByCard(server, intent.id);
  assert.equal((await reportPayment(client, uuid, intent)).data.status, 'succeeded');
  return uuid;
}
function checkoutLink(id: string) {
  const target = { kind: 'checkout', contactId: id, parameters: { mp: '1' } } as const;
  const signature = server.deps.links.sign(target, new Date(Date.now() + 86_400_000));
  return { hubspotContactId: id, mainProductId: 1, ...signature };
}
const argumentsOf = (notice: string) => /operator -- refund (.*)$/.exec(notice)![1]!.split(' ');
/** The ways in which the server learns of a merge or deletion. */
const ways: [string, (id: string) => Promise<unknown>][] = [
  ['a read', (id) => server.deps.contacts.refresh(id)],
  ['a sync', sync],
  [
    'a sync from scratch',
    () =>
      syncContacts({ ...server.deps, database: server.background }, server.hubspot, { fromScratch: true }),
  ],
];

for (const [way, learn] of ways)
  test(`after ${way} nothing is known of a contact that was deleted in HubSpot, and its code opens an empty form`, async () => {
    await sync();
    const { id, code } = await person({ lastname: 'Lovelace', membership_status: 'member' });
    const client = server.client();
    assert.equal(
      (await client.call('checkEligibility', { body: { invitationCode: code } })).data.status,
      'failed',
      'a member, says HubSpot',
    );
    await atCrm('DELETE', `/${id}`);
    await learn(id);
    assert.deepEqual(await profileOf(id), {});
    const uuid = await startJoin(client, code);
    const shown = (await client.call('getContact', { params: { uuid } })).data;
    assert.deepEqual([shown.firstName, shown.lastName, shown.email], [null, null, null]);
  });

for (const [way, learn] of ways)
  test(`after ${way} members whose contact was deleted have one of their own, and staff hear of who can have none`, async () => {
    const { id, code } = await person();
    const personalEmail = `${code.toLowerCase()}@members.example.com`;
    const byCode = await paidJoin(server, server.client(), code, { personalEmail });
    const upgrade = await upgradeByLink(server, id);
    const bySchool = await paidJoin(server, server.client(), 'LINCOLN2026', {
      personalEmail: `school.${personalEmail}`,
    });
    const other = await person();
    const byLink = await boughtByLink(other.id);
    await deliver(server);
    const created = (await contactOf(bySchool.uuid)).own_contact!;
    for (const gone of [id, created, other.id]) await atCrm('DELETE', `/${gone}`);
    for (const gone of [id, created, other.id]) await learn(gone);
    await deliver(server);
    for (const [{ uuid }, amount] of [
      [byCode, '110.00'],
      [bySchool, '65.00'],
    ] as const) {
      const own = (await contactOf(uuid)).own_contact!;
      const told = await atHubspot(server, own, 'membership_status', 'amount_paid');
      assert.deepEqual([told.membership_status, told.amount_paid], ['member', amount]);
      assert.deepEqual(await noticesOf(server, uuid), []);
    }
    assert.deepEqual(await noticesOf(server, upgrade.uuid), [], 'it is of the new contact');
    assert.match((await noticesOf(server, byLink)).join(), new RegExp(`contacts link ${byLink} CONTACT$`));
  });

test('a sync learns of every deletion, however many there were', async () => {
  const people: { id: string; code: string }[] = [];
  while (people.length <= LARGEST_PAGE) people.push(await person());
  await sync();
  for (const { id } of people) await atCrm('DELETE', `/${id}`);
  await sync();
  const { rows } = await sql<{ left: number }>`
    select count(*)::int as left from contact where id = any(${people.map(({ id }) => id)}) and profile <> '{}'`.execute(
    server.background,
  );
  assert.equal(rows[0]!.left, 0);
});

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

test('no link and no staff lead to a contact that was deleted', async (t) => {
  const { id } = await person();
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026');
  await payOrder(server, client, uuid);
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await atCrm('DELETE', `/${id}`);
  assert.equal((await server.client().call('initJoin', { params: { id }, body: {} })).status, 404);
  const { out } = await runCommand(t, server, linkCommand, [uuid, id]);
  assert.match(out, /knows no contact/);
});

test('a checkout link, which asks for no details, sells nothing to a contact that was deleted, though HubSpot is down', async () => {
  const { id } = await person();
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  await atCrm('DELETE', `/${id}`);
  const press = () => server.client().call('initiateCheckout', { body: checkoutLink(id) });
  assert.equal((await press()).status, 404);
  await server.hubspotFault({ kind: 'cut', times: 1_000_000 });
  const inOutage = await press();
  await server.hubspotFault(null);
  assert.equal(inOutage.status, 404);
});

for (const [when, learn] of [
  ['while they pay', (id: string) => server.deps.contacts.refresh(id)],
  ['before HubSpot is told', async () => 'nothing'],
] as const)
  test(`who has paid by a link, and whose contact is deleted ${when}, is told to staff, since nobody is left to be told to HubSpot`, async (t) => {
    const { id } = await person();
    const uuid = await boughtByLink(id, async () => {
      await atCrm('DELETE', `/${id}`);
      await learn(id);
    });
    await deliver(server);
    assert.match((await contactOf(uuid)).crm_refusal!, /has no contact of this join/);
    assert.match((await noticesOf(server, uuid)).join(), new RegExp(`contacts link ${uuid} CONTACT$`));
    const failed = await runCommand(t, server, failedCommand, []);
    assert.match(failed.out, new RegExp(`${uuid}  contact ${id}  HubSpot has no contact`));
    await refundJoin(server.deps, uuid, membershipOnly);
    assert.equal((await runCommand(t, server, retryCommand, [uuid])).code, 0);
    await deliver(server);
    assert.deepEqual(
      { ...(await contactOf(uuid)), contact_id: null },
      { contact_id: null, own_contact: null, crm_refusal: null, due: false },
      'who holds nothing any more is nobody to be told',
    );
  });

test('a member whose contact staff have deleted in favour of another one with the same email is linked to that, as the notice says', async (t) => {
  const { id, code } = await person();
  const personalEmail = 'kept.one@example.com';
  const { uuid } = await paidJoin(server, server.client(), code, { personalEmail });
  await deliver(server);
  await atCrm('DELETE', `/${id}`);
  const properties = { email: personalEmail, firstname: 'Jordan', membership_status: 'prospect' };
  const kept: string = (await atCrm('POST', '', { properties })).id;
  const waiting = async () => {
    const { out } = await runCommand(t, server, statusCommand, []);
    return Number(/(\d+) paid joins with the email of a contact/.exec(out)![1]);
  };
  const before = await waiting();
  await sql`update join_session set profile_revision = profile_revision + 1, crm_known = crm_known - 'city' where uuid = ${uuid}`.execute(
    server.background,
  );
  await deliver(server);
  assert.equal(await waiting(), before + 1);
  const notice = (await noticesOf(server, uuid)).find((text) => text.includes(' contacts link '));
  const args = / contacts link (\S+) (\S+)$/.exec(notice!)!.slice(1);
  assert.deepEqual(args, [uuid, kept]);
  const linked = await runCommand(t, server, linkCommand, args);
  assert.equal(linked.code, 0, linked.out);
  await deliver(server);
  assert.equal((await atHubspot(server, kept, 'membership_status')).membership_status, 'member');
  assert.equal(await waiting(), before);
  assert.equal(
    (await server.client().call('checkEligibility', { body: { invitationCode: code } })).data.status,
    'failed',
    'their code is that of a member',
  );
});

test('what somebody has bought by links to a contact that was deleted is all of the contact that staff link it to', async (t) => {
  const { id } = await person();
  const uuid = await boughtByLink(id);
  const upgrade = await upgradeByLink(server, id);
  await atCrm('DELETE', `/${id}`);
  await deliver(server);
  const { id: other } = await person();
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, other]);
  assert.equal(code, 0, out);
  await deliver(server);
  const told = await atHubspot(server, other, 'membership_status', 'upgrade_name', 'amount_paid');
  assert.deepEqual(
    [told.membership_status, told.upgrade_name, told.amount_paid],
    ['member', 'Distinguished Member upgrade', '110.00'],
  );
  for (const join of [uuid, upgrade.uuid]) {
    const { contact_id, crm_refusal } = await contactOf(join);
    const held = (await membershipsOf(server, join)).map((membership) => membership.contact_id);
    assert.deepEqual([contact_id, crm_refusal, held], [other, null, [other]]);
  }
});

test('an upgrade by link whose contact was deleted is linked to another one of the member, as the notice says, while it is held', async (t) => {
  const { id } = await person({ membership_status: 'member' });
  const { uuid } = await upgradeByLink(server, id);
  await atCrm('DELETE', `/${id}`);
  await deliver(server);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`contacts link ${uuid} CONTACT$`));
  const again = await person({ membership_status: 'member' });
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, again.id]);
  assert.equal(code, 0, out);
  await deliver(server);
  const told = await atHubspot(server, again.id, 'membership_status', 'upgrade_name');
  assert.deepEqual(told.upgrade_name, 'Distinguished Member upgrade');
  assert.deepEqual(told.membership_status, 'member');

  const { id: other } = await person({ membership_status: 'member' });
  const ended = await upgradeByLink(server, other);
  await atCrm('DELETE', `/${other}`);
  await deliver(server);
  await refundJoin(server.deps, ended.uuid, everything);
  const refused = await runCommand(t, server, linkCommand, [ended.uuid, again.id]);
  assert.match(refused.out, /The upgrade of join \S+ has ended\./);
});

test('a member whose invitation names a contact that HubSpot never had is linked to the one that they are', async (t) => {
  await sql`insert into contact (id, profile) values ('700700701', '{"firstName": "Jordan"}')`.execute(
    server.background,
  );
  await sql`insert into invitation (code, contact_id) values ('MISTYPEDID', '700700701')`.execute(
    server.background,
  );
  const { uuid } = await paidJoin(server, server.client(), 'MISTYPEDID', {
    personalEmail: 'mistyped.id@example.com',
  });
  const { id } = await person();
  const early = await runCommand(t, server, linkCommand, [uuid, id]);
  assert.match(
    early.out,
    /is of contact 700700701 already: its invitation or link named that contact/,
    'HubSpot was not asked yet',
  );
  await deliver(server);
  assert.match((await contactOf(uuid)).crm_refusal!, /does not know contact 700700701/);
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, id]);
  assert.equal(code, 0, out);
  await deliver(server);
  assert.equal((await atHubspot(server, id, 'membership_status')).membership_status, 'member');
});

test('of a contact that only an import has named, which HubSpot never had, what it told stays', async () => {
  const id = '700700700';
  await sql`insert into contact (id, profile) values (${id}, '{"firstName": "Ada"}')`.execute(
    server.background,
  );
  await server.deps.contacts.refresh(id);
  assert.deepEqual(await profileOf(id), { firstName: 'Ada' });
});

test('a join of a contact that was deleted gets a contact of its own, once, whose all is that was bought', async () => {
  const { id, code } = await person();
  const client = server.client();
  const uuid = await orderingJoin(client, code, { personalEmail: 'was.deleted@example.com' });
  await payOrder(server, client, uuid);
  const upgrade = await upgradeByLink(server, id);
  await deliver(server);
  await atCrm('DELETE', `/${id}`);
  await sql`update join_session set profile_revision = profile_revision + 1, crm_known = '{}' where uuid = ${uuid}`.execute(
    server.background,
  );
  await deliver(server);
  const held = await contactOf(uuid);
  assert.deepEqual([held.crm_refusal, held.due], [null, false]);
  const own = held.own_contact;
  assert.ok(own && own !== id, `${own}`);
  const now = await atHubspot(server, own, 'membership_status', 'city', 'amount_paid');
  assert.deepEqual([now.membership_status, now.amount_paid], ['member', '110.00']);
  assert.deepEqual(
    [...(await membershipsOf(server, uuid)), ...(await membershipsOf(server, upgrade.uuid))].map(
      (held) => held.contact_id,
    ),
    [own, own],
  );
  const bought = { hubspotContactId: own, mainProductId: 10 };
  assert.equal((await server.client().call('initiateCheckout', { body: bought })).status, 409);
  assert.equal(
    (await server.client().call('checkEligibility', { body: { invitationCode: code } })).data.status,
    'failed',
  );
  await sql`update join_session set profile_revision = profile_revision + 1 where uuid = ${uuid}`.execute(
    server.background,
  );
  await deliver(server);
  assert.equal((await contactOf(uuid)).own_contact, own);
});

test('a contact that a join created and somebody deleted is created again', async () => {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'again@example.com' });
  await deliver(server);
  const first = (await contactOf(uuid)).own_contact!;
  await atCrm('DELETE', `/${first}`);
  await client.call('submitDetails', {
    params: { uuid },
    body: details({ personalEmail: 'again@example.com', city: 'Waco' }),
  });
  await deliver(server);
  const second = (await contactOf(uuid)).own_contact!;
  assert.notEqual(second, first);
  assert.equal((await atHubspot(server, second, 'city')).city, 'Waco');
});

test('a contact that was restored in HubSpot is shown again', async () => {
  const { id } = await person();
  await server.deps.contacts.refresh(id);
  await sql`update contact set deleted_at = now(), profile = '{}' where id = ${id}`.execute(
    server.background,
  );
  assert.equal(await server.deps.contacts.refresh(id), 'known');
  assert.match(JSON.stringify(await profileOf(id)), /Ada/);
});

for (const [way, learn] of ways.slice(0, 2))
  test(`after ${way} two merged contacts are one person here: who bought by one cannot buy by the other`, async () => {
    await sync();
    const [one, two] = [await person(), await person()];
    const client = server.client();
    const open = await startJoin(client, two.code);
    // The purchase has not been sent to HubSpot, so only our database has the membership.
    const { uuid } = await paidJoin(server, server.client(), one.code);
    const merged = await merge(one.id, two.id);
    await learn(two.id);
    assert.equal((await contactOf(uuid)).contact_id, merged);
    assert.equal((await contactOf(open)).contact_id, merged);
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
  const { out } = await runCommand(t, server, noticesCommand, []);
  const told = out.split('\n').filter((line) => line.includes(`merged into ${merged}`));
  assert.equal(told.length, 1, out);
  assert.match(told[0]!, new RegExp(`by the joins ${joins[0]} and ${joins[1]}\\. Give one of them back`));
});

test('of two merged contacts with an upgrade each, the command that staff are told gives an upgrade back and no membership', async (t) => {
  const [byHand, joined] = [await person({ membership_status: 'member' }), await person()];
  const byLink = await upgradeByLink(server, byHand.id);
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, joined.code, { personalEmail: 'up@example.com' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await deliver(server);
  await merge(joined.id, byHand.id);
  await server.deps.contacts.refresh(joined.id);
  const notices = [...(await noticesOf(server, uuid)), ...(await noticesOf(server, byLink.uuid))];
  const [told, ...more] = notices.filter((notice) => notice.includes('Give one of them back'));
  assert.match(told!, /both hold a membership upgrade bought here/);
  assert.deepEqual(more, []);
  const { out, code } = await runCommand(t, server, refundCommand, argumentsOf(told!));
  assert.equal(code, 0, out);
  const held = [...(await membershipsOf(server, uuid)), ...(await membershipsOf(server, byLink.uuid))].filter(
    ({ standing }) => standing === 'active',
  );
  assert.deepEqual(held.map(({ type }) => type).sort(), ['membership', 'membership_upgrade']);
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
  const [told, ...more] = notices.filter((notice) => notice.includes('Give one of them back'));
  assert.deepEqual(more, []);
  assert.match(told!, /both hold a membership and a membership upgrade bought here, by the joins /);
  const { out, code } = await runCommand(t, server, refundCommand, argumentsOf(told!));
  assert.equal(code, 0, out);
  const standings = await Promise.all(joins.map((uuid) => membershipsOf(server, uuid)));
  assert.deepEqual(standings.map((held) => held.map(({ standing }) => standing)).sort(), [
    ['active', 'active'],
    ['refunded', 'refunded'],
  ]);
});

test('HubSpot has the sum of what two merged contacts have bought, and says member while a membership of either is held', async () => {
  const [one, two] = [await person(), await person()];
  const { uuid } = await paidJoin(server, server.client(), one.code, {
    personalEmail: 'one.sum@example.com',
  });
  await refundJoin(server.deps, uuid, membershipOnly);
  await paidJoin(server, server.client(), two.code, { personalEmail: 'two.sum@example.com' });
  await deliver(server);
  // The remaining contact has the properties of the first one: status `former`, nothing paid.
  const merged = await merge(one.id, two.id);
  for (const id of [one.id, two.id]) await server.deps.contacts.refresh(id);
  await deliver(server);
  const told = await atHubspot(server, merged, 'membership_status', 'membership_name', 'amount_paid');
  assert.deepEqual(
    [told.membership_status, told.membership_name, told.amount_paid],
    ['member', 'Membership', '65.00'],
  );
});

test('a join that was refunded leaves the member whose contact its own was merged into what HubSpot says of them', async () => {
  const [one, two] = [await person({ membership_status: 'member', amount_paid: '40.00' }), await person()];
  const { uuid } = await paidJoin(server, server.client(), two.code, {
    personalEmail: 'two.twice@example.com',
  });
  await refundJoin(server.deps, uuid, membershipOnly);
  await deliver(server);
  const merged = await merge(one.id, two.id);
  await server.deps.contacts.refresh(two.id);
  await deliver(server);
  const told = await atHubspot(server, merged, 'membership_status', 'amount_paid');
  assert.deepEqual([told.membership_status, told.amount_paid], ['member', '40.00']);
});

test('a contact that was merged into one that is merged again stands for the last, though HubSpot names the last merge alone', async () => {
  const ids = ['9001', '9002', '9003'];
  for (const [index, present] of ids.entries()) {
    await sql`insert into contact (id, fetched_at) values (${present}, now())`.execute(server.background);
    const properties = { hs_merged_object_ids: ids[index - 1] ?? null };
    await followMerges(server.background, [{ id: present, properties, createdAt: new Date().toISOString() }]);
  }
  for (const id of ids) {
    const { rows } = await sql<{ id: string }>`select ${presentId(id)} as id`.execute(server.background);
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
});

test('all memberships of merged contacts that have ended are those of the one that they are now', async () => {
  const [one, two] = [await person(), await person()];
  const joins: string[] = [];
  for (const { code } of [one, two]) {
    const { uuid } = await paidJoin(server, server.client(), code, { personalEmail: `${code}@example.com` });
    await refundJoin(server.deps, uuid, membershipOnly);
    joins.push(uuid);
  }
  const merged = await merge(one.id, two.id);
  await server.deps.contacts.refresh(two.id);
  for (const uuid of joins)
    assert.deepEqual(
      (await membershipsOf(server, uuid)).map(({ contact_id }) => contact_id),
      [merged],
    );
});

test('merges that are learned of at once move to each what is theirs: what is held, though an earlier one has ended', async () => {
  const merges = [];
  for (let pair = 0; pair < 2; pair++) {
    const [old, present] = [await person(), await person()];
    await server.deps.contacts.refresh(present.id);
    const who = { personalEmail: `${old.code}@example.com` };
    const ended = await paidJoin(server, server.client(), old.code, who);
    await refundJoin(server.deps, ended.uuid, membershipOnly);
    const held = await paidJoin(server, server.client(), old.code, who);
    merges.push({ old: old.id, present: present.id, joins: [ended.uuid, held.uuid] });
  }
  await followMerges(
    server.background,
    merges.map(({ old, present }) => ({
      id: present,
      properties: { hs_merged_object_ids: old },
      createdAt: new Date().toISOString(),
    })),
  );
  for (const { present, joins } of merges)
    for (const uuid of joins) assert.equal((await membershipsOf(server, uuid))[0]?.contact_id, present);
});

test('of two merged contacts who are members the upgrade of one is the upgrade of the other, and so is a contact that a join made', async () => {
  const [old, present] = [await person(), await person()];
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, old.code, { personalEmail: 'old@example.com' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await paidJoin(server, server.client(), present.code, { personalEmail: 'present@example.com' });
  const made = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'made@example.com' });
  await deliver(server);
  const properties = { hs_merged_object_ids: `${old.id};${(await contactOf(made)).own_contact}` };
  const createdAt = new Date().toISOString();
  await followMerges(server.background, [{ id: present.id, properties, createdAt }]);
  assert.deepEqual(
    (await membershipsOf(server, uuid)).map(({ type, contact_id }) => [type, contact_id]).sort(),
    [
      ['membership', old.id],
      ['membership_upgrade', present.id],
    ],
  );
  assert.equal((await contactOf(made)).own_contact, present.id);
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
  assert.notDeepEqual(await left(), [merged], 'the contact holds a membership already');
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
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', { personalEmail: 'to.link@example.com' });
  await payOrder(server, client, uuid);
  await deliver(server);
  const merged = await merge(one.id, two.id);
  const { code, out } = await runCommand(t, server, linkCommand, [uuid, two.id]);
  assert.equal(code, 0, out);
  assert.equal((await contactOf(uuid)).contact_id, merged);
  await deliver(server);
  const held = await atHubspot(server, merged, 'membership_status', 'amount_paid', 'city');
  assert.deepEqual([held.membership_status, held.amount_paid, held.city], ['member', '65.00', 'Austin']);
});

test('what HubSpot says of a contact moves no code of another one, and ends no membership for an upgrade that went back', async () => {
  const [one, two] = [await person(), await person()];
  const client = server.client();
  const { uuid, intentId } = await paidJoin(server, client, one.code, { personalEmail: 'one@example.com' });
  assert.equal((await charge(client, uuid, intentId)).data.status, 'succeeded');
  await deliver(server);
  await refundJoin(server.deps, uuid, { ...membershipOnly, membership: false, upgrade: true });
  const createdAt = new Date().toISOString();
  await keepContacts(server.background, server.deps.society.crm.fields, [
    { id: one.id, properties: { membership_status: 'member' }, createdAt },
    { id: two.id, properties: { invitation_code: one.code }, createdAt },
  ]);
  const { rows } = await sql<{ contact_id: string; is_member: boolean }>`
    select contact_id, is_member from invitation join contact on id = contact_id where code = ${one.code}`.execute(
    server.background,
  );
  assert.deepEqual(rows, [{ contact_id: one.id, is_member: true }]);
});
