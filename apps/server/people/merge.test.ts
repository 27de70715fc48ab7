import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import type { StudentDetails } from '#core/studentDetails.ts';
import { atHubspot, deliver, newContact } from '../../../tests/harness/deliver.ts';
import { everything } from '../../../tests/harness/refunds.ts';
import { noticesOf } from '../../../tests/harness/rows.ts';
import { runCommand, runTyped } from '../../../tests/harness/runCommand.ts';
import { orderingJoin, payOrder, startJoin } from '../../../tests/harness/steps.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { reconcile } from '../books/reconcile.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';

const server = await sharedServer({}, { hubspotLimits: 'off' });
const { database } = server.deps;

async function paidSchoolJoin(person: Partial<StudentDetails>): Promise<string> {
  const client = server.client();
  const uuid = await orderingJoin(client, 'LINCOLN2026', person);
  await payOrder(server, client, uuid);
  return uuid;
}

const statusOf = async (id: string) => (await atHubspot(server, id, 'membership_status')).membership_status;

/** The differences of reconciliation about these joins: each kind with its join. */
async function differences(...joins: string[]): Promise<string[]> {
  const { differences } = await reconcile(server.deps);
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
  const first = await paidSchoolJoin(person);
  const second = await paidSchoolJoin({ ...person, lastName: 'O’Brien' });
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
  await refundJoin(server.deps, second, everything);
  assert.deepEqual(await differences(first, second), []);
  await deliver(server);
  const { id } = (await server.hubspot.findByEmail(person.personalEmail))!;
  assert.equal(await statusOf(id), 'member');
});

test('a father and a son are kept apart, and reconciliation names them no more', async (t) => {
  const person = { personalEmail: 'family@example.com', firstName: 'Sam', lastName: 'Okafor' };
  const [father, son] = [await paidSchoolJoin(person), await paidSchoolJoin(person)];
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
  await server.deps.contacts.refresh(id);
  const invited = await startJoin(server.client(), 'UNDONEMERGE');
  const uuid = await paidSchoolJoin({ personalEmail: 'mine@example.com', city: 'Austin' });
  await deliver(server);
  const { id: own } = (await server.hubspot.findByEmail('mine@example.com'))!;
  const before = await personsOf(uuid, invited);
  assert.equal((await runCommand(t, server, 'person merge', [uuid, id])).code, 0);
  await deliver(server);
  const merged = await atHubspot(server, id, 'firstname', 'city', 'membership_status');
  assert.deepEqual([merged.firstname, merged.city, merged.membership_status], ['Jordan', 'Austin', 'member']);
  assert.equal((await statusOf(own)) || null, null);

  const undone = await runCommand(t, server, 'person unmerge', [uuid]);
  assert.equal(undone.code, 0, undone.out);
  await deliver(server);
  assert.deepEqual(await personsOf(uuid, invited), before);
  const theirs = await atHubspot(server, id, 'firstname', 'city', 'membership_status');
  assert.deepEqual(
    [theirs.firstname, theirs.city, theirs.membership_status || null],
    ['Ada', 'Dallas', null],
  );
  assert.equal(await statusOf(own), 'member');
  assert.deepEqual(await differences(uuid), []);
  const again = await runCommand(t, server, 'person unmerge', [uuid]);
  assert.deepEqual([again.code, /no merge of this person/.test(again.out)], [1, true], again.out);
});

test('a merge of the day before yesterday is not undone', async (t) => {
  const person = { personalEmail: 'long.ago@example.com' };
  const [first, second] = [await paidSchoolJoin(person), await paidSchoolJoin(person)];
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
