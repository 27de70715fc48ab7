import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { atHubspot, deliver } from '../../../tests/harness/deliver.ts';
import { hubspotPeople } from '../../../tests/harness/hubspotPeople.ts';
import { identityOn } from '../../../tests/harness/identity.ts';
import { mergeNow } from '../../../tests/harness/mergeNow.ts';
import { everything, failRefund } from '../../../tests/harness/refunds.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { sharedServer } from '../../../tests/harness/testServer.ts';
import { refundJoin } from '../paying/refunds/refundJoin.ts';
import { correctPerson, NotCorrectable, previewCorrection } from '../people/correctPerson.ts';
import { keepApart, NotMergeable, unmergePersons } from '../people/mergePersons.ts';

/**
 * Tests that, whatever people, staff and HubSpot do, HubSpot shows the held memberships in the end. SEED and WALKS repeat or
 * lengthen a run, as in books/anySequence.test.ts.
 */
const server = await sharedServer({}, { hubspotLimits: 'off', searchLagMs: 0 });
const { deps } = server;
const { database } = deps;
const { beginByCode, invited, nominated, paid, personOf } = identityOn(server);
const { atCrm, merge, sync } = hubspotPeople(server);

const SEED = Number(process.env.SEED ?? (isLong ? Math.floor(Math.random() * 1_000_000) : 1));
const WALKS = Number(process.env.WALKS ?? (isLong ? 200 : 3));
const names = ['Own', 'Ada', 'Ben'];

/** The joins of a walk, the emails, codes and contacts that it uses, and how to choose among them. */
interface World {
  mails: string[];
  codes: string[];
  contacts: string[];
  joins: { uuid: string; intentId: string; isRefunded: boolean }[];
  pick: <T>(all: readonly T[]) => T | undefined;
}

/** Returns the contacts of a walk that HubSpot has. */
async function alive({ mails, contacts, joins }: World): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select contact_id as id from person where contact_id is not null and deleted_at is null and merged_into is null
      and (lower(email) = any(${mails}) or contact_id = any(${contacts})
        or id in (select person_id from join_session where uuid = any(${joins.map(({ uuid }) => uuid)}::uuid[])))
    order by contact_id`.execute(database);
  return rows.map(({ id }) => id);
}

const steps: Record<string, (world: World) => Promise<unknown>> = {
  async joinByCode(world) {
    const index = world.codes.indexOf(world.pick(world.codes)!);
    const code = world.codes[index]!;
    const { data } = await server.client().call('checkEligibility', { body: { invitationCode: code } });
    if (!data?.contactId || (await beginByCode(data.contactId, code)) !== 200) return;
    const given = { personalEmail: world.pick(world.mails)!, firstName: names[index]! };
    world.joins.push({ ...(await paid(given, code)), isRefunded: false });
  },
  async joinBySchool({ joins, mails, pick }) {
    joins.push({
      ...(await paid({ personalEmail: pick(mails)!, firstName: pick(names)! })),
      isRefunded: false,
    });
  },
  abandon: ({ mails, pick }) => nominated({ personalEmail: pick(mails)!, firstName: pick(names)! }),
  async refund({ joins, pick }) {
    const join = pick(joins.filter(({ isRefunded }) => !isRefunded));
    if (!join) return;
    await refundJoin(deps, join.uuid, everything);
    join.isRefunded = true;
  },
  async failRefund({ joins, pick }) {
    const join = pick(joins.filter(({ isRefunded }) => isRefunded));
    if (!join) return;
    await failRefund(server, join.intentId);
    join.isRefunded = false;
  },
  async correct({ joins, mails, pick }) {
    const join = pick(joins);
    if (!join) return;
    const { id } = await personOf(join.uuid);
    const change = { personalEmail: pick(mails)!, firstName: pick(names)! };
    const seen = await previewCorrection(deps, id, change);
    await correctPerson(deps, id, change, { seen, resends: false });
  },
  async mergePersons({ joins, pick }) {
    const [one, other] = [pick(joins), pick(joins)];
    if (one && other && one !== other) await mergeNow(server, one.uuid, other.uuid);
  },
  async mergeWithContact(world) {
    const [join, contact] = [world.pick(world.joins), world.pick(await alive(world))];
    if (join && contact) await mergeNow(server, join.uuid, contact);
  },
  async unmerge({ joins, pick }) {
    const join = pick(joins);
    if (join) await unmergePersons(deps, (await personOf(join.uuid)).id);
  },
  async keepApart({ joins, pick }) {
    const [one, other] = [pick(joins), pick(joins)];
    if (one && other) await keepApart(deps, (await personOf(one.uuid)).id, (await personOf(other.uuid)).id);
  },
  async mergeAtHubspot(world) {
    const [one, other] = [world.pick(await alive(world)), world.pick(await alive(world))];
    if (one && other && one !== other) await merge(one, other);
  },
  async deleteAtHubspot(world) {
    const contact = world.pick(await alive(world));
    if (contact) await atCrm('DELETE', `/${contact}`);
  },
  sync: () => sync(),
  deliver: () => deliver(server),
  deliverAgain: () => deliver(server),
  deliverOnceMore: () => deliver(server),
};
const stepNames = Object.keys(steps);

/** Whether a step was refused, as staff may be: the person was merged meanwhile, for example. */
const isRefusal = (error: unknown) =>
  error instanceof NotMergeable ||
  error instanceof NotCorrectable ||
  /^(HubSpot|Merge|POST|DELETE) /.test(String((error as Error).message));

let walks = 0;
async function play(taken: readonly { does: string; choices: number[] }[], statuses: readonly string[]) {
  const walk = ++walks;
  const mails = [0, 1, 2].map((index) => `telling.${walk}.${index}@example.com`);
  const world: World = { mails, codes: [], contacts: [], joins: [], pick: () => undefined };
  for (const [index, status] of statuses.entries()) {
    const properties = { firstname: names[index]!, lastname: 'Rivera', membership_status: status };
    const { id, code } = await invited(mails[index]!, properties);
    world.contacts.push(id);
    world.codes.push(code);
  }
  for (const { does, choices } of taken) {
    let next = 0;
    world.pick = (all) => all[choices[next++ % choices.length]! % all.length];
    try {
      await steps[does]!(world);
    } catch (error) {
      if (!isRefusal(error)) throw error;
    }
  }
  for (const _ of [1, 2]) {
    await deliver(server);
    await sync();
  }
  await deliver(server);
  assert.deepEqual(await wrongAt(world), []);
}

/**
 * Returns a line for each holder whose contact does not show the membership, and for each contact that shows something that
 * nobody holds or has paid.
 */
async function wrongAt(world: World): Promise<string[]> {
  const { rows } = await sql<{
    contact: string | null;
    isOwn: boolean;
    holds: boolean;
    isAlike: boolean;
    cents: number | null;
  }>`
    select coalesce(case when deleted_at is null then contact_id end, found_contact_id) as contact, deleted_at is null and contact_id is not null as "isOwn",
      exists (select from membership where person_id = person.id and is_held) as holds,
      exists (select from person other join membership on person_id = other.id and is_held where other.likeness = person.likeness) as "isAlike",
      (select sum(amount_cents - refunded_cents)::int from join_session join payment on session_uuid = uuid
        where person_id = person.id and paid_at is not null and payment.status = 'succeeded') as cents
    from person where merged_into is null and (contact_id = any(${world.contacts}) or lower(email) = any(${world.mails})
      or lower(details ->> 'personalEmail') = any(${world.mails}))`.execute(database);
  const wrong: string[] = [];
  for (const { contact, isOwn, holds, cents } of rows.filter(({ holds }) => holds)) {
    const held = contact && (await atHubspot(server, contact, 'membership_status', 'amount_paid'));
    if (!held) wrong.push('a holder without a contact');
    else if (held.membership_status !== 'member')
      wrong.push(`a holder whose contact ${contact} says ${held.membership_status}`);
    else if (isOwn && holds && Number(held.amount_paid) * 100 !== cents)
      wrong.push(`contact ${contact} says ${held.amount_paid}, and ${cents} cents were paid`);
  }
  for (const id of await alive(world)) {
    const held = await atHubspot(server, id, 'membership_status', 'amount_paid');
    const theirs = rows.filter(({ contact }) => contact === id);
    if (held.membership_status === 'member' && !theirs.some(({ holds, isAlike }) => holds || isAlike))
      wrong.push(`contact ${id} is a member by nobody`);
    if (Number(held.amount_paid || 0) > 0 && !theirs.some(({ cents }) => cents))
      wrong.push(`contact ${id} has ${held.amount_paid} of nobody`);
  }
  const { rows: due } = await sql`
    select from crm_delivery where due_at is not null and refusal is null`.execute(database);
  if (due.length > 0) wrong.push(`${due.length} are due for ever`);
  return wrong;
}

test('whatever people, staff and HubSpot do, HubSpot has what is held in the end', async () => {
  const step = fc.record({
    does: fc.constantFrom(...stepNames),
    choices: fc.array(fc.nat({ max: 59 }), { minLength: 6, maxLength: 6 }),
  });
  const status = fc.constantFrom('', '', 'prospect', 'former');
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.noShrink(step), { minLength: 1, maxLength: 24, size: 'max' }),
      fc.tuple(status, status),
      play,
    ),
    { seed: SEED, numRuns: WALKS, endOnFailure: !isLong },
  );
});
