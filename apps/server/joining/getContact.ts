import { sql } from 'kysely';
import type { Data } from '#contract/schemas.ts';
import { type Contact, contactFieldOf, noContact } from '#core/contact.ts';
import { type Holding, type JoinAccess, seesJoiner } from '#core/holding.ts';
import { type StudentDetails, studentDetailsFields } from '#core/studentDetails.ts';
import { findCountry, findListed } from '#reference/countries.ts';
import { statement } from '../platform/database/statement.ts';
import type { ContactProfile } from '../platform/database/types.ts';
import { isProven } from '../session/alike.ts';
import { guardianConsentOf } from '../session/guardianConsent.ts';
import { passFor } from '../session/passFor.ts';
import { accessOf, admitted } from '../session/standing.ts';
import { fillIn } from '../society/texts.ts';
import type { Deps } from './deps.ts';

/** A contact that was read longer ago than this many minutes is read from HubSpot again. */
const OLD_MINUTES = 10;

/**
 * Returns the known values for the details form. Each value comes from the join's details or, if they lack it, from the contact's
 * data. If both lack the school, the school comes from the invitation. If a join created the contact, an unproven join does not
 * get HubSpot's data about it, because staff may have added to them. A browser that may not see who the joiner is gets no values,
 * but a pass with which its user can prove to be the joiner.
 */
export async function getContact(deps: Deps, uuid: string, holding: Holding): Promise<Data<'getContact'>> {
  let row = await find();
  if (!seesJoiner(holding, row))
    return { ...noContact, invitation: '', guardianConsent: null, pass: passFor(deps, uuid) };
  // If the mirror never read the contact (only an import or a link named it), the request waits for HubSpot, two seconds at most.
  // If the mirror's data is old, the request is answered immediately, while the contact is refreshed.
  if (row.contact_id && row.age === 'unseen') {
    await deps.contacts.refresh(row.contact_id);
    row = await find();
  } else if (row.contact_id && row.age === 'old') {
    deps.contacts
      .refresh(row.contact_id)
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a contact was not refreshed'));
  }
  const known = merge(row.profile, row.details, row.school);
  return {
    ...known,
    country: listedCountry(known.country),
    invitation: invitationOf(row),
    guardianConsent: consentOf(row),
    pass: null,
  };

  async function find() {
    const { rows } = await readJoin(deps.database, { uuid });
    return admitted(deps, 'readContact', { uuid, holding }, rows[0]);
  }

  /**
   * Returns the sentence about the invitation. In a join by a school's code it names the school of the invitation, not of the
   * contact. It names the nominator only if the invitation does, word for word.
   */
  function invitationOf({ origin, programme, school, profile, nominated_by }: typeof row): string {
    const { invitedThroughSchool, invited, nominated, nominatedBy } = deps.society.pages.studentDetails;
    const fill = (text: string, more?: Record<string, string>) => fillIn(text, deps.society, programme, more);
    if (origin === 'self_nomination') return fill(nominated);
    const through = school ?? (origin === 'school' ? null : profile?.schoolName);
    const { independence } = deps.society.society;
    return [
      through ? fill(invitedThroughSchool, { school: through }) : fill(invited),
      ...(nominated_by ? [fill(nominatedBy, { nominatedBy: nominated_by })] : []),
      ...(through && independence ? [fill(independence)] : []),
    ].join(' ');
  }

  /**
   * Returns the guardian consent for the form. If consent was given, returns the sentence to which it was given, even if the
   * society has changed its sentence since.
   */
  function consentOf({ programme, guardian_consent }: typeof row) {
    const asked = guardianConsentOf(deps.society, programme);
    return asked === null
      ? null
      : { sentence: guardian_consent ?? asked, isGiven: guardian_consent !== null };
  }
}

const readJoin = statement<
  { uuid: string },
  JoinAccess & {
    contact_id: string | null;
    programme: string;
    school: string | null;
    details: StudentDetails | null;
    guardian_consent: string | null;
    profile: ContactProfile | null;
    age: 'unseen' | 'old' | 'fresh';
    nominated_by: string | null;
  }
>(
  ({ uuid }) => sql`
    select ${accessOf('join_session')}, case when not made_contact then contact_id end as contact_id, programme, school,
      join_session.details, guardian_consent, case when not made_contact or ${isProven('join_session')} then person.profile end as profile,
      case when person.fetched_at is null then 'unseen' when person.fetched_at < now() - make_interval(mins => ${OLD_MINUTES}) then 'old' else 'fresh' end as age,
      (select nominated_by from invitation where code = invitation_code) as nominated_by
    from join_session join person on person.id = person_id
    where uuid = ${uuid}`,
);

/**
 * Returns the name in our list for a country that a contact has under another name. A text that is no country stays as it is, and
 * the page asks the joiner about it.
 */
function listedCountry(text: string | null): string | null {
  return text === null || findListed(text) ? text : (findCountry(text)?.name ?? text);
}

export function merge(
  profile: ContactProfile | null,
  details: StudentDetails | null,
  school: string | null,
): Contact {
  const contact: Contact = {
    ...noContact,
    ...(school ? { schoolName: school, highSchoolName: school } : {}),
    ...Object.fromEntries(Object.entries(profile ?? {}).filter(([, value]) => value !== null)),
  };
  if (!details) return contact;
  // Details that an older version has saved may lack a field.
  const given = studentDetailsFields
    .filter((field) => details[field] !== undefined)
    .map((field) => [contactFieldOf(field), details[field]]);
  return { ...contact, ...Object.fromEntries(given) };
}
