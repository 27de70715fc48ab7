import { type Contact, contactFieldOf } from '#core/contact.ts';
import {
  cleanDetails,
  gpaValues,
  graduationYears,
  noDetails,
  type StudentDetails,
  type StudentDetailsField,
  studentDetailsFields,
} from '#core/studentDetails.ts';
import { DEFAULT_COUNTRY, findSubdivision, type Subdivision } from '#reference/lookup.ts';

/** A country; `subdivisions` is null when they could not be fetched. */
export interface Place {
  name: string;
  code: string;
  subdivisions: readonly Subdivision[] | null;
}

/** An empty form. The country is the default, the United States (specification, section 2). */
export const emptyDetails: StudentDetails = { ...noDetails, country: DEFAULT_COUNTRY };

/** A country that is not in the list, or no country. It has no subdivisions to choose from. */
export const noPlace: Place = { name: '', code: '', subdivisions: [] };

/**
 * Returns the form's values for a contact. Country and state are names, even if the contact has codes (specification, section 2).
 * A value that is not among the form's choices becomes empty instead of another value, and is returned by {@link unreadFields}.
 * `country` is the contact's country: the default if the contact has none, and {@link noPlace} if it is not in the list.
 */
export function prefill(contact: Contact, currentYear: number, country: Place): StudentDetails {
  const known = studentDetailsFields.map((field) => [field, contact[contactFieldOf(field)] ?? '']);
  return cleanDetails({
    ...(Object.fromEntries(known) as StudentDetails),
    country: country.name,
    state: stateIn(country, contact.state ?? ''),
    personalEmail: contact.personalEmail ?? contact.email ?? '',
    highSchoolName: contact.highSchoolName ?? contact.schoolName ?? '',
    highSchoolGraduationYear: oneOf(graduationYears(currentYear), contact.highSchoolGraduationYear),
    highSchoolGpa: oneOf(gpaValues, asGpa(contact.highSchoolGpa)),
  });
}

const plain = (postcode: string) => postcode.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
const asked = ['country', 'state', 'zipcode', 'highSchoolGraduationYear', 'highSchoolGpa'] as const;
export type UnreadFields = Partial<Record<StudentDetailsField, string>>;

/** Returns the contact's values that the form does not offer, or that were corrected for it, by field. */
export function unreadFields(contact: Contact, prefilled: StudentDetails): UnreadFields {
  return Object.fromEntries(
    asked.flatMap((field) => {
      const said = contact[contactFieldOf(field)];
      const isRead =
        field === 'zipcode' ? plain(String(said)) === plain(prefilled.zipcode) : prefilled[field] !== '';
      return !said || isRead ? [] : [[field, String(said)]];
    }),
  );
}

/**
 * Returns the form's value for a state: the subdivision's name (empty if unknown), or the given text if the country has no
 * subdivisions or they could not be fetched.
 */
export function stateIn({ code, subdivisions }: Place, state: string): string {
  if (code === noPlace.code) return '';
  if (!subdivisions || subdivisions.length === 0) return state;
  return findSubdivision({ code, subdivisions }, state)?.name ?? '';
}

function oneOf(choices: readonly string[], value: string | null): string {
  return value !== null && choices.includes(value) ? value : '';
}

/**
 * Returns a grade average in the format of the form's choices: "4" becomes "4.0". "3.85" is not rounded, so it matches none of
 * the choices.
 */
function asGpa(value: string | null): string | null {
  if (value === null || !/^[\d.]+$/.test(value)) return null;
  const rounded = Number(value).toFixed(1);
  return Number(rounded) === Number(value) ? rounded : value;
}
