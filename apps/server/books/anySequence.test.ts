import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { sql } from 'kysely';
import { type Holdings, isMember } from '#core/people.ts';
import { asTold } from '../../../tests/harness/refunds.ts';
import { isLong } from '../../../tests/harness/testLength.ts';
import { Choices, invitations, Walk } from '../../../tests/harness/walk.ts';
import { besides, type StepName, stepNames, steps } from '../../../tests/harness/walkSteps.ts';
import { deliveriesOf } from '../crm/deliveries.ts';
import { diffOf } from '../crm/diffJoin.ts';
import { alikeTo, isProven } from '../session/alike.ts';
import { holdings } from '../session/members.ts';
import { type LedgerRow, readLedger } from './readLedger.ts';
import { reconcile } from './reconcile.ts';

type Told = ReturnType<typeof asTold>;

const SEED = Number(process.env.SEED ?? (isLong ? Math.floor(Math.random() * 1_000_000) : 1));
const WALKS = Number(process.env.WALKS ?? (isLong ? 200 : 1));
/**
 * The environment variable WALK: fast-check's path to one random walk of the seed, as in `SEED=7 WALK=31 npm run test:long --
 * anySequence`. If it is set, only that walk runs. If the walk fails, fast-check searches for a shorter one.
 */
const { WALK } = process.env;
const MOST_MOMENTS = 36;
const DAY_MS = 86_400_000;
/** The most rounds of repair. A repair may reveal another difference, but after this many rounds none may be left. */
const MOST_REPAIRS = 12;
/** The kinds of difference that may be left at the end of a walk, because only staff can decide them. */
const forStaff =
  /^(refund_unassigned|upgrade_alone|paid_anew|held_twice|rejected_held|not_returned|likely_same)$/;

interface Taken {
  does: StepName;
  choices: number[];
}

/**
 * Generates one of the named steps with random choices. `noShrink`, because fast-check should shorten a failing walk by leaving
 * out steps, not by altering them.
 */
const step = (...names: readonly StepName[]) =>
  fc.noShrink(
    fc.record({
      does: fc.constantFrom(...names),
      choices: fc.array(fc.nat({ max: 59 }), { minLength: 12, maxLength: 12 }),
    }),
  );
/** Generates one moment of a walk: one step or, in a long run, sometimes two concurrent steps. */
const moment = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(step(...stepNames)) },
  { weight: isLong ? 1 : 0, arbitrary: fc.tuple(step(...stepNames), step(...besides)) },
);

test('after any sequence of joins, refunds, disputes, merges and faults, money, members, ledger and HubSpot agree', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.tuple(fc.constantFrom(...invitations), fc.constantFrom(...invitations)),
      fc.noBias(fc.array(moment, { minLength: 1, maxLength: MOST_MOMENTS, size: 'max' })),
      (known, moments) => play(t, known, moments),
    ),
    { seed: SEED, numRuns: WALK ? 1 : WALKS, ...(WALK ? { path: WALK } : { endOnFailure: true }) },
  );
});

async function play(
  t: TestContext,
  known: (typeof invitations)[number][],
  moments: readonly Taken[][],
): Promise<void> {
  const walk = await Walk.start(t, known);
  try {
    for (const moment of moments) await takeSteps(walk, moment);
    await walk.becomeQuiet();
    assert.deepEqual(await problemsOf(walk), [], 'when everything is quiet');
    assert.deepEqual(await repair(walk), [], 'what reconciling finds');
    assert.deepEqual(await problemsOf(walk), [], 'after the repairs');
  } catch (error) {
    throw new Error(`${(error as Error).stack}\n\n${walk.story.join('\n')}`);
  } finally {
    await walk.server.close();
  }
}

/**
 * Runs the steps of a moment concurrently. A step that calls the emulators directly may be refused, or may get a fault that was
 * meant for the server. That is no failure of the walk.
 */
async function takeSteps(walk: Walk, taken: readonly Taken[]): Promise<void> {
  walk.story.push(`  ${taken.map(({ does }) => does).join(', beside: ')}`);
  const ends = await Promise.allSettled(
    taken.map(({ does, choices }) => steps[does][1](walk, new Choices(choices))),
  );
  for (const end of ends) {
    if (end.status === 'fulfilled') continue;
    if (!/fetch failed|emulated failure|^POST (disputes|refunds)/.test(end.reason.message)) throw end.reason;
    walk.note(end.reason.message);
  }
}

/**
 * The invariants that are checked at the end of a walk, when no background work is left. Each check yields one sentence for each
 * violation.
 */
const checks = [
  membersAreMembersInHubspot,
  nobodyElseIsMemberInHubspot,
  payersOfTwoAreTold,
  provenAreAnsweredByProof,
  nothingIsLeftToTell,
  refundsAreOurs,
  ledgerHasWhatIsKept,
];

async function problemsOf(walk: Walk): Promise<string[]> {
  const problems: string[] = [];
  for (const check of checks) for await (const problem of check(walk)) problems.push(problem);
  return problems;
}

interface JoinAndContact {
  uuid: string;
  /** The contact that holds the join's membership. If none is held, the contact in HubSpot to which the join is written. */
  contact: string | null;
  isHeld: boolean;
  isPayerMember: boolean;
}

async function joinsOf({ database }: Walk): Promise<JoinAndContact[]> {
  const { rows } = await sql<JoinAndContact>`
    with held as (select session_uuid, person_id from membership where is_held and type = 'membership')
    select uuid, coalesce(contact_id, found_contact_id) as contact,
      held.session_uuid is not null as "isHeld",
      exists (select from held paid where paid.person_id in ${alikeTo(sql`session.person_id`)}) as "isPayerMember"
    from join_session session join person on person.id = session.person_id left join held on held.session_uuid = uuid`.execute(
    database,
  );
  return rows;
}

/**
 * Checks that a contact that holds a membership here is a member in HubSpot. If the contact is not, staff must have a notice that
 * says that the contact holds two memberships.
 */
async function* membersAreMembersInHubspot(walk: Walk): AsyncGenerator<string> {
  const contacts = await walk.contacts();
  for (const { uuid, contact, isHeld } of await joinsOf(walk)) {
    const status = contacts.find(({ id }) => id === contact)?.status;
    if (!isHeld || status === 'member') continue;
    const { rows } = await sql`
      select from staff_notice where session_uuid = ${uuid}
        and kind = 'held_twice'`.execute(walk.database);
    if (rows.length === 0) yield `join ${uuid} holds a membership, and contact ${contact} is ${status}`;
  }
}

async function* nobodyElseIsMemberInHubspot(walk: Walk): AsyncGenerator<string> {
  const members = (await joinsOf(walk)).filter(({ isHeld, isPayerMember }) => isHeld || isPayerMember);
  for (const { id, status } of await walk.contacts())
    if (status === 'member' && !members.some(({ contact }) => contact === id))
      yield `contact ${id} is a member in HubSpot, and holds nothing here`;
}

/** Checks that staff have a notice of every two memberships that one person, or two persons who are likely the same, hold. */
async function* payersOfTwoAreTold({ database }: Walk): AsyncGenerator<string> {
  const { rows } = await sql<{ joins: string }>`
    with held as (select session_uuid::text as uuid, membership.person_id
      from membership join join_session on uuid = session_uuid where is_held and type = 'membership')
    select concat(one.uuid, ' and ', other.uuid) as joins
    from held one join held other on one.uuid < other.uuid and other.person_id in ${alikeTo(sql`one.person_id`)}
    where not exists (select from staff_notice
      where kind in ('perhaps_twice', 'held_twice')
        and concat(session_uuid, params) ~ concat(one.uuid, '|', other.uuid))`.execute(database);
  for (const { joins } of rows) yield `joins ${joins} are one person's, and nobody is told`;
}

/**
 * Checks that no unproven join influences a proven one: whether a code or a link finds a membership depends on proven joins
 * alone, and the person's details were typed in a proven join or corrected. Leaves out persons whose unproven joins count,
 * because they were merged with others, or because a link sold an upgrade to the contact that such a join created.
 */
async function* provenAreAnsweredByProof({ database }: Walk): AsyncGenerator<string> {
  const { rows } = await sql<{
    id: number;
    holdings: Holdings;
    holdsProven: boolean;
    hasStrangeDetails: boolean;
  }>`
    with proven as (select * from join_session where ${isProven('join_session')})
    select person.id, ${holdings('person.id')} as holdings,
      exists (select from proven join membership on session_uuid = uuid
        where membership.person_id = person.id and type = 'membership' and is_held) as "holdsProven",
      person.details is not null and not exists (select from proven where proven.person_id = person.id and (proven.details is not null
        or exists (select from join_event where session_uuid = uuid and step = 'details_corrected'))) as "hasStrangeDetails"
    from person
    where (id in (select person_id from invitation) or id in (select person_id from proven)) and merged_into is null
      and not exists (select from person former where former.merged_into = person.id)
      and not (made_contact and exists (select from proven where proven.person_id = person.id and lines @> '[{"type": "membership_upgrade"}]'))`.execute(
    database,
  );
  for (const { id, holdings, holdsProven, hasStrangeDetails } of rows) {
    if (isMember(holdings, 'code') !== holdsProven)
      yield `a code of person ${id} is answered that they are ${holdsProven ? 'no' : 'a'} member: ${JSON.stringify(holdings)}`;
    if (hasStrangeDetails) yield `person ${id} has details that no proven join gave them`;
  }
}

/** Checks that HubSpot has accepted every join, and that sending a paid join again would change nothing. */
async function* nothingIsLeftToTell({ server, database }: Walk): AsyncGenerator<string> {
  const { rows } = await sql<{ uuid: string; isPaid: boolean; isTold: boolean }>`
    select uuid, state = 'paid' as "isPaid", not exists (
      select from crm_delivery where due_at is not null and crm_delivery.person_id in ${deliveriesOf(sql`(join_session.uuid)`)}) as "isTold"
    from join_session`.execute(database);
  for (const { uuid, isPaid, isTold } of rows) {
    if (!isTold) yield `HubSpot has not taken join ${uuid}`;
    const diff = isPaid && (await diffOf({ ...server.deps, database }, uuid));
    if (diff && diff.changes.length > 0)
      yield `of join ${uuid} HubSpot lacks ${JSON.stringify(diff.changes)}`;
  }
}

/**
 * Checks that the refunds at Stripe equal ours and do not exceed the received amount, and that every received payment is recorded
 * here.
 */
async function* refundsAreOurs(walk: Walk): AsyncGenerator<string> {
  for (const { id, status } of await walk.payments()) {
    const { received, refunded } = await atStripe(walk, id);
    const { rows } = await sql<{ cents: number }>`
      select coalesce(sum(amount_cents), 0)::int as cents from refund
      where intent_id = ${id} and status in ('pending', 'succeeded') and not is_dispute`.execute(
      walk.database,
    );
    const here = rows[0]!.cents;
    if (here !== refunded || refunded > received)
      yield `Stripe refunded ${refunded} of ${received} of ${id}, here it is ${here}`;
    if (received > 0 && status !== 'succeeded' && status !== 'duplicate')
      yield `${id} was received and is ${status}`;
  }
}

/**
 * Checks that the ledger's sum for each payment, without disputes and Stripe's fees, equals the received amount less refunds, and
 * that no product's sum is negative.
 */
async function* ledgerHasWhatIsKept(walk: Walk): AsyncGenerator<string> {
  const [from, until] = [-DAY_MS, DAY_MS].map((ms) => new Date(Date.now() + ms)) as [Date, Date];
  const { faults, rows } = await readLedger(walk.server.deps, { from, until });
  yield* faults;
  for (const { id } of await walk.payments()) {
    const { received, refunded } = await atStripe(walk, id);
    const own = rows.filter(({ intentId, kind }) => intentId === id && !/dispute|stripe fee/.test(kind));
    if (grossOf(own) !== received - refunded)
      yield `the ledger has ${grossOf(own)} of ${id}, and ${received - refunded} was kept`;
    for (const [what, lines] of Map.groupBy(own, ({ kind, product }) => `${kind} ${product}`))
      if (!what.startsWith('unassigned') && grossOf(lines) < 0)
        yield `the ledger has ${grossOf(lines)} of ${what} of ${id}`;
  }
}

const grossOf = (rows: readonly LedgerRow[]) => rows.reduce((sum, { grossCents }) => sum + grossCents, 0);

async function atStripe({ server }: Walk, id: string): Promise<{ received: number; refunded: number }> {
  const { amountReceivedCents: received, charge } = await server.deps.payments.retrieveIntent(id);
  return { received, refunded: received > 0 ? (charge?.refundedCents ?? 0) : 0 };
}

/** Runs the repair commands that reconcile prints, until no difference is left. Returns sentences on differences that remain. */
async function repair(walk: Walk): Promise<string[]> {
  for (let round = 0; round < MOST_REPAIRS; round++) {
    const [difference] = await differencesOf(walk);
    if (!difference) return [];
    if (!forStaff.test(difference.kind)) return [`not for staff: ${JSON.stringify(difference)}`];
    walk.note(`reconcile: ${JSON.stringify(difference)}`);
    await walk.staffRun(typedBy(difference));
    await walk.becomeQuiet();
    if ((await differencesOf(walk)).some((other) => isDeepStrictEqual(other, difference)))
      return [`its repair does not repair: ${JSON.stringify(difference)}`];
  }
  return [`something is left after ${MOST_REPAIRS} repairs`];
}

/**
 * Returns the differences, except orders that are frozen for long: in a walk, joiners may stay at the bank's page for any time.
 */
async function differencesOf({ server }: Walk): Promise<Told[]> {
  const { differences } = await reconcile(server.deps, { graceMinutes: 0 });
  return differences.filter(({ kind }) => kind !== 'paying_for_long').map(asTold);
}

/**
 * Returns the operator command that repairs a difference. Assigns an unassigned refund to no line, and keeps apart people who are
 * likely the same.
 */
function typedBy({ kind, repair }: Told): string {
  if (kind === 'likely_same') return /person keep-apart .*/.exec(repair)![0];
  return repair.replace('npm run operator -- ', '') + (kind === 'refund_unassigned' ? ' --none' : '');
}
