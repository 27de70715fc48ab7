import type { StudentDetails } from '#core/studentDetails.ts';
import type { ContactProfile } from '../database/types.ts';

/** The contact record of the specification (section 3) and the HubSpot property that holds each field. */
const profileProperties = {
  firstName: 'firstname',
  middleName: 'middlename',
  lastName: 'lastname',
  address: 'address',
  address2: 'address2',
  city: 'city',
  state: 'state',
  zip: 'zip',
  country: 'country',
  email: 'email',
  personalEmail: 'personal_email',
  schoolEmail: 'school_email',
  schoolId: 'school_id',
  schoolName: 'school_name',
  acceptedPrivacyPolicy: 'accepted_privacy_policy',
  highSchoolName: 'high_school_name',
  highSchoolGraduationYear: 'high_school_graduation_year',
  highSchoolGpa: 'high_school_gpa',
} as const satisfies Record<keyof ContactProfile, string>;

export const INVITATION_CODE = 'invitation_code';
const MEMBERSHIP_STATUS = 'membership_status';

/** What we ask HubSpot for on every read. */
export const readProperties: readonly string[] = [
  ...Object.values(profileProperties),
  INVITATION_CODE,
  MEMBERSHIP_STATUS,
];

export type Properties = Record<string, string | null | undefined>;

export function toProfile(properties: Properties): ContactProfile {
  const profile: Record<string, string | boolean | null> = {};
  for (const [field, property] of Object.entries(profileProperties)) {
    const value = properties[property] ?? null;
    profile[field] = field === 'acceptedPrivacyPolicy' ? value === 'true' : value === '' ? null : value;
  }
  return profile as ContactProfile;
}

export function isMember(properties: Properties): boolean {
  return properties[MEMBERSHIP_STATUS] === 'member';
}

/** What a join tells HubSpot. A field that the member did not give is not among them, so nothing is blanked. */
export function fromJoin(join: {
  details: StudentDetails | null;
  state: string;
  membership: string | null;
  amountCents: number | null;
  paidAt: Date | null;
  /** The membership is still held: not refunded, nor lost in a dispute. */
  isHeld: boolean;
}): Record<string, string> {
  const { details } = join;
  const properties: Record<string, string> = {};
  const give = (property: string, value: string | null | undefined) => {
    if (value) properties[property] = value;
  };
  if (details) {
    give('firstname', details.firstName);
    give('middlename', details.middleName);
    give('lastname', details.lastName);
    give('address', details.address1);
    give('address2', details.address2);
    give('city', details.city);
    give('state', details.state);
    give('zip', details.zipcode);
    give('country', details.country);
    give('personal_email', details.personalEmail);
    give('school_email', details.schoolEmail);
    give('accepted_privacy_policy', details.agreeToPolicies ? 'true' : undefined);
    give('high_school_name', details.highSchoolName);
    give('high_school_graduation_year', details.highSchoolGraduationYear);
    give('high_school_gpa', details.highSchoolGpa);
  }
  give('join_stage', join.state);
  if (join.paidAt) {
    give(MEMBERSHIP_STATUS, join.isHeld ? 'member' : 'former');
    give('membership_name', join.membership);
    give('amount_paid', join.amountCents === null ? undefined : (join.amountCents / 100).toFixed(2));
    give('paid_at', join.paidAt.toISOString());
  }
  return properties;
}
