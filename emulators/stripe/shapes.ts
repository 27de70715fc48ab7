import { readFileSync } from 'node:fs';
import { shapeFaults } from '../shared/shapeFaults.ts';
import { invalid, notEmulated } from './errors.ts';
import type { FormTree, FormValue } from './form.ts';

/** The part of JSON Schema that generate-shapes.ts writes. */
interface Shape {
  $ref?: string;
  type?: string;
  enum?: unknown[];
  anyOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  additionalProperties?: boolean | Shape;
}

const document = JSON.parse(readFileSync(new URL('./shapes.schema.json', import.meta.url), 'utf8'));
const definitions = document.definitions as Record<string, Shape>;

export type Params = Record<string, unknown>;

/**
 * Reads a form by the closed shape of its request, as the API does. Text becomes numbers and booleans. An unknown or missing
 * parameter is a 400 that names it. `supported` are the top-level parameters that have an effect in the emulator. Any other
 * parameter that the API knows is answered with 501, so that no caller believes that it had an effect.
 */
export function readParams(
  form: FormTree,
  name: string,
  supported: readonly string[],
  extra: Extra = {},
): Params {
  // The API removed this parameter:
  // https://docs.stripe.com/changelog/endive/2026-09-30/removes-the-payment-method-types-parameter-from-payment-intents-and-setup-intents
  if (name.startsWith('PaymentIntent') && 'payment_method_types' in form)
    throw invalid(
      'The parameter `payment_method_types` is no longer supported. Use `allowed_payment_method_types` or `excluded_payment_method_types`.',
      'payment_method_types',
      'payment_method_types_no_longer_supported',
    );
  const params = readObject(form, extended(name, extra), '');
  const ignored = Object.keys(params).find((param) => !supported.includes(param) && !(param in extra));
  if (ignored) throw notEmulated(`the parameter ${ignored} of ${name}`);
  return params;
}

/** Parameters that a request accepts beyond its published shape, since only Stripe.js sends them. */
export type Extra = Record<string, Shape>;

/** Returns a published shape with additional properties. */
export function extended(name: string, extra: Extra): Shape {
  const shape = definitions[name]!;
  return { ...shape, properties: { ...shape.properties, ...extra } };
}

function resolve(shape: Shape): Shape {
  return shape.$ref ? definitions[shape.$ref.slice('#/definitions/'.length)]! : shape;
}

function readObject(tree: FormTree, shape: Shape, prefix: string): Params {
  const properties = shape.properties ?? {};
  const open = typeof shape.additionalProperties === 'object' ? shape.additionalProperties : undefined;
  const named = (key: string) => (prefix ? `${prefix}[${key}]` : key);
  const unknown = open ? [] : Object.keys(tree).filter((key) => !Object.hasOwn(properties, key));
  if (unknown.length > 0) {
    const names = unknown.map(named);
    throw invalid(
      `Received unknown parameter${names.length > 1 ? 's' : ''}: ${names.join(', ')}`,
      names[0],
      'parameter_unknown',
    );
  }
  for (const key of shape.required ?? []) {
    if (tree[key] === undefined) {
      throw invalid(`Missing required param: ${named(key)}.`, named(key), 'parameter_missing');
    }
  }
  return Object.fromEntries(
    Object.entries(tree).map(([key, value]) => [key, read(value, properties[key] ?? open!, named(key))]),
  );
}

function read(value: FormValue, given: Shape, param: string): unknown {
  const shape = resolve(given);
  const options = (shape.anyOf ?? [shape]).map(resolve);
  const ofType = (type: string) => options.find((option) => option.type === type);
  const allowed = options.flatMap((option) => option.enum ?? []);

  if (Array.isArray(value)) {
    const list = ofType('array');
    if (!list) throw invalid(`Invalid ${expected(options)}: ${JSON.stringify(value)}`, param);
    return value.map((item, index) => read(item, list.items ?? {}, `${param}[${index}]`));
  }
  if (typeof value === 'object') {
    const object = ofType('object');
    if (!object) throw invalid(`Invalid ${expected(options)}: ${JSON.stringify(value)}`, param);
    return readObject(value, object, param);
  }
  if (allowed.includes(value)) return value;
  if (ofType('boolean')) {
    if (value !== 'true' && value !== 'false') throw invalid(`Invalid boolean: ${value}`, param);
    return value === 'true';
  }
  if (ofType('number') && (/^-?\d+$/.test(value) || !ofType('string'))) {
    if (!/^-?\d+$/.test(value)) {
      throw invalid(`Invalid integer: ${value}`, param, 'parameter_invalid_integer');
    }
    return Number(value);
  }
  if (ofType('string')) {
    if (value === '' && !param.startsWith('metadata[')) {
      throw invalid(
        `You passed an empty string for '${param}'. Leave the parameter out, or give it a value: it cannot be unset.`,
        param,
        'parameter_invalid_empty',
      );
    }
    return value;
  }
  if (allowed.length > 0) throw invalid(`Invalid ${param}: must be one of ${oneOf(allowed)}`, param);
  throw invalid(`Invalid ${expected(options)}: ${value}`, param);
}

function expected(options: Shape[]): string {
  const type = options.find((option) => option.type)?.type;
  return type === 'object' ? 'hash' : type === 'number' ? 'integer' : (type ?? 'value');
}

function oneOf(values: unknown[]): string {
  const named = values.filter((value) => value !== '' && value !== null).map(String);
  return named.length < 2 ? named.join('') : `${named.slice(0, -1).join(', ')} or ${named.at(-1)}`;
}

/**
 * Checks a value against a published shape. The value is passed in an object, under the name of its shape: `{ Charge: value }`.
 */
const faultsOfNamed = shapeFaults({
  definitions: document.definitions,
  properties: Object.fromEntries(
    Object.keys(definitions).map((name) => [name, { $ref: `#/definitions/${name}` }]),
  ),
});
const NAMES: Record<string, string> = {
  balance: 'Balance',
  balance_transaction: 'BalanceTransaction',
  charge: 'Charge',
  customer: 'Customer',
  dispute: 'Dispute',
  event: 'EventBase',
  payment_intent: 'PaymentIntent',
  payment_method: 'PaymentMethod',
  payment_method_configuration: 'PaymentMethodConfiguration',
  payment_method_domain: 'PaymentMethodDomain',
  payout: 'Payout',
  refund: 'Refund',
  review: 'Review',
  webhook_endpoint: 'WebhookEndpoint',
};

/** Whether a field of an answer may hold an object in place of its id. */
export function isExpandable(kind: string, field: string): boolean {
  const options = definitions[NAMES[kind] ?? '']?.properties?.[field]?.anyOf ?? [];
  const isObject = ({ $ref }: Shape) =>
    Object.values(NAMES).includes($ref?.slice('#/definitions/'.length) ?? '');
  return options.some((option) => option.type === 'string') && options.some(isObject);
}

/** Returns the faults of an answer (an object or a page of objects) by its published shape; empty if it has none. */
export function faultsOfAnswer(answer: unknown): string[] {
  const value = answer as { object?: string; data?: unknown; deleted?: boolean; error?: unknown };
  if (value.object === 'list' || value.object === 'search_result') {
    return (value.data as unknown[]).flatMap(faultsOfAnswer);
  }
  const name = NAMES[value.object ?? ''];
  if (!name) return [`no shape for an object of kind ${value.object}`];
  const faults = faultsOfNamed({ [value.deleted ? `Deleted${name}` : name]: value });
  const inner = value.object === 'event' ? faultsOfAnswer((value.data as { object: unknown }).object) : [];
  return [...faults, ...inner];
}

/** Whether the provider has events of this type. */
export function isEventType(type: string): boolean {
  return definitions.WebhookEndpointCreateParams!.properties!.enabled_events!.items!.enum!.includes(type);
}
