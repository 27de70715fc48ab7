import { type ContactField, contactFields } from './contact.ts';

/** What the CRM is told of a join besides the contact's fields. */
export const joinFields = [
  'stage',
  'membershipStatus',
  'membership',
  'upgrade',
  'donation',
  'items',
  'amountPaid',
  'paidAt',
  'transcriptReceivedAt',
] as const;
/**
 * Added after societies had made their properties: where the CRM lacks one of these, a join is told without it. A join is
 * refused for want of any other.
 */
export const laterFields: readonly CrmField[] = ['upgrade', 'donation', 'items'];
/** What a paid join may write into a contact that was not proven to be its payer. */
const purchaseFields: readonly CrmField[] = joinFields.filter((field) => field !== 'transcriptReceivedAt');
/** So long after it was made a payment that nobody reported is confirmed at the latest, while Stripe answers (the sweep). */
const CONFIRMED_AFTER_MS = 600_000;
/** Only read: by these an invitation is found. */
export const codeField = 'invitationCode';

export type JoinField = (typeof joinFields)[number];
export type CrmField = ContactField | JoinField | typeof codeField;
export const crmFields: readonly CrmField[] = [...contactFields, ...joinFields, codeField];

/** overwrite: the join's value wins; blanks: written only where the CRM has none; never: only read. */
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
  upgrade: { property: 'upgrade_name', write: 'overwrite' },
  donation: { property: 'donation_amount', write: 'overwrite' },
  items: { property: 'store_items', write: 'overwrite' },
  amountPaid: { property: 'amount_paid', write: 'overwrite' },
  paidAt: { property: 'paid_at', write: 'overwrite' },
  transcriptReceivedAt: { property: 'transcript_received_at', write: 'overwrite' },
  invitationCode: { property: 'invitation_code', write: 'never' },
};

/** A value that the join has for a field; empty for one of its own that it had and has no more. */
export interface FieldValue {
  field: CrmField;
  value: string;
}

export type CrmValues = Partial<Record<CrmField, string>>;
type Held = Record<string, string | null | undefined>;

/**
 * What a write sends to a join's own contact, by property. `known` is what the CRM had of each field when we last knew: as
 * the form showed it, then as it was written. What the member left as it was is not sent, so that what staff wrote
 * meanwhile stays. `present` is what the CRM holds now, where that had to be read: fields that only fill blanks are sent
 * where it has none. Nothing of the member's is blanked; what the join itself wrote is, when it holds no more.
 */
export function propertiesToSend(
  rules: FieldRules,
  values: readonly FieldValue[],
  known: CrmValues,
  present: Held | null,
): Record<string, string> {
  const properties: Record<string, string> = {};
  for (const { field, value } of values) {
    const { property, write } = rules[field];
    if (property === null || write === 'never' || (known[field] ?? '') === value) continue;
    if (value === '' && !(joinFields as readonly CrmField[]).includes(field)) continue;
    if (write === 'blanks' && (!present || present[property])) continue;
    properties[property] = value;
  }
  return properties;
}

/** What may be written into a contact with the payer's email that nobody has proven to be the payer. */
export interface UnprovenWrite {
  properties: Record<string, string>;
  /** What of the join the CRM then has, by field. */
  written: CrmValues;
  /** The status that stands there and was not written over: staff are to look. */
  statusInTheWay: string | null;
}

/**
 * A contact of somebody with the same email, which a payment does not prove (docs/decisions/0020-contacts-that-are-not-proven.md).
 * A join that is not paid writes nothing. A paid one says what was bought where nothing stands, or where what stands is
 * what it wrote (`written`); never a personal field, an address or consent.
 */
export function propertiesForUnproven(
  rules: FieldRules,
  values: readonly FieldValue[],
  written: CrmValues,
  present: Held,
): UnprovenWrite {
  const write: UnprovenWrite = { properties: {}, written: {}, statusInTheWay: null };
  const heldOf = (field: CrmField) => present[rules[field].property ?? ''] ?? '';
  const paidAt = values.find(({ field }) => field === 'paidAt')?.value;
  if (!paidAt) return write;
  // The server died between writing and noting that it wrote, or what it noted was lost by a restore.
  const isNoted = purchaseFields.some((field) => field in written);
  const isOfThisPayment = !isNoted && tellsPayment(heldOf('paidAt'), paidAt);
  for (const { field, value } of values) {
    const { property, write: rule } = rules[field];
    if (property === null || rule === 'never' || !purchaseFields.includes(field)) continue;
    const held = heldOf(field);
    const before = written[field];
    // It may also have died after a later change: then what stands is what it would write now.
    const isOurs =
      isOfThisPayment || isSame(held, before ?? '') || (before !== undefined && isSame(held, value));
    if (held !== '' && (!isOurs || rule === 'blanks')) {
      if (field === 'membershipStatus' && !isOurs) write.statusInTheWay = held;
      continue;
    }
    if (!isSame(held, value)) write.properties[property] = value;
    write.written[field] = value;
  }
  return write;
}

/**
 * Whether the time of a payment that the CRM holds is this payment's. No other one was made in its millisecond. One that is made again
 * after a restore is dated by Stripe, to the second: what was told of it before is when it was confirmed.
 */
function tellsPayment(held: string, paidAt: string): boolean {
  if (isSame(held, paidAt)) return true;
  if (!isTime(held) || !paidAt.endsWith('.000Z')) return false;
  const confirmedAfterMs = Date.parse(held) - Date.parse(paidAt);
  return confirmedAfterMs >= 0 && confirmedAfterMs <= CONFIRMED_AFTER_MS;
}

/**
 * What is known of a contact for which several joins tell what was bought: of that, what the CRM holds, since each join knows its own
 * writes alone. The status is a join's own: what staff wrote there since stays.
 */
export function knownOfSeveral(rules: FieldRules, known: CrmValues, present: Held): CrmValues {
  const shared = joinFields.filter((field) => field !== 'membershipStatus' && field !== 'stage');
  const held = shared.map((field) => [field, present[rules[field].property ?? ''] ?? '']);
  return { ...known, ...Object.fromEntries(held) };
}

/** Whether two values are the same to the CRM, which may write numbers and times in another way. */
export function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  if (one === '' || other === '') return false;
  if (Number(one) === Number(other)) return true;
  return isTime(one) && isTime(other) && Date.parse(one) === Date.parse(other);
}

function isTime(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T/.test(value);
}

/** Whether what the CRM holds now must be read before these values can be written. */
export function mustRead(rules: FieldRules, values: readonly FieldValue[], known: CrmValues): boolean {
  return values.some(
    ({ field, value }) => rules[field].write === 'blanks' && value !== '' && known[field] !== value,
  );
}
