import { sql, type Transaction } from 'kysely';
import type { Tables } from '../platform/database/types.ts';
import type { Delivery } from './deliveries.ts';
import type { Deps } from './deps.ts';
import { joinPersons, lockPersons } from './joinPersons.ts';
import { queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

/** A contact that is likely the same as a person (`isOwn` is false), or that was created for them. */
export interface ContactOfPerson {
  row: Delivery;
  contactId: string;
  isOwn: boolean;
}

/**
 * Records the contacts of persons. A contact that was created for a person becomes theirs; if the mirror has read it meanwhile,
 * the two rows are merged. If the contact belongs to another person, or was only found for this one, this person is attached to
 * it: their purchases are written into it. A person whose email was corrected meanwhile, or who was merged, is not attached.
 */
export async function noteContacts(deps: Deps, contacts: readonly ContactOfPerson[]): Promise<void> {
  if (contacts.length === 0) return;
  await deps.database.transaction().execute(async (trx) => {
    const named = sql`any(${contacts.map(({ contactId }) => contactId)}::text[])`;
    const ids = sql`any(${contacts.map(({ row }) => row.personId)}::bigint[])`;
    await lockPersons(trx, sql`(id = ${ids} or contact_id = ${named})`);
    const changed: number[] = [];
    for (const { row, contactId, isOwn } of contacts) {
      const email = row.own.details?.personalEmail ?? null;
      const { rows } = await sql<{
        before: string | null;
        isOthers: boolean;
        isSame: boolean;
        isMerged: boolean;
      }>`
        select contact_id as before, exists (select from person other where other.contact_id = ${contactId} and other.id <> person.id and (other.made_contact
            or exists (select from join_session where join_session.person_id = other.id)
            or exists (select from invitation where invitation.person_id = other.id))) as "isOthers",
          details ->> 'personalEmail' is not distinct from ${email} as "isSame", merged_into is not null as "isMerged"
        from person where id = ${row.personId} and erased_at is null`.execute(trx);
      const [now] = rows;
      if (!now) continue;
      if (isOwn && !now.isOthers) {
        if (now.before === contactId) continue;
        const isKnown = await becomeContact(trx, row.personId, contactId, now.before);
        if (isKnown || now.isMerged) changed.push(row.personId);
      } else if (now.isSame && !now.isMerged) {
        await sql`update person set found_contact_id = ${contactId} where id = ${row.personId}`.execute(trx);
        await sql`delete from crm_delivery where person_id = ${row.personId}`.execute(trx);
        changed.push(row.personId);
      }
    }
    await queuePersonsForHubspot(trx, sql`(select unnest(${changed}::bigint[]))`);
  });
}

/**
 * Makes a contact that was created for a person their contact. `before` is the id of their deleted contact, which still leads to
 * them. Returns whether the mirror already had the contact, so that there may be more to send.
 */
async function becomeContact(
  trx: Transaction<Tables>,
  personId: number,
  contactId: string,
  before: string | null,
): Promise<boolean> {
  const { rows } = await sql<{ id: number }>`
    update person set contact_id = null where contact_id = ${contactId} and id <> ${personId} returning id`.execute(
    trx,
  );
  const [read] = rows;
  await sql`
    update person set contact_id = ${contactId}, made_contact = true, found_contact_id = null, deleted_at = null, is_member = false,
      profile = '{}', email = null, fetched_at = null
    where id = ${personId}`.execute(trx);
  if (read) {
    await joinPersons(trx, { from: read.id, into: personId });
    await sql`update person set profile = '{}', email = null where id = ${read.id}`.execute(trx);
    await sql`delete from crm_delivery where person_id = ${read.id}`.execute(trx);
  }
  if (before !== null)
    await sql`insert into person (contact_id, deleted_at, merged_into) values (${before}, now(), ${personId})`.execute(
      trx,
    );
  return read !== undefined;
}
