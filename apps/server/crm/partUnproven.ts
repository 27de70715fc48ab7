import { sql } from 'kysely';
import { type Holdings, isOfUnproven } from '#core/people.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import type { Database } from '../platform/database/client.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import { isProven } from '../session/alike.ts';
import { followMoved } from '../session/followMoved.ts';
import { holdings } from '../session/members.ts';
import { attachAnew, hubspotIsToHear, isOfJoinsOf } from './hubspotIsToHear.ts';

/**
 * Gives the joins of a person whose joiner is not proven a person of their own, with all that they said and bought, if the person is
 * known by such joins alone ({@link isOfUnproven}). To be called once a code or a link has begun a join of the person: from then on the
 * contact is somebody who is known, and the others get another, or are attached to it.
 */
export async function partUnproven(database: Database, personId: number): Promise<void> {
  const isStray = sql`person_id = ${personId} and not ${isProven('session')}`;
  await database.transaction().execute(async (trx) => {
    const { rows: strays } =
      await sql`select from join_session session where ${isStray} order by uuid for update`.execute(trx);
    const { rows } = await sql<{ profile: ContactProfile; email: string | null; holdings: Holdings }>`
      select profile, email, ${holdings('person.id')} as holdings from person where id = ${personId} for update`.execute(
      trx,
    );
    const [person] = rows;
    if (!person || !isOfUnproven(person.holdings) || strays.length === 0) return;
    const { rows: parted } = await sql<{ id: number }>`
      with own as (
        insert into person (details, likeness, words) select details, likeness, words from person where id = ${personId}
        returning id
      )
      update join_session session set person_id = own.id from own where ${isStray} returning own.id`.execute(
      trx,
    );
    await followMoved(trx, sql`(${personId})`);
    await attachAnew(trx, isOfJoinsOf(sql`${parted[0]!.id}`));
    const known = { ...person.profile, email: person.email ?? person.profile.email };
    await sql`
      update person set made_contact = false, details = null, words = ${searchWords(known)},
        likeness = ${likenessOf({ ...known, personalEmail: known.personalEmail || known.email })}
      where id = ${personId}`.execute(trx);
    await hubspotIsToHear(trx, sql`(values (${personId}::bigint), (${parted[0]!.id}::bigint))`);
  });
}
