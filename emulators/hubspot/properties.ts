import type { Refusal } from './errors.ts';

export type PropertyType = 'string' | 'number' | 'datetime' | 'date' | 'bool' | 'enumeration';

export interface Property {
  name: string;
  label: string;
  type: PropertyType;
  fieldType: string;
  description: string;
  groupName: string;
  options: { label: string; value: string; displayOrder: number; hidden: boolean }[];
  hasUniqueValue: boolean;
  hubspotDefined: boolean;
  /** Whether only the CRM itself may write the property. */
  readOnlyValue: boolean;
}

const own = (name: string, type: PropertyType = 'string', more: Partial<Property> = {}): Property => ({
  name,
  label: name.replaceAll('_', ' '),
  type,
  fieldType: {
    string: 'text',
    bool: 'booleancheckbox',
    enumeration: 'select',
    number: 'number',
    date: 'date',
    datetime: 'date',
  }[type],
  description: '',
  groupName: 'contactinformation',
  options:
    type === 'bool'
      ? [true, false].map((value, displayOrder) => ({
          label: value ? 'Yes' : 'No',
          value: String(value),
          displayOrder,
          hidden: false,
        }))
      : [],
  hasUniqueValue: false,
  hubspotDefined: false,
  readOnlyValue: false,
  ...more,
});
const defined = (name: string, type: PropertyType = 'string', more: Partial<Property> = {}) =>
  own(name, type, { hubspotDefined: true, ...more });

/** Contact properties of the account on its first start: the CRM's own, then the society's. */
export const FIRST_PROPERTIES: readonly Property[] = [
  ...['firstname', 'lastname', 'phone', 'address', 'city', 'state', 'zip', 'country'].map((name) =>
    defined(name),
  ),
  defined('email', 'string', { hasUniqueValue: true }),
  ...['createdate', 'lastmodifieddate'].map((name) => defined(name, 'datetime', { readOnlyValue: true })),
  ...['hs_merged_object_ids', 'hs_additional_emails'].map((name) =>
    defined(name, 'string', { readOnlyValue: true }),
  ),
  defined('hs_object_id', 'number', { readOnlyValue: true, hasUniqueValue: true }),
  ...['middlename', 'address2', 'personal_email', 'school_email', 'school_id', 'school_name'].map((name) =>
    own(name),
  ),
  ...['high_school_name', 'high_school_graduation_year', 'high_school_gpa'].map((name) => own(name)),
  ...['invitation_code', 'membership_status', 'membership_name', 'join_stage'].map((name) => own(name)),
  ...['upgrade_name', 'store_items'].map((name) => own(name)),
  own('donation_amount', 'number'),
  own('amount_paid', 'number'),
  own('paid_at', 'datetime'),
  own('transcript_received_at', 'datetime'),
  own('accepted_privacy_policy', 'bool'),
  own('transcript_received', 'bool'),
];

/** The properties that an answer contains if the request does not say which ones it wants. */
export const DEFAULT_PROPERTIES = [
  'createdate',
  'email',
  'firstname',
  'hs_object_id',
  'lastmodifieddate',
  'lastname',
];

/** Returns the reason why a value cannot be written to a property; undefined if it can be. The value '' clears the property. */
export function refusalOf(property: Property | undefined, name: string, value: string): Refusal | undefined {
  const refuse = (error: string, message: string): Refusal => ({ name, error, message });
  if (!property) return refuse('PROPERTY_DOESNT_EXIST', `Property "${name}" does not exist`);
  if (property.readOnlyValue)
    return refuse('READ_ONLY_VALUE', `"${name}" is a read only property; its value cannot be set.`);
  if (value === '') return undefined;
  if (name === 'email' && !isEmail(value))
    return refuse('INVALID_EMAIL', `Email address ${value} is invalid`);
  switch (property.type) {
    case 'number':
      return NUMBER.test(value) ? undefined : refuse('INVALID_INTEGER', `${value} was not a valid number.`);
    case 'bool':
      return value === 'true' || value === 'false'
        ? undefined
        : refuse('INVALID_OPTION', `${value} was not one of the allowed options: [true, false]`);
    case 'date':
    case 'datetime': {
      const time = timeOf(value);
      if (Number.isNaN(time)) return refuse('INVALID_DATE', `${value} was not a valid date.`);
      return property.type === 'date' && time % DAY_MS !== 0
        ? refuse(
            'INVALID_DATE',
            `${value} is at ${new Date(time).toISOString().slice(11, 23)} UTC, not midnight!`,
          )
        : undefined;
    }
    case 'enumeration': {
      const allowed = property.options.map((option) => option.value);
      return allowed.includes(value)
        ? undefined
        : refuse('INVALID_OPTION', `${value} was not one of the allowed options: [${allowed.join(', ')}]`);
    }
    default:
      return value.length <= 65_536
        ? undefined
        : refuse('PROPERTY_VALUE_TOO_LONG', `"${name}" is longer than 65536 characters.`);
  }
}

/** Digits, with an optional minus sign and decimal part. 1e5 does not match. */
export const NUMBER = /^-?(\d+(\.\d*)?|\.\d+)$/;
const ISO = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

const DAY_MS = 86_400_000;

/**
 * Returns the milliseconds since 1970 of a date in ISO 8601 or in milliseconds; NaN for any other text, or for a day that does
 * not exist.
 */
export function timeOf(value: string): number {
  if (/^-?\d+$/.test(value)) return new Date(Number(value)).getTime();
  const day = value.slice(0, 10);
  const isDay = ISO.test(value) && new Date(Date.parse(day) || 0).toISOString().startsWith(day);
  return isDay ? Date.parse(value) : Number.NaN;
}

/**
 * Whether a text is one valid email of ASCII characters. In the local part, dots may only stand between other characters, one at
 * a time. The domain must end in a top-level domain.
 */
function isEmail(value: string): boolean {
  const text = value.trim();
  const [local, domain, ...more] = text.split('@');
  if (!local || !domain || more.length > 0 || text.length > 254 || local.length > 64) return false;
  const atoms = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/i;
  const labels = /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/i;
  return atoms.test(local) && labels.test(domain);
}

/** The field types that each property type allows (https://developers.hubspot.com/docs/api-reference/crm-properties-v3/guide). */
export const FIELD_TYPES: Record<PropertyType, readonly string[]> = {
  bool: ['booleancheckbox', 'calculation_equation'],
  enumeration: ['booleancheckbox', 'checkbox', 'radio', 'select', 'calculation_equation'],
  date: ['date'],
  datetime: ['date'],
  string: ['file', 'text', 'textarea', 'calculation_equation', 'html', 'phonenumber'],
  number: ['number', 'calculation_equation'],
};

/** Groups of contact properties that every account has. */
export const GROUPS: readonly string[] = [
  'contactinformation',
  'contact_activity',
  'analyticsinformation',
  'emailinformation',
  'conversioninformation',
  'order_information',
  'social_media_information',
];

/** Returns a property in the form in which the CRM returns it. */
export function viewProperty({ readOnlyValue, ...property }: Property): object {
  return {
    ...property,
    calculated: false,
    externalOptions: false,
    hidden: false,
    archived: false,
    modificationMetadata: {
      archivable: !property.hubspotDefined,
      readOnlyDefinition: property.hubspotDefined,
      readOnlyValue,
    },
  };
}

/** Returns the reason why a property cannot be created; null if it can be. */
export function propertyFault({
  type,
  fieldType,
  groupName,
  options = [],
}: Pick<Property, 'type' | 'fieldType' | 'groupName'> & { options?: { value: string }[] }): string | null {
  if (!FIELD_TYPES[type].includes(fieldType))
    return `The field type ${fieldType} is not valid for a property of type ${type}.`;
  if (!GROUPS.includes(groupName)) return `There is no property group ${groupName}.`;
  const values = options.map(({ value }) => value);
  if (new Set(values).size < values.length) return 'Property options must have values of their own.';
  const isChoice = type === 'enumeration' || type === 'bool';
  if (isChoice && values.length === 0) return `A property of type ${type} needs options.`;
  if (!isChoice && values.length > 0) return `A property of type ${type} has no options.`;
  if (type === 'bool' && values.toSorted().join() !== 'false,true')
    return 'A property of type bool has the options true and false.';
  return null;
}

/** Returns a value in the form in which the CRM stores it: a date in ISO 8601, an email in lower case. '' stays ''. */
export function stored(property: Property, value: string): string {
  if (value === '') return '';
  if (property.type === 'datetime') return new Date(timeOf(value)).toISOString();
  if (property.type === 'date') return new Date(timeOf(value)).toISOString().slice(0, 10);
  return property.name === 'email' ? value.trim().toLowerCase() : value;
}
