import { type Kysely, sql } from 'kysely';
import { twiceHeld } from '#core/people.ts';
import type { Tables } from '../platform/database/types.ts';
import { heldBy, notifyOfHeldTwice, notifyOfLikelySame } from './heldTwice.ts';
import { joinPersons, lockPersons } from './joinPersons.ts';
import { queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

/** A contact (`old`) that was merged into another one (`present`), by HubSpot's ids. */
export interface ContactMerge {
  old: string;
  present: string;
}

/**
 * Merges the persons of merged contacts into the persons of the contacts that remain, so that one person does not buy twice. A
 * merge changes nothing if the mirror lacks one of the two contacts, or if it was followed before. If both hold a membership of
 * the same type, staff get a notice to refund one of the two. A join that is being paid is not moved; a later call moves it.
 */
export async function moveContacts(trx: Kysely<Tables>, merges: readonly ContactMerge[]): Promise<void> {
  const { rows } = await sql<ContactMerge & { from: number; into: number }>`
    select distinct former.id as from, remaining.id as into, given.old, given.present
    from json_to_recordset(${JSON.stringify(merges)}::json) as given (old text, present text)
      join person former on former.contact_id = given.old join person present on present.contact_id = given.present
      join person remaining on remaining.id = case when present.merged_into = former.id then present.id else coalesce(present.merged_into, present.id) end
    where former.merged_into is distinct from remaining.id
      or exists (select from join_session where person_id = former.id and paying_since is null)
      or exists (select from crm_delivery where person_id = former.id)
      or exists (select from person attached where attached.found_contact_id = given.old)
    order by former.id`.execute(trx);
  if (rows.length === 0) return;
  const ids = rows.flatMap(({ from, into }) => [from, into]);
  await lockPersons(
    trx,
    sql`(id = any(${ids}::bigint[]) or found_contact_id = any(${rows.map(({ old }) => old)}))`,
  );
  for (const { from, into, old, present } of rows) {
    // If staff had merged these two persons in the opposite direction, that merge is undone first.
    await sql`update person set merged_into = null where id = ${into} and merged_into = ${from}`.execute(trx);
    await sql`update person set found_contact_id = ${present} where found_contact_id = ${old}`.execute(trx);
    const twice = twiceHeld(await heldBy(trx, from), await heldBy(trx, into));
    await joinPersons(trx, { from, into });
    await sql`
      update person set profile = '{}', email = null, is_member = false, deleted_at = null
      where id = ${from}`.execute(trx);
    // What was sent to the merged contact counts as sent to the one that remains.
    await sql`
      with former as (delete from crm_delivery where person_id = ${from} returning sent)
      insert into crm_delivery (person_id, sent) select ${into}, sent from former
      on conflict (person_id) do update set sent = excluded.sent || crm_delivery.sent`.execute(trx);
    for (const held of twice) await notifyOfHeldTwice(trx, held, { merged: old, into: present });
    await notifyOfLikelySame(trx, into);
  }
  const remaining = sql`(select unnest(${rows.map(({ into }) => into)}::bigint[]))`;
  // For a member, all purchases are compared with the values that HubSpot has kept of the two contacts, as after a payment that
  // was not sent yet.
  await sql`
    update crm_delivery set sent = sent - 'paidAt' from person own
    where own.id = crm_delivery.person_id and own.id in ${remaining} and exists (
      select from membership held join person payer on payer.id = held.person_id
      where held.type = 'membership' and is_held and (payer.id = own.id or payer.found_contact_id = own.contact_id))`.execute(
    trx,
  );
  await queuePersonsForHubspot(trx, remaining, { isAnew: true });
}
