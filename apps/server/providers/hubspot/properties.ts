import { cleanEmail, cleanText } from '#core/cleanText.ts';
import { type ContactField, contactFieldOf, contactFields } from '#core/contact.ts';
import type { CrmField, CrmValues, FieldRules, FieldValue } from '#core/crmFields.ts';
import { toPrice } from '#core/money.ts';
import type { Purchases } from '#core/purchases.ts';
import { type StudentDetails, studentDetailsFields } from '#core/studentDetails.ts';
import { findCountry } from '#reference/countries.ts';
import { findSubdivision } from '#reference/lookup.ts';
import type { ContactProfile } from '../../platform/database/types.ts';

/** The value that the field `membershipStatus` has for a member. */
export const MEMBER = 'member';
/** The value that the field `membershipStatus` has for a former member. */
export const FORMER = 'former';

export type Properties = Record<string, string | null | undefined>;

/** HubSpot's built-in property for the ids of contacts that were merged into a contact, separated by semicolons. */
export const MERGED_IDS = 'hs_merged_object_ids';

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

/** Returns the value of a field that HubSpot has, without what nobody sees; null if HubSpot has no value. */
export function crmValue(rules: FieldRules, properties: Properties, field: CrmField): string | null {
  const { property } = rules[field];
  const value = property === null ? null : (properties[property] ?? null);
  return value && (/email$/i.test(field) ? cleanEmail(value) : cleanText(value));
}

export function isMember(rules: FieldRules, properties: Properties): boolean {
  return crmValue(rules, properties, 'membershipStatus') === MEMBER;
}

/**
 * Returns a contact's profile with its values in the spelling of {@link fromJoin} ("Texas" for "TX"), so that profile and join can
 * be compared.
 */
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
 * Returns the values that a join sends to HubSpot. A field that the joiner left empty is not sent, so the contact keeps its
 * value. A purchase that was refunded is sent as empty. A value that a paid join sent before (`known`) and does not have any more
 * is sent as empty, too, for example after the join's transcript was rejected, or if the join was recorded as paid by mistake.
 */
export function fromJoin(join: {
  details: StudentDetails | null;
  state: string;
  bought: Purchases;
  /** The amount that the join paid, less refunds (cents). */
  amountCents: number | null;
  paidAt: Date | null;
  /**
   * The membership status of the joiner. Null if the join bought only an upgrade, which does not show whether somebody is a member.
   */
  status: 'member' | 'former' | null;
  transcriptAt: Date | null;
  /** The values that the join sent before, by field. */
  known: CrmValues;
}): FieldValue[] {
  const { details, known } = join;
  const values: [CrmField, string | null | undefined][] = [];
  if (details) {
    for (const field of studentDetailsFields) {
      const value = details[field];
      if (value) values.push([contactFieldOf(field), String(value)]);
    }
  }
  values.push(['stage', join.state]);
  const { bought, amountCents } = join;
  // A status without a `paidAt` means that the join was recorded as paid by mistake. These values then correct those that were sent
  // to HubSpot before.
  if (join.paidAt || join.status)
    values.push(
      ['membershipStatus', join.status],
      ['membership', bought.membership],
      ['upgrade', bought.upgrade],
      ['donation', bought.donationCents === null ? null : toPrice(bought.donationCents)],
      ['items', bought.items?.join('; ')],
      ['amountPaid', toPrice(amountCents ?? 0)],
      ['paidAt', join.paidAt?.toISOString() ?? ''],
      ['transcriptReceivedAt', join.transcriptAt?.toISOString()],
    );
  return values.flatMap(([field, told]) => {
    const value = told ?? (known[field] ? '' : null);
    return value === null ? [] : [{ field, value: cleanText(value) }];
  });
}
