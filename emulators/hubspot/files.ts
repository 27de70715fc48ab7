import { type CrmError, invalid, notFound } from './errors.ts';
import type { Store } from './store.ts';

/** An uploaded form; `file` is null if the form has no file. */
export interface Form {
  fields: Record<string, string>;
  file: { name: string; type: string; bytes: Buffer } | null;
}

/** A file as the account stores it. Its bytes are stored separately. */
export interface HubspotFile {
  id: string;
  name: string;
  extension: string;
  path: string;
  type: string;
  encoding: string;
  size: number;
  access: string;
  createdAt: string;
  updatedAt: string;
  archived: boolean;
  isUsableInContent: boolean;
  sourceGroup: string;
}

const ACCESS = [
  'PRIVATE',
  'HIDDEN_PRIVATE',
  'HIDDEN_NOT_INDEXABLE',
  'PUBLIC_INDEXABLE',
  'PUBLIC_NOT_INDEXABLE',
];
const FIELDS = ['options', 'folderPath', 'fileName', 'charsetHunch'];
const OPTIONS = ['access'];
/**
 * File name extensions that an upload refuses: those of programs. HubSpot refuses some extensions, but publishes no list of them.
 */
const FORBIDDEN = ['exe', 'bat', 'cmd', 'com', 'msi', 'scr', 'dll', 'jar', 'sh', 'vbs', 'ps1', 'apk', 'app'];

/**
 * Stores an uploaded file (https://developers.hubspot.com/docs/api-reference/files-files-v3/files/post-files-v3-files). If its
 * path is taken, a number is appended to its name.
 */
export function upload(store: Store, { fields, file }: Form, now: number): HubspotFile {
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown) throw invalid(`Unknown form field: ${unknown}`);
  if (!file) throw invalid('file is required.');
  if (!fields.folderPath?.startsWith('/')) throw invalid('Either folderId or folderPath is required.');
  const options = optionsOf(fields.options);
  const given = fields.fileName ?? file.name;
  const [, name, extension = ''] = /^(.+?)(?:\.([^.]+))?$/s.exec(given) ?? [];
  if (FORBIDDEN.includes(extension.toLowerCase()))
    throw invalid(`Files of the type ${extension} are not allowed.`);
  if (!name || /[/\\]/.test(given)) throw invalid(`Invalid file name: ${given}`);
  const folder = fields.folderPath.replace(/\/+$/, '');
  const pathOf = (stem: string) => `${folder}/${stem}${extension && `.${extension}`}`;
  let stem = name;
  for (let number = 1; store.fileByPath(pathOf(stem)); number++) stem = `${name}-${number}`;
  const time = new Date(now).toISOString();
  return store.saveFile(
    {
      id: store.nextId(),
      name: stem,
      extension,
      path: pathOf(stem),
      type: file.type.startsWith('image/') ? 'IMG' : 'DOCUMENT',
      encoding: extension,
      size: file.bytes.length,
      access: options.access,
      createdAt: time,
      updatedAt: time,
      archived: false,
      isUsableInContent: options.access.startsWith('PUBLIC'),
      sourceGroup: 'CONTENT',
    },
    file.bytes,
  );
}

function optionsOf(text: string | undefined): { access: string } {
  let options: Record<string, unknown>;
  try {
    options = JSON.parse(text ?? '');
  } catch {
    throw invalid('options must be a JSON object.');
  }
  const unknown = Object.keys(options).find((name) => !OPTIONS.includes(name));
  if (unknown) throw invalid(`The emulator does not know the option ${unknown}.`);
  if (!ACCESS.includes(String(options.access))) throw invalid(`options.access must be one of ${ACCESS}.`);
  return { access: String(options.access) };
}

export interface Note {
  id: string;
  properties: Record<string, string>;
  contactIds: string[];
  createdAt: string;
  updatedAt: string;
  archived: boolean;
}

interface NoteRequest {
  properties: Record<string, string>;
  associations?: {
    to: { id: string };
    types: { associationCategory: string; associationTypeId: number }[];
  }[];
}

/** The association type id of note to contact (https://developers.hubspot.com/docs/api-reference/crm-associations-v4/guide). */
const NOTE_TO_CONTACT = 202;
const NOTE_PROPERTIES = ['hs_timestamp', 'hs_note_body', 'hs_attachment_ids'];
const LONGEST_BODY = 65_536;

/** Creates a note (https://developers.hubspot.com/docs/api-reference/crm-notes-v3/guide) together with its associations. */
export function createNote(
  store: Store,
  { properties, associations = [] }: NoteRequest,
  hasContact: (id: string) => boolean,
  now: number,
): Note {
  const unknown = Object.keys(properties).find((name) => !NOTE_PROPERTIES.includes(name));
  if (unknown) throw invalid(`Property "${unknown}" does not exist`);
  if (Number.isNaN(Date.parse(properties.hs_timestamp ?? ''))) throw invalid('hs_timestamp is required.');
  if ((properties.hs_note_body ?? '').length > LONGEST_BODY) throw invalid('hs_note_body is too long.');
  for (const id of (properties.hs_attachment_ids ?? '').split(';').filter(Boolean))
    if (!store.file(id)) throw invalid(`There is no file ${id}.`);
  const contactIds = associations.map(({ to, types }) => {
    if (
      types.length !== 1 ||
      types[0]!.associationCategory !== 'HUBSPOT_DEFINED' ||
      types[0]!.associationTypeId !== NOTE_TO_CONTACT
    )
      throw invalid('The emulator associates notes with contacts, by type 202, and with nothing else.');
    if (!hasContact(to.id)) throw noSuchContact(to.id);
    return to.id;
  });
  const time = new Date(now).toISOString();
  return store.addNote({
    id: store.nextId(),
    properties: { ...properties, hs_createdate: time, hs_lastmodifieddate: time },
    contactIds,
    createdAt: time,
    updatedAt: time,
    archived: false,
  });
}

function noSuchContact(id: string): CrmError {
  return invalid(`CONTACT=${id} is not valid: No CONTACT with ID ${id} exists.`);
}

/** Returns a note in the form in which the CRM returns it, with the properties in `wanted`. Unset properties are null. */
export function viewNote({ contactIds: _, properties, ...note }: Note, wanted: readonly string[]): object {
  const names = ['hs_createdate', 'hs_lastmodifieddate', ...wanted];
  return { ...note, properties: Object.fromEntries(names.map((name) => [name, properties[name] ?? null])) };
}

export function requireFile(file: HubspotFile | undefined): HubspotFile {
  if (!file) throw notFound();
  return file;
}
