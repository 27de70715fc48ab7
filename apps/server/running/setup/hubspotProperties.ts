import { type CrmField, crmFields, type FieldRules, FORMER, MEMBER } from '#core/crmFields.ts';
import { crmStages } from '#core/crmProjection.ts';
import type {
  CrmProperty,
  CrmPropertyType,
  ExistingProperty,
  HubspotClient,
} from '../../crm/hubspot/client.ts';
import { CrmRefused } from '../../crm/hubspot/errors.ts';

/** A property that joins read or write, in the form in which setup creates it if it is missing. */
export interface WantedProperty extends CrmProperty {
  isWritten: boolean;
  /** All values that joins write to the property; null if joins write free text. */
  values: readonly string[] | null;
}

export interface PropertyPlan {
  create: WantedProperty[];
  /** The names of the properties that exist and fit. */
  fine: string[];
  /**
   * Existing properties that do not fit, each with a sentence about what staff should do. Setup never changes an existing property,
   * because others may use it.
   */
  differ: { name: string; text: string }[];
}

/** The group of new properties. Every HubSpot account has it. */
const GROUP = 'contactinformation';
const TYPES: Partial<Record<CrmField, { type: CrmPropertyType; fieldType: string }>> = {
  acceptedPrivacyPolicy: { type: 'bool', fieldType: 'booleancheckbox' },
  donation: { type: 'number', fieldType: 'number' },
  amountPaid: { type: 'number', fieldType: 'number' },
  paidAt: { type: 'datetime', fieldType: 'date' },
  transcriptReceivedAt: { type: 'datetime', fieldType: 'date' },
};
const TEXT = { type: 'string', fieldType: 'text' } as const;
const VALUES: Partial<Record<CrmField, readonly string[]>> = {
  stage: crmStages,
  membershipStatus: [MEMBER, FORMER],
  acceptedPrivacyPolicy: ['true', 'false'],
};
/** Fields that are written even if their field rule says `never`: a contact is created with its email. */
const writtenAlways: readonly CrmField[] = ['email'];

export function wantedProperties(rules: FieldRules): WantedProperty[] {
  const wanted = new Map<string, WantedProperty>();
  for (const field of crmFields) {
    const { property: name, write } = rules[field];
    if (name === null || wanted.has(name)) continue;
    const shape = TYPES[field] ?? TEXT;
    wanted.set(name, {
      name,
      label: labelOf(field),
      ...shape,
      groupName: GROUP,
      options:
        shape.type === 'bool'
          ? [
              { label: 'Yes', value: 'true' },
              { label: 'No', value: 'false' },
            ]
          : [],
      isWritten: write !== 'never' || writtenAlways.includes(field),
      values: VALUES[field] ?? null,
    });
  }
  return [...wanted.values()];
}

/**
 * Plans which properties setup creates and which ones staff must check, so that each wanted property exists and accepts the values
 * that joins write. Makes no calls.
 */
export function planProperties(
  existing: readonly ExistingProperty[],
  wanted: readonly WantedProperty[],
): PropertyPlan {
  const plan: PropertyPlan = { create: [], fine: [], differ: [] };
  const byName = new Map(existing.map((property) => [property.name, property]));
  for (const property of wanted) {
    const there = byName.get(property.name);
    if (!there) plan.create.push(property);
    else {
      const text = differenceOf(there, property);
      if (text === null) plan.fine.push(property.name);
      else plan.differ.push({ name: property.name, text });
    }
  }
  return plan;
}

/**
 * Returns a sentence if HubSpot would refuse or change values that joins write to an existing property; null if the property fits.
 * A text property always fits.
 */
function differenceOf(
  there: ExistingProperty,
  { name, type, isWritten, values }: WantedProperty,
): string | null {
  if (!isWritten) return null;
  const elsewhere = `Name another property for it in society.yaml (crm), or change it: HubSpot: Settings, Properties, ${there.label}.`;
  if (there.isReadOnly) return `${name} is written by HubSpot alone. ${elsewhere}`;
  if (there.type === 'string') return null;
  if (there.type === 'enumeration' || there.type === 'bool') {
    if (values === null) return `${name} takes its options alone, and people type it. ${elsewhere}`;
    const options = there.type === 'bool' ? ['true', 'false'] : there.options.map(({ value }) => value);
    const lacking = values.filter((value) => !options.includes(value));
    return lacking.length === 0
      ? null
      : `${name} lacks the ${lacking.length === 1 ? 'option' : 'options'} ${lacking.join(', ')}. Add ${lacking.length === 1 ? 'it' : 'them'}: HubSpot: Settings, Properties, ${there.label}.`;
  }
  return there.type === type
    ? null
    : `${name} is of the type ${there.type}, and ${type} is written. ${elsewhere}`;
}

export interface AppliedProperty {
  name: string;
  outcome: 'created' | 'was there' | 'refused';
  /** HubSpot's message if it refused the property, otherwise null. */
  reason: string | null;
}

/**
 * Creates the properties of a plan one by one, and calls `told` after each. Safe to repeat. Throws CrmUnavailable if HubSpot does
 * not answer, or if the token lacks the scope crm.schemas.contacts.write.
 */
export async function applyProperties(
  hubspot: HubspotClient,
  plan: PropertyPlan,
  told: (applied: AppliedProperty) => void = () => {},
): Promise<AppliedProperty[]> {
  const all: AppliedProperty[] = [];
  for (const property of plan.create) {
    const applied = await create(hubspot, property);
    told(applied);
    all.push(applied);
  }
  return all;
}

async function create(
  hubspot: HubspotClient,
  { name, label, type, fieldType, groupName, options }: CrmProperty,
): Promise<AppliedProperty> {
  try {
    await hubspot.createProperty({ name, label, type, fieldType, groupName, options });
    return { name, outcome: 'created', reason: null };
  } catch (error) {
    if (!(error instanceof CrmRefused)) throw error;
    // 409: somebody else has just created the property.
    return error.status === 409
      ? { name, outcome: 'was there', reason: null }
      : { name, outcome: 'refused', reason: error.message };
  }
}

/** Returns a property's label: `highSchoolGpa` becomes "High school gpa". */
function labelOf(field: CrmField): string {
  const words = field.replace(/[A-Z0-9]+/g, (letters) => ` ${letters.toLowerCase()}`);
  return words[0]!.toUpperCase() + words.slice(1);
}
