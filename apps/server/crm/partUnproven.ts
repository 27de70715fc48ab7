import { sql } from 'kysely';
import { type Holdings, isOfUnproven } from '#core/people.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { Database } from '../platform/database/client.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import { isProven } from '../session/alike.ts';
import { holdings } from '../session/members.ts';
import { lockPersons, moveRows } from './joinPersons.ts';
import { attachAnew, isOfJoinsOf, queuePersonsForHubspot } from './queuePersonsForHubspot.ts';

/**
 * Moves the unproven joins of a person, with their details and purchases, to a new person, if the person is known only by such
 * joins ({@link isOfUnproven}). To be called once a code or a link has begun a join of the person. From then on the contact
 * belongs to the person for whom the code or link is meant; the new person gets another contact or is attached to this one.
 */
export async function partUnproven(database: Database, personId: number): Promise<void> {
  await database.transaction().execute(async (trx) => {
    await lockPersons(trx, sql`id = ${personId}`, 'update');
    const { rows } = await sql<{
      profile: ContactProfile;
      email: string | null;
      holdings: Holdings;
      strays: string[];
    }>`
      select profile, email, ${holdings('person.id')} as holdings,
        array(select uuid::text from join_session session where person_id = person.id and not ${isProven('session')}) as strays
      from person where id = ${personId}`.execute(trx);
    const [person] = rows;
    if (!person || !isOfUnproven(person.holdings) || person.strays.length === 0) return;
    const { rows: parted } = await sql<{ id: number }>`
      insert into person (details, likeness, words) select details, likeness, words from person where id = ${personId}
      returning id`.execute(trx);
    const { id } = parted[0]!;
    const only = { joins: person.strays, invitations: [], documents: [] };
    await moveRows(trx, { from: personId, into: id }, only);
    await attachAnew(trx, isOfJoinsOf(sql`${id}`));
    const known = { ...person.profile, email: person.email ?? person.profile.email };
    await sql`
      update person set made_contact = false, details = null, words = ${searchWords(known)},
        likeness = ${likenessOf({ ...known, personalEmail: known.personalEmail || known.email })}
      where id = ${personId}`.execute(trx);
    await queuePersonsForHubspot(trx, sql`(values (${personId}::bigint), (${id}::bigint))`);
  });
}
