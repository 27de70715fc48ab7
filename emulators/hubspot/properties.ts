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
  /** Whether the CRM alone writes it. */
  readOnlyValue: boolean;
}

const own = (name: string, type: PropertyType = 'string', more: Partial<Property> = {}): Property => ({
  name,
  label: name.replaceAll('_', ' '),
  type,
  fieldType:
    type === 'string'
      ? 'text'
      : type === 'bool'
        ? 'booleancheckbox'
        : type === 'enumeration'
          ? 'select'
          : type,
  description: '',
  groupName: 'contactinformation',
  options: [],
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

/** Properties that an answer holds when the request names none. */
export const DEFAULT_PROPERTIES = [
  'createdate',
  'email',
  'firstname',
  'hs_object_id',
  'lastmodifieddate',
  'lastname',
];

/** Why a value cannot be written, or undefined when it can. '' clears a property. */
export function refusalOf(property: Property | undefined, name: string, value: string): Refusal | undefined {
  const refuse = (error: string, message: string): Refusal => ({ name, error, message });
  if (!property) return refuse('PROPERTY_DOESNT_EXIST', `Property "${name}" does not exist`);
  if (property.readOnlyValue)
    return refuse('READ_ONLY_VALUE', `"${name}" is a read only property; its value cannot be set.`);
  if (value === '') return undefined;
  if (name === 'email' && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value)) {
    return refuse('INVALID_EMAIL', `Email address ${value} is invalid`);
  }
  switch (property.type) {
    case 'number':
      return Number.isFinite(Number(value))
        ? undefined
        : refuse('INVALID_INTEGER', `${value} was not a valid number.`);
    case 'bool':
      return value === 'true' || value === 'false'
        ? undefined
        : refuse('INVALID_OPTION', `${value} was not one of the allowed options: [true, false]`);
    case 'date':
    case 'datetime':
      return Number.isNaN(timeOf(value))
        ? refuse('INVALID_DATE', `${value} was not a valid date.`)
        : undefined;
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

/** Milliseconds since 1970 of a date given in ISO 8601 or as milliseconds; NaN when it is neither. */
export function timeOf(value: string): number {
  return /^-?\d+$/.test(value) ? Number(value) : Date.parse(value);
}

/** A value as the CRM keeps it: dates in ISO 8601, emails in lower case. */
export function stored(property: Property, value: string): string {
  if (value === '') return '';
  if (property.type === 'datetime') return new Date(timeOf(value)).toISOString();
  if (property.type === 'date') return new Date(timeOf(value)).toISOString().slice(0, 10);
  return property.name === 'email' ? value.trim().toLowerCase() : value;
}
