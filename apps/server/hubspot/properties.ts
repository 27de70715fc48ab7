import {
  type ContactField,
  type CrmField,
  contactFields,
  type FieldRules,
  type FieldValue,
} from '#core/crmFields.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import type { ContactProfile } from '../database/types.ts';

export type Properties = Record<string, string | null | undefined>;

/** What we ask HubSpot for on every read of a contact. */
export function readProperties(rules: FieldRules): string[] {
  const read: CrmField[] = [...contactFields, 'invitationCode', 'membershipStatus'];
  return read.flatMap((field) => rules[field].property ?? []);
}

/** Every property that must exist in HubSpot. */
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

export function crmValue(rules: FieldRules, properties: Properties, field: CrmField): string | null {
  const { property } = rules[field];
  return property === null ? null : (properties[property] ?? null);
}

export function isMember(rules: FieldRules, properties: Properties): boolean {
  return crmValue(rules, properties, 'membershipStatus') === 'member';
}

/** A profile as the values that {@link fromJoin} would have for it: "TX" and "Texas" are the same. */
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

/** What a join tells HubSpot. A field that the member did not give is not among them, so nothing is blanked. */
export function fromJoin(join: {
  details: StudentDetails | null;
  state: string;
  membership: string | null;
  amountCents: number | null;
  paidAt: Date | null;
  /** The membership is still held: not refunded, nor lost in a dispute. */
  isHeld: boolean;
  transcriptAt: Date | null;
}): FieldValue[] {
  const { details } = join;
  const values: [CrmField, string | null | undefined][] = [];
  if (details) {
    const { address1, zipcode, agreeToPolicies, ...same } = details;
    values.push(
      ...(Object.entries(same) as [CrmField, string][]),
      ['address', address1],
      ['zip', zipcode],
      ['acceptedPrivacyPolicy', agreeToPolicies ? 'true' : null],
    );
  }
  values.push(['stage', join.state]);
  if (join.paidAt)
    values.push(
      ['membershipStatus', join.isHeld ? 'member' : 'former'],
      ['membership', join.membership],
      ['amountPaid', join.amountCents === null ? null : (join.amountCents / 100).toFixed(2)],
      ['paidAt', join.paidAt.toISOString()],
    );
  values.push(['transcriptReceivedAt', join.transcriptAt?.toISOString()]);
  return values.flatMap(([field, value]) => (value ? [{ field, value }] : []));
}
