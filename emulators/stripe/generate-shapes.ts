/**
 * Writes shapes.schema.json: a JSON Schema (draft-07) of every request that the emulator accepts and every object that it
 * returns, made from the types of the installed `stripe` package. An object may have no other properties than those of its type,
 * because the provider's current API refuses a parameter that the types do not know.
 *
 * The schema is reduced to cards: it lacks the sub-objects of other payment methods. A reference to a resource that is not
 * emulated is only an id, even where Stripe can expand it.
 *
 * Run it with `node emulators/stripe/generate-shapes.ts`.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
// TypeScript 7 has no JavaScript compiler API. Version 5 has one; it is a development dependency under this name.
import ts from 'typescript5';

export type Schema = { [key: string]: unknown };

const REQUESTS: Record<string, string[]> = {
  Balance: ['Retrieve'],
  BalanceTransaction: ['Retrieve', 'List'],
  Charge: ['Retrieve', 'Update', 'List'],
  Customer: ['Create', 'Retrieve', 'Update', 'List', 'Search', 'ListPaymentMethods', 'RetrievePaymentMethod'],
  Dispute: ['Retrieve', 'List', 'Close'],
  Event: ['Retrieve', 'List'],
  PaymentIntent: ['Create', 'Retrieve', 'Update', 'Confirm', 'Cancel', 'Capture', 'List', 'Search'],
  PaymentMethod: ['Create', 'Retrieve', 'List', 'Attach', 'Detach'],
  PaymentMethodConfiguration: ['Retrieve', 'Update', 'List'],
  PaymentMethodDomain: ['Create', 'Retrieve', 'Update', 'List', 'Validate'],
  Payout: ['Retrieve', 'List'],
  Refund: ['Create', 'Retrieve', 'Update', 'List'],
  Review: ['Retrieve', 'List', 'Approve'],
  WebhookEndpoint: ['Create', 'Retrieve', 'Update', 'List', 'Delete'],
};

const ANSWERS = [
  'Balance',
  'BalanceTransaction',
  'Charge',
  'Customer',
  'DeletedCustomer',
  'Dispute',
  'EventBase',
  'PaymentIntent',
  'PaymentMethod',
  'PaymentMethodConfiguration',
  'PaymentMethodDomain',
  'Payout',
  'Refund',
  'Review',
  'WebhookEndpoint',
  'DeletedWebhookEndpoint',
];

/**
 * The longest list of literals that becomes an enum. Longer lists, such as those of all payment methods or error codes, become
 * any text.
 */
const LONGEST_ENUM = 24;

/**
 * Properties whose list of literals is kept as an enum although the list is longer than {@link LONGEST_ENUM}. These are lists of
 * event types, since the provider refuses unknown event types.
 */
const WHOLE_ENUMS = /^WebhookEndpoint(Create|Update)Params\.enabled_events$/;

/** Types whose schema has the property `link` in addition to `card`, although `link` is another payment method. */
const WITH_LINK = /^PaymentMethodConfiguration(UpdateParams)?$/;

const NEXT_ACTIONS = ['type', 'redirect_to_url', 'use_stripe_sdk'];

/** Generates the JSON Schema. Its `x-source` names the package and the API version that it was made from. */
export function generateShapes(): Schema {
  const stripe = dirname(dirname(createRequire(import.meta.url).resolve('stripe')));
  const version = JSON.parse(readFileSync(join(stripe, 'package.json'), 'utf8')).version as string;
  const apiVersion = /ApiVersion = '([^']+)'/.exec(
    readFileSync(join(stripe, 'esm/apiVersion.js'), 'utf8'),
  )?.[1];
  const file = (resource: string) => join(stripe, 'esm/resources', `${resource}.d.ts`);
  const files = Object.keys(REQUESTS).map((name) => file(name === 'Balance' ? name : `${name}s`));

  const program = ts.createProgram(files, {
    strict: true,
    skipLibCheck: true,
    target: ts.ScriptTarget.ESNext,
  });
  const checker = program.getTypeChecker();
  const exported = new Map<string, ts.Symbol>();
  for (const path of files) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path)!)!;
    for (const symbol of checker.getExportsOfModule(module)) exported.set(symbol.name, symbol);
  }

  const otherMethods = otherPaymentMethods(checker, exported.get('PaymentMethod')!);
  const definitions: Record<string, Schema> = {};

  for (const [resource, verbs] of Object.entries(REQUESTS)) {
    for (const verb of verbs) define(`${resource}${verb}Params`, true);
  }
  for (const name of ANSWERS) define(name, false);

  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    'x-source': `npm stripe@${version} (MIT), API ${apiVersion}, cards only`,
    definitions: Object.fromEntries(Object.entries(definitions).sort(([a], [b]) => (a < b ? -1 : 1))),
  };

  function define(name: string, request: boolean): void {
    const symbol = exported.get(name);
    if (!symbol) throw new Error(`the stripe package has no type named ${name}`);
    reference(checker.getDeclaredTypeOfSymbol(symbol), name, request);
  }

  function reference(type: ts.Type, name: string, request: boolean): Schema {
    if (!definitions[name]) {
      definitions[name] = {};
      definitions[name] = closedObject(type, name, request);
    }
    return { $ref: `#/definitions/${name}` };
  }

  function closedObject(type: ts.Type, name: string, request: boolean): Schema {
    const index = type.getStringIndexType();
    const properties: Record<string, Schema> = {};
    const required: string[] = [];
    for (const property of type.getProperties()) {
      if (
        (otherMethods.has(property.name) && !(property.name === 'link' && WITH_LINK.test(name))) ||
        (/NextAction$/.test(name) && !NEXT_ACTIONS.includes(property.name))
      ) {
        continue;
      }
      const schema = schemaOf(checker.getTypeOfSymbol(property), `${name}.${property.name}`, request);
      if (!schema) continue;
      properties[property.name] = schema;
      if (!(property.flags & ts.SymbolFlags.Optional)) required.push(property.name);
    }
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      // In an answer, an object without any declared property may hold anything, such as the object of an event.
      additionalProperties: index
        ? (schemaOf(index, `${name}.*`, request) ?? {})
        : !request && Object.keys(properties).length === 0,
    };
  }

  /** Returns the schema of a property, or undefined when no part of it is emulated. */
  function schemaOf(type: ts.Type, path: string, request: boolean): Schema | undefined {
    const parts = type.isUnion() ? type.types : [type];
    const literals: (string | number | boolean | null)[] = [];
    const schemas: Schema[] = [];
    let known = false;
    for (const part of parts) {
      if (part.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) return {};
      if (part.flags & ts.TypeFlags.Undefined) continue;
      // In a form there is no null. The official clients send the empty string instead, which unsets the value. A property that
      // allows any string allows the empty string, too.
      if (part.flags & ts.TypeFlags.Null) literals.push(request ? '' : null);
      else if (part.isLiteral()) literals.push(part.value as string | number);
      else if (part.flags & ts.TypeFlags.BooleanLiteral) schemas.push({ type: 'boolean' });
      else if (part.flags & ts.TypeFlags.String) schemas.push({ type: 'string' });
      else if (part.flags & ts.TypeFlags.Number) schemas.push({ type: 'number' });
      // `string & Record<never, never>` marks an open list of literals: the known ones are listed, and new ones may be added.
      else if (part.isIntersection()) known = true;
      else if (checker.isArrayType(part)) {
        const item = schemaOf(checker.getTypeArguments(part as ts.TypeReference)[0]!, path, request);
        schemas.push({ type: 'array', ...(item && { items: item }) });
      } else {
        const object = objectSchema(part, path, request);
        if (object) schemas.push(object);
      }
    }
    if (literals.filter((literal) => literal !== null).length > LONGEST_ENUM && !WHOLE_ENUMS.test(path)) {
      schemas.push({ type: 'string' });
      if (literals.includes(null)) schemas.push({ type: 'null' });
    } else if (literals.length === 1 && literals[0] === null) schemas.push({ type: 'null' });
    else if (literals.length > 0) schemas.push({ enum: [...new Set(literals)] });
    else if (known) schemas.push({ type: 'string' });
    const distinct = [...new Map(schemas.map((schema) => [JSON.stringify(schema), schema])).values()];
    return distinct.length > 1 ? { anyOf: distinct } : distinct[0];
  }

  function objectSchema(type: ts.Type, path: string, request: boolean): Schema | undefined {
    const symbol = type.aliasSymbol ?? type.getSymbol();
    const marker = type.getProperty('object');
    const isResource = marker && type.getProperty('id') !== undefined;
    if (isResource && !ANSWERS.includes(symbol?.name ?? '')) return undefined;
    if (symbol?.name === 'Date') return { type: 'number' };
    const name = symbol && symbol.name !== '__type' ? checker.getFullyQualifiedName(symbol) : path;
    if (symbol?.name === 'ApiList') {
      const item = schemaOf(checker.getTypeArguments(type as ts.TypeReference)[0]!, path, request);
      return item && list(item);
    }
    return reference(type, name.replace(/^".*"\./, ''), request);
  }
}

/** Returns the schema of a page of a list, as `ApiList` declares it. */
function list(items: Schema): Schema {
  return {
    type: 'object',
    properties: {
      object: { enum: ['list'] },
      data: { type: 'array', items },
      has_more: { type: 'boolean' },
      url: { type: 'string' },
    },
    required: ['object', 'data', 'has_more', 'url'],
    additionalProperties: false,
  };
}

/** Returns the names of the payment methods other than card. Each is a property of PaymentMethod that holds an object. */
function otherPaymentMethods(checker: ts.TypeChecker, paymentMethod: ts.Symbol): Set<string> {
  const type = checker.getDeclaredTypeOfSymbol(paymentMethod);
  const listed = checker.getNonNullableType(checker.getTypeOfSymbol(type.getProperty('type')!));
  const names = (listed.isUnion() ? listed.types : []).flatMap((part) =>
    part.isStringLiteral() ? [part.value] : [],
  );
  const others = new Set([
    ...names,
    'ach_credit_transfer',
    'ach_debit',
    'stripe_account',
    'wechat',
    'card_present',
  ]);
  others.delete('card');
  return others;
}

if (import.meta.main) {
  const path = join(import.meta.dirname, 'shapes.schema.json');
  writeFileSync(path, `${JSON.stringify(generateShapes())}\n`);
}
