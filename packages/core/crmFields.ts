import { type ContactField, contactFields } from './contact.ts';

/** The fields that a join writes to the CRM, besides the contact's fields. */
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
 * Fields that were added after societies had created their CRM properties. If the CRM lacks one of these, the join is written
 * without it. If it lacks any other field, the join is refused.
 */
export const laterFields: readonly CrmField[] = ['upgrade', 'donation', 'items'];
/** Fields that a paid join may write into a contact that was not proven to be its payer. */
const purchaseFields: readonly CrmField[] = joinFields.filter((field) => field !== 'transcriptReceivedAt');
/** The longest time (ms) after which a payment that nobody reported is confirmed in the background, as long as Stripe answers. */
const CONFIRMED_AFTER_MS = 600_000;
/** The field by which invitations are found. It is only read. */
export const codeField = 'invitationCode';

export type JoinField = (typeof joinFields)[number];
export type CrmField = ContactField | JoinField | typeof codeField;
export const crmFields: readonly CrmField[] = [...contactFields, ...joinFields, codeField];

/** overwrite: the join's value wins; blanks: written only where the CRM has no value; never: only read. */
export type WriteRule = 'overwrite' | 'blanks' | 'never';
export interface FieldRule {
  /** The CRM's name for the field; null: the CRM does not have the field and is never sent it. */
  property: string | null;
  write: WriteRule;
}
export type FieldRules = Record<CrmField, FieldRule>;

/** The rules for a society that configures none: HubSpot's own properties, and those of docs/integrations.md. */
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

/** A value of a join for a field. Empty for a field of {@link joinFields} whose earlier value no longer holds. */
export interface FieldValue {
  field: CrmField;
  value: string;
}

export type CrmValues = Partial<Record<CrmField, string>>;
type Held = Record<string, string | null | undefined>;

/**
 * Returns what to write to a join's own contact, by CRM property. `known`: what the CRM last had of each field, as the form
 * showed it or as we wrote it. A value equal to it is not sent, so that later edits of staff stay. `present`: what the CRM holds
 * now, or null if that was not read; fields with the rule `blanks` are sent only where it has no value. An empty value is sent
 * only for fields of {@link joinFields}.
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

/** What may be written into a contact that has the payer's email but is not proven to be the payer. */
export interface UnprovenWrite {
  properties: Record<string, string>;
  /** The values that this write leaves in the CRM, written or equal already, by field. */
  written: CrmValues;
  /** A membership status in the CRM that was not overwritten, so that staff must look at it; null if there is none. */
  statusInTheWay: string | null;
}

/**
 * Returns what to write to a contact that only has the payer's email, which proves nothing
 * (docs/decisions/0020-contacts-that-are-not-proven.md). A join that is not paid writes nothing. A paid join writes what was
 * bought, where the CRM has no value or still has the value that the join wrote (`written`). It never writes a personal field, an
 * address or consent.
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
  // Covers a server that died after the write but before noting it, and a restore that lost the note.
  const isNoted = purchaseFields.some((field) => field in written);
  const isOfThisPayment = !isNoted && tellsPayment(heldOf('paidAt'), paidAt);
  for (const { field, value } of values) {
    const { property, write: rule } = rules[field];
    if (property === null || rule === 'never' || !purchaseFields.includes(field)) continue;
    const held = heldOf(field);
    const before = written[field];
    // The server may also have died after a later change; then the CRM holds what the join would write now.
    const isOurs =
      isOfThisPayment || isSame(held, before ?? '') || (before !== undefined && isSame(held, value));
    if (held !== '' && (!isOurs || rule === 'blanks')) {
      if (field === 'membershipStatus' && value === 'member' && !isOurs) write.statusInTheWay = held;
      continue;
    }
    if (!isSame(held, value)) write.properties[property] = value;
    write.written[field] = value;
  }
  return write;
}

/**
 * Whether the payment time that the CRM holds belongs to this payment, assuming that no two payments are made in the same
 * millisecond. A payment that is made again after a restore has Stripe's time, in whole seconds; the CRM may then hold the later
 * time at which it was first confirmed.
 */
export function tellsPayment(held: string, paidAt: string): boolean {
  if (isSame(held, paidAt)) return true;
  if (!isTime(held) || !paidAt.endsWith('.000Z')) return false;
  const confirmedAfterMs = Date.parse(held) - Date.parse(paidAt);
  return confirmedAfterMs >= 0 && confirmedAfterMs <= CONFIRMED_AFTER_MS;
}

/**
 * Returns what is known of a contact to which several joins write what was bought. For the shared fields this is what the CRM
 * holds, since each join knows only its own writes. The status is taken from `known`, so that later edits of staff stay: when one
 * join writes the status, it is recorded for all of them.
 */
export function knownOfSeveral(rules: FieldRules, known: CrmValues, present: Held): CrmValues {
  const shared = joinFields.filter((field) => field !== 'membershipStatus' && field !== 'stage');
  const held = shared.map((field) => [field, present[rules[field].property ?? ''] ?? '']);
  return { ...known, ...Object.fromEntries(held) };
}

/** Whether two values are the same to the CRM, which may write numbers and times in another format. */
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
