import { sql, type Transaction } from 'kysely';
import { confirmationOf, type MadeAgain, type PaymentFacts } from '#core/confirmation.ts';
import { payerOfMetadata } from '#core/intentText.ts';
import { isMembershipLine, type OrderLine } from '#core/orderLine.ts';
import { type Holdings, isMemberByHubspotAlone } from '#core/people.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { isHeld, type MembershipStanding } from '#core/refunds.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { notifyOfLikelySame } from '../crm/heldTwice.ts';
import { memberAlready } from '../crm/memberAlready.ts';
import { queueForHubspot } from '../crm/queuePersonsForHubspot.ts';
import { insertLetters } from '../letters/dueLetters.ts';
import { lettersOfSale } from '../letters/lettersOfSale.ts';
import { notifyStaff } from '../letters/notifyStaff.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Origin, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import { joins, payments } from '../platform/metrics.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { isProven } from '../session/alike.ts';
import { holdings, joinHolds, presentPerson } from '../session/members.ts';
import { reopenFrozen, transitions } from '../session/states.ts';
import { wordsTyped } from '../session/words.ts';
import { markCanceled } from './cancelIntent.ts';
import type { Deps } from './deps.ts';
import { type NamedOrder, namedOrder } from './namedOrder.ts';
import { insertSuccess, recordSuccess } from './paymentRow.ts';
import { followPayment } from './refunds/followPayment.ts';
import { giveBack, promiseRefund, promiseReturn } from './refunds/giveBack.ts';
import { isBefore } from './stripeClock.ts';

/** Stripe's status of the intent; `foreign` if the intent is not ours; `refunded` if the payment bought nothing. */
export type PaymentOutcome = Intent['status'] | 'foreign' | 'refunded';

/** Thrown if the database lacks the join or order that was paid for, for example after a restore from a backup. */
export class NotInDatabase extends Failed {
  constructor() {
    super('A payment is of a join that is not in this database. Was it restored from a backup?', {
      do: 'settle missing',
    });
  }
}

/**
 * Thrown if staff have to decide on a payment, which is not refunded automatically. There are two cases: its order has no
 * membership or upgrade; or its amount is wrong, and the payment was confirmed before or is made again after a restore.
 */
export class NotConfirmable extends Failed {
  constructor(intentId: string, why: string) {
    super(`Payment ${intentId} ${why}.`, { do: 'refund payment', intentId });
  }
}

/**
 * Confirms a payment: the only way in which a join becomes `paid`. The return page, the webhook and the background check
 * (books/sweep.ts) all call it or {@link confirmIntent}, in any order and any number of times.
 * - Reads the intent from Stripe. Checks that the intent is ours and that the amount received equals its snapshot's.
 * - Writes the payment, the membership and all consequences in one transaction under a row lock.
 * - Confirms the snapshot that was paid, whatever happened to the session since.
 * - If the amount differs from the total that was on the screen, all of it is refunded.
 */
export async function confirmPayment(deps: Deps, intentId: string): Promise<PaymentOutcome> {
  return confirmIntent(deps, await deps.payments.retrieveIntent(intentId));
}

/**
 * Like {@link confirmPayment}, for an intent that was just read from Stripe. With `madeAgain` (after a restore) nothing is
 * refunded automatically: if the payment bought nothing and was not refunded before the restore, staff get a notice.
 */
export async function confirmIntent(
  deps: Deps,
  intent: Intent,
  madeAgain: MadeAgain | null = null,
  /** The times at which cards were charged for the intent; null until {@link shownInstead} asks for them. */
  chargedAt: Date[] | null = null,
): Promise<PaymentOutcome> {
  const intentId = intent.id;
  const named = namedOrder(deps, intent);
  if (!named) return 'foreign';
  if (intent.status === 'canceled') await transaction(deps, (trx) => markCanceled(trx, intentId));
  if (intent.status !== 'succeeded') return intent.status;

  let wrote: 'succeeded' | 'refunded' | null = null;
  const outcome = await transaction(deps, async (trx) => {
    const session = await lock(trx, named.uuid);
    if (!session) throw new NotInDatabase();
    const paid = await readBeside(trx, intentId, named, session);
    const shown = paid ? named : await shownInstead(trx, intent, named, session, chargedAt);
    if (shown === 'unknown') return shown;
    const read = paid ?? (shown && (await readBeside(trx, intentId, shown, session)));
    if (!read || !shown) throw new NotInDatabase();
    const { snapshot, begunCents, facts } = read;
    // If a payment is made again, it is not known which total was on the screen, since that was lost with the old database.
    const shownCents = (madeAgain === null ? begunCents : null) ?? snapshot.amount_cents;
    const isAsShown =
      shown === named &&
      intent.currency === 'usd' &&
      intent.amountReceivedCents === snapshot.amount_cents &&
      intent.amountReceivedCents === shownCents;
    const bought = snapshot.items.find(isMembershipLine);
    if (!bought) throw new NotConfirmable(intentId, 'is for an order without a membership');
    const confirmation = confirmationOf({
      ...facts,
      kind: named.kind,
      bought: bought.type,
      isAsShown,
      madeAgain,
    });
    switch (confirmation.is) {
      case 'confirmed already':
        return 'succeeded';
      case 'given back already':
        return 'refunded';
      case 'another amount': {
        const why = `received ${intent.amountReceivedCents} ${intent.currency}, its snapshot says ${shownCents} usd`;
        if (madeAgain || facts.status === 'succeeded') throw new NotConfirmable(intentId, why);
        await writeOtherAmount(trx, intent, shown, shownCents);
        wrote = 'refunded';
        return 'refunded';
      }
      case 'unwanted':
        await writeUnwanted(deps, trx, intent, named, confirmation.why, madeAgain);
        wrote = 'refunded';
        return 'refunded';
      case 'wanted': {
        const standing = madeAgain?.standing ?? 'active';
        const isHereAgain = facts.hasMembership;
        const paidAt = madeAgain?.paidAt;
        await writeWanted(deps, trx, intent, named, session, { bought, standing, isHereAgain, paidAt });
        wrote = 'succeeded';
        if (bought.type === 'membership' && isHeld(standing))
          await notifyOfOthers(trx, session, read, madeAgain);
        return 'succeeded';
      }
    }
  });
  if (outcome === 'unknown')
    return confirmIntent(deps, intent, madeAgain, await deps.payments.chargeTimes(intentId));
  if (wrote) {
    payments.inc({ kind: named.kind, outcome: wrote });
    if (wrote === 'succeeded') joins.inc({ stage: named.kind === 'join' ? 'paid' : 'upgraded' });
  }
  // The payment is committed by now. A refund that fails here is retried in the background (books/sweep.ts), and later
  // refunds and disputes are read when their events are handled.
  const { charge } = intent;
  try {
    if (outcome === 'refunded') await giveBack(deps, intentId);
    if (charge && (charge.refundedCents > 0 || charge.isDisputed)) await followPayment(deps, intentId);
  } catch (error) {
    deps.log.error({ err: error, intent: intentId }, 'money could not be given back yet');
  }
  return outcome;
}

interface LockedSession {
  uuid: string;
  /** The id of the person who holds, or would hold, the join's membership; null if the join is erased. */
  person_id: number | null;
  /** HubSpot's id of the person's contact; null if there is none. */
  contact_id: string | null;
  programme: string;
  origin: Origin;
  revision: number;
  /** When the running payment of the order was begun; null while the order is not being paid. */
  paying_since: Date | null;
  details: StudentDetails | null;
  /** The key that the join's person shares with persons who are likely the same ({@link likenessOf}); null if unknown. */
  likeness: string | null;
}

/**
 * Locks the join, its person, and their likeness (advisory locks, shared by all who are likely the same). The second of two
 * payments of one person, or of persons who are likely the same, therefore sees what the first has bought.
 */
async function lock(trx: Transaction<Tables>, uuid: string): Promise<LockedSession | undefined> {
  const { rows } = await sql<Omit<LockedSession, 'contact_id'>>`
    select uuid, person.id as person_id, programme, origin, revision, paying_since, session.details, likeness
    from join_session session left join person on person.id = ${presentPerson('session.person_id')}
    where uuid = ${uuid} for update of session`.execute(trx);
  const [session] = rows;
  if (!session) return undefined;
  // The person gets the likeness of the typed details, or keeps their present one ({@link provenBy}). Both are locked.
  const likeness = session.details ? likenessOf(session.details) : session.likeness;
  const both = [likeness, session.likeness].filter((one) => one !== null).sort();
  // PostgreSQL locks the person's row only after it has read the joined row, so after it has taken the advisory locks.
  const person = await sql<{ contact_id: string | null }>`
    with alike as materialized (
      select count(pg_advisory_xact_lock(hashtextextended('likeness ' || likeness, 0))) from unnest(${both}::text[]) as key (likeness))
    select contact_id from person, alike where id = ${session.person_id} for update of person`.execute(trx);
  return { ...session, likeness, contact_id: person.rows[0]?.contact_id ?? null };
}

/**
 * To be used if the database does not have the order that the intent names. Returns the order that was on the screen when the
 * payer paid; null if that was the named order. If the payment is recorded as a duplicate already, its row has the revision of
 * that order. Otherwise a failover may have lost the last changes of the order: the intent is then for the newer, lost order, but
 * the screen may have shown the older order, which the database has. The number of charges since payment of the older order was
 * begun decides:
 * - None: payment was begun for the lost order, so the screen showed the lost order.
 * - Exactly one: the screen showed the older order.
 * - Several: the first charge was declined, and a later charge was for the lost order.
 * 'unknown': the times of the charges (`chargedAt`) are needed to decide.
 */
async function shownInstead(
  trx: Transaction<Tables>,
  intent: Intent,
  named: NamedOrder,
  { paying_since, revision }: LockedSession,
  chargedAt: Date[] | null,
): Promise<NamedOrder | null | 'unknown'> {
  const { charge } = intent;
  const goesBack = await trx
    .selectFrom('payment')
    .select('revision')
    .where('intent_id', '=', intent.id)
    .where('status', '=', 'duplicate')
    .executeTakeFirst();
  if (goesBack) return { ...named, revision: goesBack.revision };
  if (named.kind !== 'join' || paying_since === null || charge === null) return null;
  if (chargedAt === null) return 'unknown';
  const sinceBegun = chargedAt.filter((time) => !isBefore(time, paying_since));
  return sinceBegun.length === 1 ? { ...named, revision } : null;
}

/**
 * Reads the snapshot that was paid and all other facts that decide what the payment buys. A separate statement, so that it sees
 * what other transactions committed while this transaction waited for the lock.
 */
async function readBeside(
  trx: Transaction<Tables>,
  intentId: string,
  { uuid, kind, revision }: NamedOrder,
  { person_id, contact_id }: LockedSession,
) {
  const { rows } = await sql<{
    amount_cents: number;
    items: OrderLine[];
    begun_cents: number | null;
    status: PaymentFacts['status'];
    has_membership: boolean;
    has_earlier: boolean;
    is_proven: boolean;
    held: PaymentFacts['held'];
    is_held_by_join: boolean;
    holdings: Holdings | null;
  }>`
    select amount_cents, items,
      case kind when 'join' then (select begun.amount_cents from order_snapshot begun
        where begun.session_uuid = ${uuid} and begun.kind = 'join' and begun.revision = begun_revision) end as begun_cents,
      (select status from payment where intent_id = ${intentId}) as status,
      exists (select from membership where payment_intent = ${intentId}) as has_membership,
      exists (select from payment where session_uuid = ${uuid} and kind = ${kind} and status = 'succeeded' and intent_id <> ${intentId}) as has_earlier,
      ${isProven('session')} as is_proven,
      coalesce((select json_agg(json_build_object('type', type, 'isProven', ${isProven('holder')}))
        from membership join join_session holder on holder.uuid = membership.session_uuid
        where membership.person_id = ${person_id} and is_held), '[]') as held,
      ${joinHolds('session.uuid', 'membership')} as is_held_by_join, ${holdings(sql`${person_id}::bigint`)} as holdings
    from order_snapshot snapshot join join_session session on session.uuid = snapshot.session_uuid
    where snapshot.session_uuid = ${uuid} and kind = ${kind} and snapshot.revision = ${revision}`.execute(
    trx,
  );
  const row = rows[0];
  return (
    row && {
      snapshot: { amount_cents: row.amount_cents, items: row.items },
      /** The total (cents) on the screen when Buy Now was last pressed; null if nobody pressed it, or for an upgrade. */
      begunCents: row.begun_cents,
      isMemberElsewhere: isMemberByHubspotAlone(row.holdings),
      facts: {
        status: row.status,
        hasMembership: row.has_membership,
        hasEarlier: row.has_earlier,
        contactId: contact_id,
        isProven: row.is_proven,
        held: row.held,
        isHeldByJoin: row.is_held_by_join,
        holdings: row.holdings,
      },
    }
  );
}

/**
 * Records a payment whose amount differs from the order on the screen. The payment buys nothing and is refunded in full, and the
 * order is open again.
 */
async function writeOtherAmount(
  trx: Transaction<Tables>,
  intent: Intent,
  shown: NamedOrder,
  shownCents: number,
): Promise<void> {
  await recordSuccess(trx, intent, shown, 'duplicate');
  const amountCents = keptCents(intent);
  if (amountCents > 0) await promiseRefund(trx, { intentId: intent.id, amountCents, reason: 'unconfirmed' });
  const params = { intentId: intent.id, receivedCents: intent.amountReceivedCents, shownCents };
  await notifyStaff(trx, { kind: 'other_amount', subject: shown.uuid, params, remedy: null });
  await reopenFrozen(trx, sql<boolean>`uuid = ${shown.uuid}`);
}

/**
 * Returns how much of the received amount (cents) Stripe has not refunded yet: staff may have refunded in the dashboard before
 * this confirmation.
 */
function keptCents({ amountReceivedCents, charge }: Intent): number {
  return amountReceivedCents - (charge?.refundedCents ?? 0);
}

async function writeUnwanted(
  deps: Deps,
  trx: Transaction<Tables>,
  intent: Intent,
  named: NamedOrder,
  why: string,
  madeAgain: MadeAgain | null,
): Promise<void> {
  await recordSuccess(trx, intent, named, 'duplicate', madeAgain?.paidAt);
  if (!madeAgain) await promiseReturn(trx, deps, named.uuid, intent.id, keptCents(intent));
  if (!madeAgain?.isReturned)
    await notifyStaff(trx, {
      kind: 'duplicate_payment',
      subject: named.uuid,
      params: {
        intentId: intent.id,
        receivedCents: intent.amountReceivedCents,
        why,
        isMadeAgain: madeAgain !== null,
      },
      remedy: madeAgain ? { do: 'refund payment', intentId: intent.id } : null,
    });
  // Reopens the order if it is frozen. A joiner who tries to pay it once more is refused, with the reason.
  await reopenFrozen(trx, sql<boolean>`uuid = ${named.uuid}`);
}

/**
 * Writes the payment, the membership, its letters if the membership is held, the person's details and the join, in one statement.
 * - `isHereAgain`: the payment's membership is in the database already, because the payment was confirmed before and later recorded
 *   as unpaid. The membership's row is then updated and keeps its member number.
 * - `paidAt`: the time of payment, if not now.
 */
async function writeWanted(
  deps: Deps,
  trx: Transaction<Tables>,
  intent: Intent,
  named: NamedOrder,
  session: LockedSession,
  {
    bought,
    standing,
    isHereAgain,
    paidAt,
  }: {
    bought: OrderLine & { type: 'membership' | 'membership_upgrade' };
    standing: MembershipStanding;
    isHereAgain: boolean;
    paidAt: Date | undefined;
  },
): Promise<void> {
  const paid = named.kind === 'join' ? transitions.markPaid(paidAt) : transitions.takeUpgrade;
  const letters = lettersOfSale(deps.society, {
    sessionUuid: session.uuid,
    intentId: intent.id,
    type: bought.type,
    programme: session.programme,
    isSelfNomination: session.origin === 'self_nomination',
    payerEmail: payerOfMetadata(intent.metadata) === null ? null : intent.receiptEmail,
  });
  const member = isHereAgain
    ? sql`update membership set standing = ${standing}, person_id = ${session.person_id} where payment_intent = ${intent.id}`
    : sql`insert into membership (session_uuid, person_id, product_id, type, payment_intent, standing, member_number)
        values (${session.uuid}, ${session.person_id}, ${bought.productId}, ${bought.type}, ${intent.id}, ${standing},
          case ${bought.type} when 'membership' then free_member_number(${intent.id}) end)`;
  await sql`
    with paid as (${insertSuccess(trx, intent, named, 'succeeded', paidAt).returning('intent_id')}),
      member as (${member}),
      ${session.details === null || bought.type !== 'membership' ? sql`` : sql`known as (${provenBy(session)}),`}
      told as (${insertLetters(deps, isHeld(standing) ? letters : [])})
    update join_session set ${paid} where uuid = ${named.uuid}`.execute(trx);
  // If the person has paid for an earlier join, this join's form has shown them the mirror's data. These then count as HubSpot's
  // values (`isShown` of makeDue).
  const isShown = sql<boolean>`exists (select from join_session before
    where before.person_id = excluded.person_id and ${session.person_id} = excluded.person_id and before.paid_at is not null and before.uuid <> ${named.uuid})`;
  await queueForHubspot(trx, named.uuid, { isShown });
}

/** SQL that stores the details of a paid join as those of its person, unless the person holds a purchase of another join. */
function provenBy({ person_id, details, likeness, uuid }: LockedSession) {
  return sql`
    update person set details = ${JSON.stringify(details)}::jsonb, likeness = ${likeness},
      words = ${wordsTyped(searchWords(details!))}
    where id = ${person_id} and not exists (select from membership where person_id = ${person_id} and session_uuid <> ${uuid} and is_held)`;
}

/**
 * Informs staff after a membership was bought: by a notice if somebody who is likely the same person holds a membership, too, and
 * by a notice if the contact already was a member in HubSpot.
 */
async function notifyOfOthers(
  trx: Transaction<Tables>,
  { uuid, person_id, contact_id }: LockedSession,
  { isMemberElsewhere }: NonNullable<Awaited<ReturnType<typeof readBeside>>>,
  madeAgain: MadeAgain | null,
): Promise<void> {
  if (person_id !== null) await notifyOfLikelySame(trx, person_id);
  // If the payment is made again, its first confirmation had set the contact to `member` in HubSpot, so this status does not
  // prove an earlier membership.
  if (isMemberElsewhere && madeAgain === null) await notifyStaff(trx, memberAlready(uuid, contact_id!));
}
