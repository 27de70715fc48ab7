import type { Readable } from 'node:stream';
import type { z } from 'zod';
import type { FieldRules } from '#core/crmFields.ts';
import type { Providers } from '../../platform/config/providers.ts';
import { callWatcher } from '../../platform/watchCall.ts';
import type { TellTrouble } from '../../providers/trouble.ts';
import { answers, type CrmContact } from './answers.ts';
import { type BatchOutcome, type BatchWrite, byAskedId, outcomesOf } from './batches.ts';
import type { Budget, Urgency } from './budget.ts';
import { DEFAULT_TIMEOUT_MS, hubspotCalls, nameOf } from './calls.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';
import { refusedRecord } from './failures.ts';
import { MERGED_IDS, readProperties } from './properties.ts';
import { streamedFile } from './streamedFile.ts';

/** A contact with the time of its last change, by HubSpot's clock. */
export interface ChangedContact extends CrmContact {
  changedAt: Date;
}

export interface CrmFile {
  /** Folder and name, such as /folder/name.pdf, both in ASCII. */
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
  /** Whether only HubSpot can write the property. */
  isReadOnly: boolean;
}

export interface HubspotClient {
  /** Resolves to null if HubSpot has no contact with this id. */
  getContact(id: string, timeoutMs: number): Promise<CrmContact | null>;
  findByCode(
    code: string,
    options: { timeoutMs: number; who: 'joiner' | 'suspect' },
  ): Promise<CrmContact | null>;
  findByEmail(email: string): Promise<CrmContact | null>;
  /** Searches for the contacts with a value of a property; at most 100. The search index lags behind writes by some seconds. */
  findByProperty(property: string, value: string): Promise<CrmContact[]>;
  /**
   * Reads at most 100 contacts. Returns the existing contacts by the requested ids. The id of a merged contact leads to the
   * contact into which it was merged. An id that is not returned is one of which HubSpot said that no such contact exists.
   */
  readContacts(
    ids: readonly string[],
    properties: readonly string[],
    timeoutMs?: number,
  ): Promise<Map<string, CrmContact>>;
  /**
   * Updates or creates at most 100 contacts in one call. Returns the outcomes by mark. If HubSpot refuses one contact, it still
   * writes the others.
   */
  updateContacts(writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>>;
  createContacts(writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>>;
  /** Returns one page of all contacts, oldest first. `after` is the cursor of the next page; null after the last page. */
  listContacts(after: string | null): Promise<{ contacts: CrmContact[]; after: string | null }>;
  /** Returns one page of the ids of deleted contacts. `after` is the cursor of the next page; null after the last page. */
  deletedContacts(after: string | null): Promise<{ ids: string[]; after: string | null }>;
  /**
   * Returns at most {@link LARGEST_PAGE} contacts that changed at or after `since`, earliest change first. For more, call it again
   * with the time of the last contact. There is no cursor: a contact that changes meanwhile moves to the end of the list, so a
   * second page would skip a contact.
   */
  changedContacts(since: Date): Promise<ChangedContact[]>;
  /**
   * Returns at most {@link LARGEST_PAGE} contacts that last changed exactly `at`, with an id above `afterId`, in the order of their
   * ids.
   */
  contactsChangedAt(at: Date, afterId: string): Promise<ChangedContact[]>;
  /**
   * Uploads a file that only staff can see. Returns its id. Does not replace an existing file of the same path, so call {@link
   * findFile} first. If reading `bytes` fails, rejects with that error.
   */
  uploadFile(file: CrmFile): Promise<string>;
  /** Returns the id of the file with this path, or null. */
  findFile(path: string): Promise<string | null>;
  /** Creates a note with an attached file about a contact. Returns the note's id. `html` is the note's text. */
  createNote(note: { contactId: string; fileId: string; html: string; at: Date }): Promise<string>;
  /** Returns the id of the contact's note to which the file is attached; null if there is none. */
  findNote(contactId: string, fileId: string): Promise<string | null>;
  /** Deletes a note but not its file. Also resolves if the note does not exist. */
  deleteNote(id: string): Promise<void>;
  /**
   * Deletes a contact for good, with all that HubSpot has about the person (GDPR). Also resolves if the contact does not exist.
   * Takes an id and not an email: HubSpot would put an unknown email on a list of emails that can never be added again. Throws
   * {@link CrmDenied} if the token lacks the permission.
   */
  eraseContact(id: string): Promise<void>;
  /** Deletes a file for good. Also resolves if the file does not exist. */
  eraseFile(id: string): Promise<void>;
  /** Returns all contact properties of the account; null if HubSpot does not support the API version. */
  getProperties(): Promise<ExistingProperty[] | null>;
  /** Returns the names of all contact properties; null as for {@link getProperties}. */
  getPropertyNames(): Promise<Set<string> | null>;
  /** Creates a contact property. Throws {@link CrmRefused} if it exists or is not valid. */
  createProperty(property: CrmProperty): Promise<void>;
  /**
   * Asks whether the token may write contacts, with a call that writes nothing. Resolves if it may; throws {@link CrmDenied} if
   * not.
   */
  mayWrite(): Promise<void>;
  /** Returns the scopes of the token; null if it is not the token of a private app. */
  getScopes(): Promise<Set<string> | null>;
  /** Returns the id of the token's HubSpot account; null if HubSpot does not tell. HubSpot is asked once for each client. */
  getAccount(): Promise<string | null>;
}

/** The most contacts in one page of a list or a search. */
export const LARGEST_PAGE = 100;
/** The slowest upload (bytes per ms, so 50 KB/s) that does not time out. */
const SLOWEST_BYTES_PER_MS = 50;
/** HubSpot's category of an error about a record that does not exist. */
const NOT_FOUND = 'OBJECT_NOT_FOUND';
/** HubSpot's id of the association type "note to contact". */
const NOTE_TO_CONTACT = 202;

/** Returns a client of HubSpot's API (dated version). {@link hubspotCalls} describes its limits and errors. */
export function hubspotClient(
  settings: Providers['hubspot'],
  rules: FieldRules,
  budget: Budget,
  urgency: 'joiner' | 'background',
  tell: TellTrouble,
  watch = callWatcher(null),
): HubspotClient {
  const { call, callAboutOne } = hubspotCalls(settings, budget, urgency, tell, watch);
  const { apiVersion, accessToken } = settings;
  const contacts = `/crm/objects/${apiVersion}/contacts`;
  const notes = `/crm/objects/${apiVersion}/notes`;
  const contactProperties = `/crm/properties/${apiVersion}/contacts`;
  const files = `/files/${apiVersion}/files`;
  const properties = readProperties(rules);
  const query = new URLSearchParams({ properties: properties.join(',') });
  let account: Promise<{ portalId: number } | null> | undefined;

  async function search(
    filters: object[],
    { limit, more = {}, ...options }: { limit: number; more?: object; timeoutMs?: number; who?: Urgency },
  ): Promise<CrmContact[]> {
    const body = { filterGroups: [{ filters }], properties: [...properties, CHANGED], limit, ...more };
    const request = { method: 'POST', under: contacts, path: '/search', body, kind: 'search' } as const;
    return (await call(answers.records, { ...request, ...options })).results;
  }

  async function changed(filters: object[], sortedBy: string): Promise<ChangedContact[]> {
    const sorts = [{ propertyName: sortedBy, direction: 'ASCENDING' }];
    const found = await search(filters, { limit: LARGEST_PAGE, more: { sorts } });
    return found.map((contact) => ({
      ...contact,
      changedAt: new Date(contact.properties[CHANGED] ?? contact.createdAt),
    }));
  }

  async function list<T extends { paging?: Paging }>(
    shape: z.ZodType<T>,
    page: URLSearchParams,
    after: string | null,
  ): Promise<T & { after: string | null }> {
    page.set('limit', String(LARGEST_PAGE));
    if (after !== null) page.set('after', after);
    const answer = await call(shape, { method: 'GET', under: contacts, path: `?${page}` });
    return { ...answer, after: answer.paging?.next?.after ?? null };
  }

  async function write(path: string, writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>> {
    const inputs = writes.map(({ mark, id, properties }) => ({
      ...(id === null ? {} : { id }),
      properties,
      objectWriteTraceId: mark,
    }));
    const answer = await call(answers.batch, { method: 'POST', under: contacts, path, body: { inputs } });
    for (const error of answer.errors ?? [])
      if (error.category !== 'CONFLICT' && error.category !== NOT_FOUND)
        await tell(refusedRecord(nameOf('POST', contacts, path), error));
    return outcomesOf(writes, answer);
  }

  async function getProperties(): Promise<ExistingProperty[] | null> {
    const answer = await callAboutOne(answers.properties, { method: 'GET', under: contactProperties });
    return (
      answer?.results.map(({ calculated, modificationMetadata, options = [], ...property }) => ({
        ...property,
        type: property.type as CrmPropertyType,
        options,
        isReadOnly: modificationMetadata?.readOnlyValue === true || calculated === true,
      })) ?? null
    );
  }

  return {
    getContact: (id, timeoutMs) =>
      callAboutOne(answers.contact, {
        method: 'GET',
        under: contacts,
        path: `/${encodeURIComponent(id)}?${query}`,
        timeoutMs,
      }),
    async findByCode(value, options) {
      const propertyName = rules.invitationCode.property;
      if (propertyName === null) return null;
      const [found] = await search([{ propertyName, operator: 'EQ', value }], { limit: 1, ...options });
      return found ?? null;
    },
    findByProperty: (propertyName, value) =>
      search([{ propertyName, operator: 'EQ', value }], { limit: 100 }),
    // Reads the contact by its unique email instead of searching, because the search index is eventually consistent.
    findByEmail: (email) =>
      callAboutOne(answers.contact, {
        method: 'GET',
        under: contacts,
        path: `/${encodeURIComponent(email)}?idProperty=email&${query}`,
      }),
    async readContacts(ids, wanted, timeoutMs) {
      const inputs = ids.map((id) => ({ id }));
      const properties = [...new Set([...wanted, MERGED_IDS])];
      const { status, results, errors } = await call(answers.batchRead, {
        method: 'POST',
        under: contacts,
        path: '/batch/read',
        body: { inputs, properties, propertiesWithHistory: [] },
        timeoutMs,
      });
      if (status !== 'COMPLETE') throw new CrmUnavailable(`HubSpot has not read the contacts: ${status}`);
      const found = byAskedId(ids, results);
      const missing = errors
        ?.filter(({ category }) => category === NOT_FOUND)
        .flatMap(({ context }) => context?.ids ?? []);
      // A contact that is in neither list may exist, so it is asked for alone.
      for (const id of ids.filter((id) => !found.has(id) && !missing?.includes(id))) {
        const path = `/${id}?${new URLSearchParams({ properties: properties.join(',') })}`;
        const contact = await callAboutOne(answers.contact, {
          method: 'GET',
          under: contacts,
          path,
          timeoutMs,
        });
        if (contact) found.set(id, contact);
      }
      return found;
    },
    updateContacts: (writes) => write('/batch/update', writes),
    createContacts: (writes) => write('/batch/create', writes),
    async listContacts(from) {
      const { results, after } = await list(answers.page, new URLSearchParams(query), from);
      return { contacts: results, after };
    },
    async deletedContacts(from) {
      const { results, after } = await list(answers.idPage, new URLSearchParams({ archived: 'true' }), from);
      return { ids: results.map(({ id }) => id), after };
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
      // This listener must be added before the first `await`, because an `error` event without a listener would end the process.
      let unread: Error | null = null;
      bytes.on('error', (error) => {
        unread = error;
      });
      const body = new FormData();
      const [, folder, name] = /^(.*)\/([^/]+)$/.exec(path)!;
      body.append('folderPath', folder!);
      body.append('options', JSON.stringify({ access: 'PRIVATE' }));
      body.append('file', streamedFile(name!, mediaType, sizeBytes, bytes));
      const timeoutMs = DEFAULT_TIMEOUT_MS + Math.ceil(sizeBytes / SLOWEST_BYTES_PER_MS);
      try {
        const { id } = await call(answers.created, { method: 'POST', under: files, body, timeoutMs });
        return id;
      } catch (error) {
        throw unread ?? error;
      } finally {
        bytes.destroy();
      }
    },
    async findFile(path) {
      const found = await callAboutOne(answers.fileOrFolder, {
        method: 'GET',
        under: files,
        path: `/stat/${encodeURIComponent(path)}`,
      });
      return found?.file?.id ?? null;
    },
    async createNote({ contactId, fileId, html, at }) {
      const body = {
        properties: { hs_timestamp: at.toISOString(), hs_note_body: html, hs_attachment_ids: fileId },
        associations: [
          {
            to: { id: contactId },
            types: [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: NOTE_TO_CONTACT }],
          },
        ],
      };
      const { id } = await call(answers.created, { method: 'POST', under: notes, body });
      return id;
    },
    async findNote(contactId, fileId) {
      const contact = await callAboutOne(answers.contactWithNotes, {
        method: 'GET',
        under: contacts,
        path: `/${encodeURIComponent(contactId)}?associations=notes`,
      });
      // Reads only the newest notes, which come last: if the wanted note exists, it was created a moment ago.
      const inputs =
        contact?.associations?.notes?.results.slice(-LARGEST_PAGE).map(({ id }) => ({ id })) ?? [];
      if (inputs.length === 0) return null;
      const { results } = await call(answers.records, {
        method: 'POST',
        under: notes,
        path: '/batch/read',
        body: { inputs, properties: ['hs_attachment_ids'], propertiesWithHistory: [] },
      });
      const holds = ({ properties }: CrmContact) =>
        (properties.hs_attachment_ids ?? '').split(';').includes(fileId);
      return results.find(holds)?.id ?? null;
    },
    // https://developers.hubspot.com/docs/api-reference/crm-notes-v3/basic/delete-crm-v3-objects-notes-noteId
    async deleteNote(id) {
      const path = `/${encodeURIComponent(id)}`;
      await callAboutOne(answers.nothing, { method: 'DELETE', under: notes, path });
    },
    // https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/basic/post-crm-v3-objects-contacts-gdpr-delete
    async eraseContact(id) {
      const body = { objectId: id };
      await callAboutOne(answers.nothing, { method: 'POST', under: contacts, path: '/gdpr-delete', body });
    },
    // https://developers.hubspot.com/docs/api-reference/files-files-v3/files/delete-files-v3-files-fileId-gdpr-delete
    async eraseFile(id) {
      const path = `/${encodeURIComponent(id)}/gdpr-delete`;
      await callAboutOne(answers.nothing, { method: 'DELETE', under: files, path });
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
      const body = { ...property, options: options.length > 0 ? options : undefined };
      await call(answers.property, { method: 'POST', under: contactProperties, body });
    },
    async mayWrite() {
      const body = { inputs: [] };
      try {
        await call(answers.anything, { method: 'POST', under: contacts, path: '/batch/update', body });
      } catch (error) {
        // HubSpot checks the permission before the content. It refused the content (an empty batch), so the token may write.
        if (!(error instanceof CrmRefused)) throw error;
      }
    },
    async getScopes() {
      // The endpoint that returns a private app's scopes has no dated version.
      const answer = await callAboutOne(answers.scopes, {
        method: 'POST',
        under: '/oauth/v2/private-apps',
        path: '/get/access-token-info',
        body: { tokenKey: accessToken },
      });
      return answer && new Set(answer.scopes);
    },
    async getAccount() {
      account ??= callAboutOne(answers.account, {
        method: 'GET',
        under: `/account-info/${apiVersion}`,
        path: '/details',
      });
      try {
        const answer = await account;
        return answer && String(answer.portalId);
      } catch (error) {
        // A token that HubSpot does not let ask this may do all other calls.
        if (error instanceof CrmRefused || (error instanceof CrmDenied && error.status !== 401)) return null;
        account = undefined;
        throw error;
      }
    },
  };
}

type Paging = z.infer<typeof answers.page>['paging'];

const CHANGED = 'lastmodifieddate';
const RECORD_ID = 'hs_object_id';
