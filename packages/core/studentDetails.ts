import { GUARDIAN_CONSENT_REQUIRED } from './sentences.ts';

/** The text fields, in the order of the screen. */
const textFields = [
  'firstName',
  'middleName',
  'lastName',
  'personalEmail',
  'schoolEmail',
  'country',
  'address1',
  'address2',
  'city',
  'state',
  'zipcode',
  'highSchoolName',
  'highSchoolGraduationYear',
  'highSchoolGpa',
] as const;

/** The payload of the student details (specification, section 3). `country` is the full name. */
export type StudentDetails = Record<(typeof textFields)[number], string> & { agreeToPolicies: boolean };
export type StudentDetailsField = keyof StudentDetails;

/**
 * The submission of the Student Details screen: the details, and the guardian consent, for which only some programmes ask. The
 * consent is stored apart from the details and never sent to HubSpot.
 */
export type SubmittedDetails = StudentDetails & { hasGuardianConsent: boolean };
export type SubmittedField = keyof SubmittedDetails;
export type StudentDetailsErrors = Partial<Record<SubmittedField, string>>;

/** The fields of the details, in the order of the screen. A contact has corresponding fields. */
export const studentDetailsFields: readonly StudentDetailsField[] = [...textFields, 'agreeToPolicies'];
/** All submitted fields, in the order of the screen and of its error summary. */
export const submittedFields: readonly SubmittedField[] = [...studentDetailsFields, 'hasGuardianConsent'];

/** Details with all fields empty. */
export const noDetails = {
  ...Object.fromEntries(textFields.map((field) => [field, ''])),
  agreeToPolicies: false,
} as StudentDetails;

/**
 * The facts that the rules need besides the details: the current year, whether a country (by full name) exists and has
 * subdivisions, and whether the programme asks for guardian consent.
 */
export interface StudentDetailsContext {
  currentYear: number;
  country(name: string): { hasSubdivisions: boolean } | undefined;
  asksGuardianConsent: boolean;
}

/** The maximum length of every field, in characters. */
export const FIELD_MAX_LENGTH = 200;
const FIELD_TOO_LONG = `Must be ${FIELD_MAX_LENGTH} characters or fewer.`;
export const INVALID_EMAIL = 'Invalid email address.';

/** The required fields, each with the sentence for an empty one (specification, section 5). */
const required: Partial<Record<StudentDetailsField, string>> = {
  firstName: 'First name is required.',
  lastName: 'Last name is required.',
  address1: 'Address Line 1 is required.',
  city: 'City is required.',
  zipcode: 'Zipcode is required.',
  country: 'Country is required.',
  personalEmail: 'Personal email is required.',
  highSchoolName: 'High School Name is required.',
  highSchoolGraduationYear: 'Graduation Year is required.',
  highSchoolGpa: 'High School GPA is required.',
};
const STATE_REQUIRED = 'State/Province is required.';
const POLICIES_REQUIRED = 'You must agree to the policies.';

/** The current year and the next nine (specification, section 2). */
export function graduationYears(currentYear: number): string[] {
  return Array.from({ length: 10 }, (_, i) => String(currentYear + i));
}

/** The grade averages from 0.0 to 4.0 in steps of 0.1, which are 41 values (specification, section 2). */
export const gpaValues: readonly string[] = Array.from({ length: 41 }, (_, i) => (i / 10).toFixed(1));

/** Whether a text matches the specification's simple pattern: something, an at sign, something with a dot, and no spaces. */
export function isEmail(value: string): boolean {
  return /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
}

/**
 * Trims all text fields, and brings the postcode into its standard form. Removes a full stop or comma after an email: two spaces on
 * a phone make a full stop.
 */
export function trimDetails<Details extends StudentDetails>(details: Details): Details {
  const trimmed = Object.fromEntries(
    Object.entries(details).map(([key, value]) => [key, typeof value === 'string' ? value.trim() : value]),
  ) as unknown as Details;
  const tidyEmail = (email: string) => email.replace(/[.,]+$/, '');
  return {
    ...trimmed,
    personalEmail: tidyEmail(trimmed.personalEmail),
    schoolEmail: tidyEmail(trimmed.schoolEmail),
    zipcode: tidyPostcode(trimmed.zipcode, trimmed.country),
  };
}

/**
 * Returns a postcode as the country's post writes it: "k1a0b6" → "K1A 0B6", "787 01" → "78701", "78701 1234" → "78701-1234". A
 * postcode of any other form or country stays as typed, since the specification has no rule for it. `country` is a full name.
 */
export function tidyPostcode(typed: string, country: string): string {
  const close = typed.replace(/[\s-]+/g, '').toUpperCase();
  if (country === 'Canada' && /^[A-Z]\d[A-Z]\d[A-Z]\d$/.test(close))
    return `${close.slice(0, 3)} ${close.slice(3)}`;
  if (country === 'United States' && /^\d{5}$/.test(close)) return close;
  if (country === 'United States' && /^\d{9}$/.test(close)) return `${close.slice(0, 5)}-${close.slice(5)}`;
  return typed;
}

/** Returns the sentence of each broken rule by field, in the order of the screen; an empty object when the details are valid. */
export function studentDetailsErrors(
  given: SubmittedDetails,
  context: StudentDetailsContext,
): StudentDetailsErrors {
  const details = trimDetails(given);
  const errors: StudentDetailsErrors = {};
  for (const field of submittedFields) {
    const message = fieldError(field, details, context);
    if (message) errors[field] = message;
  }
  return errors;
}

function fieldError(
  field: SubmittedField,
  details: SubmittedDetails,
  context: StudentDetailsContext,
): string | undefined {
  if (field === 'agreeToPolicies') return details.agreeToPolicies ? undefined : POLICIES_REQUIRED;
  if (field === 'hasGuardianConsent')
    return details.hasGuardianConsent || !context.asksGuardianConsent ? undefined : GUARDIAN_CONSENT_REQUIRED;
  const value = details[field];
  if (value === '' && required[field]) return required[field];
  if (value.length > FIELD_MAX_LENGTH) return FIELD_TOO_LONG;
  switch (field) {
    case 'state':
      return value === '' && context.country(details.country)?.hasSubdivisions ? STATE_REQUIRED : undefined;
    case 'country':
      return context.country(value) ? undefined : required.country;
    case 'personalEmail':
      return isEmail(value) ? undefined : INVALID_EMAIL;
    case 'schoolEmail':
      return value === '' || isEmail(value) ? undefined : INVALID_EMAIL;
    case 'highSchoolGraduationYear':
      return graduationYears(context.currentYear).includes(value)
        ? undefined
        : required.highSchoolGraduationYear;
    case 'highSchoolGpa':
      return gpaValues.includes(value) ? undefined : required.highSchoolGpa;
    default:
      return undefined;
  }
}
