import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atHubspot, deliver, editAtHubspot, newContact } from '../../../tests/harness/deliver.ts';
import { dump } from '../../../tests/harness/dump.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { personId } from '../../../tests/harness/personId.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand, runTyped } from '../../../tests/harness/runCommand.ts';
import { beginPayment, openIntent, orderingJoin, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { charge } from '../../../tests/harness/upgrades.ts';
import { reconcile } from '../books/reconcile.ts';
import { pushDue } from '../crm/push.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';

/** Tests merges by staff that were wrong, were undone, or coincide with merges in HubSpot, purchases and refunds. */
const server = await sharedServer({}, { hubspotLimits: 'off' });
const { deps } = server;
const { database } = deps;
const { sync, merge: mergeAtHubspot } = hubspotPeople(server);
const { beginByCode, contactOf, invited, mail, paid, personOf, refund, run, statusAt, statusOf } =
  identityOn(server);

const isErased = async (uuid: string) => {
  const { rows } = await sql<{ isErased: boolean }>`
    select erased_at is not null as "isErased" from join_session where uuid = ${uuid}`.execute(database);
  return rows.every((row) => row.isErased);
};
const knownAs = async (uuid: string) => {
  const { details } = await personOf(uuid);
  return [details?.firstName, details?.personalEmail];
};

test('a contact that staff merged away stays merged, whatever HubSpot says of it, and can be parted again', async (t) => {
  const { id } = await invited('ada.into@example.com');
  const { uuid } = await paid({ personalEmail: 'ada.from@example.com', firstName: 'Adda' });
  await deliver(server);
  const own = await contactOf(uuid);
  await run(t, 'person merge', uuid, id);
  await deliver(server);
  const byLink = await server.client().call('initJoin', { params: { id: own }, body: {} });
  assert.equal(byLink.status, 409, 'a link to the contact sells nothing to its member');
  await editAtHubspot(server, own, { invitation_code: 'MERGEDAWAY' });
  await deps.contacts.refresh(own);
  assert.equal(await beginByCode(own, 'MERGEDAWAY'), 409, 'nor does a code that it gets');
  await sync();
  await deps.contacts.refresh(own);
  const { rows } = await sql<{ isMerged: boolean }>`
    select merged_into = ${personId(id)} as "isMerged" from person where contact_id = ${own}`.execute(
    database,
  );
  assert.deepEqual(rows, [{ isMerged: true }]);
  await run(t, 'person unmerge', uuid);
  assert.equal(await contactOf(uuid), own);
});

test('after a wrong merge that was corrected and undone each is found, noted at Stripe and erased without the other', async (t) => {
  const alice = await paid({ personalEmail: 'alice@example.com', firstName: 'Alice', lastName: 'Archer' });
  const bob = await paid({ personalEmail: 'bob@example.com', firstName: 'Bob', lastName: 'Baker' });
  await run(t, 'person merge', bob.uuid, alice.uuid);
  await run(t, 'person correct', alice.uuid, '--zip', '78702');
  await run(t, 'person unmerge', bob.uuid);
  for (const [name, one, other, email] of [
    ['archer', alice, bob, 'alice@example.com'],
    ['baker', bob, alice, 'bob@example.com'],
  ] as const) {
    const out = await run(t, 'find', name);
    assert.deepEqual([out.includes(one.uuid), out.includes(other.uuid)], [true, false], out);
    assert.equal((await deps.payments.retrieveIntent(one.intentId)).metadata.email, email);
  }
  await run(t, 'person erase', 'bob@example.com', '--yes');
  assert.deepEqual([await isErased(alice.uuid), await isErased(bob.uuid)], [false, true]);
});

test('who was parted again is made again by a restore with their own name and email', async (t) => {
  const restore = await dump(server);
  const alice = await paid({ personalEmail: 'alice.lost@example.com', firstName: 'Alice' });
  const bob = await paid({ personalEmail: 'bob.lost@example.com', firstName: 'Bob' });
  await run(t, 'person merge', bob.uuid, alice.uuid);
  await run(t, 'person correct', alice.uuid, '--zip', '78702');
  await run(t, 'person unmerge', bob.uuid);
  await restore();
  await run(t, 'settle', '--missing');
  assert.deepEqual(await knownAs(bob.uuid), ['Bob', 'bob.lost@example.com']);
});

test('a contact that never joined keeps nothing of whom it was wrongly merged with, and stays when they are erased', async (t) => {
  const { id, code } = await invited('carol@example.com', { firstname: 'Carol' });
  const { uuid } = await paid({ personalEmail: 'dave@example.com', firstName: 'Dave' });
  await deliver(server);
  await run(t, 'person merge', uuid, id);
  await run(t, 'person correct', uuid, '--email', 'dave.two@example.com');
  await run(t, 'person unmerge', uuid);
  await deliver(server);
  const carol = () =>
    database
      .selectFrom('person')
      .select(['details', 'erased_at', sql`profile ->> 'firstName'`.as('firstName')])
      .where('contact_id', '=', id)
      .execute();
  assert.deepEqual(await carol(), [{ details: null, erased_at: null, firstName: 'Carol' }]);
  await run(t, 'person erase', 'dave@example.com', '--yes');
  assert.deepEqual(await carol(), [{ details: null, erased_at: null, firstName: 'Carol' }]);
  assert.equal(await beginByCode(id, code), 200);
});

test('whom a merge leaves is still likely the same as who pays under their name and email: asked here, told elsewhere', async (t) => {
  const person = { personalEmail: 'ann@example.com', firstName: 'Ann', lastName: 'Lee' };
  const first = await paid(person);
  const second = await paid({ ...person, personalEmail: 'ann.other@example.com', firstName: 'Annie' });
  await run(t, 'person merge', second.uuid, first.uuid);
  const here = await orderingJoin(first.client, 'LINCOLN2026', person);
  const { revision } = await openIntent(first.client, here);
  assert.equal((await beginPayment(first.client, here, revision)).status, 409);
  const { uuid } = await paid(person);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`person merge ${uuid} ${first.uuid}`));
});

test('who pays as they were called before a correction is told to staff as likely the same as a holder of their name', async (t) => {
  const { code } = await invited('ada.before@example.com', { firstname: 'Ada', lastname: 'Vale' });
  const typed = { personalEmail: 'ada.before@example.com', firstName: 'Ada', lastName: 'Vale' };
  const first = await paid(typed, code);
  assert.equal((await charge(first.client, first.uuid, first.intentId)).data.status, 'succeeded');
  await run(t, 'person correct', first.uuid, '--first-name', 'Ben');
  await run(t, 'refund', first.intentId);
  const other = await paid({ ...typed, firstName: 'Ben' });
  const { uuid } = await paid(typed, code);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`person merge ${uuid} ${other.uuid}`));
});

test('who becomes likely the same as another member by a merge, or by its undoing, is told to staff', async (t) => {
  const typed = { personalEmail: 'likeness@example.com', firstName: 'Cleo', lastName: 'Vale' };
  const ended = await paid(typed);
  await refund(ended.uuid);
  const other = await paid(typed);
  const { uuid } = await paid({ ...typed, firstName: 'Clio' });
  assert.deepEqual(await noticesOf(server, uuid), []);
  await run(t, 'person merge', uuid, ended.uuid);
  assert.match((await noticesOf(server, uuid)).join(), new RegExp(`person merge ${uuid} ${other.uuid}`));
  const meanwhile = await paid({ ...typed, firstName: 'Clio' });
  assert.deepEqual(await noticesOf(server, meanwhile.uuid), []);
  await run(t, 'person unmerge', uuid);
  const told = (await noticesOf(server, uuid)).join();
  assert.match(told, new RegExp(`person merge ${uuid} ${meanwhile.uuid}`));
});

test('who are kept apart stay so when one of them is merged with their contact, and that in HubSpot with another', async (t) => {
  const { id } = await invited('sam.school@example.com', { firstname: 'Sam', lastname: 'Okafor' });
  const person = { personalEmail: 'okafor@example.com', firstName: 'Sam', lastName: 'Okafor' };
  const [father, son] = [await paid(person), await paid(person)];
  const likely = async () =>
    (await reconcile(deps)).differences.flatMap(({ kind, subject }) =>
      [father.uuid, son.uuid].includes(subject) ? [kind] : [],
    );
  assert.deepEqual(await likely(), ['likely_same']);
  await run(t, 'person keep-apart', father.uuid, son.uuid);
  assert.deepEqual(await likely(), []);
  await run(t, 'person merge', son.uuid, id);
  assert.deepEqual(await likely(), []);
  const college = await invited('sam.college@example.com', { firstname: 'Sam', lastname: 'Okafor' });
  await mergeAtHubspot(college.id, id);
  await sync();
  assert.notEqual(await contactOf(son.uuid), id);
  assert.deepEqual(await likely(), []);
});

test('of two who are parted again and then kept apart, one that is refunded leaves the other a member', async (t) => {
  const person = { personalEmail: 'parted@example.com', firstName: 'Sam', lastName: 'Fields' };
  const [father, son] = [await paid(person), await paid(person)];
  await deliver(server);
  await run(t, 'person merge', father.uuid, son.uuid);
  await deliver(server);
  await run(t, 'person unmerge', father.uuid);
  await run(t, 'person keep-apart', father.uuid, son.uuid);
  await deliver(server);
  await refund(father.uuid);
  assert.equal(await statusOf(son.uuid), 'member');
});

test('merges that follow on one another are undone one by one, and all three are what they were', async (t) => {
  const joins: string[] = [];
  for (const name of ['first', 'second', 'third'])
    joins.push((await paid({ personalEmail: `${name}.of.three@example.com`, lastName: name })).uuid);
  const [first, second, third] = joins as [string, string, string];
  const persons = () => Promise.all(joins.map(personOf));
  const before = await persons();
  await run(t, 'person merge', first, second);
  await run(t, 'person merge', second, third);
  assert.equal(new Set((await persons()).map(({ id }) => id)).size, 1);
  await run(t, 'person unmerge', first);
  await run(t, 'person unmerge', first);
  assert.deepEqual(await persons(), before);
  await deliver(server);
  for (const uuid of joins) assert.equal(await statusOf(uuid), 'member');
});

test('of two who are parted after the join of one was refunded, that one is former and the other a member', async (t) => {
  const one = await paid({ personalEmail: 'refunded.one@example.com', lastName: 'One' });
  const other = await paid({ personalEmail: 'refunded.other@example.com', lastName: 'Other' });
  await deliver(server);
  await run(t, 'person merge', one.uuid, other.uuid);
  await refund(one.uuid);
  assert.equal(await statusOf(one.uuid), 'member');
  await run(t, 'person unmerge', one.uuid);
  await deliver(server);
  assert.deepEqual([await statusOf(one.uuid), await statusOf(other.uuid)], ['former', 'member']);
});

test('whose wrong merge is undone after a refund and a new join by their own code keeps what that join bought', async (t) => {
  const { id, code } = await invited('anew@example.com', { firstname: 'Anew', lastname: 'Twelve' });
  const wrong = await paid({ personalEmail: 'wrong@example.com', firstName: 'Wrong', lastName: 'Person' });
  await deliver(server);
  await run(t, 'person merge', wrong.uuid, id);
  await deliver(server);
  await refund(wrong.uuid);
  const person = { personalEmail: 'anew@example.com', firstName: 'Anew', lastName: 'Twelve' };
  const { uuid } = await paid(person, code);
  await deliver(server);
  await run(t, 'person unmerge', wrong.uuid);
  await deliver(server);
  assert.deepEqual(await knownAs(uuid), ['Anew', 'anew@example.com']);
  const { contact_id, words } = await personOf(uuid);
  assert.deepEqual([contact_id, words.includes('wrong')], [id, false], words);
  const there = await atHubspot(server, id, 'membership_status', 'firstname', 'amount_paid');
  assert.deepEqual(
    [there.membership_status, there.firstname, there.amount_paid],
    ['member', 'Anew', '65.00'],
  );
});

test('of a paid join and an unpaid one that staff make one person’s, the paid one says who that is', async (t) => {
  const { id, code } = await invited('nan.contact@example.com', { firstname: 'Nan' });
  await orderingJoin(server.client(), code, { personalEmail: 'nan.typo@example.com', firstName: 'Nnan' });
  const { uuid } = await paid({ personalEmail: 'nan.paid@example.com', firstName: 'Nan' });
  await mail();
  await run(t, 'person merge', uuid, id);
  assert.deepEqual(await knownAs(uuid), ['Nan', 'nan.paid@example.com']);
});

test('so does a corrected one, when HubSpot merges their contacts', async (t) => {
  const { id, code } = await invited('nora.contact@example.com', { firstname: 'Nora' });
  await orderingJoin(server.client(), code, { personalEmail: 'nora.typo@example.com', firstName: 'Nnora' });
  const { uuid } = await paid({ personalEmail: 'nora.paid@example.com', firstName: 'Nora' });
  await deliver(server);
  const made = await contactOf(uuid);
  await run(t, 'person correct', uuid, '--email', 'nora.corrected@example.com');
  await deliver(server);
  await mergeAtHubspot(id, made);
  await sync();
  await deps.contacts.refresh(id);
  assert.deepEqual(await knownAs(uuid), ['Nora', 'nora.corrected@example.com']);
});

test('a corrected email holds when HubSpot merges the contact that remains into the one that staff merged away', async (t) => {
  const { id } = await invited('eve.into@example.com', { firstname: 'Eve', lastname: 'Five' });
  const person = { personalEmail: 'eve.typo@example.com', firstName: 'Eve', lastName: 'Five' };
  const { uuid } = await paid(person);
  await deliver(server);
  const own = await contactOf(uuid);
  await run(t, 'person merge', uuid, id);
  await run(t, 'person correct', uuid, '--email', 'eve.right@example.com');
  await deliver(server);
  const remains = await mergeAtHubspot(own, id);
  await sync();
  for (const contact of [own, id]) await deps.contacts.refresh(contact);
  await deliver(server);
  const { contact_id, details, likeness } = await personOf(uuid);
  assert.deepEqual(
    [contact_id, details?.personalEmail, likeness],
    [remains, 'eve.right@example.com', 'eve.right@example.com eve five'],
  );
  assert.equal(await statusAt(remains), 'member');
});

test('a merge is not undone once HubSpot has merged the two contacts as well, and both joins are a member’s', async (t) => {
  const one = await paid({ personalEmail: 'both.one@example.com', lastName: 'One' });
  const other = await paid({ personalEmail: 'both.other@example.com', lastName: 'Other' });
  await deliver(server);
  const [first, second] = [await contactOf(one.uuid), await contactOf(other.uuid)];
  await run(t, 'person merge', one.uuid, other.uuid);
  await deliver(server);
  await mergeAtHubspot(second, first);
  await sync();
  await deliver(server);
  const { code, out } = await runCommand(t, server, 'person unmerge', [one.uuid]);
  assert.deepEqual([code, /no merge of this person/.test(out)], [1, true], out);
  await deliver(server);
  assert.equal((await personOf(one.uuid)).id, (await personOf(other.uuid)).id);
  assert.equal(await statusOf(one.uuid), 'member');
});

test('nor once HubSpot has merged a third contact into the one that remained', async (t) => {
  const { id } = await invited('third.into@example.com', { firstname: 'Into', lastname: 'Nine' });
  const wrong = await paid({ personalEmail: 'third.wrong@example.com', firstName: 'Wrong' });
  const third = await paid({ personalEmail: 'third@example.com', firstName: 'Into', lastName: 'Nine' });
  await deliver(server);
  await run(t, 'person merge', wrong.uuid, id);
  await deliver(server);
  await mergeAtHubspot(id, await contactOf(third.uuid));
  await sync();
  await deliver(server);
  const { code, out } = await runCommand(t, server, 'person unmerge', [wrong.uuid]);
  assert.deepEqual([code, /no merge of this person/.test(out)], [1, true], out);
  assert.equal((await personOf(wrong.uuid)).id, (await personOf(third.uuid)).id);
  assert.equal(await statusOf(third.uuid), 'member');
});

test('of two contacts that joins made and HubSpot merged, one that is refunded leaves a member, and both a former one', async () => {
  const one = await paid({ personalEmail: 'made.one@example.com' });
  const other = await paid({ personalEmail: 'made.other@example.com' });
  await deliver(server);
  await mergeAtHubspot(await contactOf(one.uuid), await contactOf(other.uuid));
  await sync();
  await deliver(server);
  await refund(one.uuid);
  assert.equal(await statusOf(other.uuid), 'member');
  await refund(other.uuid);
  assert.equal(await statusOf(other.uuid), 'former');
});

test('whose one join is refunded after staff merged two holders stays a member by the other', async (t) => {
  const one = await paid({ personalEmail: 'holder.one@example.com', lastName: 'One' });
  const other = await paid({ personalEmail: 'holder.other@example.com', lastName: 'Other' });
  await deliver(server);
  await run(t, 'person merge', one.uuid, other.uuid);
  await deliver(server);
  await sync();
  await deliver(server);
  await refund(other.uuid);
  assert.equal(await statusOf(one.uuid), 'member');
});

test('whose membership ended is a member in HubSpot as long as somebody likely the same holds one', async (t) => {
  const { id, code } = await invited('kim.contact@example.com', { firstname: 'Kim', lastname: 'Six' });
  const kim = { personalEmail: 'kim@example.com', firstName: 'Kim', lastName: 'Six' };
  const ended = await paid(kim, code);
  const holder = await paid(kim);
  const other = await paid({ ...kim, personalEmail: 'kimberly@example.com', firstName: 'Kimberly' });
  await deliver(server);
  await refund(ended.uuid);
  assert.equal(await statusAt(id), 'member');
  await run(t, 'person correct', holder.uuid, '--zip', '78777');
  await deliver(server);
  assert.equal(await statusAt(id), 'member');
  await run(t, 'person merge', other.uuid, holder.uuid);
  await deliver(server);
  assert.deepEqual([await statusAt(id), await statusOf(holder.uuid)], ['former', 'member']);
});

test('who is joined with somebody while HubSpot creates their contact leaves it saying nothing', async () => {
  const email = 'meanwhile@example.com';
  const into = await invited('meanwhile.into@example.com', { firstname: 'Jo', lastname: 'Rivera' });
  const { uuid } = await paid({ personalEmail: email });
  const createContacts: typeof server.hubspot.createContacts = async (writes) => {
    const outcomes = await server.hubspot.createContacts(writes);
    await mergeNow(server, uuid, into.id);
    return outcomes;
  };
  await pushDue({ ...deps, database: server.background, hubspot: { ...server.hubspot, createContacts } });
  await deliver(server);
  const made = (await server.hubspot.findByEmail(email))!;
  const left = await atHubspot(server, made.id, 'membership_status', 'amount_paid');
  assert.deepEqual([left.membership_status || null, left.amount_paid || null], [null, null]);
  assert.equal(await statusAt(into.id), 'member');
});

const paidJoinOf = async (person: Partial<StudentDetails>) => (await paid(person)).uuid;

/** Returns the differences that a reconciliation finds for these joins, each with its kind and join. */
async function differences(...joins: string[]): Promise<string[]> {
  const { differences } = await reconcile(deps);
  return differences.flatMap(({ kind, subject }) => (joins.includes(subject) ? [`${kind} ${subject}`] : []));
}

/** The person of each join and of its membership. */
async function personsOf(...joins: string[]): Promise<{ join: number; membership: number | null }[]> {
  const { rows } = await sql<{ uuid: string; join: number; membership: number | null }>`
    select uuid, join_session.person_id as join, membership.person_id as membership
    from join_session left join membership on session_uuid = uuid and type = 'membership'
    where uuid = any(${joins}::uuid[])`.execute(database);
  return joins.map((uuid) => {
    const { join, membership } = rows.find((row) => row.uuid === uuid)!;
    return { join, membership };
  });
}

test('who paid twice under two spellings is named to staff and by reconciliation, until the two are one and one went back', async (t) => {
  const person = { personalEmail: 'sean@example.com', lastName: "O'Brien" };
  const first = await paidJoinOf(person);
  const second = await paidJoinOf({ ...person, lastName: 'O’Brien' });
  const merge = new RegExp(`person merge ${second} ${first}`);
  assert.match((await noticesOf(server, second)).join(), merge);
  assert.deepEqual(await differences(first, second), [`likely_same ${second}`]);
  const shown = await runCommand(t, server, 'person merge', [second, first, '--dry-run']);
  assert.equal(shown.code, 0);
  assert.match(shown.out, new RegExp(`Both hold one, .* refund ${second}`));
  const unasked = await runTyped(t, server, 'person merge', [second, first]);
  assert.deepEqual([unasked.code, /Nothing was joined/.test(unasked.out)], [1, true], unasked.out);
  const [left, right] = await personsOf(first, second);
  assert.notDeepEqual(left, right);
  const merged = await runCommand(t, server, 'person merge', [second, first]);
  assert.equal(merged.code, 0, merged.out);
  const [one, other] = await personsOf(first, second);
  assert.deepEqual(other, one);
  assert.deepEqual(await differences(first, second), [`held_twice ${second}`]);
  await refundJoin(deps, second, everything);
  assert.deepEqual(await differences(first, second), []);
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(person.personalEmail))!;
  assert.equal(await statusAt(id), 'member');
});

test('a father and a son are kept apart, and reconciliation names them no more', async (t) => {
  const person = { personalEmail: 'family@example.com', firstName: 'Sam', lastName: 'Okafor' };
  const [father, son] = [await paidJoinOf(person), await paidJoinOf(person)];
  assert.deepEqual(await differences(father, son), [`likely_same ${son}`]);
  for (const names of [
    [son, father],
    [father, son],
  ])
    assert.equal((await runCommand(t, server, 'person keep-apart', names)).code, 0);
  assert.deepEqual(await differences(father, son), []);
  const self = await runCommand(t, server, 'person keep-apart', [son, son]);
  assert.deepEqual([self.code, self.out], [1, 'They are one person already.\n']);
});

test('a merge is undone within a day: joins, memberships, codes and what HubSpot has of both are as they were', async (t) => {
  const id = await newContact(server, 'theirs@example.com', {
    firstname: 'Ada',
    city: 'Dallas',
    invitation_code: 'UNDONEMERGE',
  });
  await deps.contacts.refresh(id);
  const invited = await startJoin(server.client(), 'UNDONEMERGE');
  const uuid = await paidJoinOf({ personalEmail: 'mine@example.com', city: 'Austin' });
  await deliver(server);
  const { id: own } = (await server.hubspot.findByEmail('mine@example.com'))!;
  const before = await personsOf(uuid, invited);
  assert.equal((await runCommand(t, server, 'person merge', [uuid, id])).code, 0);
  await deliver(server);
  const merged = await atHubspot(server, id, 'firstname', 'city', 'membership_status');
  assert.deepEqual([merged.firstname, merged.city, merged.membership_status], ['Jordan', 'Austin', 'member']);
  assert.equal((await statusAt(own)) || null, null);

  const undone = await runCommand(t, server, 'person unmerge', [uuid]);
  assert.equal(undone.code, 0, undone.out);
  await deliver(server);
  assert.deepEqual(await personsOf(uuid, invited), before);
  const theirs = await atHubspot(server, id, 'firstname', 'city', 'membership_status');
  assert.deepEqual(
    [theirs.firstname, theirs.city, theirs.membership_status || null],
    ['Ada', 'Dallas', null],
  );
  assert.equal(await statusAt(own), 'member');
  assert.deepEqual(await differences(uuid), []);
  const again = await runCommand(t, server, 'person unmerge', [uuid]);
  assert.deepEqual([again.code, /no merge of this person/.test(again.out)], [1, true], again.out);
});

test('a merge of the day before yesterday is not undone', async (t) => {
  const person = { personalEmail: 'long.ago@example.com' };
  const [first, second] = [await paidJoinOf(person), await paidJoinOf(person)];
  assert.equal((await runCommand(t, server, 'person merge', [first, second])).code, 0);
  await sql`update person_merge set created_at = now() - interval '25 hours'`.execute(database);
  const { code, out } = await runCommand(t, server, 'person unmerge', [first]);
  assert.deepEqual([code, /no merge of this person/.test(out)], [1, true], out);
});

test('two contacts that codes or links named are merged in HubSpot alone, and nobody is joined without a payment', async (t) => {
  const both = await runCommand(t, server, 'person merge', ['101', '102']);
  assert.deepEqual([both.code, /101 and 102: merge them there/.test(both.out)], [1, true], both.out);
  const open = await orderingJoin(server.client(), 'LINCOLN2026', { personalEmail: 'open@example.com' });
  const unpaid = await runCommand(t, server, 'person merge', [open, '103']);
  assert.deepEqual([unpaid.code, /Nothing was paid/.test(unpaid.out)], [1, true], unpaid.out);
  const one = await runCommand(t, server, 'person merge', [open, open]);
  assert.deepEqual([one.code, one.out], [0, 'They are one person already.\n']);
  assert.equal((await runCommand(t, server, 'person merge', [open])).code, 2);
});
