import { isDeepStrictEqual } from 'node:util';
import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';
import { displayPrice } from '#core/money.ts';
import {
  assignCommand,
  counts,
  feeReadBy,
  type GivenBack,
  goneCents,
  isHeld,
  type MembershipStanding,
  matchRefunds,
  type PaidOrder,
  standingAfter,
} from '#core/refunds.ts';
import { tellHubspot } from '../contacts/tellHubspot.ts';
import { isUuid } from '../database/isUuid.ts';
import type { JoinSessionTable, RefundTable, Tables } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import { mirrorBought } from '../session/mirrorBought.ts';
import type { MoneyBack } from '../stripe/provider.ts';

/** More often than this an answer is not overtaken by another one. */
const ROUNDS = 10;

/**
 * Takes in what Stripe says has gone back of a payment, by refund or dispute, wherever it was made, and brings the
 * membership's standing to it. Level-triggered: what is asked is how it stands, so events may come in any order, twice
 * or not at all. Does nothing for an intent that is not ours or has not succeeded.
 */
export async function followPayment(deps: Deps, intentId: string): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const before = await deps.database
      .selectFrom('payment')
      .select('followed')
      .where('intent_id', '=', intentId)
      .where('status', 'in', ['succeeded', 'duplicate'])
      .executeTakeFirst();
    if (!before) return;
    const money = await deps.payments.moneyBack(intentId);
    if (await write(deps, intentId, before.followed, money)) return;
  }
  throw new Error(`what went back of payment ${intentId} changes faster than it can be written`);
}

/** False when somebody wrote a later answer meanwhile: then this one is old. */
async function write(
  deps: Deps,
  intentId: string,
  followed: number,
  { refunds, dispute }: MoneyBack,
): Promise<boolean> {
  return deps.database.transaction().execute(async (trx) => {
    const session = await lockSession(trx, intentId);
    const payment = await trx
      .updateTable('payment')
      .set({ followed: followed + 1, dispute })
      .where('intent_id', '=', intentId)
      .where('followed', '=', followed)
      .returning('intent_id')
      .executeTakeFirst();
    if (!payment) return false;
    // Stripe lists the newest first; what they were for is read in the order in which they were made.
    const made: string[] = [];
    for (const refund of [...refunds].reverse())
      made.push(...(await takeIn(trx, session.uuid, intentId, refund)));
    await recount(deps, trx, session, intentId, made);
    return true;
  });
}

export type LockedSession = Pick<Selectable<JoinSessionTable>, 'uuid' | 'programme' | 'contact_id'>;

/** The join session of a payment, locked: everything about its money is written one after the other. */
export async function lockSession(trx: Kysely<Tables>, intentId: string): Promise<LockedSession> {
  return await trx
    .selectFrom('join_session')
    .select(['uuid', 'programme', 'contact_id'])
    .where('uuid', '=', (row) =>
      row.selectFrom('payment').select('session_uuid').where('intent_id', '=', intentId),
    )
    .forUpdate()
    .executeTakeFirstOrThrow();
}

/**
 * Brings what hangs on a payment's refunds and dispute to how they are written now. Staff are told of each refund from
 * outside that is new (`made`) or now counts for something else.
 */
export async function recount(
  deps: Deps,
  trx: Kysely<Tables>,
  session: LockedSession,
  intentId: string,
  made: readonly string[] = [],
): Promise<void> {
  const [order] = await paidOrders(trx, [intentId]);
  if (!order) return;
  await trx
    .updateTable('payment')
    .set({ refunded_cents: goneCents(order.refunds.filter(({ status }) => status !== 'due')) })
    .where('intent_id', '=', intentId)
    .execute();
  const fee = feeReadBy(order, deps.society.programme(session.programme).processingFee);
  // A payment that bought nothing has nothing that a refund could be for.
  const matched = order.status === 'succeeded' ? matchRefunds(order, fee) : new Map<string, null>();
  const refunds = order.refunds.map((refund) =>
    refund.saidBy === null ? { ...refund, lines: matched.get(refund.uuid) ?? null } : refund,
  );
  for (const [index, refund] of refunds.entries()) {
    const isOther = !isDeepStrictEqual(refund.lines, order.refunds[index]!.lines);
    if (isOther)
      await trx
        .updateTable('refund')
        .set({ lines: refund.lines && JSON.stringify(refund.lines) })
        .where('uuid', '=', refund.uuid)
        .execute();
    if ((isOther || made.includes(refund.uuid)) && counts(refund))
      await tell(
        trx,
        session.uuid,
        'refund_elsewhere',
        `${displayPrice(refund.amountCents)} of payment ${intentId} was refunded outside Induct${purpose(order.status, refund)}`,
      );
  }
  await bringStanding(trx, session, intentId, standingAfter({ ...order, refunds }));
  await tellHubspot(trx, session.uuid);
}

/** The rest of a sentence: what a refund was for, or how to say so. */
function purpose(status: 'succeeded' | 'duplicate', { uuid, lines }: GivenBack): string {
  if (status === 'duplicate') return '.';
  if (lines !== null)
    return `, for ${lines.map(({ name }) => name).join(' and ') || 'nothing that was bought'}.`;
  return `, and its amount does not say what for: everybody keeps what they have until you do. ${assignCommand(uuid)}`;
}

/** Payments that succeeded, as the rules of refunds want to see them. */
export async function paidOrders(
  database: Kysely<Tables>,
  intentIds: readonly string[],
): Promise<(PaidOrder & { status: 'succeeded' | 'duplicate' })[]> {
  const { rows } = await sql<PaidOrder & { status: 'succeeded' | 'duplicate' }>`
    select payment.intent_id as "intentId", payment.kind, payment.status, items as lines,
      payment.amount_cents as "amountCents", dispute, ${refundsOfPayment} as refunds
    from payment join order_snapshot snapshot using (session_uuid, kind, revision)
    where payment.intent_id = any(${intentIds}) and status in ('succeeded', 'duplicate')
    order by payment.kind`.execute(database);
  return rows;
}

/** The refunds of a query's `payment` as {@link GivenBack}s, the oldest first. */
export const refundsOfPayment: RawBuilder<GivenBack[]> = sql`coalesce((
  select json_agg(json_build_object('uuid', refund.uuid, 'amountCents', refund.amount_cents, 'status', refund.status,
    'lines', refund.lines, 'refusal', refund.refusal,
    'saidBy', case when reason <> 'dashboard' then 'us' when assigned_at is not null then 'staff' end)
    order by refund.created_at, refund.uuid)
  from refund where refund.intent_id = payment.intent_id), '[]')`;

/** Stripe's refund into our row for it, or a new row when it was made elsewhere: then the row's uuid. */
async function takeIn(
  trx: Kysely<Tables>,
  sessionUuid: string,
  intentId: string,
  { id, amountCents, status, uuid }: MoneyBack['refunds'][number],
): Promise<string[]> {
  const known =
    (await trx
      .selectFrom('refund')
      .select(['uuid', 'status'])
      .where('intent_id', '=', intentId)
      .where((row) =>
        row.or([row('stripe_id', '=', id), ...(uuid && isUuid(uuid) ? [row('uuid', '=', uuid)] : [])]),
      )
      .executeTakeFirst()) ??
    (uuid === null && status !== 'failed' && status !== 'canceled'
      ? await madeInItsPlace(trx, intentId, amountCents)
      : undefined);
  if (known) {
    await trx
      .updateTable('refund')
      .set({ stripe_id: id, status, amount_cents: amountCents, refusal: null, updated_at: sql`now()` })
      .where('uuid', '=', known.uuid)
      .execute();
    if (status === 'failed' && known.status !== 'failed')
      await tell(
        trx,
        sessionUuid,
        'refund_failed',
        `The refund of ${displayPrice(amountCents)} of payment ${intentId} failed: the money is with us again.`,
      );
    return [];
  }
  const made = await trx
    .insertInto('refund')
    .values({
      intent_id: intentId,
      stripe_id: id,
      amount_cents: amountCents,
      reason: 'dashboard' satisfies RefundTable['reason'],
      status,
      created_at: sql`clock_timestamp()`,
    })
    .returning('uuid')
    .execute();
  return made.map((row) => row.uuid);
}

/**
 * The due refund that one from outside is: Stripe did not make it when it was asked, and staff made it in the dashboard
 * meanwhile. Both would give the money back twice.
 */
async function madeInItsPlace(trx: Kysely<Tables>, intentId: string, amountCents: number) {
  return trx
    .selectFrom('refund')
    .select(['uuid', 'status'])
    .where('intent_id', '=', intentId)
    .where('status', '=', 'due')
    .where('stripe_id', 'is', null)
    .where('refusal', 'is not', null)
    .where('amount_cents', '=', amountCents)
    .orderBy('created_at')
    .executeTakeFirst();
}

const because: Record<MembershipStanding, string> = {
  active: 'is active again.',
  disputed: "is disputed: its payer's bank has taken the money back for now.",
  refunded: 'has ended: its money was refunded.',
  charged_back: 'has ended: a dispute over its money was lost.',
  void: 'has ended: nothing was paid for it.',
};

/** Writes how the membership of a payment stands now, when that has changed. HubSpot and staff are told. */
export async function bringStanding(
  trx: Kysely<Tables>,
  session: Pick<LockedSession, 'uuid' | 'contact_id'>,
  intentId: string,
  standing: MembershipStanding,
): Promise<void> {
  const membership = await trx
    .selectFrom('membership')
    .select(['id', 'type', 'is_held', 'standing'])
    .where('payment_intent', '=', intentId)
    .executeTakeFirst();
  if (!membership || membership.standing === standing) return;
  const comesBack = (standing === 'active' || standing === 'disputed') && !membership.is_held;
  if (comesBack && session.contact_id !== null) {
    await trx.selectFrom('contact').select('id').where('id', '=', session.contact_id).forUpdate().execute();
    const other = await trx
      .selectFrom('membership')
      .select('id')
      .where('contact_id', '=', session.contact_id)
      .where('type', '=', membership.type)
      .where('is_held', '=', true)
      .executeTakeFirst();
    if (other)
      return tell(
        trx,
        session.uuid,
        'held_twice',
        `The money of payment ${intentId} is with us again, but its contact ${session.contact_id} has joined anew meanwhile.`,
      );
  }
  await trx.updateTable('membership').set({ standing }).where('id', '=', membership.id).execute();
  if (membership.type === 'membership' && session.contact_id) await mirrorBought(trx, session.contact_id);
  await tellHubspot(trx, session.uuid);
  if (membership.type === 'membership') await tellHubspotOfEnded(trx, session.uuid);
  const what = membership.type === 'membership' ? 'membership' : 'upgrade';
  await tell(trx, session.uuid, 'standing', `The ${what} paid for by ${intentId} ${because[standing]}`);
  if (what === 'membership' && !isHeld(standing)) await tellOfUpgrades(trx, session.uuid);
}

/** Joins of the same payer that have ended: HubSpot was told `member` of them while this one was held (contacts/push.ts). */
async function tellHubspotOfEnded(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  await sql`
    update join_session ended set profile_revision = ended.profile_revision + 1, crm_next_try_at = now(), updated_at = now()
    from join_session own
    where own.uuid = ${sessionUuid} and ended.payer = own.payer and ended.uuid <> own.uuid
      and exists (select from membership where session_uuid = ended.uuid and type = 'membership' and not is_held)`.execute(
    trx,
  );
}

async function tellOfUpgrades(trx: Kysely<Tables>, sessionUuid: string): Promise<void> {
  for (const row of await upgradesAlone(trx, sessionUuid))
    await tell(
      trx,
      row.session_uuid,
      'upgrade_alone',
      `${UPGRADE_ALONE} Give it back: ${giveUpgradeBack(row)}`,
    );
}

export interface UpgradeAlone {
  session_uuid: string;
  kind: 'join' | 'upgrade';
}
export const UPGRADE_ALONE = 'An upgrade is still paid and held, though the membership below it has ended.';

/** Upgrades that are active while their holder's membership, of the same join or contact, has ended: that of one join, or all. */
export async function upgradesAlone(
  database: Kysely<Tables>,
  baseSession: string | null = null,
): Promise<UpgradeAlone[]> {
  const { rows } = await sql<UpgradeAlone>`
    select distinct upgrade.session_uuid, payment.kind
    from membership base
    cross join lateral (
      select session_uuid, contact_id, payment_intent, standing from membership
      where session_uuid = base.session_uuid and type = 'membership_upgrade'
      union all
      select session_uuid, contact_id, payment_intent, standing from membership
      where contact_id = base.contact_id and type = 'membership_upgrade' and is_held
    ) as upgrade
    join payment on payment.intent_id = upgrade.payment_intent
    where base.type = 'membership' and not base.is_held and upgrade.standing = 'active'
      and ${baseSession === null ? sql`true` : sql`base.session_uuid = ${baseSession}`}
      and not exists (select from membership held where held.session_uuid = upgrade.session_uuid and held.type = 'membership' and held.is_held)
      and not exists (select from membership held where held.contact_id = upgrade.contact_id and held.type = 'membership' and held.is_held)`.execute(
    database,
  );
  return rows;
}

/** The command of staff that gives back an upgrade, which may have been bought by a join of its own. */
export function giveUpgradeBack({ session_uuid, kind }: UpgradeAlone): string {
  return `npm run operator -- refund ${session_uuid}${kind === 'upgrade' ? ' --no-membership --upgrade' : ''}`;
}

/** Tells staff; the same trouble, found again by another event, is told once a day. */
export async function tell(
  trx: Kysely<Tables>,
  sessionUuid: string | null,
  kind: string,
  message: string,
): Promise<void> {
  await sql`
    insert into staff_notice (kind, session_uuid, message)
    select ${kind}, ${sessionUuid}, ${message}
    where not exists (
      select from staff_notice where session_uuid is not distinct from ${sessionUuid}::uuid and kind = ${kind}
        and message = ${message} and created_at > now() - interval '1 day')`.execute(trx);
}
