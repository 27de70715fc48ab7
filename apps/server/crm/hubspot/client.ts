import type { Readable } from 'node:stream';
import type { FieldRules } from '#core/crmFields.ts';
import type { Providers } from '../../platform/config/providers.ts';
import { callWatcher } from '../../platform/watchCall.ts';
import type { ReportTrouble } from '../../providers/trouble.ts';
import { answers, type CrmContact } from './answers.ts';
import {
  type BatchOutcome,
  type BatchWrite,
  byAskedId,
  NOT_FOUND,
  outcomesOf,
  refusedOutcome,
} from './batches.ts';
import type { Budget, Urgency } from './budget.ts';
import { DEFAULT_TIMEOUT_MS, hubspotCalls, nameOf } from './calls.ts';
import { CrmDenied, CrmRefused, CrmUnavailable } from './errors.ts';
import { refusalOf } from './failures.ts';
import { MERGED_IDS, readProperties } from './properties.ts';
import { streamedFile } from './streamedFile.ts';

export interface ContactPage {
  ids: string[];
  /** The cursor of the next page; null after the last page. */
  after: string | null;
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

export type HubspotClient = ReturnType<typeof hubspotClient>;

/** The most contacts in one batch, or in one page of a list or a search. */
export const LARGEST_PAGE = 100;
/** The slowest upload (bytes per ms, so 50 KB/s) that does not time out. */
const SLOWEST_BYTES_PER_MS = 50;
/** HubSpot's id of the association type "note to contact". */
const NOTE_TO_CONTACT = 202;

/** Returns a client of HubSpot's API (dated version). {@link hubspotCalls} describes its limits and errors. */
export function hubspotClient(
  settings: Providers['hubspot'],
  rules: FieldRules,
  budget: Budget,
  urgency: 'joiner' | 'background',
  report: ReportTrouble,
  watch = callWatcher(null),
) {
  const { call, callAboutOne } = hubspotCalls(settings, budget, urgency, report, watch);
  const { apiVersion, accessToken } = settings;
  const contacts = `/crm/objects/${apiVersion}/contacts`;
  const notes = `/crm/objects/${apiVersion}/notes`;
  const contactProperties = `/crm/properties/${apiVersion}/contacts`;
  const files = `/files/${apiVersion}/files`;
  const properties = readProperties(rules);
  const queryOf = (names: readonly string[]) => new URLSearchParams({ properties: names.join(',') });
  const query = queryOf(properties);
  let account: Promise<{ portalId: number } | null> | undefined;

  const getOne = (idAndQuery: string, timeoutMs?: number): Promise<CrmContact | null> =>
    callAboutOne(answers.contact, 'GET', `${contacts}/${idAndQuery}`, { timeoutMs });

  /** The index that is searched lags behind writes by some seconds. */
  async function search(filters: object[], more: object, who?: { timeoutMs: number; who: Urgency }) {
    return searchAny([filters], more, who);
  }

  /** Searches for the contacts to whom one of the groups of filters applies. */
  async function searchAny(
    groups: object[][],
    more: object,
    who?: { timeoutMs: number; who: Urgency },
  ): Promise<CrmContact[]> {
    const body = { filterGroups: groups.map((filters) => ({ filters })), properties, ...more };
    const options = { body, kind: 'search', ...who } as const;
    return (await call(answers.records, 'POST', `${contacts}/search`, options)).results;
  }

  async function list(isArchived: boolean, after: string | null): Promise<ContactPage> {
    const query = new URLSearchParams({ archived: String(isArchived), limit: String(LARGEST_PAGE) });
    if (after !== null) query.set('after', after);
    const { results, paging } = await call(answers.page, 'GET', `${contacts}?${query}`);
    return { ids: results.map(({ id }) => id), after: paging?.next?.after ?? null };
  }

  /** Writes contacts. If HubSpot refuses them together, writes halves of them, until the one at fault is alone. */
  async function write(path: string, writes: readonly BatchWrite[]): Promise<Map<string, BatchOutcome>> {
    const [first, ...others] = writes;
    if (!first) return new Map();
    const inputs = writes.map(({ mark, id, properties }) => ({
      ...(id === null ? {} : { id }),
      properties,
      objectWriteTraceId: mark,
    }));
    try {
      const answer = await call(answers.batch, 'POST', contacts + path, { body: { inputs } });
      for (const error of answer.errors ?? [])
        if (error.category !== 'CONFLICT' && error.category !== NOT_FOUND)
          await report(refusalOf(nameOf('POST', contacts + path), error).trouble);
      return outcomesOf(writes, answer);
    } catch (error) {
      if (!(error instanceof CrmRefused)) throw error;
      const { status, message, isEmail } = error;
      if (others.length === 0)
        return new Map([
          [first.mark, refusedOutcome(first, { isConflict: status === 409, message, isEmail })],
        ]);
      const half = Math.ceil(writes.length / 2);
      const outcomes = await write(path, writes.slice(0, half));
      return new Map([...outcomes, ...(await write(path, writes.slice(half)))]);
    }
  }

  /** Returns all contact properties of the account; null if HubSpot does not support the API version. */
  async function getProperties(): Promise<ExistingProperty[] | null> {
    const answer = await callAboutOne(answers.properties, 'GET', contactProperties);
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
    /** Resolves to null if HubSpot has no contact with this id. */
    getContact: (id: string, timeoutMs: number) => getOne(`${encodeURIComponent(id)}?${query}`, timeoutMs),
    async findByCode(value: string, options: { timeoutMs: number; who: 'joiner' | 'suspect' }) {
      const propertyName = rules.invitationCode.property;
      if (propertyName === null) return null;
      const [found] = await search([{ propertyName, operator: 'EQ', value }], { limit: 1 }, options);
      return found ?? null;
    },
    /**
     * Searches for at most `most` contacts by the beginnings of a first and a last name, in either order. Without `last`, `first`
     * is the beginning of either.
     */
    async findByName(
      first: string,
      last: string | null,
      { most, ...options }: { most: number; timeoutMs: number; who: 'suspect' },
    ): Promise<CrmContact[]> {
      const begins = (propertyName: string | null, word: string) =>
        propertyName === null ? [] : [{ propertyName, operator: 'CONTAINS_TOKEN', value: `${word}*` }];
      const [firstName, lastName] = [rules.firstName.property, rules.lastName.property];
      const groups =
        last === null
          ? [begins(firstName, first), begins(lastName, first)]
          : [
              [...begins(firstName, first), ...begins(lastName, last)],
              [...begins(firstName, last), ...begins(lastName, first)],
            ];
      return searchAny(groups, { limit: most }, options);
    },
    /** Searches for the contacts with a value of a property; at most {@link LARGEST_PAGE}. */
    findByProperty: (propertyName: string, value: string) =>
      search([{ propertyName, operator: 'EQ', value }], { limit: LARGEST_PAGE }),
    /** Reads the contact by its unique email instead of searching, because the search index is eventually consistent. */
    findByEmail: (email: string, timeoutMs?: number) =>
      getOne(`${encodeURIComponent(email)}?idProperty=email&${query}`, timeoutMs),
    /**
     * Reads at most 100 contacts. Returns the existing contacts by the requested ids. The id of a merged contact leads to the
     * contact into which it was merged. If an id is missing in the result, HubSpot has said that there is no such contact.
     */
    async readContacts(
      ids: readonly string[],
      wanted: readonly string[],
      timeoutMs?: number,
    ): Promise<Map<string, CrmContact>> {
      const properties = [...new Set([...wanted, MERGED_IDS])];
      const body = { inputs: ids.map((id) => ({ id })), properties, propertiesWithHistory: [] };
      const options = { body, timeoutMs };
      const answer = await call(answers.batchRead, 'POST', `${contacts}/batch/read`, options);
      if (answer.status !== 'COMPLETE')
        throw new CrmUnavailable(`HubSpot has not read the contacts: ${answer.status}`);
      const found = byAskedId(ids, answer.results);
      const missing = answer.errors
        ?.filter(({ category }) => category === NOT_FOUND)
        .flatMap(({ context }) => context?.ids ?? []);
      // A contact that is in neither list may exist, so it is asked for alone.
      for (const id of ids.filter((id) => !found.has(id) && !missing?.includes(id))) {
        const contact = await getOne(`${id}?${queryOf(properties)}`, timeoutMs);
        if (contact) found.set(id, contact);
      }
      return found;
    },
    /**
     * Updates at most 100 contacts. Returns the outcomes by mark. If HubSpot refuses one contact, the others are still written.
     */
    updateContacts: (writes: readonly BatchWrite[]) => write('/batch/update', writes),
    /** Creates contacts, like {@link updateContacts}. */
    createContacts: (writes: readonly BatchWrite[]) => write('/batch/create', writes),
    /** Returns one page of the ids of all contacts, oldest first. */
    listContacts: (from: string | null) => list(false, from),
    /** Returns one page of the ids of deleted contacts. */
    deletedContacts: (from: string | null) => list(true, from),
    /** Returns one page of the ids of contacts changed at or after `since`, in the order of their ids, which never change. */
    async changedContacts(since: Date, from: string | null): Promise<ContactPage> {
      const filters = [
        { propertyName: CHANGED, operator: 'GTE', value: String(since.getTime()) },
        { propertyName: RECORD_ID, operator: 'GT', value: from ?? '0' },
      ];
      const sorts = [{ propertyName: RECORD_ID, direction: 'ASCENDING' }];
      const ids = (await search(filters, { limit: LARGEST_PAGE, sorts })).map(({ id }) => id);
      return { ids, after: ids.length < LARGEST_PAGE ? null : ids.at(-1)! };
    },
    /**
     * Uploads a file that only staff can see, and returns its id. Does not replace a file with the same path, so call `findFile`
     * first. If reading `bytes` fails, rejects with that error.
     */
    async uploadFile({ path, mediaType, sizeBytes, bytes }: CrmFile): Promise<string> {
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
        return (await call(answers.created, 'POST', files, { body, timeoutMs })).id;
      } catch (error) {
        throw unread ?? error;
      } finally {
        bytes.destroy();
      }
    },
    /** Returns the id of the file with this path, or null. */
    async findFile(path: string): Promise<string | null> {
      const stat = `${files}/stat/${encodeURIComponent(path)}`;
      return (await callAboutOne(answers.fileOrFolder, 'GET', stat))?.file?.id ?? null;
    },
    /** Creates a note with an attached file about a contact. Returns the note's id. `html` is the note's text. */
    async createNote(note: { contactId: string; fileId: string; html: string; at: Date }): Promise<string> {
      const { contactId, fileId, html, at } = note;
      const types = [{ associationCategory: 'HUBSPOT_DEFINED', associationTypeId: NOTE_TO_CONTACT }];
      const body = {
        properties: { hs_timestamp: at.toISOString(), hs_note_body: html, hs_attachment_ids: fileId },
        associations: [{ to: { id: contactId }, types }],
      };
      return (await call(answers.created, 'POST', notes, { body })).id;
    },
    /** Returns the id of the contact's note to which the file is attached; null if there is none. */
    async findNote(contactId: string, fileId: string): Promise<string | null> {
      const path = `${contacts}/${encodeURIComponent(contactId)}?associations=notes`;
      const contact = await callAboutOne(answers.contactWithNotes, 'GET', path);
      // Reads only the newest notes, which come last: if the wanted note exists, it was created a moment ago.
      const newest = contact?.associations?.notes?.results.slice(-LARGEST_PAGE) ?? [];
      if (newest.length === 0) return null;
      const inputs = newest.map(({ id }) => ({ id }));
      const body = { inputs, properties: ['hs_attachment_ids'], propertiesWithHistory: [] };
      const { results } = await call(answers.records, 'POST', `${notes}/batch/read`, { body });
      const holds = ({ properties }: CrmContact) =>
        (properties.hs_attachment_ids ?? '').split(';').includes(fileId);
      return results.find(holds)?.id ?? null;
    },
    /** Deletes a note but not its file. Also resolves if the note does not exist. */
    async deleteNote(id: string): Promise<void> {
      await callAboutOne(answers.nothing, 'DELETE', `${notes}/${encodeURIComponent(id)}`);
    },
    /**
     * Deletes a contact for good, with all that HubSpot has about the person (GDPR). Also resolves if the contact does not exist.
     * Takes an id: HubSpot would put an unknown email on a list of emails that can never be added again.
     */
    // https://developers.hubspot.com/docs/api-reference/crm-contacts-v3/basic/post-crm-v3-objects-contacts-gdpr-delete
    async eraseContact(id: string): Promise<void> {
      await callAboutOne(answers.nothing, 'POST', `${contacts}/gdpr-delete`, { body: { objectId: id } });
    },
    /** Deletes a file for good. Also resolves if the file does not exist. */
    // https://developers.hubspot.com/docs/api-reference/files-files-v3/files/delete-files-v3-files-fileId-gdpr-delete
    async eraseFile(id: string): Promise<void> {
      await callAboutOne(answers.nothing, 'DELETE', `${files}/${encodeURIComponent(id)}/gdpr-delete`);
    },
    getProperties,
    /** Returns the names of all contact properties; null as for {@link getProperties}. */
    getPropertyNames: async () => {
      const found = await getProperties();
      return found && new Set(found.map(({ name }) => name));
    },
    /** Creates a contact property. Throws {@link CrmRefused} if it exists or is not valid. */
    async createProperty(property: CrmProperty): Promise<void> {
      const options = property.options.map((option, displayOrder) => ({
        ...option,
        displayOrder,
        hidden: false,
      }));
      const body = { ...property, options: options.length > 0 ? options : undefined };
      await call(answers.property, 'POST', contactProperties, { body });
    },
    /** Asks whether the token may write contacts, with a call that writes nothing. Throws {@link CrmDenied} if not. */
    async mayWrite(): Promise<void> {
      try {
        await call(answers.anything, 'POST', `${contacts}/batch/update`, { body: { inputs: [] } });
      } catch (error) {
        // HubSpot checks the permission before the content. It refused the content (an empty batch), so the token may write.
        if (!(error instanceof CrmRefused)) throw error;
      }
    },
    /** Returns the scopes of the token; null if it is not the token of a private app. */
    async getScopes(): Promise<Set<string> | null> {
      // This endpoint has no dated version.
      const path = '/oauth/v2/private-apps/get/access-token-info';
      const answer = await callAboutOne(answers.scopes, 'POST', path, { body: { tokenKey: accessToken } });
      return answer && new Set(answer.scopes);
    },
    /**
     * Returns the id of the token's HubSpot account; null if HubSpot does not return it. A client asks again only after a
     * failure.
     */
    async getAccount(): Promise<string | null> {
      account ??= callAboutOne(answers.account, 'GET', `/account-info/${apiVersion}/details`);
      try {
        const answer = await account;
        return answer && String(answer.portalId);
      } catch (error) {
        // A token that may not make this call may still make all others.
        if (error instanceof CrmRefused || (error instanceof CrmDenied && error.status !== 401)) return null;
        account = undefined;
        throw error;
      }
    },
  };
}

const CHANGED = 'lastmodifieddate';
const RECORD_ID = 'hs_object_id';
