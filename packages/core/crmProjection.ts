import { cleanText } from './cleanText.ts';
import { type ContactField, contactFieldOf, contactFields } from './contact.ts';
import {
  type CrmField,
  type CrmValues,
  type FieldRules,
  type FieldValue,
  FORMER,
  isSame,
  joinFields,
  MEMBER,
  propertiesToSend,
  purchasesToSend,
  tellsPayment,
} from './crmFields.ts';
import { type JoinSessionState, joinSessionStates } from './joinSession.ts';
import { toPrice } from './money.ts';
import { nameKey } from './personKeys.ts';
import { purchasesOf } from './purchases.ts';
import type { PaidOrder } from './refunds.ts';
import { type StudentDetails, studentDetailsFields } from './studentDetails.ts';

/** HubSpot's built-in property for a contact's email. HubSpot validates the format of this property only. */
export const EMAIL = 'email';

/** What is sent to HubSpot about one person, or about several persons together. */
export interface Told {
  /** The student details that the person entered; null if they entered none, or are only known from an import. */
  details: StudentDetails | null;
  /** The joins that have details or an order, the oldest first. Times are in ISO 8601. */
  joins: { uuid: string; state: JoinSessionState; createdAt: string; paidAt: string | null }[];
  /** The sum that was paid for the paid joins, less refunds (cents); null if no join was paid. */
  amountCents: number | null;
  orders: Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>[];
  /**
   * Whether a membership was bought, whether or not it is still held. The next two: whether a membership, and an upgrade, is
   * held.
   */
  hasBought: boolean;
  holdsMembership: boolean;
  holdsUpgrade: boolean;
  /** Whether the person, or another person who is likely the same, holds a membership. */
  isMember: boolean;
  transcriptAt: string | null;
}

/** A contact of HubSpot. */
export interface ToldContact {
  /**
   * The contact's own person. The contact is ours if this person has a join: one that began with a code or link, that came by a
   * merge, or that created the contact.
   */
  own: Told;
  /** Persons who are likely the same as the contact's person and have no contact themselves, taken together. */
  attached: Told;
  /** Whether a join created the contact. */
  isMade: boolean;
  /** HubSpot's value of each field when we last wrote or read it. */
  sent: CrmValues;
}

/** The values to write into a contact. */
export interface Projection {
  properties: Record<string, string>;
  /** Our values that HubSpot has after this write, by field. */
  sent: CrmValues;
}

/**
 * Decides what is written into a contact. `present` are the contact's properties in HubSpot.
 * - A contact that is ours gets the details and purchases of its own person ({@link propertiesToSend}). Purchases of the attached
 *   persons fill the fields for which its own person has no value.
 * - Any other contact gets only the purchases of the attached persons ({@link purchasesToSend}).
 * - The status says whether any of these persons holds a membership.
 * - A value of a purchase that we wrote is emptied when none of these persons has that purchase any more.
 */
export function project(
  rules: FieldRules,
  { own, attached, isMade, sent }: ToldContact,
  present: Record<string, string | null | undefined>,
): Projection {
  const values = valuesOf([own, attached], sent);
  if (own.joins.length === 0) {
    const { properties, written } = purchasesToSend(rules, values, sent, present);
    return { properties, sent: written };
  }
  // If the status is `member` and we did not write it, staff did. It then stays, whatever the attached persons buy, unless the
  // contact's own person has bought a membership.
  const isByHand =
    present[rules.membershipStatus.property ?? ''] === MEMBER &&
    sent.membershipStatus !== MEMBER &&
    !own.hasBought;
  const told = isByHand ? values.filter(({ field }) => field !== 'membershipStatus') : values;
  const properties = propertiesToSend(rules, told, sent, present);
  const isCorrected = isMade && own.details !== null && (rules.personalEmail.property ?? '') in properties;
  if (isCorrected) properties[EMAIL] = own.details!.personalEmail.toLowerCase();
  return { properties, sent: knownAfter(rules, told) };
}

/**
 * Returns the properties of a new contact, and our values that HubSpot then has. The contact's email is that of the student
 * details.
 */
export function projectNew(rules: FieldRules, own: Told & { details: StudentDetails }): Projection {
  const values = valuesOf([own], {});
  const email = own.details.personalEmail.toLowerCase();
  return {
    properties: { [EMAIL]: email, ...propertiesToSend(rules, values, {}, {}) },
    sent: knownAfter(rules, values),
  };
}

/** Returns a projection without the contact's email. */
export function withoutEmail<T extends Projection>(rules: FieldRules, projection: T): T {
  const { [EMAIL]: _, ...properties } = projection.properties;
  const isOther = ([field]: [string, string]) => rules[field as CrmField].property !== EMAIL;
  const sent = Object.fromEntries(Object.entries(projection.sent).filter(isOther)) as CrmValues;
  return { ...projection, properties, sent };
}

/**
 * Whether we created this existing contact for the person, and the server died before it recorded that. This is so if the contact
 * is younger than the person's first join and has all the values of contact fields that we would write. The name alone proves
 * nothing, since somebody else may have typed it.
 */
export function isOurs(
  rules: FieldRules,
  { joins: [first] }: Told,
  { properties }: Projection,
  existing: { createdAt: string; properties: Record<string, string | null | undefined> },
): boolean {
  return (
    first !== undefined &&
    new Date(existing.createdAt) >= new Date(first.createdAt) &&
    contactFields.every((field) => {
      const { property } = rules[field];
      const value = property === null ? undefined : properties[property];
      return value === undefined || isSame(existing.properties[property!] ?? '', value);
    })
  );
}

/**
 * Returns the join that was paid last, if a membership is held, HubSpot says that its contact is a member, and we did not write
 * that status; otherwise null. If HubSpot has the time of this payment, we wrote the status, and the server died before it
 * recorded that.
 */
export function paidByMember(
  rules: FieldRules,
  { own, attached }: Pick<ToldContact, 'own' | 'attached'>,
  present: Record<string, string | null | undefined>,
): Told['joins'][number] | null {
  const paid = lastPaid([...own.joins, ...attached.joins]);
  const heldOf = (field: CrmField) => present[rules[field].property ?? ''] ?? '';
  const isByOthers =
    heldOf('membershipStatus') === MEMBER && !tellsPayment(heldOf('paidAt'), paid?.paidAt ?? '');
  return paid && isByOthers && (own.holdsMembership || attached.holdsMembership) ? paid : null;
}

/**
 * Decides what is written to restore the values that a contact had `before` our writes. A field is restored only if HubSpot still
 * has the value that we wrote (`sent`).
 */
export function projectBefore(
  rules: FieldRules,
  before: Partial<Record<ContactField, string | boolean | null>>,
  sent: CrmValues,
  present: Record<string, string | null | undefined>,
): Projection {
  const back: Projection = { properties: {}, sent: {} };
  for (const field of contactFields) {
    const { property, write } = rules[field];
    if (property === null || write === 'never' || !sent[field]) continue;
    if (!isSame(present[property] ?? '', sent[field])) continue;
    const value = String(before[field] ?? '');
    back.properties[property] = value;
    back.sent[field] = value;
  }
  return back;
}

/**
 * The values that HubSpot has after a write. A field without a property is left out, so that it is sent once it has a property.
 */
function knownAfter(rules: FieldRules, values: readonly FieldValue[]): CrmValues {
  return Object.fromEntries(
    values.flatMap(({ field, value }) => (rules[field].property === null ? [] : [[field, value]])),
  );
}

/**
 * Compares the name that HubSpot has for an email with the joiner's name: `same`, `other`, or `none` if HubSpot has no name. If
 * HubSpot has only the first or the last name, only that part is compared. An empty name key never matches.
 */
export function compareNames(
  held: { firstName: string | null; lastName: string | null },
  given: Pick<StudentDetails, 'firstName' | 'lastName'>,
): 'same' | 'other' | 'none' {
  const parts = (['firstName', 'lastName'] as const).filter((field) => held[field]);
  if (parts.length === 0) return 'none';
  const isSamePart = (field: (typeof parts)[number]) =>
    nameKey(held[field]!) !== '' && nameKey(held[field]!) === nameKey(given[field]);
  return parts.every(isSamePart) ? 'same' : 'other';
}

export function lastPaid(joins: Told['joins']): Told['joins'][number] | undefined {
  return joins
    .filter(({ paidAt }) => paidAt !== null)
    .sort((one, other) => one.paidAt!.localeCompare(other.paidAt!))
    .at(-1);
}

/**
 * Returns the values for HubSpot. Each field gets the value of the first person who has one. A field that was left empty is not
 * sent, so that the contact keeps its value. A purchase value that we sent before (`sent`) and that no longer applies is sent as
 * empty.
 */
function valuesOf(persons: readonly [own: Told, ...others: Told[]], sent: CrmValues): FieldValue[] {
  const { details } = persons[0];
  const values = new Map<CrmField, string | null | undefined>();
  for (const field of details && persons[0].joins.length > 0 ? studentDetailsFields : []) {
    const value = details![field];
    if (value) values.set(contactFieldOf(field), String(value));
  }
  const all = persons.map(purchaseValues);
  for (const field of joinFields) {
    const known = all.map((one) => one[field]);
    values.set(field, known.find(Boolean) ?? known.find((value) => value != null));
  }
  // The status is left unchanged for a person who only bought an upgrade, since staff may have made them a member. A status
  // without a payment corrects a payment that was recorded by mistake.
  if (persons.some(({ hasBought }) => hasBought))
    values.set('membershipStatus', persons.some(({ isMember }) => isMember) ? MEMBER : FORMER);
  if (persons.some(({ holdsMembership }) => holdsMembership)) values.set('stage', 'paid');
  return [...values].flatMap(([field, known]) => {
    const value = known ?? (sent[field] ? '' : null);
    return value === null ? [] : [{ field, value: cleanText(value) }];
  });
}

function purchaseValues(told: Told): Partial<Record<CrmField, string | null | undefined>> {
  const state = told.joins.at(-1)?.state;
  const stage = state && stageOf(state);
  const paid = lastPaid(told.joins);
  if (!paid && !told.hasBought) return { stage };
  const bought = purchasesOf(told.orders, told.holdsUpgrade);
  return {
    stage,
    membership: bought.membership,
    upgrade: bought.upgrade,
    donation: bought.donationCents === null ? null : toPrice(bought.donationCents),
    items: bought.items?.join('; '),
    amountPaid: toPrice(told.amountCents ?? 0),
    paidAt: paid?.paidAt,
    transcriptReceivedAt: told.transcriptAt,
  };
}

/**
 * Returns the stage that is sent to HubSpot. The state `paying` is sent as `ordering`, because it lasts only minutes, and HubSpot
 * is not updated when a join goes back from it to `ordering`.
 */
const stageOf = (state: JoinSessionState) => (state === 'paying' ? 'ordering' : state);

/** The values of the field `stage`. */
export const crmStages = [...new Set(joinSessionStates.map(stageOf))];
