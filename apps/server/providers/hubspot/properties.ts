import { type ContactField, contactFieldOf, contactFields } from '#core/contact.ts';
import type { CrmField, FieldRules, FieldValue } from '#core/crmFields.ts';
import { toPrice } from '#core/money.ts';
import type { Purchases } from '#core/purchases.ts';
import { type StudentDetails, studentDetailsFields } from '#core/studentDetails.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import type { ContactProfile } from '../../platform/database/types.ts';

/** The status of who is a member. */
export const MEMBER = 'member';
/** And of who was one. */
export const FORMER = 'former';

export type Properties = Record<string, string | null | undefined>;

/** The ids of contacts that were merged into one, separated by semicolons: HubSpot's own property. */
export const MERGED_IDS = 'hs_merged_object_ids';

/** What we ask HubSpot for on every read of a contact. */
export function readProperties(rules: FieldRules): string[] {
  const read: CrmField[] = [...contactFields, 'invitationCode', 'membershipStatus'];
  return [...read.flatMap((field) => rules[field].property ?? []), MERGED_IDS];
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
  return crmValue(rules, properties, 'membershipStatus') === MEMBER;
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

/**
 * What a join tells HubSpot. A field that the member did not give is not among them, so nothing of theirs is blanked; of
 * what was bought, what went back is empty.
 */
export function fromJoin(join: {
  details: StudentDetails | null;
  state: string;
  bought: Purchases;
  /** What was kept of it all. */
  amountCents: number | null;
  paidAt: Date | null;
  /** Null for a join that bought no membership: an upgrade by itself says nothing of whether one is a member. */
  status: 'member' | 'former' | null;
  transcriptAt: Date | null;
}): FieldValue[] {
  const { details } = join;
  const values: [CrmField, string | null | undefined][] = [];
  if (details) {
    for (const field of studentDetailsFields) {
      const value = details[field];
      if (value) values.push([contactFieldOf(field), String(value)]);
    }
  }
  values.push(['stage', join.state]);
  const { bought, amountCents } = join;
  // A payment that was none after all: what was told of it is taken back.
  if (join.paidAt || join.status)
    values.push(
      ['membershipStatus', join.status],
      ['membership', bought.membership],
      ['upgrade', bought.upgrade],
      ['donation', bought.donationCents === null ? null : toPrice(bought.donationCents)],
      ['items', bought.items?.join('; ')],
      ['amountPaid', toPrice(amountCents ?? 0)],
      ['paidAt', join.paidAt?.toISOString() ?? ''],
    );
  values.push(['transcriptReceivedAt', join.transcriptAt?.toISOString()]);
  return values.flatMap(([field, value]) => (value == null ? [] : [{ field, value }]));
}
