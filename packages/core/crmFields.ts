import { type ContactField, contactFields } from './contact.ts';

/** The fields about the join that are written to the CRM, in addition to the contact's own fields. */
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
 * Fields that were added after societies had created their CRM properties. If the CRM lacks the property of one of these fields,
 * joins are written without the field. If the CRM lacks any other property, joins are refused.
 */
export const laterFields: readonly CrmField[] = ['upgrade', 'donation', 'items'];
/** Fields that are written into a contact that only shares the person's email and name. */
const purchaseFields: readonly CrmField[] = joinFields.filter((field) => field !== 'transcriptReceivedAt');
/**
 * The longest time (ms) from a payment to its confirmation in our database, as long as Stripe answers. If neither the browser nor
 * a webhook reports the payment, background work confirms it within this time.
 */
const CONFIRMED_AFTER_MS = 600_000;
/** The field by which invitations are found. This field is read and never written. */
export const codeField = 'invitationCode';

/** The value that the field `membershipStatus` has for a member. */
export const MEMBER = 'member';
/** The value that the field `membershipStatus` has for a former member. */
export const FORMER = 'former';

export type JoinField = (typeof joinFields)[number];
export type CrmField = ContactField | JoinField | typeof codeField;
export const crmFields: readonly CrmField[] = [...contactFields, ...joinFields, codeField];

/**
 * When a join writes a field:
 * - `overwrite`: always.
 * - `blanks`: only if the CRM has no value.
 * - `never`: the field is only read.
 */
export type WriteRule = 'overwrite' | 'blanks' | 'never';
export interface FieldRule {
  /** The name of the field's property in the CRM; null if the CRM lacks the field, which is then never sent. */
  property: string | null;
  write: WriteRule;
}
export type FieldRules = Record<CrmField, FieldRule>;

/**
 * The rules for a society that configures no rules. They use HubSpot's built-in properties, and the properties that societies
 * create as docs/reference.md says.
 */
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

/** A join's value for a field. The value of one of {@link joinFields} is empty if an earlier value no longer applies. */
export interface FieldValue {
  field: CrmField;
  value: string;
}

export type CrmValues = Partial<Record<CrmField, string>>;
type Held = Record<string, string | null | undefined>;

const isJoinField = (field: CrmField) => (joinFields as readonly CrmField[]).includes(field);

/**
 * Returns the values to write into a contact that is ours (its person has a join), by CRM property. A value is written if it
 * differs from the CRM's value at our last write or read, so that later edits by staff in the CRM are kept. An empty value is
 * only written over a value that we wrote.
 * - `sent`: the CRM's values at our last write or read, by field.
 * - `present`: the CRM's present values, by property.
 *   After a payment that is not in the CRM yet, the values of the purchase are compared with the CRM's present values. For the
 *   membership status this holds only if the new value is `member`. `member` is also always written over `former`, since a person
 *   who holds a membership is never `former`.
 */
export function propertiesToSend(
  rules: FieldRules,
  values: readonly FieldValue[],
  sent: CrmValues,
  present: Held,
): Record<string, string> {
  const properties: Record<string, string> = {};
  const paidAt = values.find(({ field }) => field === 'paidAt')?.value ?? '';
  const isPaidAnew = paidAt !== '' && !isSame(sent.paidAt ?? '', paidAt);
  for (const { field, value } of values) {
    const { property, write } = rules[field];
    if (property === null || write === 'never') continue;
    const held = present[property] ?? '';
    const before = sent[field] ?? '';
    const isCompared =
      field === 'membershipStatus'
        ? value === MEMBER && (isPaidAnew || held === FORMER)
        : isPaidAnew && isJoinField(field);
    if (isSame(isCompared ? held : before, value)) continue;
    if (value === '' && !(isJoinField(field) && held !== '' && isSame(held, before))) continue;
    if (write === 'blanks' && held !== '') continue;
    properties[property] = value;
  }
  return properties;
}

/**
 * Returns the values to write into a contact that only shares the person's email and name, by CRM property, and which of the
 * CRM's values are then ours, by field. Only values of the purchase are written, and only where the CRM has no value or still has
 * ours (`sent`); never a name, an address or consent. `member` is written over any status once after each payment. After that, it
 * is written over `former` only.
 */
export function purchasesToSend(
  rules: FieldRules,
  values: readonly FieldValue[],
  sent: CrmValues,
  present: Held,
): { properties: Record<string, string>; written: CrmValues } {
  const properties: Record<string, string> = {};
  const written: CrmValues = {};
  const heldOf = (field: CrmField) => present[rules[field].property ?? ''] ?? '';
  const paidAt = values.find(({ field }) => field === 'paidAt')?.value ?? '';
  const isPaidAnew = paidAt !== '' && !isSame(sent.paidAt ?? '', paidAt);
  // If the CRM has this payment's time but no record says that we wrote it, we did: the server died before it made the record, or a
  // restore has lost the record.
  const isUnrecorded =
    paidAt !== '' && !purchaseFields.some((field) => field in sent) && tellsPayment(heldOf('paidAt'), paidAt);
  for (const { field, value } of values) {
    const { property, write } = rules[field];
    if (property === null || write === 'never' || !purchaseFields.includes(field)) continue;
    const held = heldOf(field);
    const isOurs = isUnrecorded || isSame(held, sent[field] ?? '');
    const isMember = field === 'membershipStatus' && value === MEMBER;
    const isTold = !isPaidAnew && sent[field] !== undefined && isSame(sent[field], value);
    if (isTold) written[field] = value;
    if (isTold && !(isMember && held === FORMER)) continue;
    if (held !== '' && !isSame(held, value) && (!(isOurs || isMember) || write === 'blanks')) continue;
    // If the CRM already had the same value, and no record says that we wrote it, the value is not ours.
    if (isSame(held, value) && held !== '' && sent[field] === undefined && !isUnrecorded) continue;
    if (!isSame(held, value)) properties[property] = value;
    written[field] = value;
  }
  return { properties, written };
}

/**
 * Whether the payment time in the CRM (`held`) belongs to this payment (`paidAt`). It is assumed that no two payments have the
 * same time to the millisecond. The two times of one payment differ if it is made again after a restore: `paidAt` is then
 * Stripe's time, in whole seconds, and the CRM may have the time of the first confirmation, which is later.
 */
export function tellsPayment(held: string, paidAt: string): boolean {
  if (isSame(held, paidAt)) return true;
  if (!isTime(held) || !paidAt.endsWith('.000Z')) return false;
  const confirmedAfterMs = Date.parse(held) - Date.parse(paidAt);
  return confirmedAfterMs >= 0 && confirmedAfterMs <= CONFIRMED_AFTER_MS;
}

/** Whether two values are the same to the CRM, which may return numbers and times in another format. */
export function isSame(one: string, other: string): boolean {
  if (one === other) return true;
  if (isNumber(one) && isNumber(other)) return Number(one) === Number(other);
  return isTime(one) && isTime(other) && Date.parse(one) === Date.parse(other);
}

/** Whether a value is a plain number. A ZIP code with a leading zero is text. */
function isNumber(value: string): boolean {
  return /^-?(0|[1-9]\d*)(\.\d+)?$/.test(value);
}

function isTime(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T/.test(value);
}
