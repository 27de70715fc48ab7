import type { StudentDetailsField } from './studentDetails.ts';

/** The fields of a contact (specification, section 3). */
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

export type ContactField = (typeof contactFields)[number];

/** The known fields of a contact; a text field is null if it is unknown. */
export type Contact = {
  [Field in ContactField]: Field extends 'acceptedPrivacyPolicy' ? boolean : string | null;
};
/** A contact whose fields are all unknown. */
export const noContact = {
  ...Object.fromEntries(contactFields.map((field) => [field, null])),
  acceptedPrivacyPolicy: false,
} as Contact;

/** Returns the contact's field that corresponds to a field of the student details. Most have the same name. */
export function contactFieldOf(field: StudentDetailsField): ContactField {
  return (
    renamed[field as keyof typeof renamed] ?? (field as Exclude<StudentDetailsField, keyof typeof renamed>)
  );
}
const renamed = { address1: 'address', zipcode: 'zip', agreeToPolicies: 'acceptedPrivacyPolicy' } as const;
