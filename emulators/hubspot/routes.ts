import type { Answer } from '../shared/gateway.ts';
import { type BatchInput, createBatch, readBatch, updateBatch, upsertBatch } from './batches.ts';
import type { Contacts } from './contacts.ts';
import { CrmError, invalid, notFound } from './errors.ts';
import type { Property } from './properties.ts';
import { type SearchRequest, search } from './search.ts';
import type { ShapeName } from './shapes.ts';
import type { Store } from './store.ts';

/** One request on its way through the emulator; times are in ms since 1970. */
export interface CrmCall {
  contacts: Contacts;
  store: Store;
  ids: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
  now: number;
  /** The moment up to which search knows what was written. */
  searchTime: number;
  /** Runs one write of many, undone when it fails. */
  attempt: <T>(work: () => T) => T;
}

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With the word VERSION where the API's version stands. */
  path: string;
  query: readonly string[];
  body: ShapeName | null;
  answer: ShapeName | null;
  run: (call: CrmCall) => Answer;
}

const OBJECTS = '/crm/objects/VERSION/contacts';
const PROPERTIES = '/crm/properties/VERSION/contacts';
const LARGEST_PAGE = 100;

/** Every call. A literal segment comes before a named one. */
export const ROUTES: readonly Route[] = [
  route('POST', `${OBJECTS}/search`, [], 'search', 'found', (call) => {
    const request = call.body as SearchRequest;
    const { total, rows, after } = search(call.store, request, call.searchTime);
    const results = rows.map((row) => call.contacts.view(row, request.properties));
    return ok({ total, results, ...(after && { paging: { next: { after } } }) });
  }),
  route('POST', `${OBJECTS}/batch/read`, ['archived'], 'batchRead', 'batch', (call) => {
    const request = call.body as { inputs: { id: string }[]; idProperty?: string; properties: string[] };
    return readBatch(call.contacts, request, flag(call.query, 'archived'), call.now);
  }),
  route('POST', `${OBJECTS}/batch/create`, [], 'batchCreate', 'batch', (call) =>
    createBatch(call.contacts, inputs(call), call),
  ),
  route('POST', `${OBJECTS}/batch/update`, [], 'batchWrite', 'batch', (call) =>
    updateBatch(call.contacts, inputs(call), call),
  ),
  route('POST', `${OBJECTS}/batch/upsert`, [], 'batchWrite', 'upserted', (call) =>
    upsertBatch(call.contacts, inputs(call), call),
  ),

  route('GET', OBJECTS, ['limit', 'after', 'properties', 'archived'], null, 'page', (call) => {
    const limit = Number(call.query.get('limit') ?? 10);
    if (!Number.isInteger(limit) || limit < 1 || limit > LARGEST_PAGE) {
      throw invalid(`limit must be between 1 and ${LARGEST_PAGE}.`);
    }
    const after = Number(call.query.get('after') ?? 1) - 1;
    if (!Number.isInteger(after)) throw invalid(`Invalid paging cursor: ${call.query.get('after')}`);
    const rows = call.store.after(after, flag(call.query, 'archived'), limit + 1);
    const next = rows[limit]?.id;
    const results = rows
      .slice(0, limit)
      .map((row) => call.contacts.view(row, list(call.query, 'properties')));
    return ok({ results, ...(next && { paging: { next: { after: next } } }) });
  }),
  route('POST', OBJECTS, [], 'create', 'contact', (call) => {
    const { properties } = call.body as { properties: Record<string, string> };
    const row = call.contacts.create(properties, call.now);
    return {
      status: 201,
      body: call.contacts.view(row, [...Object.keys(properties), 'email', 'firstname', 'lastname']),
    };
  }),
  route('GET', `${OBJECTS}/:id`, ['properties', 'idProperty', 'archived'], null, 'contact', (call) => {
    const idProperty = call.query.get('idProperty') ?? undefined;
    const row = call.contacts.require(call.ids.id!, idProperty, flag(call.query, 'archived'));
    return ok(call.contacts.view(row, list(call.query, 'properties')));
  }),
  route('PATCH', `${OBJECTS}/:id`, ['idProperty'], 'update', 'contact', (call) => {
    const { properties } = call.body as { properties: Record<string, string> };
    const row = call.contacts.require(call.ids.id!, call.query.get('idProperty') ?? undefined);
    const updated = call.contacts.update(row, properties, call.now);
    return ok(call.contacts.view(updated, Object.keys(properties)));
  }),
  route('DELETE', `${OBJECTS}/:id`, [], null, null, (call) => {
    // Archiving what is not there answers 204 as well: the wish is fulfilled.
    const row = call.contacts.find(call.ids.id!);
    if (row) call.contacts.archive(row, call.now);
    return { status: 204, body: undefined };
  }),

  route('GET', PROPERTIES, ['archived'], null, null, (call) => ok({ results: call.store.properties() })),
  route('GET', `${PROPERTIES}/:name`, ['archived'], null, null, (call) => {
    const property = call.store.property(call.ids.name!);
    if (!property) throw notFound();
    return ok(property);
  }),
  route('POST', PROPERTIES, [], 'propertyCreate', null, (call) => {
    const given = call.body as Pick<Property, 'name' | 'label' | 'type' | 'fieldType' | 'groupName'> &
      Partial<Property>;
    if (call.store.property(given.name)) {
      throw new CrmError(409, 'CONFLICT', `A property named '${given.name}' already exists.`);
    }
    const property: Property = {
      description: '',
      hasUniqueValue: false,
      hubspotDefined: false,
      readOnlyValue: false,
      ...given,
      options: (given.options ?? []).map((option, index) => ({
        ...option,
        displayOrder: index,
        hidden: false,
      })),
    };
    call.store.addProperty(property);
    return { status: 201, body: property };
  }),
];

function route(
  method: Route['method'],
  path: string,
  query: readonly string[],
  body: ShapeName | null,
  answer: ShapeName | null,
  run: Route['run'],
): Route {
  return { method, path, query, body, answer, run };
}

function ok(body: object): Answer {
  return { status: 200, body };
}

function inputs(call: CrmCall): BatchInput[] {
  return (call.body as { inputs: BatchInput[] }).inputs;
}

/** `properties=a,b` and `properties=a&properties=b` alike. */
function list(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .filter(Boolean);
}

function flag(query: URLSearchParams, name: string): boolean {
  return query.get(name) === 'true';
}
