import type { Outcome } from '#client/failures.ts';
import type { Answered } from '#contract/schemas.ts';
import { fallback } from '#core/sentences.ts';
import { DEFAULT_COUNTRY } from '#reference/lookup.ts';
import { call, outcomeOf, requireSession } from '../../lib/api.ts';
import { findCountry, subdivisionsOf } from '../../lib/countries.ts';
import { draft } from '../../lib/session.ts';
import { type ToProve, withProof } from '../../lib/toProve.ts';
import { noPlace, type Place } from './prefill.ts';

/**
 * Loads the contact, and the subdivisions of the contact's country (or of the default country) and of the draft's country, which
 * are needed to prefill the state. A country that is not in the list has none.
 */
export async function loader(): Promise<{
  contact: Outcome<Answered<'getContact'> & { toProve: ToProve | null }>;
  place: Place;
}> {
  const uuid = requireSession();
  const contact = await outcomeOf(
    withProof(call('getContact', { params: { uuid }, loading: true })),
    fallback.getContact,
  );
  // Only a contact without a country gets the default one (specification, section 2).
  const given = ('data' in contact && contact.data.country) || DEFAULT_COUNTRY;
  const country = findCountry(given);
  const drafted = findCountry(draft.recall()?.country ?? '');
  const [subdivisions] = await Promise.all([
    country && subdivisionsOf(country),
    drafted && subdivisionsOf(drafted),
  ]);
  return { contact, place: country ? { ...country, subdivisions: subdivisions ?? null } : noPlace };
}
