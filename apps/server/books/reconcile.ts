import { sql } from 'kysely';
import { FORMER } from '#core/crmFields.ts';
import { identityOfMetadata, linesOfMetadata } from '#core/intentText.ts';
import type { NoticeKind } from '#core/notice.ts';
import type { OrderLine } from '#core/orderLine.ts';
import type { MembershipType } from '#core/product.ts';
import { type Difference, differencesOf, type Sides } from '#core/reconciliation.ts';
import { giveBack } from '#core/remedy.ts';
import { type NamedOrder, namedOrder } from '../paying/namedOrder.ts';
import { upgradesAlone } from '../paying/refunds/membershipStanding.ts';
import { refundsOfPayment } from '../paying/refunds/paidOrders.ts';
import { repeat } from '../platform/background.ts';
import type { Database } from '../platform/database/client.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { postpone, takeTurn } from '../platform/database/schedule.ts';
import { NotAtStripe } from '../providers/stripe/failures.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { alikeTo, isProven } from '../session/alike.ts';
import { EVENTS_TASK } from './catchUp.ts';
import type { Deps } from './deps.ts';

/**
 * The result of a reconciliation. In `counts`, names that end in `Cents` are sums of money; the others are numbers of rows or
 * intents.
 */
export interface Reconciliation {
  counts: {
    intents: number;
    payments: number;
    paidJoins: number;
    heldMemberships: number;
    receivedCents: number;
    refundedCents: number;
  };
  differences: Difference[];
}

const PAGE = 100;
const NIGHT_HOUR = 8;
/** A run that was interrupted or failed is retried after this many seconds. */
const TURN_SECONDS = 3600;
const LOOK_MS = 600_000;

/**
 * Differences of payments and rejections younger than this many minutes do not count: within that time the background check
 * (sweep.ts) settles payments.
 */
const GRACE_MINUTES = 10;
/**
 * A reconciliation does not end a notice whose cause was met within this many hours: the cause may be too recent to count as a
 * difference, or may wait for a retry.
 */
const GRACE_HOURS = 6;

/**
 * Compares Stripe's intents with our payments, joins and memberships, since the money must match the members. Writes nothing. A
 * payment with a difference is read a second time, so that a change during the reconciliation is not reported as a difference.
 */
export async function reconcile(
  deps: Deps,
  { since = null, graceMinutes = GRACE_MINUTES }: { since?: Date | null; graceMinutes?: number } = {},
): Promise<Reconciliation> {
  const counts = {
    intents: 0,
    payments: 0,
    paidJoins: 0,
    heldMemberships: 0,
    receivedCents: 0,
    refundedCents: 0,
  };
  const differences: Difference[] = [];
  const seen = new Set<string>();

  const compare = async (entries: readonly Entry[]) => {
    for (const sides of await sidesOf(deps, entries)) {
      counts.receivedCents += sides.stripe?.amountReceivedCents ?? 0;
      counts.refundedCents += sides.stripe?.refundedCents ?? 0;
      if (differencesOf(sides, graceMinutes).length === 0) continue;
      const [again] = await sidesOf(deps, [await entryOf(deps, sides.intentId)]);
      differences.push(...differencesOf(again!, graceMinutes));
    }
  };

  let page: Entry[] = [];
  for await (const intent of deps.payments.listIntents(since)) {
    const named = namedOrder(deps, intent);
    if (!named) continue;
    counts.intents++;
    seen.add(intent.id);
    page.push({ intentId: intent.id, named, intent });
    if (page.length < PAGE) continue;
    await compare(page);
    page = [];
  }
  await compare(page);

  for await (const ids of paymentIds(deps, since)) {
    counts.payments += ids.length;
    const unseen = ids.filter((id) => !seen.has(id));
    await compare(await Promise.all(unseen.map((id) => entryOf(deps, id))));
  }
  const joins = await joinsApart(deps, graceMinutes);
  counts.paidJoins = joins.paid;
  counts.heldMemberships = joins.held;
  return { counts, differences: [...differences, ...joins.differences] };
}

/** Checks every ten minutes whether the nightly run is due. */
export function startReconciling(deps: Deps): () => Promise<void> {
  return repeat('reconcile', LOOK_MS, deps.log, () => reconcileNightly(deps));
}

/** Runs the reconciliation once a day, in only one process, and stores the result. */
export async function reconcileNightly(deps: Deps): Promise<void> {
  if (!(await takeTurn(deps.database, 'reconcile', TURN_SECONDS))) return;
  const startedAt = deps.now();
  const { differences } = await keepReconciliation(deps, await reconcile(deps), startedAt);
  await postpone(deps.database, 'reconcile', secondsToNight(deps.now()));
  if (differences.length > 0) deps.log.error({ differences: differences.length }, 'money and members differ');
}

/** For some kinds of notice, the kind of difference that a reconciliation finds while the notice's cause lasts. */
const shownAs = {
  held_twice: 'held_twice',
  perhaps_twice: 'likely_same',
  upgrade_alone: 'upgrade_alone',
  back_again: 'paid_anew',
} as const satisfies Partial<Record<NoticeKind, Difference['kind']>>;

/**
 * Ends the notices whose cause a reconciliation over all payments no longer finds. Also ends notices of failures in the
 * background, because whatever these left undone is among the differences.
 */
async function endMended(
  { database }: Deps,
  differences: readonly Difference[],
  startedAt: Date,
): Promise<void> {
  const found = differences.map(({ kind, subject, params }) => ({
    kind,
    joins: [subject, ...('other' in params ? [params.other] : [])],
  }));
  await sql`
    with shown as (select * from json_each_text(${JSON.stringify(shownAs)}::json) as shown (notice, difference)),
      found as (select * from json_to_recordset(${JSON.stringify(found)}::json) as found (kind text, joins jsonb))
    update staff_notice notice set ended_at = now()
    where ended_at is null and last_seen_at < ${startedAt}::timestamptz - make_interval(hours => ${GRACE_HOURS}::int)
      and (kind in ('background', 'event_given_up') or exists (select from shown where shown.notice = notice.kind
        and not exists (select from found where found.kind = difference and (joins ? session_uuid::text
          or joins ? (params ->> 'intentId') or joins ?| array(select jsonb_array_elements_text(coalesce(params -> 'others', '[]')))))))`.execute(
    database,
  );
}

export async function keepReconciliation(
  deps: Deps,
  result: Reconciliation,
  startedAt: Date,
): Promise<Reconciliation> {
  await deps.database
    .insertInto('reconciliation')
    .values({
      started_at: startedAt,
      counts: JSON.stringify(result.counts),
      differences: JSON.stringify(result.differences),
    })
    .execute();
  await endMended(deps, result.differences, startedAt);
  return result;
}

/**
 * Reconciles the payments of the last `days`, or all (null). Only a run over all is stored, since the alert and {@link
 * lastReconciliations} use the last run that was stored.
 */
export async function reconcileNow(deps: Deps, days: number | null): Promise<Reconciliation> {
  const startedAt = deps.now();
  const since = days === null ? null : new Date(startedAt.getTime() - days * 86_400_000);
  const result = await reconcile(deps, { since });
  return since === null ? keepReconciliation(deps, result, startedAt) : result;
}

/**
 * Reconciles a restored database, before servers start. No payment is in progress then, so that even a payment of a minute ago
 * counts as a difference. Also makes the task that fetches Stripe's events due, although a server that no longer runs may have
 * claimed it: the first server to start then fetches the events since the backup.
 */
export async function reconcileRestored(deps: Deps): Promise<Reconciliation> {
  await postpone(deps.database, EVENTS_TASK, 0);
  const startedAt = deps.now();
  return keepReconciliation(deps, await reconcile(deps, { graceMinutes: 0 }), startedAt);
}

/** Returns the last `most` runs over all payments, the newest first. */
export function lastReconciliations(database: Database, most: number) {
  return database
    .selectFrom('reconciliation')
    .select(['finished_at', 'counts', 'differences'])
    .orderBy('id', 'desc')
    .limit(most)
    .execute();
}

/** Returns the seconds until the next {@link NIGHT_HOUR} o'clock UTC, which is night in America. */
function secondsToNight(now: Date): number {
  const next = new Date(now);
  next.setUTCHours(NIGHT_HOUR, 0, 0, 0);
  if (next <= now) next.setUTCDate(next.getUTCDate() + 1);
  return (next.getTime() - now.getTime()) / 1000;
}

interface Entry {
  intentId: string;
  /** The order according to the intent's metadata or, if Stripe does not know the intent, according to our payment row. */
  named: NamedOrder;
  intent: Intent | null;
}

/** Reads an intent from Stripe, or from our payment row if Stripe does not know it. */
async function entryOf(deps: Deps, intentId: string): Promise<Entry> {
  try {
    const intent = await deps.payments.retrieveIntent(intentId);
    const named = namedOrder(deps, intent);
    if (named) return { intentId, named, intent };
  } catch (error) {
    if (!(error instanceof NotAtStripe)) throw error;
  }
  const row = await deps.database
    .selectFrom('payment')
    .select(['session_uuid', 'kind', 'revision'])
    .where('intent_id', '=', intentId)
    .executeTakeFirstOrThrow();
  return {
    intentId,
    named: { uuid: row.session_uuid, kind: row.kind, revision: row.revision },
    intent: null,
  };
}

async function sidesOf(deps: Deps, entries: readonly Entry[]): Promise<Sides[]> {
  if (entries.length === 0) return [];
  const asked = entries.map(({ intentId, named }) => ({
    intent_id: intentId,
    session_uuid: isUuid(named.uuid) ? named.uuid : null,
    kind: named.kind,
    revision: Number.isSafeInteger(named.revision) ? named.revision : -1,
  }));
  const { rows } = await sql<{
    intent_id: string;
    payment: Sides['payment'];
    session: Sides['session'];
    snapshot: { amountCents: number; lines: OrderLine[] } | null;
    memberships: Sides['memberships'] | null;
  }>`
    select asked.intent_id,
      case when payment.intent_id is not null then json_build_object(
        'status', payment.status, 'amountCents', payment.amount_cents, 'refundedCents', payment.refunded_cents, 'dispute', payment.dispute,
        'refunds', ${refundsOfPayment}) end as payment,
      case when session.uuid is not null then json_build_object(
        'uuid', session.uuid, 'state', session.state, 'upgrade', session.upgrade) end as session,
      case when snapshot.session_uuid is not null then json_build_object(
        'amountCents', snapshot.amount_cents, 'lines', snapshot.items) end as snapshot,
      (select json_agg(json_build_object('productId', product_id, 'standing', standing, 'isHeld', is_held, 'isReplaced', exists (
          select from membership other where other.person_id = membership.person_id and other.type = membership.type
            and other.is_held and other.id <> membership.id)))
        from membership where membership.payment_intent = asked.intent_id) as memberships
    from json_to_recordset(${JSON.stringify(asked)}::json) as asked (intent_id text, session_uuid uuid, kind text, revision integer)
    left join payment on payment.intent_id = asked.intent_id
    left join join_session session on session.uuid = asked.session_uuid
    left join order_snapshot snapshot on snapshot.session_uuid = asked.session_uuid
      and snapshot.kind = asked.kind and snapshot.revision = asked.revision`.execute(deps.database);
  const byId = new Map(rows.map((row) => [row.intent_id, row]));
  return Promise.all(
    entries.map(async ({ intentId, named, intent }) => {
      const { payment, session, snapshot, memberships } = byId.get(intentId)!;
      return {
        intentId,
        kind: named.kind,
        stripe: intent && (await stripeSide(deps, intent, session !== null)),
        payment,
        session,
        snapshot,
        memberships: memberships ?? [],
      };
    }),
  );
}

async function stripeSide(
  deps: Deps,
  intent: Intent,
  hasSession: boolean,
): Promise<NonNullable<Sides['stripe']>> {
  const { charge } = intent;
  // A charge says whether it was disputed, but not how the dispute ended, so the disputes are read as well.
  const disputed = charge?.isDisputed ? await deps.payments.moneyBack(intent.id) : null;
  const at = charge && !charge.isDeclined ? charge.createdAt : intent.createdAt;
  return {
    status: intent.status,
    amountReceivedCents: intent.amountReceivedCents,
    refundedCents: charge?.refundedCents ?? 0,
    dispute: disputed?.dispute ?? null,
    lostCents: (disputed?.lost ?? []).reduce((sum, { amountCents }) => sum + amountCents, 0),
    ageMinutes: (deps.now().getTime() - at.getTime()) / 60_000,
    tellsOrder:
      linesOfMetadata(intent.metadata) !== null &&
      (hasSession || identityOfMetadata(intent.metadata) !== null || intent.metadata.kind === 'upgrade'),
  };
}

async function* paymentIds(deps: Deps, since: Date | null): AsyncGenerator<string[]> {
  let last = '';
  for (;;) {
    const rows = await deps.database
      .selectFrom('payment')
      .select('intent_id')
      .where('intent_id', '>', last)
      .$if(since !== null, (query) => query.where('created_at', '>=', since!))
      .orderBy('intent_id')
      .limit(PAGE)
      .execute();
    if (rows.length === 0) return;
    yield rows.map(({ intent_id }) => intent_id);
    last = rows.at(-1)!.intent_id;
  }
}

/**
 * Returns the differences that cannot be found by looking at single payments:
 * - joins that no payment has paid, and joins or upgrades that more than one has paid;
 * - upgrades taken without a payment;
 * - orders frozen for too long;
 * - joins whose document was rejected finally while the membership is active;
 * - persons with two memberships of one type, and two persons who are likely the same and have one each;
 * - upgrades whose base membership has ended;
 * - members whose status in HubSpot is `former`;
 * - unproven joins that share a person with a proven join although nobody merged them, so that one join could influence the
 *   other.
 */
async function joinsApart(
  deps: Deps,
  graceMinutes: number,
): Promise<{ paid: number; held: number; differences: Difference[] }> {
  const { rows } = await sql<{
    kind: 'paid_by_nothing' | 'upgraded_by_nothing' | 'paying_for_long' | 'paid_twice';
    uuid: string;
    intent_id: string | null;
  }>`
    select 'paid_by_nothing' as kind, uuid::text, null as intent_id from join_session
    where state = 'paid' and not exists (select from payment where session_uuid = uuid and kind = 'join' and status = 'succeeded')
    union all
    select 'upgraded_by_nothing', uuid::text, null from join_session
    where upgrade = 'taken' and not exists (select from payment where session_uuid = uuid and kind = 'upgrade' and status = 'succeeded')
    union all
    select 'paying_for_long', uuid::text, null from join_session
    where state = 'paying' and paying_since < now() - make_interval(mins => ${graceMinutes * 6}::int)
    union all
    select 'paid_twice', session_uuid::text, (array_agg(intent_id order by succeeded_at desc))[1] from payment
    where status = 'succeeded' group by session_uuid, kind having count(*) > 1`.execute(deps.database);
  const totals = await sql<{ paid: number; held: number }>`
    select (select count(*)::int from join_session where state = 'paid') as paid,
      (select count(*)::int from membership where is_held) as held`.execute(deps.database);
  const alone = await upgradesAlone(deps.database);
  const rejected = await rejectedAndHeld(deps, graceMinutes);
  const twice = await heldTwice(deps);
  const alike = await likelySame(deps);
  const former = await formerAndHeld(deps);
  const beside = await unprovenBeside(deps);
  return {
    ...totals.rows[0]!,
    differences: [
      ...rows.map(({ kind, uuid, intent_id }) => ({
        kind,
        subject: uuid,
        params: {},
        remedy: intent_id
          ? { do: 'refund payment' as const, intentId: intent_id }
          : { do: 'settle' as const, subject: uuid },
      })),
      ...alone.map((uuid) => ({
        kind: 'upgrade_alone' as const,
        subject: uuid,
        params: {},
        remedy: giveBack(uuid, ['membership_upgrade']),
      })),
      ...twice.map(({ uuid, types }) => ({
        kind: 'held_twice' as const,
        subject: uuid,
        params: {},
        remedy: giveBack(uuid, types),
      })),
      ...alike.map(({ uuid, other }) => ({
        kind: 'likely_same' as const,
        subject: uuid,
        params: { other },
        remedy: { do: 'merge or keep apart' as const, uuid, other },
      })),
      ...former.map((uuid) => ({
        kind: 'former_and_held' as const,
        subject: uuid,
        params: {},
        remedy: { do: 'retry at HubSpot' as const, uuid },
      })),
      ...beside.map(({ uuid, other }) => ({
        kind: 'unproven_beside' as const,
        subject: uuid,
        params: { other },
        remedy: { do: 'read story' as const, uuid },
      })),
      ...rejected.map(({ uuid, reason }) => ({
        kind: 'rejected_held' as const,
        subject: uuid,
        params: {},
        remedy: { do: 'reject finally' as const, uuid, reason },
      })),
    ],
  };
}

/**
 * Returns the joins whose person holds an earlier membership of the same type, each with these types. This happens if two members
 * are merged. Only active memberships count, because while a membership is disputed, the bank has its money.
 */
async function heldTwice(deps: Deps): Promise<{ uuid: string; types: MembershipType[] }[]> {
  const { rows } = await sql<{ uuid: string; types: MembershipType[] }>`
    select session.uuid, array_agg(left_over.type::text) as types
    from membership left_over join join_session session on session.uuid = left_over.session_uuid
      join membership held on held.person_id = left_over.person_id and held.type = left_over.type and held.id < left_over.id
    where left_over.standing = 'active' and held.standing = 'active'
    group by session.uuid`.execute(deps.database);
  return rows;
}

/**
 * Returns the joins whose document was rejected finally while the membership is still active: the membership's refund was
 * interrupted or has failed. A disputed membership does not count, because the bank has its money.
 */
async function rejectedAndHeld(
  deps: Deps,
  graceMinutes: number,
): Promise<{ uuid: string; reason: string }[]> {
  const { rows } = await sql<{ uuid: string; reason: string }>`
    select distinct on (session_uuid) session_uuid as uuid, reason
    from document join membership using (session_uuid)
    where is_final and reviewed_at <= now() - make_interval(mins => ${graceMinutes}::int)
      and type = 'membership' and standing = 'active'
    order by session_uuid, reviewed_at desc`.execute(deps.database);
  return rows;
}

/**
 * Returns the joins of persons who hold a membership each and are likely the same, in pairs: each later join, with one earlier
 * join (`other`).
 */
async function likelySame({ database }: Deps): Promise<{ uuid: string; other: string }[]> {
  const { rows } = await sql<{ uuid: string; other: string }>`
    with held as (
      select person_id, session_uuid, id from membership where type = 'membership' and standing = 'active'
    )
    select later.session_uuid as uuid, min(earlier.session_uuid::text) as other
    from held later join held earlier on earlier.person_id in ${alikeTo(sql`later.person_id`)} and earlier.id < later.id
      and earlier.person_id <> later.person_id
    group by later.session_uuid order by later.session_uuid`.execute(database);
  return rows;
}

/**
 * Returns the joins whose membership is held although the last known status of their contact in HubSpot is `former`, and no
 * change is due to be sent.
 */
async function formerAndHeld({ database }: Deps): Promise<string[]> {
  const { rows } = await sql<{ uuid: string }>`
    select distinct session_uuid as uuid
    from membership join person holder on holder.id = membership.person_id
      join person contact on contact.contact_id = coalesce(holder.contact_id, holder.found_contact_id)
      join crm_delivery on crm_delivery.person_id = contact.id
    where membership.type = 'membership' and is_held and due_at is null and sent ->> 'membershipStatus' = ${FORMER}
    order by uuid`.execute(database);
  return rows.map(({ uuid }) => uuid);
}

/**
 * Returns the unproven joins whose person has a proven join as well (the `other` one). Leaves out those that a merge brought
 * about, or a link of staff that sells an upgrade to the contact that the join created. Any other unproven join must have its own
 * person, so that it cannot influence what a proven join shows.
 */
async function unprovenBeside({ database }: Deps): Promise<{ uuid: string; other: string }[]> {
  const { rows } = await sql<{ uuid: string; other: string }>`
    select stray.uuid, min(proven.uuid::text) as other
    from join_session stray join join_session proven on proven.person_id = stray.person_id
    where not ${isProven('stray')} and ${isProven('proven')}
      and not exists (select from person former where former.merged_into = stray.person_id)
      and not exists (select from join_session sold
        where sold.person_id = stray.person_id and sold.origin = 'checkout' and sold.lines @> '[{"type": "membership_upgrade"}]')
    group by stray.uuid order by stray.uuid`.execute(database);
  return rows;
}
