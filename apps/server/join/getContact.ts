import { sql } from 'kysely';
import type { Contact } from '#contract/schemas.ts';
import { statesAllowing } from '#core/joinSession.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { ContactProfile } from '../database/types.ts';
import type { Deps } from '../deps.ts';
import { whyNot } from './standing.ts';

const blank: Contact = {
  firstName: null,
  middleName: null,
  lastName: null,
  address: null,
  address2: null,
  city: null,
  state: null,
  zip: null,
  country: null,
  email: null,
  personalEmail: null,
  schoolEmail: null,
  schoolId: null,
  schoolName: null,
  acceptedPrivacyPolicy: false,
  highSchoolName: null,
  highSchoolGraduationYear: null,
  highSchoolGpa: null,
};

/** What is known for the details form: what this session submitted wins over the contact, the contact over the school. */
export async function getContact(deps: Deps, uuid: string): Promise<Contact> {
  let row = await find();
  // A contact that only an import has told us of is asked for once; when HubSpot is slow the mirror answers.
  if (row?.contact_id && row.is_unseen) {
    await deps.contacts.refresh(row.contact_id);
    row = await find();
  }
  if (!row) throw await whyNot(deps, 'readContact', uuid);
  return merge(row.profile, row.details, row.school);

  async function find() {
    const { rows } = await sql<{
      contact_id: string | null;
      school: string | null;
      details: StudentDetails | null;
      profile: ContactProfile | null;
      is_unseen: boolean;
    }>`
      select contact_id, school, details, contact.profile, contact.id is not null and contact.fetched_at is null as is_unseen
      from join_session left join contact on contact.id = contact_id
      where uuid = ${uuid} and state = any(${statesAllowing('readContact')})`.execute(deps.database);
    return rows[0];
  }
}

export function merge(
  profile: ContactProfile | null,
  details: StudentDetails | null,
  school: string | null,
): Contact {
  const contact: Contact = {
    ...blank,
    ...(school ? { schoolName: school, highSchoolName: school } : {}),
    ...Object.fromEntries(Object.entries(profile ?? {}).filter(([, value]) => value !== null)),
  };
  if (!details) return contact;
  const { address1, zipcode, agreeToPolicies, ...same } = details;
  return { ...contact, ...same, address: address1, zip: zipcode, acceptedPrivacyPolicy: agreeToPolicies };
}
