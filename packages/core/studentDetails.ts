import { cleanEmail, cleanText } from './cleanText.ts';
import { tidyPostcode } from './postcode.ts';
import { GUARDIAN_CONSENT_REQUIRED } from './sentences.ts';

/** The fields that can be corrected once they were submitted. */
export const correctable = [
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
] as const;

/** The text fields, in the order of the screen. */
const textFields = [...correctable, 'highSchoolName', 'highSchoolGraduationYear', 'highSchoolGpa'] as const;

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

export type CorrectableField = (typeof correctable)[number];

/** Details with all fields empty. */
export const noDetails = {
  ...Object.fromEntries(textFields.map((field) => [field, ''])),
  agreeToPolicies: false,
} as StudentDetails;

/** A country as the rules need it. */
export interface CountryRule {
  hasSubdivisions: boolean;
  /** The names of its subdivisions; null if they are not known here, which accepts every state. */
  subdivisions: readonly string[] | null;
}

/**
 * The facts that the rules need in addition to the details: the current year, a country by its full name (undefined if it does
 * not exist), and whether the programme asks for guardian consent.
 */
export interface StudentDetailsContext {
  currentYear: number;
  country(name: string): CountryRule | undefined;
  asksGuardianConsent: boolean;
}

/** The maximum length of every field, in characters. */
export const FIELD_MAX_LENGTH = 200;
export const INVALID_EMAIL = 'Invalid email address.';
const INVALID_SCHOOL_EMAIL = 'Invalid school email address.';

/** The fields' names in sentences (specification, section 5). */
export const fieldNames: Record<(typeof textFields)[number], string> = {
  firstName: 'First name',
  middleName: 'Middle name',
  lastName: 'Last name',
  personalEmail: 'Personal email',
  schoolEmail: 'School email',
  country: 'Country',
  address1: 'Address Line 1',
  address2: 'Address Line 2',
  city: 'City',
  state: 'State/Province',
  zipcode: 'Zipcode',
  highSchoolName: 'High School Name',
  highSchoolGraduationYear: 'Graduation Year',
  highSchoolGpa: 'High School GPA',
};
/** The labels of these fields on forms. */
export const fieldLabels: Record<(typeof textFields)[number], string> = {
  ...fieldNames,
  address1: 'Address line 1',
  address2: 'Address line 2',
  highSchoolName: 'High school name',
  highSchoolGraduationYear: 'Graduation year',
  highSchoolGpa: 'High school GPA',
};
export const optionalFields: readonly StudentDetailsField[] = ['middleName', 'schoolEmail', 'address2'];
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

/** Cleans all text fields, and brings the postcode into its country's form. */
export function cleanDetails<Details extends StudentDetails>(details: Details): Details {
  const cleaned = Object.fromEntries(
    Object.entries(details).map(([field, value]) => [
      field,
      typeof value !== 'string' ? value : field.endsWith('Email') ? cleanEmail(value) : cleanText(value),
    ]),
  ) as unknown as Details;
  return { ...cleaned, zipcode: tidyPostcode(cleaned.zipcode, cleaned) };
}

/**
 * Returns the sentence of each broken rule by field, in the order of the screen; an empty object when the details are valid. The
 * details are those that {@link cleanDetails} returns.
 */
export function studentDetailsErrors(
  details: SubmittedDetails,
  context: StudentDetailsContext,
): StudentDetailsErrors {
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
  const required = `${fieldNames[field]} is required.`;
  if (value.length > FIELD_MAX_LENGTH)
    return `${fieldNames[field]} must be ${FIELD_MAX_LENGTH} characters or fewer.`;
  if (field === 'state') return stateError(value, details.country, context);
  if (value === '') return optionalFields.includes(field) ? undefined : required;
  switch (field) {
    case 'country':
      return context.country(value) ? undefined : required;
    case 'personalEmail':
      return isEmail(value) ? undefined : INVALID_EMAIL;
    case 'schoolEmail':
      return isEmail(value) ? undefined : INVALID_SCHOOL_EMAIL;
    case 'highSchoolGraduationYear':
      return graduationYears(context.currentYear).includes(value) ? undefined : required;
    case 'highSchoolGpa':
      return gpaValues.includes(value) ? undefined : required;
    default:
      return undefined;
  }
}

/** Only if the country has subdivisions, the state is required and must be one of them (specification, section 5). */
function stateError(state: string, country: string, context: StudentDetailsContext): string | undefined {
  const { hasSubdivisions = false, subdivisions = null } = context.country(country) ?? {};
  if (!hasSubdivisions) return undefined;
  if (state === '') return `${fieldNames.state} is required.`;
  return subdivisions === null || subdivisions.includes(state)
    ? undefined
    : `${fieldNames.state} must be one of the chosen country.`;
}
