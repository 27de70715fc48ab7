import { sql } from 'kysely';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Database } from '../platform/database/client.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import { isProven } from './alike.ts';
import { BAR } from './words.ts';

/**
 * Gives the unpaid joins of a person whose joiner is not proven persons of their own, if such a join had created the person's contact.
 * To be called once a code or a link has begun a join of the person: from then on the contact is somebody who is known, and what an
 * unproven join goes on to say is of somebody else.
 */
export async function partUnproven(database: Database, personId: number): Promise<void> {
  await database.transaction().execute(async (trx) => {
    const { rows: strays } = await sql<{ uuid: string; details: StudentDetails | null }>`
      select uuid, details from join_session session
      where person_id = ${personId} and not ${isProven('session')} and state <> 'paid' and paying_since is null
      order by uuid for update`.execute(trx);
    const { rows } = await sql<{ contactId: string; profile: ContactProfile; email: string | null }>`
      select contact_id as "contactId", profile, email from person where id = ${personId} and made_contact for update`.execute(
      trx,
    );
    const [person] = rows;
    if (!person || strays.length === 0) return;
    for (const { uuid, details } of strays)
      await sql`
        with own as (
          insert into person (found_contact_id, details, likeness, words)
          values (${person.contactId}, ${details && JSON.stringify(details)}::jsonb, ${details && likenessOf(details)},
            ${details === null ? '' : BAR + searchWords(details)})
          returning id
        )
        update join_session set person_id = own.id, crm_known = '{}' from own where uuid = ${uuid}`.execute(
        trx,
      );
    const known = { ...person.profile, email: person.email ?? person.profile.email };
    await sql`
      update person set made_contact = false, details = null, words = ${searchWords(known)},
        likeness = ${likenessOf({ ...known, personalEmail: known.personalEmail || known.email })}
      where id = ${personId} and not exists (select from join_session where person_id = ${personId} and state = 'paid')`.execute(
      trx,
    );
  });
}
