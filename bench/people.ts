import type pg from 'pg';
import { contactIdOf, emailOf, inviteCodeOf } from './flows/ours.ts';
import type { People } from './load/load.ts';

/**
 * Writes people who are invited by a code of their own into the mirror, as if HubSpot had just told of them: their joins
 * speak to no CRM.
 */
export async function invite(database: pg.Client, { first, last }: People): Promise<void> {
  const profile = {
    firstName: 'Jordan',
    lastName: 'Rivera',
    address: '12 Oak Street',
    city: 'Austin',
    state: 'TX',
    zip: '78701',
    country: 'US',
    highSchoolName: 'Austin High School',
    acceptedPrivacyPolicy: false,
  };
  for (let from = first; from <= last; from += 10_000) {
    const numbers = Array.from({ length: Math.min(10_000, last - from + 1) }, (_, index) => from + index);
    const values = [numbers.map(contactIdOf), numbers.map(emailOf)];
    await database.query(
      `insert into contact (id, profile, email, fetched_at)
       select id, $3::jsonb || jsonb_build_object('email', email, 'personalEmail', email), email, now()
       from unnest($1::text[], $2::text[]) as person (id, email)`,
      [...values, JSON.stringify(profile)],
    );
    await database.query(
      'insert into invitation (code, contact_id) select * from unnest($1::text[], $2::text[])',
      [numbers.map(inviteCodeOf), values[0]],
    );
  }
}
