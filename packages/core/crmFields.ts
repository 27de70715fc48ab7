/** Which fields of a join the CRM hears of: the contact record of the specification (section 3), and the join's own. */
export const contactFields = [
  'firstName',
  'middleName',
  'lastName',
  'address',
  'address2',
  'city',
  'state',
  'zip',
  'country',
  'email',
  'personalEmail',
  'schoolEmail',
  'schoolId',
  'schoolName',
  'acceptedPrivacyPolicy',
  'highSchoolName',
  'highSchoolGraduationYear',
  'highSchoolGpa',
] as const;
export const joinFields = [
  'stage',
  'membershipStatus',
  'membership',
  'amountPaid',
  'paidAt',
  'transcriptReceivedAt',
] as const;
/** Read only: what an invitation is found by. */
export const codeField = 'invitationCode';

export type ContactField = (typeof contactFields)[number];
export type JoinField = (typeof joinFields)[number];
export type CrmField = ContactField | JoinField | typeof codeField;
export const crmFields: readonly CrmField[] = [...contactFields, ...joinFields, codeField];

/** overwrite: what the join says wins; blanks: only where nothing is yet; never: only read. */
export type WriteRule = 'overwrite' | 'blanks' | 'never';
export interface FieldRule {
  /** The CRM's name of it; null: the CRM neither has it nor hears of it. */
  property: string | null;
  write: WriteRule;
}
export type FieldRules = Record<CrmField, FieldRule>;

/** What a society gets that says nothing: HubSpot's own properties, and those of docs/integrations.md. */
export const defaultFieldRules: FieldRules = {
  firstName: { property: 'firstname', write: 'overwrite' },
  middleName: { property: 'middlename', write: 'overwrite' },
  lastName: { property: 'lastname', write: 'overwrite' },
  address: { property: 'address', write: 'overwrite' },
  address2: { property: 'address2', write: 'overwrite' },
  city: { property: 'city', write: 'overwrite' },
  state: { property: 'state', write: 'overwrite' },
  zip: { property: 'zip', write: 'overwrite' },
  country: { property: 'country', write: 'overwrite' },
  email: { property: 'email', write: 'never' },
  personalEmail: { property: 'personal_email', write: 'overwrite' },
  schoolEmail: { property: 'school_email', write: 'overwrite' },
  schoolId: { property: 'school_id', write: 'never' },
  schoolName: { property: 'school_name', write: 'never' },
  acceptedPrivacyPolicy: { property: 'accepted_privacy_policy', write: 'overwrite' },
  highSchoolName: { property: 'high_school_name', write: 'overwrite' },
  highSchoolGraduationYear: { property: 'high_school_graduation_year', write: 'overwrite' },
  highSchoolGpa: { property: 'high_school_gpa', write: 'overwrite' },
  stage: { property: 'join_stage', write: 'overwrite' },
  membershipStatus: { property: 'membership_status', write: 'overwrite' },
  membership: { property: 'membership_name', write: 'overwrite' },
  amountPaid: { property: 'amount_paid', write: 'overwrite' },
  paidAt: { property: 'paid_at', write: 'overwrite' },
  transcriptReceivedAt: { property: 'transcript_received_at', write: 'overwrite' },
  invitationCode: { property: 'invitation_code', write: 'never' },
};

/** A value that the join has for a field. */
export interface FieldValue {
  field: CrmField;
  value: string;
}

/**
 * What a write sends, by property. `known` is what the CRM had of each field when we last knew: as the form showed it,
 * then as it was written. What the member left as it was is not sent, so that what staff wrote meanwhile stays. `present`
 * is what the CRM holds now, where that had to be read: fields that only fill blanks are sent where it has none.
 */
export function propertiesToSend(
  rules: FieldRules,
  values: readonly FieldValue[],
  known: Partial<Record<CrmField, string>>,
  present: Record<string, string | null | undefined> | null,
  mode: 'own' | 'blanks',
): Record<string, string> {
  const properties: Record<string, string> = {};
  for (const { field, value } of values) {
    const { property, write } = rules[field];
    if (property === null || write === 'never' || value === '' || known[field] === value) continue;
    if ((mode === 'blanks' || write === 'blanks') && (!present || present[property])) continue;
    properties[property] = value;
  }
  return properties;
}

/** Whether what the CRM holds now must be read before these values can be written. */
export function mustRead(
  rules: FieldRules,
  values: readonly FieldValue[],
  known: Partial<Record<CrmField, string>>,
): boolean {
  return values.some(
    ({ field, value }) => rules[field].write === 'blanks' && value !== '' && known[field] !== value,
  );
}
