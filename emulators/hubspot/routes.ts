import { HUBSPOT_ACCESS_TOKEN } from '../keys.ts';
import type { Answer } from '../shared/gateway.ts';
import { type BatchInput, createBatch, readBatch, updateBatch, upsertBatch } from './batches.ts';
import type { Contacts } from './contacts.ts';
import { CrmError, invalid, notEmulated, notFound } from './errors.ts';
import { createNote, type Form, requireFile, upload, viewNote } from './files.ts';
import { type Property, propertyFault, viewProperty } from './properties.ts';
import { type SearchRequest, search } from './search.ts';
import type { ShapeName } from './shapes.ts';
import type { Store } from './store.ts';

/** One request to the emulator. Times are in ms since 1970. */
export interface CrmCall {
  contacts: Contacts;
  store: Store;
  ids: Record<string, string>;
  query: URLSearchParams;
  body: unknown;
  now: number;
  /** The account's id. */
  portalId: number;
  /** Search finds only what was written up to this time: HubSpot's search index lags behind its writes. */
  searchTime: number;
  /** The token's scopes; null when the account does not reveal the scopes of this kind of token. */
  scopes: readonly string[] | null;
  /** Runs one write of a batch, and undoes that write when it fails. */
  attempt: <T>(work: () => T) => T;
}

export interface Route {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** The path, with the word VERSION in place of the API's version. */
  path: string;
  query: readonly string[];
  /** The shape of a JSON body, or `form` for a form with a file. */
  body: ShapeName | 'form' | null;
  answer: ShapeName | null;
  /** The call needs a token with one of these scopes. If the list is empty, any token will do. */
  scopes: readonly string[];
  run: (call: CrmCall) => Answer;
}

const OBJECTS = '/crm/objects/VERSION/contacts';
const NOTES = '/crm/objects/VERSION/notes';
const FILES = '/files/VERSION/files';
const PROPERTIES = '/crm/properties/VERSION/contacts';
const LARGEST_PAGE = 100;

const READ = ['crm.objects.contacts.read'];
const WRITE = ['crm.objects.contacts.write'];
const FILE_SCOPE = ['files'];
const READ_SCHEMA = [...READ, 'crm.schemas.contacts.read'];
const WRITE_SCHEMA = ['crm.schemas.contacts.write'];

/**
 * Every call that the emulator supports. The first path that matches applies, so paths with a literal segment come before those
 * that have a named segment in its place.
 */
export const ROUTES: readonly Route[] = [
  route('POST', `${OBJECTS}/search`, READ, [], 'search', 'found', (call) => {
    const request = call.body as SearchRequest;
    const { total, rows, after } = search(call.store, request, call.searchTime);
    const results = rows.map((row) => call.contacts.view(row, request.properties));
    return ok({ total, results, ...(after && { paging: { next: { after } } }) });
  }),
  route('POST', `${OBJECTS}/batch/read`, READ, ['archived'], 'batchRead', 'batch', (call) => {
    const request = call.body as { inputs: { id: string }[]; idProperty?: string; properties: string[] };
    return readBatch(call.contacts, request, flag(call.query, 'archived'), call.now);
  }),
  route('POST', `${OBJECTS}/batch/create`, WRITE, [], 'batchCreate', 'batch', (call) =>
    createBatch(call.contacts, inputs(call), call),
  ),
  route('POST', `${OBJECTS}/batch/update`, WRITE, [], 'batchWrite', 'batch', (call) =>
    updateBatch(call.contacts, inputs(call), call),
  ),
  route('POST', `${OBJECTS}/batch/upsert`, WRITE, [], 'batchWrite', 'upserted', (call) =>
    upsertBatch(call.contacts, inputs(call), call),
  ),

  route('POST', `${OBJECTS}/merge`, WRITE, [], 'merge', 'contact', (call) => {
    const { primaryObjectId, objectIdToMerge } = call.body as Record<string, string>;
    return ok(
      call.contacts.view(call.contacts.merge(primaryObjectId!, objectIdToMerge!, call.now), undefined),
    );
  }),
  route('POST', `${OBJECTS}/gdpr-delete`, WRITE, [], 'gdprDelete', null, (call) => {
    const { objectId, idProperty } = call.body as { objectId: string; idProperty?: string };
    if (objectId === '') throw invalid('objectId must not be empty');
    // Deletion by a property is not emulated. If no contact has the given email, HubSpot puts the email onto a blocklist, and the
    // emulator has no such list.
    if (idProperty !== undefined) throw notEmulated('gdpr-delete by a property');
    call.contacts.erase(objectId);
    return { status: 204, body: undefined };
  }),
  route('GET', OBJECTS, READ, ['limit', 'after', 'properties', 'archived'], null, 'page', (call) => {
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
  route('POST', OBJECTS, WRITE, [], 'create', 'contact', (call) => {
    const { properties } = call.body as { properties: Record<string, string> };
    const row = call.contacts.create(properties, call.now);
    return {
      status: 201,
      body: call.contacts.view(row, [...Object.keys(properties), 'email', 'firstname', 'lastname']),
    };
  }),
  route(
    'GET',
    `${OBJECTS}/:id`,
    READ,
    ['properties', 'idProperty', 'archived', 'associations'],
    null,
    'contact',
    (call) => {
      const idProperty = call.query.get('idProperty') ?? undefined;
      const row = call.contacts.require(call.ids.id!, idProperty, flag(call.query, 'archived'));
      const others = list(call.query, 'associations');
      if (others.some((one) => one !== 'notes')) throw notEmulated(`associations with ${others}`);
      const notes = call.store.notes().filter(({ contactIds }) => contactIds.includes(row.id));
      return ok({
        ...call.contacts.view(row, list(call.query, 'properties')),
        ...(others.length > 0 &&
          notes.length > 0 && {
            associations: { notes: { results: notes.map(({ id }) => ({ id, type: 'contact_to_note' })) } },
          }),
      });
    },
  ),
  route('PATCH', `${OBJECTS}/:id`, WRITE, ['idProperty'], 'update', 'contact', (call) => {
    const { properties } = call.body as { properties: Record<string, string> };
    const row = call.contacts.require(call.ids.id!, call.query.get('idProperty') ?? undefined);
    const updated = call.contacts.update(row, properties, call.now);
    return ok(call.contacts.view(updated, Object.keys(properties)));
  }),
  route('DELETE', `${OBJECTS}/:id`, WRITE, [], null, null, (call) => {
    // Archiving a contact that does not exist also answers 204, since there is nothing left to do.
    const row = call.contacts.find(call.ids.id!);
    if (row) call.contacts.archive(row, call.now);
    return { status: 204, body: undefined };
  }),

  route('POST', NOTES, WRITE, [], 'noteCreate', 'note', (call) => {
    const note = createNote(
      call.store,
      call.body as Parameters<typeof createNote>[1],
      (id) => call.contacts.find(id) !== undefined,
      call.now,
    );
    return { status: 201, body: viewNote(note, Object.keys(note.properties)) };
  }),
  route('DELETE', `${NOTES}/:id`, WRITE, [], null, null, (call) => {
    // As with contacts, deleting a note that does not exist answers 204.
    call.store.removeNote(call.ids.id!);
    return { status: 204, body: undefined };
  }),
  route('POST', `${NOTES}/batch/read`, READ, ['archived'], 'batchRead', 'notes', (call) => {
    const { inputs, properties } = call.body as { inputs: { id: string }[]; properties: string[] };
    const wanted = new Set(inputs.map(({ id }) => id));
    const time = new Date(call.now).toISOString();
    const results = call.store.notes().filter(({ id }) => wanted.has(id));
    return ok({
      status: 'COMPLETE',
      results: results.map((note) => viewNote(note, properties)),
      startedAt: time,
      completedAt: time,
    });
  }),

  route('POST', FILES, FILE_SCOPE, [], 'form', 'file', (call) => ({
    status: 201,
    body: upload(call.store, call.body as Form, call.now),
  })),
  route('DELETE', `${FILES}/:id/gdpr-delete`, FILE_SCOPE, [], null, null, (call) => {
    if (!call.store.eraseFile(call.ids.id!)) throw notFound();
    return { status: 204, body: undefined };
  }),
  route('GET', `${FILES}/stat/:path`, FILE_SCOPE, [], null, 'fileStat', (call) =>
    ok({ file: requireFile(call.store.fileByPath(call.ids.path!)) }),
  ),

  route('GET', PROPERTIES, READ_SCHEMA, ['archived'], null, null, (call) =>
    ok({ results: call.store.properties().map(viewProperty) }),
  ),
  route('GET', `${PROPERTIES}/:name`, READ_SCHEMA, ['archived'], null, null, (call) => {
    const property = call.store.property(call.ids.name!);
    if (!property) throw notFound();
    return ok(viewProperty(property));
  }),
  route('POST', PROPERTIES, WRITE_SCHEMA, [], 'propertyCreate', null, (call) => {
    const given = call.body as Pick<Property, 'name' | 'label' | 'type' | 'fieldType' | 'groupName'> &
      Partial<Property>;
    if (call.store.property(given.name)) {
      throw new CrmError(409, 'OBJECT_ALREADY_EXISTS', `A property named '${given.name}' already exists.`);
    }
    const fault = propertyFault(given);
    if (fault !== null) throw invalid(fault);
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
    return { status: 201, body: viewProperty(property) };
  }),
  route('DELETE', `${PROPERTIES}/:name`, WRITE_SCHEMA, [], null, null, (call) => {
    const property = call.store.property(call.ids.name!);
    if (!property) throw notFound();
    if (property.hubspotDefined) throw invalid(`The property ${property.name} is HubSpot's own and stays.`);
    call.store.removeProperty(property.name);
    return { status: 204, body: undefined };
  }),

  // Any token may ask (https://developers.hubspot.com/docs/api-reference/latest/account/account-information/guide).
  route('GET', '/account-info/VERSION/details', [], [], null, 'account', ({ portalId }) =>
    ok({
      portalId,
      accountType: 'DEVELOPER_TEST',
      timeZone: 'US/Eastern',
      companyCurrency: 'USD',
      additionalCurrencies: [],
      utcOffset: '-05:00',
      utcOffsetMilliseconds: -18_000_000,
      uiDomain: 'app.hubspot.com',
      dataHostingLocation: 'na1',
    }),
  ),
  // Returns the token's scopes. This call has no dated version
  // (https://developers.hubspot.com/docs/apps/legacy-apps/private-apps/overview).
  route('POST', '/oauth/v2/private-apps/get/access-token-info', [], [], 'tokenInfo', null, (call) => {
    const { tokenKey } = call.body as { tokenKey: string };
    if (tokenKey !== HUBSPOT_ACCESS_TOKEN) throw notFound();
    if (call.scopes === null)
      throw new CrmError(403, 'INVALID_TOKEN_TYPE', 'This token is not of a private app.');
    return ok({ userId: 1, hubId: call.portalId, appId: 1, scopes: call.scopes });
  }),
];

function route(
  method: Route['method'],
  path: string,
  scopes: readonly string[],
  query: readonly string[],
  body: ShapeName | 'form' | null,
  answer: ShapeName | null,
  run: Route['run'],
): Route {
  return { method, path, scopes, query, body, answer, run };
}

function ok(body: object): Answer {
  return { status: 200, body };
}

function inputs(call: CrmCall): BatchInput[] {
  return (call.body as { inputs: BatchInput[] }).inputs;
}

/** Reads a list from `properties=a,b` or `properties=a&properties=b`. */
function list(query: URLSearchParams, name: string): string[] {
  return query
    .getAll(name)
    .flatMap((value) => value.split(','))
    .filter(Boolean);
}

function flag(query: URLSearchParams, name: string): boolean {
  return query.get(name) === 'true';
}
