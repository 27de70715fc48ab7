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

/** What HubSpot is told of a person, or of several together. */
export interface Told {
  /** What the person gave; null if they have not given any, or are known by an import alone. */
  details: StudentDetails | null;
  /** The joins that have details or an order, the oldest first. Times in ISO 8601. */
  joins: { uuid: string; state: JoinSessionState; createdAt: string; paidAt: string | null }[];
  /** What the paid joins paid together, less what went back (cents); null if none was paid. */
  amountCents: number | null;
  orders: Pick<PaidOrder, 'lines' | 'amountCents' | 'refunds'>[];
  /** Whether a membership was bought, held or not; and whether one, or an upgrade, is held. */
  hasBought: boolean;
  holdsMembership: boolean;
  holdsUpgrade: boolean;
  /** Whether a membership is held by them, or by somebody else who is likely the same. */
  isMember: boolean;
  transcriptAt: string | null;
}

/** A contact of HubSpot. */
export interface ToldContact {
  /** The contact's person. The contact is ours if they have a join: by a code, a link or a merge, or their join has made the contact. */
  own: Told;
  /** Those who are likely the same and have no contact of their own, together. */
  attached: Told;
  /** Whether a join has made the contact. */
  isMade: boolean;
  /** What HubSpot had of each field when we last wrote or read it. */
  sent: CrmValues;
}

/** What is written into a contact. */
export interface Projection {
  properties: Record<string, string>;
  /** What HubSpot has of us after this write, by field. */
  sent: CrmValues;
}

/**
 * Decides what is written into a contact. `present` are its properties in HubSpot.
 * - A contact that is ours gets what its person gave and bought ({@link propertiesToSend}), and of the attached what its person has not.
 * - Any other contact gets what the attached have bought alone ({@link purchasesToSend}).
 * - The status says whether one of them holds a membership.
 * - What was written of a purchase that is nobody's any more is emptied.
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
  // Whom staff made a member before anything was told stays one by their word, whatever the attached buy.
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

/** Returns the properties of a new contact, and what HubSpot has of us then. The email is that of the details. */
export function projectNew(rules: FieldRules, own: Told & { details: StudentDetails }): Projection {
  const values = valuesOf([own], {});
  const email = own.details.personalEmail.toLowerCase();
  return {
    properties: { [EMAIL]: email, ...propertiesToSend(rules, values, {}, {}) },
    sent: knownAfter(rules, values),
  };
}

/** Returns what is written without the contact's email. */
export function withoutEmail<T extends Projection>(rules: FieldRules, projection: T): T {
  const { [EMAIL]: _, ...properties } = projection.properties;
  const isOther = ([field]: [string, string]) => rules[field as CrmField].property !== EMAIL;
  const sent = Object.fromEntries(Object.entries(projection.sent).filter(isOther)) as CrmValues;
  return { ...projection, properties, sent };
}

/**
 * Whether we created a contact for this person, and the server died before recording that: it is younger than their first join, and has
 * all values of contact fields that would be written. A name alone proves nothing, since somebody else may have typed it.
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
 * Returns the join that was paid last, if HubSpot says that its contact is a member and not by our word. If HubSpot has the time of this
 * payment, we have told the status, and the server died before recording that.
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

/** Decides what is written into a contact that is to say again what it said `before`, where it still has what we wrote (`sent`). */
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

/** The values that HubSpot has after a write. A field without a property is left out, to be sent once there is one. */
function knownAfter(rules: FieldRules, values: readonly FieldValue[]): CrmValues {
  return Object.fromEntries(
    values.flatMap(({ field, value }) => (rules[field].property === null ? [] : [[field, value]])),
  );
}

/**
 * How the name that HubSpot has for an email compares with that of the joiner: `same`, `other`, or `none` if HubSpot has no name. Of a
 * name that HubSpot has in part, that part counts. A key that is empty is like nobody's.
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
 * Returns the values for HubSpot: of each field that of the first person who has one. A field that was left empty is not sent, so that
 * the contact keeps its value. A value of a purchase that was sent before (`sent`) and does not hold any more is sent as empty.
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
  // Whoever bought an upgrade alone may have been made a member by staff. A status without a payment corrects a payment that was
  // recorded by mistake.
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

/** Returns the stage that HubSpot is told. Paying is none: it takes minutes, and ends in `ordering` without a word to HubSpot. */
const stageOf = (state: JoinSessionState) => (state === 'paying' ? 'ordering' : state);

/** The values of the field `stage`. */
export const crmStages = [...new Set(joinSessionStates.map(stageOf))];
