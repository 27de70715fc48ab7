import { isDeepStrictEqual } from 'node:util';
import { type Kysely, sql } from 'kysely';
import type { MadeAgain } from '#core/confirmation.ts';
import { withLines } from '#core/dashboardRefunds.ts';
import {
  correctedEmail,
  identityOfMetadata,
  linesOfMetadata,
  payerOfMetadata,
  promisedOfMetadata,
} from '#core/intentText.ts';
import { displayPrice } from '#core/money.ts';
import type { OrderLine } from '#core/orderLine.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { providerEmail } from '#core/providerEmail.ts';
import { type GivenBack, isHeld, type MembershipStanding, standingAfter } from '#core/refunds.ts';
import { noDetails, type StudentDetails } from '#core/studentDetails.ts';
import { queuePersonsForHubspot } from '../crm/queuePersonsForHubspot.ts';
import { namedOrder } from '../paying/namedOrder.ts';
import { followPayment, lockSession } from '../paying/refunds/followPayment.ts';
import { bringStanding } from '../paying/refunds/membershipStanding.ts';
import { paidOrders } from '../paying/refunds/paidOrders.ts';
import { isUuid } from '../platform/database/isUuid.ts';
import { transaction } from '../platform/database/transaction.ts';
import type { Origin, Tables } from '../platform/database/types.ts';
import { Failed } from '../platform/failed.ts';
import type { MoneyBack } from '../providers/stripe/moneyBack.ts';
import type { Intent } from '../providers/stripe/provider.ts';
import { holdsBought } from '../session/members.ts';
import { promisedColumns } from '../session/promised.ts';
import { wordsTyped, wordsWith } from '../session/words.ts';
import type { Deps } from './deps.ts';

/** Thrown if the intent's metadata does not suffice to make its join again. The message tells staff what to do. */
export class NotRebuilt extends Failed {}

/**
 * Restores, from a paid intent's metadata, the data that a restored database lacks and that confirming the payment needs: the
 * paid order and, if it is missing, the join. If the join exists and is unpaid, it gets the email with which it was paid. Data
 * that Stripe never had stay empty: the details other than names and email, documents, guardian consent. Returns whether anything
 * was missing. Throws {@link NotRebuilt}.
 */
export async function rebuildJoin(deps: Deps, intent: Intent): Promise<boolean> {
  const named = namedOrder(deps, intent);
  if (!named) return false;
  const { uuid, kind, revision } = named;
  const received = displayPrice(intent.amountReceivedCents);
  const noOrder = new NotRebuilt(
    `Stripe took ${received} and does not say for what, so its join cannot be made again.`,
    { do: 'refund payment', intentId: intent.id },
  );
  if (!isUuid(uuid) || !Number.isSafeInteger(revision)) throw noOrder;
  const { rows } = await sql<{ has_session: boolean; has_snapshot: boolean }>`
    select exists (select from join_session where uuid::text = ${uuid}) as has_session,
      exists (select from order_snapshot where session_uuid::text = ${uuid} and kind = ${kind} and revision = ${revision}) as has_snapshot`.execute(
    deps.database,
  );
  const { has_session, has_snapshot } = rows[0]!;
  if (kind === 'join') await takeEmail(deps, intent, uuid);
  if (has_session && has_snapshot) return false;
  const lines = linesOfMetadata(intent.metadata);
  if (lines?.reduce((sum, { priceCents }) => sum + priceCents, 0) !== intent.amountReceivedCents)
    throw noOrder;
  const promised = promisedOfMetadata(intent.metadata, lines);
  const identity = identityOfMetadata(intent.metadata);
  if (!has_session && (kind === 'upgrade' || !identity))
    throw kind === 'upgrade'
      ? new NotRebuilt(
          `It is the upgrade of join ${uuid}, which is not in this database: settle the join's own payment first, or all.`,
          { do: 'settle missing' },
        )
      : new NotRebuilt(
          `Stripe took ${received} and does not say of whom the join is, so it cannot be made again.`,
          { do: 'refund payment', intentId: intent.id },
        );
  await transaction(deps, async (trx) => {
    if (!has_session) {
      const { origin, programme, contactId, school, firstName, lastName } = identity!;
      const email = joinerEmailOf(intent);
      const details = {
        ...noDetails,
        firstName: firstName ?? '',
        lastName: lastName ?? '',
        personalEmail: email ?? '',
        // No payment can begin without agreement to the policies.
        agreeToPolicies: true,
      };
      const typed = email && firstName && lastName ? details : null;
      await trx
        .insertInto('join_session')
        .values({
          uuid,
          state: 'ordering',
          origin: origin as Origin,
          programme,
          person_id: await personAgain(trx, contactId, typed),
          school,
          details: typed && JSON.stringify(typed),
          has_agreed_to_policies: true,
          revision,
          created_at: intent.createdAt,
        })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    // The join's order here may differ from the paid order. It gets a later revision, so that it can still be paid if the payment
    // bought nothing.
    if (kind === 'join' && has_session)
      await sql`update join_session set revision = greatest(revision, ${revision + 1}::int) where uuid = ${uuid}`.execute(
        trx,
      );
    await trx
      .insertInto('order_snapshot')
      .values({
        session_uuid: uuid,
        kind,
        revision,
        amount_cents: intent.amountReceivedCents,
        items: JSON.stringify(lines),
        ...(promised && promisedColumns(promised)),
      })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  return true;
}

/** Returns the joiner's email according to an intent; null if it does not say. The receipt of a payment by a pay link is the payer's. */
function joinerEmailOf({ metadata, receiptEmail }: Intent): string | null {
  return correctedEmail(metadata) ?? (payerOfMetadata(metadata) === null ? receiptEmail : null);
}

/**
 * Sets the email of an unpaid join to the email with which it was paid. The joiner may have corrected the email after the backup.
 * With the old email, letters would go to another person, and the join might be written into that person's contact.
 */
async function takeEmail({ database }: Deps, intent: Intent, uuid: string): Promise<void> {
  const paid = joinerEmailOf(intent);
  const join = await database
    .selectFrom('join_session')
    .select(sql<string | null>`details ->> 'personalEmail'`.as('email'))
    .where('uuid', '=', uuid)
    .where('state', '<>', 'paid')
    .executeTakeFirst();
  // The intent has the email of the join's details, unless Stripe does not accept that email.
  const expected = providerEmail([join?.email ?? null]);
  if (paid === null || expected === null || expected.toLowerCase() === paid.toLowerCase()) return;
  await database.transaction().execute(async (trx) => {
    const { rows } = await sql<{ person_id: number; details: StudentDetails }>`
      update join_session set details = details || ${JSON.stringify({ personalEmail: paid })}::jsonb
      where uuid = ${uuid} returning person_id, details`.execute(trx);
    const { person_id, details } = rows[0]!;
    await sql`
      update person set details = ${JSON.stringify(details)}::jsonb, likeness = ${likenessOf(details)}, words = ${wordsTyped(searchWords(details))}, found_contact_id = null
      where id = ${person_id} and not ${holdsBought('person.id', 'membership')}`.execute(trx);
  });
}

/**
 * Sets the names and email of a paid join's person to those in the intent's metadata, if these were corrected: the correction may
 * be later than the backup. Does nothing if the person has no details.
 */
export async function takeCorrection({ database }: Deps, { metadata }: Intent, uuid: string): Promise<void> {
  const personalEmail = correctedEmail(metadata);
  const identity = identityOfMetadata(metadata);
  if (personalEmail === null || !identity) return;
  const { rows } = await sql<{ id: number; details: StudentDetails }>`
    select person.id, person.details from join_session join person on person.id = person_id
    where uuid = ${uuid} and state = 'paid' and person.details is not null`.execute(database);
  const [person] = rows;
  if (!person) return;
  const { firstName, lastName } = identity;
  const details = {
    ...person.details,
    personalEmail,
    firstName: firstName ?? person.details.firstName,
    lastName: lastName ?? person.details.lastName,
  };
  if (isDeepStrictEqual(details, person.details)) return;
  await database.transaction().execute(async (trx) => {
    await queuePersonsForHubspot(trx, sql`(values (${person.id}::bigint))`);
    await sql`
      update person set details = ${JSON.stringify(details)}::jsonb, likeness = ${likenessOf(details)},
        words = ${wordsWith(sql`${searchWords(details)}::text`)}, found_contact_id = null
      where id = ${person.id}`.execute(trx);
    await queuePersonsForHubspot(trx, sql`(values (${person.id}::bigint))`);
  });
}

/**
 * Returns the person of a join that is made again: the person of its contact or, if that one was merged, the person they were
 * merged into; without a contact, a new person. Gives the person these details if they have none.
 */
async function personAgain(
  trx: Kysely<Tables>,
  contactId: string | null,
  details: StudentDetails | null,
): Promise<number> {
  const { rows } = await sql<{ id: number }>`
    insert into person (contact_id) values (${contactId})
    on conflict (contact_id) do update set contact_id = excluded.contact_id returning coalesce(merged_into, id) as id`.execute(
    trx,
  );
  const { id } = rows[0]!;
  if (details)
    await sql`
      update person set details = ${JSON.stringify(details)}::jsonb, likeness = ${likenessOf(details)}, words = ${wordsTyped(searchWords(details))}
      where id = ${id} and details is null`.execute(trx);
  return id;
}

/**
 * Returns when a payment that is made again was paid, whether it bought nothing, and the standing of its membership after
 * Stripe's refunds. Returns null if the intent is not ours or its order is missing. First updates the other memberships that the
 * join's person holds in this database: one that a refund had ended before this payment stays ended even if that refund failed
 * later, because this payment has bought a new membership.
 */
export async function madeAgainOf(deps: Deps, intent: Intent): Promise<MadeAgain | null> {
  const named = namedOrder(deps, intent);
  if (!named) return null;
  const { uuid, kind, revision } = named;
  const { rows } = await sql<{
    programme: string;
    items: OrderLine[];
    fee_cents: number | null;
    held: { intentId: string; type: string }[];
  }>`
    select programme, items, processing_fee_cents as fee_cents, coalesce((
      select json_agg(json_build_object('intentId', payment_intent, 'type', type)) from membership
      where membership.person_id = join_session.person_id and is_held and payment_intent <> ${intent.id}), '[]') as held
    from join_session join order_snapshot on session_uuid = uuid
    where uuid = ${uuid} and kind = ${kind} and order_snapshot.revision = ${revision}`.execute(deps.database);
  const [sold] = rows;
  if (!sold) return null;
  for (const { intentId } of sold.held) await followPayment(deps, intentId);
  const money = await deps.payments.moneyBack(intent.id);
  const feeCents = sold.fee_cents ?? deps.society.programme(sold.programme).processingFeeCents;
  const paidAt = (intent.charge ?? intent).createdAt;
  const isReturned = money.refunds.some(({ decided }) => decided !== null && decided.lines === null);
  const standing = standingBy(money, sold.items, feeCents);
  if (isHeld(standing) && !isReturned)
    for (const { intentId, type } of sold.held)
      if (sold.items.some((line) => line.type === type)) await endIfEndedBefore(deps, intentId, paidAt);
  return { paidAt, isReturned, standing };
}

function standingBy(money: MoneyBack, lines: readonly OrderLine[], feeCents: number): MembershipStanding {
  const refunds = withLines({ lines, refunds: readBack(money) }, feeCents);
  return standingAfter({ lines, refunds, dispute: money.dispute });
}

/**
 * Ends a membership if a refund had ended it before `paidAt`, the time at which its person paid for another membership. That
 * refund may have failed since, at an unknown time. It is assumed to have failed only after `paidAt`: otherwise the payment of
 * that time would have been refunded as a duplicate.
 */
async function endIfEndedBefore(deps: Deps, intentId: string, paidAt: Date): Promise<void> {
  const [order] = await paidOrders(deps, deps.database, [intentId]);
  if (!order) return;
  const money = await deps.payments.moneyBack(intentId);
  const refunds = money.refunds
    .filter(({ createdAt }) => createdAt <= paidAt)
    .map((refund) => (refund.status === 'failed' ? { ...refund, status: 'pending' as const } : refund));
  const standing = standingBy({ ...money, refunds }, order.lines, order.processingFeeCents);
  if (isHeld(standing)) return;
  await transaction(deps, async (trx) =>
    bringStanding(trx, await lockSession(trx, intentId), intentId, standing),
  );
}

/**
 * Converts Stripe's refunds and disputes to the form that the refund rules use: first the refunds, the oldest first, then the
 * amounts of lost disputes.
 */
function readBack({ refunds, lost }: MoneyBack): GivenBack[] {
  const given = refunds
    .map(({ id, amountCents, status, decided }) => ({
      uuid: id,
      amountCents,
      status,
      lines: decided?.lines ?? null,
      assignedBy: decided ? ('us' as const) : null,
    }))
    .reverse();
  return [
    ...given,
    ...lost.map(({ id, amountCents }) => ({
      uuid: id,
      amountCents,
      status: 'succeeded' as const,
      lines: null,
      assignedBy: null,
      isDispute: true,
    })),
  ];
}
