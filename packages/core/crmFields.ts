import { type ContactField, contactFields } from './contact.ts';
import { nameKey } from './personKeys.ts';
import type { StudentDetails } from './studentDetails.ts';

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
/** Fields that a paid join may write into a contact that is not its proven contact. */
const purchaseFields: readonly CrmField[] = joinFields.filter((field) => field !== 'transcriptReceivedAt');
/**
 * The longest time (ms) from a payment to its confirmation in our database, as long as Stripe answers. If neither the browser nor
 * a webhook reports the payment, background work confirms it within this time.
 */
const CONFIRMED_AFTER_MS = 600_000;
/** The field by which invitations are found. This field is read and never written. */
export const codeField = 'invitationCode';

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
 * create as docs/integrations.md says.
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

/**
 * Returns the values to write to a join's proven contact, by CRM property. Empty values are sent only for {@link joinFields}.
 * - `known`: for each field, the value that we last read from the CRM or wrote to it. A value of the join that equals the known
 *   one is not sent again, so that staff's later edits in the CRM stay.
 * - `present`: the CRM's current values; null if they were not read. A field with the rule `blanks` is sent only if `present` was
 *   read and has no value for this field.
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

/** The write to a contact that has the payer's email but is not proven to be the payer. */
export interface UnprovenWrite {
  properties: Record<string, string>;
  /**
   * The join's values that the CRM has after this write, by field: the values that the write sets, and equal values that the CRM
   * had before.
   */
  written: CrmValues;
  /**
   * The CRM's membership status, if this join would write `member` now but did not write the status that the CRM has. That status
   * is left as it is, and staff must look at it. Otherwise null.
   */
  statusInTheWay: string | null;
}

/**
 * Returns the write to a contact that has the payer's email. The email alone does not prove that the contact is the payer
 * (docs/decisions/0020-contacts-that-are-not-proven.md). A join that was never paid writes nothing. A paid join writes its
 * purchases, but only where the CRM has no value or still has the value that this join wrote earlier (`written`). No join writes
 * a personal field, an address or consent to such a contact. If the contact is likely the same person (`details` and the contact
 * have one name), the status `member` is written over any other: whoever holds a membership is never `former`.
 */
export function propertiesForUnproven(
  rules: FieldRules,
  values: readonly FieldValue[],
  written: CrmValues,
  present: Held,
  details: Pick<StudentDetails, 'firstName' | 'lastName'> | null = null,
): UnprovenWrite {
  const write: UnprovenWrite = { properties: {}, written: {}, statusInTheWay: null };
  const heldOf = (field: CrmField) => present[rules[field].property ?? ''] ?? '';
  const paidAt = values.find(({ field }) => field === 'paidAt')?.value;
  const isNoted = purchaseFields.some((field) => field in written);
  // `paidAt` is missing if the join was never paid: then nothing is written. It is empty if the join was recorded as paid by
  // mistake: then what was written about that payment is corrected, if anything was.
  if (paidAt === undefined || (paidAt === '' && !isNoted)) return write;
  const isAlike =
    details !== null &&
    (['firstName', 'lastName'] as const).every((field) => isSameName(heldOf(field), details[field]));
  // If the CRM has this payment's time but no record says that this join wrote it, the join did write it: the server died before
  // it made the record, or a restore has lost the record.
  const isOfThisPayment = !isNoted && tellsPayment(heldOf('paidAt'), paidAt);
  for (const { field, value } of values) {
    const { property, write: rule } = rules[field];
    if (property === null || rule === 'never' || !purchaseFields.includes(field)) continue;
    const held = heldOf(field);
    const before = written[field];
    // An earlier write of this join that was not recorded may have left another status as it was (`statusInTheWay`). So the
    // present status counts as written by this join only if it is `member`.
    const mayBeUnrecorded = isOfThisPayment && (field !== 'membershipStatus' || held === 'member');
    // The server may also have died between a later write of this join and the record of that write. Then the CRM already has the
    // value that the join would write now.
    const hasValue = (isOfThisPayment || before !== undefined) && isSame(held, value);
    const isOurs = mayBeUnrecorded || hasValue || isSame(held, before ?? '');
    const isMember = field === 'membershipStatus' && value === 'member' && paidAt !== '';
    const mayWriteOver = isOurs || (isMember && isAlike && held !== 'member');
    if (held !== '' && (!mayWriteOver || rule === 'blanks')) {
      if (isMember && !isOurs) write.statusInTheWay = held;
      continue;
    }
    if (!isSame(held, value)) write.properties[property] = value;
    write.written[field] = value;
  }
  return write;
}

/** Whether two names have one key (personKeys.ts). An empty name is like nobody's. */
function isSameName(one: string, other: string): boolean {
  return nameKey(one) !== '' && nameKey(one) === nameKey(other);
}

/**
 * Whether the payment time in the CRM (`held`) is that of this payment (`paidAt`). It is assumed that no two payments have the
 * same time to the millisecond. The two times of one payment differ if it is made again after a restore: `paidAt` is then
 * Stripe's time, in whole seconds, and the CRM may have the time of the first confirmation, which is later.
 */
export function tellsPayment(held: string, paidAt: string): boolean {
  if (isSame(held, paidAt)) return true;
  if (!isTime(held) || !paidAt.endsWith('.000Z')) return false;
  const confirmedAfterMs = Date.parse(held) - Date.parse(paidAt);
  return confirmedAfterMs >= 0 && confirmedAfterMs <= CONFIRMED_AFTER_MS;
}

/**
 * Returns the known values (see {@link propertiesToSend}) of a contact to which several joins write their purchases. `known` has
 * what one of these joins wrote, and another join may have overwritten it. So the fields of {@link joinFields} get the CRM's
 * present values, except status and stage. Status and stage stay as in `known`: a status that equals the known one is not sent
 * again, so that staff's later edits stay.
 */
export function knownOfSeveral(rules: FieldRules, known: CrmValues, present: Held): CrmValues {
  const shared = joinFields.filter((field) => field !== 'membershipStatus' && field !== 'stage');
  const held = shared.map((field) => [field, present[rules[field].property ?? ''] ?? '']);
  return { ...known, ...Object.fromEntries(held) };
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

/** Whether the CRM must be read before these values can be written, because a field with the rule `blanks` has a new value. */
export function mustRead(rules: FieldRules, values: readonly FieldValue[], known: CrmValues): boolean {
  return values.some(
    ({ field, value }) => rules[field].write === 'blanks' && value !== '' && known[field] !== value,
  );
}
