import type { Readable } from 'node:stream';
import { ReadableStream } from 'node:stream/web';
import { setTimeout as pause } from 'node:timers/promises';
import type { FieldRules } from '#core/crmFields.ts';
import type { Providers } from '../../platform/config.ts';
import type { ProviderTrouble, TellTrouble } from '../trouble.ts';
import { failureOf, reasonOf, refusedRecord } from './answer.ts';
import type { Budget, CallKind, Urgency } from './budget.ts';
import { MERGED_IDS, type Properties, readProperties } from './properties.ts';

/** A contact as HubSpot returns it; `id` is its record id, digits. */
export interface CrmContact {
  id: string;
  properties: Properties;
  createdAt: string;
}

/** A contact with when it was last changed, in HubSpot's clock. */
export interface ChangedContact extends CrmContact {
  changedAt: Date;
}

/** HubSpot does not take the call now: limited, down, or slower than it may be. Try again, not before `retryAfterMs`. */
export class CrmUnavailable extends Error {
  readonly retryAfterMs: number;
  /** Whether what was sent may be what HubSpot fails on. */
  readonly perhapsRecord: boolean;
  constructor(message: string, retryAfterMs = 0, perhapsRecord = false) {
    super(message);
    this.retryAfterMs = retryAfterMs;
    this.perhapsRecord = perhapsRecord;
  }
}

/** The key may not make this call (401, 403), or HubSpot does not know its address: until somebody puts that right. */
export class CrmDenied extends CrmUnavailable {
  readonly status: number;
  constructor(status: number, message: string, retryAfterMs: number) {
    super(message, retryAfterMs);
    this.status = status;
  }
}

/** HubSpot will not take this record as it is. Its reason is for staff. */
export class CrmRefused extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One contact of a batch write, by a mark of the caller's that its error is told by. */
export interface BatchWrite {
  mark: string;
  /** Null: create it. */
  id: string | null;
  properties: Record<string, string>;
}
/**
 * What became of it. A conflict is a contact with that email, by its id if HubSpot says it; `gone` is one that HubSpot does
 * not know, or has no more. One that was written under another id than was asked for has been merged.
 */
export type BatchOutcome =
  | { kind: 'written'; id: string; isMerged: boolean }
  | { kind: 'gone' }
  | { kind: 'conflict'; id: string | null }
  | { kind: 'refused'; reason: string };

/** A file for HubSpot. */
export interface CrmFile {
  /** Folder and name, as /folder/name.pdf; both of plain letters. */
  path: string;
  mediaType: string;
  sizeBytes: number;
  bytes: Readable;
}

export type CrmPropertyType = 'string' | 'number' | 'datetime' | 'date' | 'bool' | 'enumeration';

/** A contact property (https://developers.hubspot.com/docs/api-reference/crm-properties-v3/guide). */
export interface CrmProperty {
  name: string;
  label: string;
  type: CrmPropertyType;
  fieldType: string;
  groupName: string;
  options: { label: string; value: string }[];
}
export interface ExistingProperty extends CrmProperty {
  /** HubSpot alone writes it. */
  isReadOnly: boolean;
}

export interface HubspotClient {
  /** Null when HubSpot does not know the id. */
  getContact(id: string, timeoutMs: number): Promise<CrmContact | null>;
  findByCode(
    code: string,
    options: { timeoutMs: number; who: 'joiner' | 'suspect' },
  ): Promise<CrmContact | null>;
  findByEmail(email: string): Promise<CrmContact | null>;
  /** Those of at most 100 that HubSpot knows, by the id that was asked for: one that was merged has another. */
  readContacts(
    ids: readonly string[],
    properties: readonly string[],
    timeoutMs?: number,
  ): Promise<Map<string, CrmContact>>;
  /** Updates at most 100 contacts, or creates them, in one call; by mark. One that is refused keeps none of the others. */
  updateContacts(writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>>;
  createContacts(writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>>;
  /** A page of all contacts, oldest first; `after` null at the end. */
  listContacts(after: string | null): Promise<{ contacts: CrmContact[]; after: string | null }>;
  /** A page of the ids of contacts that were deleted; `after` null at the end. */
  deletedContacts(after: string | null): Promise<{ ids: string[]; after: string | null }>;
  /**
   * Contacts changed at or after a time, the longest unchanged first, {@link LARGEST_PAGE} at most. There is no next page:
   * whoever changes meanwhile would move everybody behind them up by one. Ask again from the last one's time.
   */
  changedContacts(since: Date): Promise<ChangedContact[]>;
  /** Contacts last changed at just this time, by rising id, after an id; {@link LARGEST_PAGE} at most. */
  contactsChangedAt(at: Date, afterId: string): Promise<ChangedContact[]>;
  /**
   * Uploads a file for staff alone, and answers its id. One of the same path is not replaced: look for it first. What kept
   * its bytes from being read is thrown as it is.
   */
  uploadFile(file: CrmFile): Promise<string>;
  /** The id of the file with this path, or null. */
  findFile(path: string): Promise<string | null>;
  /** A note about a contact with a file, in one call; answers its id. `html` is the note's text. */
  createNote(note: { contactId: string; fileId: string; html: string; at: Date }): Promise<string>;
  /** The id of a note about this contact that holds this file, or null. */
  findNote(contactId: string, fileId: string): Promise<string | null>;
  /** Every contact property of the account; null when HubSpot does not know this API version. */
  getProperties(): Promise<ExistingProperty[] | null>;
  /** Their names. */
  getPropertyNames(): Promise<Set<string> | null>;
  /** Makes a contact property. One that exists, or does not fit, is refused. */
  createProperty(property: CrmProperty): Promise<void>;
  /** Whether contacts may be written, by a call that writes none: throws {@link CrmDenied} when they may not. */
  mayWrite(): Promise<void>;
  /** What the token may do; null when HubSpot does not know it as a private app's. */
  getScopes(): Promise<Set<string> | null>;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** Work in the background waits so long for its turn; after that it says so, and is done later. */
const LONGEST_WAIT_MS = 2_000;
/** Of contacts that are listed or searched. */
export const LARGEST_PAGE = 100;
/** An upload that is slower is given up: 50 KB a second. */
const SLOWEST_BYTES_PER_MS = 50;
/** HubSpot's own type of that association. */
const NOTE_TO_CONTACT = 202;

/**
 * HubSpot's contacts API (dated version) over fetch, with a time limit on every call and within the budget of all
 * processes. For a joiner a call that may not be made now fails at once; in the background it waits for its turn. What
 * HubSpot does not do is told.
 */
export function hubspotClient(
  { url, accessToken, apiVersion }: Providers['hubspot'],
  rules: FieldRules,
  budget: Budget,
  urgency: 'joiner' | 'background',
  tell: TellTrouble,
): HubspotClient {
  const base = `${url}/crm/objects/${apiVersion}/contacts`;
  const notes = `${url}/crm/objects/${apiVersion}/notes`;
  const propertiesBase = `${url}/crm/properties/${apiVersion}/contacts`;
  const files = `${url}/files/${apiVersion}/files`;
  const properties = readProperties(rules);

  async function takeTurn(kind: CallKind, who: Urgency): Promise<void> {
    for (;;) {
      const ms = await budget.take(kind, who);
      if (ms === 0) return;
      if (urgency === 'joiner' || ms > LONGEST_WAIT_MS)
        throw new CrmUnavailable('HubSpot takes no more calls at this moment', ms);
      await pause(ms);
    }
  }

  /** Null when HubSpot does not know the record, where the call is about one. */
  async function call<T>(
    method: string,
    path: string,
    body?: unknown,
    {
      timeoutMs = DEFAULT_TIMEOUT_MS,
      kind = 'call' as CallKind,
      under = base,
      who = urgency as Urgency,
      isAboutOne = false,
    } = {},
  ): Promise<T | null> {
    await takeTurn(kind, who);
    const name = nameOf(method, under.slice(url.length), path);
    let response: Response;
    let answer: string;
    try {
      response = await fetch(under + path, {
        method,
        headers: {
          authorization: `Bearer ${accessToken}`,
          ...(body === undefined || body instanceof FormData ? {} : { 'content-type': 'application/json' }),
        },
        ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      });
      answer = await response.text();
    } catch (error) {
      await Promise.all([budget.failed(kind), tell(noAnswer(name, error))]);
      throw new CrmUnavailable(error instanceof Error ? error.message : String(error), 0, true);
    }
    const { status } = response;
    if (response.ok) {
      await budget.answered(kind);
      return parsed<T>(answer);
    }
    if (status === 404 && isAboutOne) {
      await budget.answered(kind);
      return null;
    }
    const failure = failureOf(name, {
      status,
      retryAfter: response.headers.get('retry-after'),
      text: answer,
    });
    await tell(failure.trouble);
    switch (failure.kind) {
      case 'refused':
        await budget.answered(kind);
        throw new CrmRefused(status, failure.message);
      case 'denied':
        await budget.answered(kind);
        throw new CrmDenied(status, failure.message, failure.retryAfterMs);
      case 'limited':
        await budget.limited(failure.ofAll ? 'all' : kind, failure.retryAfterMs);
        throw new CrmUnavailable(failure.message, failure.retryAfterMs);
      case 'down':
        await budget.failed(kind);
        throw status === 401
          ? new CrmDenied(status, failure.message, failure.retryAfterMs)
          : new CrmUnavailable(failure.message, failure.retryAfterMs, failure.perhapsRecord);
    }
  }

  async function search<T>(
    request: object,
    options: { timeoutMs?: number; who?: Urgency } = {},
  ): Promise<T | null> {
    return call<T>('POST', '/search', request, { kind: 'search', ...options });
  }

  async function getProperties(): Promise<ExistingProperty[] | null> {
    const answer = await call<{ results: PropertyAnswer[] }>('GET', '', undefined, {
      under: propertiesBase,
      isAboutOne: true,
    });
    if (answer === null) return null;
    return answer.results.map(({ name, label, type, fieldType, groupName, options = [], ...more }) => ({
      name,
      label,
      type,
      fieldType,
      groupName,
      options: options.map((option) => ({ label: option.label, value: option.value })),
      isReadOnly: more.modificationMetadata?.readOnlyValue === true || more.calculated === true,
    }));
  }

  async function changed(filters: object[], sortedBy: string): Promise<ChangedContact[]> {
    const found = await search<Page>({
      filterGroups: [{ filters }],
      sorts: [{ propertyName: sortedBy, direction: 'ASCENDING' }],
      properties: [...properties, CHANGED],
      limit: LARGEST_PAGE,
    });
    return (found?.results ?? []).map((contact) => ({
      ...contact,
      changedAt: new Date(contact.properties[CHANGED] ?? contact.createdAt),
    }));
  }

  async function write(path: string, writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>> {
    const inputs = writes.map(({ mark, id, properties }) => ({
      ...(id === null ? {} : { id }),
      properties,
      objectWriteTraceId: mark,
    }));
    const answer = (await call<BatchAnswer>('POST', path, { inputs }))!;
    const name = nameOf('POST', base.slice(url.length), path);
    for (const error of answer.errors ?? [])
      if (error.category !== 'CONFLICT' && error.category !== 'OBJECT_NOT_FOUND')
        await tell(refusedRecord(name, error));
    return outcomesOf(writes, answer);
  }

  const query = new URLSearchParams({ properties: properties.join(',') });
  return {
    getContact: (id, timeoutMs) =>
      call<CrmContact>('GET', `/${encodeURIComponent(id)}?${query}`, undefined, {
        timeoutMs,
        isAboutOne: true,
      }),
    async findByCode(value, options) {
      const propertyName = rules.invitationCode.property;
      if (propertyName === null) return null;
      const filterGroups = [{ filters: [{ propertyName, operator: 'EQ', value }] }];
      const found = await search<{ results: CrmContact[] }>({ filterGroups, properties, limit: 1 }, options);
      return found?.results[0] ?? null;
    },
    // By the unique property, not by search: search lags behind writes.
    findByEmail: (email) =>
      call<CrmContact>('GET', `/${encodeURIComponent(email)}?idProperty=email&${query}`, undefined, {
        isAboutOne: true,
      }),
    async readContacts(ids, wanted, timeoutMs) {
      const inputs = ids.map((id) => ({ id }));
      const answer = await call<{ results: CrmContact[] }>(
        'POST',
        '/batch/read',
        { inputs, properties: [...new Set([...wanted, MERGED_IDS])], propertiesWithHistory: [] },
        timeoutMs === undefined ? {} : { timeoutMs },
      );
      return byAskedId(ids, answer!.results);
    },
    updateContacts: (writes) => write('/batch/update', writes),
    createContacts: (writes) => write('/batch/create', writes),
    async listContacts(after) {
      const page = new URLSearchParams(query);
      page.set('limit', String(LARGEST_PAGE));
      if (after !== null) page.set('after', after);
      const answer = await call<Page>('GET', `?${page}`);
      return { contacts: answer?.results ?? [], after: answer?.paging?.next.after ?? null };
    },
    async deletedContacts(after) {
      const page = new URLSearchParams({ archived: 'true', limit: String(LARGEST_PAGE) });
      if (after !== null) page.set('after', after);
      const answer = await call<Page>('GET', `?${page}`);
      return { ids: answer!.results.map(({ id }) => id), after: answer!.paging?.next.after ?? null };
    },
    changedContacts: (since) =>
      changed([{ propertyName: CHANGED, operator: 'GTE', value: String(since.getTime()) }], CHANGED),
    contactsChangedAt: (at, afterId) =>
      changed(
        [
          { propertyName: CHANGED, operator: 'EQ', value: String(at.getTime()) },
          { propertyName: RECORD_ID, operator: 'GT', value: afterId },
        ],
        RECORD_ID,
      ),
    async uploadFile({ path, mediaType, sizeBytes, bytes }) {
      // Noted before anything is waited for: an error that nobody listens to would end this process.
      let unread: Error | null = null;
      bytes.on('error', (error) => {
        unread = error;
      });
      const form = new FormData();
      const [, folder, name] = /^(.*)\/([^/]+)$/.exec(path)!;
      form.append('folderPath', folder!);
      form.append('options', JSON.stringify({ access: 'PRIVATE' }));
      form.append('file', streamedFile(name!, mediaType, sizeBytes, bytes));
      try {
        const answer = await call<{ id: string }>('POST', '', form, {
          under: files,
          timeoutMs: DEFAULT_TIMEOUT_MS + Math.ceil(sizeBytes / SLOWEST_BYTES_PER_MS),
        });
        return answer!.id;
      } catch (error) {
        throw unread ?? error;
      } finally {
        bytes.destroy();
      }
    },
    async findFile(path) {
      const found = await call<{ file?: { id: string } }>(
        'GET',
        `/stat/${encodeURIComponent(path)}`,
        undefined,
        { under: files, isAboutOne: true },
      );
      return found?.file?.id ?? null;
    },
    async createNote({ contactId, fileId, html, at }) {
      const answer = await call<{ id: string }>(
        'POST',
        '',
        {
          properties: { hs_timestamp: at.toISOString(), hs_note_body: html, hs_attachment_ids: fileId },
          associations: [
            {
              to: { id: contactId },
              types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: NOTE_TO_CONTACT }],
            },
          ],
        },
        { under: notes },
      );
      return answer!.id;
    },
    async findNote(contactId, fileId) {
      const contact = await call<{ associations?: { notes?: { results: { id: string }[] } } }>(
        'GET',
        `/${encodeURIComponent(contactId)}?associations=notes`,
        undefined,
        { isAboutOne: true },
      );
      const ids = contact?.associations?.notes?.results.map(({ id }) => id) ?? [];
      // The newest are the last, and the one that is looked for was made just now.
      const inputs = ids.slice(-LARGEST_PAGE).map((id) => ({ id }));
      if (inputs.length === 0) return null;
      const read = await call<{ results: CrmContact[] }>(
        'POST',
        '/batch/read',
        { inputs, properties: ['hs_attachment_ids'], propertiesWithHistory: [] },
        { under: notes },
      );
      const holds = ({ properties }: CrmContact) =>
        (properties.hs_attachment_ids ?? '').split(';').includes(fileId);
      return read?.results.find(holds)?.id ?? null;
    },
    getProperties,
    async getPropertyNames() {
      const found = await getProperties();
      return found && new Set(found.map(({ name }) => name));
    },
    async createProperty(property) {
      const options = property.options.map((option, displayOrder) => ({
        ...option,
        displayOrder,
        hidden: false,
      }));
      await call(
        'POST',
        '',
        { ...property, options: options.length > 0 ? options : undefined },
        { under: propertiesBase },
      );
    },
    async mayWrite() {
      try {
        await call('POST', '/batch/update', { inputs: [] });
      } catch (error) {
        // Permitted, and then nothing to do: that is what it was for.
        if (!(error instanceof CrmRefused)) throw error;
      }
    },
    async getScopes() {
      // The call that tells a private app's scopes has no dated version.
      const answer = await call<{ scopes: string[] }>(
        'POST',
        '/get/access-token-info',
        { tokenKey: accessToken },
        { under: `${url}/oauth/v2/private-apps`, isAboutOne: true },
      );
      return answer && new Set(answer.scopes);
    },
  };
}

const CHANGED = 'lastmodifieddate';
const RECORD_ID = 'hs_object_id';

interface Page {
  results: CrmContact[];
  paging?: { next: { after: string } };
}
interface PropertyAnswer extends Omit<CrmProperty, 'options'> {
  options?: { label: string; value: string }[];
  calculated?: boolean;
  modificationMetadata?: { readOnlyValue?: boolean };
}
interface BatchAnswer {
  results: CrmContact[];
  errors?: {
    category?: string;
    message: string;
    errors?: { message: string; code?: string; context?: Record<string, unknown> }[];
    context?: { objectWriteTraceId?: string[]; ids?: string[] };
  }[];
}

/** HubSpot answers with the contact that an id leads to, and does not say which id that was. */
function byAskedId(ids: readonly string[], results: readonly CrmContact[]): Map<string, CrmContact> {
  const found = new Map<string, CrmContact>();
  for (const contact of results)
    for (const id of [contact.id, ...(contact.properties[MERGED_IDS] ?? '').split(';')])
      if (ids.includes(id)) found.set(id, contact);
  return found;
}

/** Errors name the mark or the id of what they are about; everything else was written. */
function outcomesOf(writes: readonly BatchWrite[], answer: BatchAnswer): Map<string, BatchOutcome> {
  const outcomes = new Map<string, BatchOutcome>();
  for (const { category, message, errors, context } of answer.errors ?? []) {
    const about = writes.filter(
      ({ mark, id }) =>
        context?.objectWriteTraceId?.includes(mark) || (id !== null && context?.ids?.includes(id)),
    );
    for (const { mark } of about)
      outcomes.set(
        mark,
        category === 'CONFLICT'
          ? { kind: 'conflict', id: /Existing ID: (\d+)/.exec(message)?.[1] ?? null }
          : category === 'OBJECT_NOT_FOUND'
            ? { kind: 'gone' }
            : { kind: 'refused', reason: reasonOf({ message, errors }) ?? message },
      );
  }
  const byEmail = new Map(
    answer.results.map((contact) => [contact.properties.email?.toLowerCase(), contact.id]),
  );
  const answered = new Set(answer.results.map(({ id }) => id));
  for (const { mark, id, properties } of writes) {
    if (outcomes.has(mark)) continue;
    const written = id ?? byEmail.get(properties.email?.toLowerCase());
    outcomes.set(
      mark,
      written === undefined
        ? // It did not say what became of it: to be looked for by its email.
          { kind: 'conflict', id: null }
        : { kind: 'written', id: written, isMerged: id !== null && !answered.has(id) },
    );
  }
  return outcomes;
}

/** A file for a form, whose bytes are read while it is sent: a form would otherwise want all of them in memory. */
function streamedFile(name: string, type: string, size: number, bytes: Readable): File {
  return Object.defineProperties(new File([], name, { type }), {
    size: { value: size },
    stream: { value: () => ReadableStream.from(untilFailure(bytes)) },
  });
}

/**
 * Ends where it cannot be read any more, and the call then fails for want of bytes. A failure here would reach fetch
 * after it had given up, as a rejection that nobody handles: that ends the process.
 */
async function* untilFailure(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes;
  } catch {}
}

/** A call as the log names it: nobody's id, email or file. */
function nameOf(method: string, under: string, path: string): string {
  const [named] = path.split('?', 1);
  return `${method} ${under}${named!.replace(/\/[^/]*[\d%@][^/]*/g, '/:id')}`;
}

/** Without what PostgreSQL cannot keep: NUL, and halves of surrogate pairs. Something between us and HubSpot may answer in its place. */
function parsed<T>(answer: string): T {
  const storable = (_: string, value: unknown) =>
    typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed() : value;
  try {
    return JSON.parse(answer, storable) as T;
  } catch {
    throw new CrmUnavailable('what answered is not HubSpot');
  }
}

function noAnswer(call: string, error: unknown): ProviderTrouble {
  const code = error instanceof Error ? error.name : null;
  return { provider: 'HubSpot', call, status: null, code, param: null, requestId: null, notice: null };
}
