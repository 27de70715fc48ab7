import type { Data } from '#contract/schemas.ts';
import { fallback } from '#core/sentences.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { DEFAULT_COUNTRY } from '#reference/lookup.ts';
import { call, type Outcome, outcomeOf, requireSession } from '../../lib/api.ts';
import { findCountry, subdivisionsOf } from '../../lib/countries.ts';
import { recall } from '../../lib/session.ts';
import type { Place } from './prefill.ts';

/**
 * Loads the contact, and the subdivisions of the contact's country (or of the default country), which are needed to prefill the
 * state.
 */
export async function loader(): Promise<{ contact: Outcome<Data<'getContact'>>; place: Place }> {
  const uuid = requireSession();
  const contact = await outcomeOf(
    call('getContact', { params: { uuid }, loading: true }),
    fallback.getContact,
  );
  const given = 'data' in contact ? findCountry(contact.data.country ?? '') : undefined;
  const country = given ?? findCountry(DEFAULT_COUNTRY)!;
  const drafted = findCountry(recall<StudentDetails>('joinDraft')?.country ?? '');
  const [subdivisions] = await Promise.all([subdivisionsOf(country), drafted && subdivisionsOf(drafted)]);
  return { contact, place: { ...country, subdivisions } };
}
