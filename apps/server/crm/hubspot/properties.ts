import { cleanEmail, cleanText } from '#core/cleanText.ts';
import { type ContactField, contactFields } from '#core/contact.ts';
import { type CrmField, type FieldRules, MEMBER } from '#core/crmFields.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import type { ContactProfile } from '../../platform/database/types.ts';

export type Properties = Record<string, string | null | undefined>;

/** HubSpot's built-in property for the ids of contacts that were merged into a contact, separated by semicolons. */
export const MERGED_IDS = 'hs_merged_object_ids';

/** Returns the ids of the contacts that were merged into a contact. */
export function mergedIds({ id, properties }: { id: string; properties: Properties }): string[] {
  const ids = (properties[MERGED_IDS] ?? '').split(';');
  return ids.filter((old) => /^\d{1,20}$/.test(old) && old !== id);
}

/** Returns the names of the properties that are read with every contact. */
export function readProperties(rules: FieldRules): string[] {
  const read: CrmField[] = [...contactFields, 'invitationCode', 'membershipStatus'];
  return [...read.flatMap((field) => rules[field].property ?? []), MERGED_IDS];
}

/** Returns the names of all properties that the field rules need in HubSpot. */
export function neededProperties(rules: FieldRules): string[] {
  return [...new Set(Object.values(rules).flatMap(({ property }) => property ?? []))];
}

export function toProfile(rules: FieldRules, properties: Properties): ContactProfile {
  const profile: Record<string, string | boolean | null> = {};
  for (const field of contactFields) {
    const value = crmValue(rules, properties, field);
    profile[field] = field === 'acceptedPrivacyPolicy' ? value === 'true' : value === '' ? null : value;
  }
  return profile as ContactProfile;
}

/** Returns HubSpot's value of a field, without invisible characters; null if HubSpot has none. */
export function crmValue(rules: FieldRules, properties: Properties, field: CrmField): string | null {
  const { property } = rules[field];
  const value = property === null ? null : (properties[property] ?? null);
  return value && (/email$/i.test(field) ? cleanEmail(value) : cleanText(value));
}

/** Returns the first and last name that HubSpot has. */
export function namesAt(rules: FieldRules, properties: Properties) {
  return {
    firstName: crmValue(rules, properties, 'firstName'),
    lastName: crmValue(rules, properties, 'lastName'),
  };
}

export function isMember(rules: FieldRules, properties: Properties): boolean {
  return crmValue(rules, properties, 'membershipStatus') === MEMBER;
}

/** Returns a contact's profile in the form's spelling ("Texas" for "TX"), so that profile and details can be compared. */
export function knownOf(
  profile: Partial<Record<ContactField, string | boolean | null>>,
): Partial<Record<ContactField, string>> {
  const text = (field: ContactField) => {
    const value = profile[field];
    return value === null || value === undefined ? '' : String(value);
  };
  const country = findCountry(text('country'));
  const known = Object.fromEntries(contactFields.map((field) => [field, text(field)]));
  if (country) {
    known.country = country.name;
    known.state = findSubdivision(country, text('state'))?.name ?? text('state');
  }
  return known;
}
