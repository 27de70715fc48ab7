import { type Kysely, type RawBuilder, sql } from 'kysely';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { deliveriesOf, forgetSent } from '../../crm/deliveries.ts';
import type { ContactProfile, Tables } from '../../platform/database/types.ts';
import { chainOf } from '../../session/alike.ts';
import { BAR } from '../../session/words.ts';
import type { Deps } from '../deps.ts';
import { refusalsOf } from './underWay.ts';

/**
 * Thrown if joins cannot be erased now, because a payment, a refund or other work on them has not ended yet. The message has a
 * line for each reason.
 */
export class NotErasable extends Error {}

/** How many rows and files an erasure removed or kept. */
export interface Erased {
  /** `gone`: the joins whose rows were removed. `stripped`: the joins with money, whose rows stay without personal data. */
  gone: number;
  stripped: number;
  documents: number;
  letters: number;
  /** The number of rows of payments, refunds, orders and memberships that stay. */
  money: number;
}

/**
 * Erases joins, in the caller's transaction: all rows that belong to them, and the files of their documents. A join with money or
 * a membership is kept as a row that names nobody, with its payments, refunds, orders and memberships; the memberships lose their
 * member numbers. `beforeRemoval` runs after the last check that can throw, and before anything is removed. Throws {@link
 * NotErasable}.
 */
export async function eraseJoins(
  trx: Kysely<Tables>,
  { storage }: Pick<Deps, 'storage'>,
  joins: readonly string[],
  beforeRemoval: () => Promise<void> = async () => {},
): Promise<Erased> {
  const these = sql`any(${joins}::uuid[])`;
  // Locks the join sessions before the rows that belong to them. Payments lock in the same order, so deadlocks cannot occur.
  await sql`select from join_session where uuid = ${these} order by uuid for update`.execute(trx);
  const open = await sql<{ text: string }>`
    select 'Join ' || session_uuid || ' is not erased: a payment of it is open.' as text
    from payment where session_uuid = ${these} and status = 'open'`.execute(trx);
  const refusals = [...(await refusalsOf(trx, joins)), ...open.rows.map(({ text }) => text)];
  if (refusals.length > 0) throw new NotErasable(refusals.join('\n'));
  await beforeRemoval();

  const { rows: typed } = await sql<Typed>`
    select person_id as "personId", lower(details ->> 'personalEmail') as email, state = 'paid' as "isPaid"
    from join_session where uuid = ${these} and person_id is not null`.execute(trx);
  const { rows: paid } = await sql<{ uuid: string }>`
    select uuid from join_session session where uuid = ${these} and (
      exists (select from payment where session_uuid = session.uuid and status in ('succeeded', 'duplicate'))
      or exists (select from refund join payment using (intent_id) where session_uuid = session.uuid)
      or exists (select from shipment where session_uuid = session.uuid)
      or exists (select from membership where session_uuid = session.uuid))`.execute(trx);
  const kept = paid.map(({ uuid }) => uuid);
  const gone = joins.filter((uuid) => !kept.includes(uuid));
  const { rows: told } = await sql<{ id: number }>`
    select id from ${deliveriesOf(sql`(select uuid from join_session where uuid = ${these} and paid_at is not null)`)} as told (id)`.execute(
    trx,
  );
  const { rows: documents } = await sql<{ storage_key: string }>`
    delete from document where session_uuid = ${these} returning storage_key`.execute(trx);
  const letters = await sql`delete from letter where session_uuid = ${these}`.execute(trx);
  for (const table of ['staff_notice', 'card_failure', 'pass', 'upload_link', 'pay_link', 'refund_request'])
    await sql`delete from ${sql.table(table)} where session_uuid = ${these}`.execute(trx);
  await sql`delete from limit_count where key = any(${joins}::text[])`.execute(trx);
  const money = await strip(trx, kept);
  for (const table of ['order_snapshot', 'payment'])
    await sql`delete from ${sql.table(table)} where session_uuid = any(${gone}::uuid[])`.execute(trx);
  const removed = await sql`delete from join_session where uuid = any(${gone}::uuid[])`.execute(trx);
  await forgetSent(trx, sql`(select unnest(${told.map(({ id }) => id)}::bigint[]))`);
  await forgetDetails(trx, typed);
  // Must be the last statement, because the statements above fire triggers that record further steps.
  await sql`delete from join_event where session_uuid = ${these}`.execute(trx);
  // Removes the files before the commit. If a removal failed after the commit, no row would be left by which the file could be
  // found.
  for (const { storage_key } of documents) await storage.remove(storage_key);
  return {
    gone: Number(removed.numAffectedRows ?? 0),
    stripped: kept.length,
    documents: documents.length,
    letters: Number(letters.numAffectedRows ?? 0),
    money,
  };
}

/** A join that was erased: its person, and the email that was typed in it, in lower case. */
interface Typed {
  personId: number;
  email: string | null;
  isPaid: boolean;
}

/**
 * Removes the data that erased joins have added to their persons. A person without other joins keeps only the contact's data. A
 * person about whom nothing else is known is removed. If a person's details came from an erased join, those of another join
 * replace them.
 */
async function forgetDetails(trx: Kysely<Tables>, typed: readonly Typed[]): Promise<void> {
  const chain = chainOf(sql`unnest(${typed.map(({ personId }) => personId)}::bigint[])`);
  const { rows } = await sql<{
    id: number;
    profile: ContactProfile;
    email: string | null;
    details: StudentDetails | null;
    others: StudentDetails[];
    has_paid: boolean;
  }>`
    select id, profile, email, details, array(select details from join_session
      where person_id = person.id and details is not null order by state = 'paid' desc, created_at desc) as others,
      exists (select from join_session where person_id = person.id and state = 'paid') as has_paid
    from person where id in ${chain} order by id for update`.execute(trx);
  const emailOf = (details: StudentDetails) => details.personalEmail.toLowerCase();
  for (const { id, profile, email, details, others, has_paid } of rows) {
    const isOfOthers = (given: string | null) => others.some((other) => emailOf(other) === given);
    const isGone = typed.some(
      (join) =>
        join.personId === id &&
        (join.isPaid || !has_paid) &&
        !isOfOthers(join.email) &&
        details !== null &&
        join.email === emailOf(details),
    );
    if (others.length > 0 && !isGone) continue;
    const known = others[0] ?? null;
    const contact = { ...profile, personalEmail: profile.personalEmail || email };
    await sql`
      update person set details = ${known && JSON.stringify(known)}::jsonb, likeness = ${likenessOf(known ?? contact)},
        words = ${[searchWords({ ...profile, email: email ?? profile.email }), ...(known ? [searchWords(known)] : [])].join(BAR)}
      where id = ${id}`.execute(trx);
  }
  // Notes by staff were about the joins, so they go with the last one.
  const left = rows.filter(({ others }) => others.length === 0).map(({ id }) => id);
  await sql`delete from person_note where person_id = any(${left}::bigint[])`.execute(trx);
  await removeUnused(trx, sql`id = any(${rows.map(({ id }) => id)}::bigint[]) and contact_id is null`);
}

/**
 * Removes the persons who meet the condition `which` on `person` and have no join, membership, invitation or document. A person
 * remains if somebody was merged into them who does not meet `which`.
 */
export async function removeUnused(trx: Kysely<Tables>, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    delete from person where ${which}
      and not exists (select from join_session where person_id = person.id)
      and not exists (select from membership where person_id = person.id)
      and not exists (select from invitation where person_id = person.id)
      and not exists (select from document where person_id = person.id)
      and not exists (select from person other where other.merged_into = person.id and not (
        select ${which} from person where person.id = other.id))`.execute(trx);
}

/**
 * Removes the personal data from joins with money, and keeps the data that an accountant needs. Returns how many rows about money
 * are kept.
 */
async function strip(trx: Kysely<Tables>, kept: readonly string[]): Promise<number> {
  const these = sql`any(${kept}::uuid[])`;
  // A trigger clears the personal columns of the row, now and at each later change (the schema's trigger zz_keep_join_erased).
  await sql`update join_session set erased_at = coalesce(erased_at, now()) where uuid = ${these}`.execute(
    trx,
  );
  await sql`
    update payment set client_secret = '', customer_id = '', receipt_email = null, payer_name = null, payment_method_id = null,
      card_brand = null, card_last4 = null, saves_card = null
    where session_uuid = ${these}`.execute(trx);
  await sql`
    update membership set person_id = null, member_number = null, is_unlisted = true
    where session_uuid = ${these}`.execute(trx);
  await sql`update shipment set note = null where session_uuid = ${these}`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    select ((select count(*) from payment where session_uuid = ${these})
      + (select count(*) from refund join payment using (intent_id) where session_uuid = ${these})
      + (select count(*) from order_snapshot where session_uuid = ${these})
      + (select count(*) from membership where session_uuid = ${these}))::int as count`.execute(trx);
  return rows[0]!.count;
}
