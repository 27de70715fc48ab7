import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { parse } from 'csv-parse';
import { sql } from 'kysely';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { isEmail } from '#core/studentDetails.ts';
import type { Database } from '../database/client.ts';

export interface ImportReport {
  imported: number;
  unchanged: number;
  /** Lines of the file that were not taken, by number (the header is line 1). */
  faults: { line: number; text: string }[];
}

const columns = ['code', 'contactId', 'firstName', 'lastName', 'email', 'school'] as const;
/** May be left out of the file. */
const optionalColumns = ['programme', 'expiresAt'] as const;
type Column = (typeof columns)[number] | (typeof optionalColumns)[number];

interface Invitation {
  code: string;
  contactId: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  school: string | null;
  programme: string | null;
  expiresAt: string | null;
}

const BATCH = 1000;

/** The file cannot be read as invitations at all. */
export class NotInvitations extends Error {}

/**
 * Takes invitations from a CSV file (`code,contactId,firstName,lastName,email,school`; an empty contact id with a school
 * is a school code), as a stream and in batches. A bad line is reported with its number and nothing of it is taken.
 * Safe to run again, also while the server runs: the same line twice changes nothing.
 */
export async function importInvitations(
  database: Database,
  file: string,
  programmes: readonly string[],
): Promise<ImportReport> {
  const report: ImportReport = { imported: 0, unchanged: 0, faults: [] };
  const parser = parse({
    bom: true,
    info: true,
    trim: true,
    skip_empty_lines: true,
    relax_column_count: true,
  });
  // A failure to read reaches the reader of the rows.
  pipeline(createReadStream(file), parser, () => {});
  const rows = parser as AsyncIterable<{ info: { lines: number }; record: string[] }>;
  let header: Column[] | null = null;
  let batch = new Map<string, { line: number; invitation: Invitation }>();
  const lineOf = new Map<string, number>();
  try {
    for await (const { info, record } of rows) {
      if (!header) {
        header = readHeader(record);
        continue;
      }
      const read = readLine(header, record, programmes);
      if (typeof read === 'string') {
        report.faults.push({ line: info.lines, text: read });
        continue;
      }
      const earlier = lineOf.get(read.code);
      if (earlier !== undefined) {
        report.faults.push({
          line: info.lines,
          text: `the code ${read.code} is already on line ${earlier}.`,
        });
        continue;
      }
      lineOf.set(read.code, info.lines);
      batch.set(read.code, { line: info.lines, invitation: read });
      if (batch.size === BATCH) {
        await write(database, batch, report);
        batch = new Map();
      }
    }
  } catch (error) {
    if (error instanceof NotInvitations) throw error;
    const { code, message } = error as { code?: string; message: string };
    if (code === 'ENOENT' || code === 'EISDIR' || code === 'EACCES')
      throw new NotInvitations(`${file} cannot be read.`);
    if (code?.startsWith('CSV_')) throw new NotInvitations(`${file} is not a CSV file: ${message}`);
    throw error;
  }
  if (!header)
    throw new NotInvitations(`${file} is empty: its first line must name the columns ${columns.join(',')}.`);
  await write(database, batch, report);
  return report;
}

function readHeader(record: string[]): Column[] {
  const known: readonly string[] = [...columns, ...optionalColumns];
  const missing = columns.filter((column) => !record.includes(column));
  const unknown = record.filter((column) => !known.includes(column));
  if (missing.length > 0 || unknown.length > 0)
    throw new NotInvitations(
      `The first line must name the columns ${columns.join(',')}${missing.length > 0 ? `; missing: ${missing.join(', ')}` : ''}${unknown.length > 0 ? `; not known: ${unknown.join(', ')}` : ''}.`,
    );
  return record as Column[];
}

/** One line as an invitation, or the sentence that says what is wrong with it. */
function readLine(header: Column[], record: string[], programmes: readonly string[]): Invitation | string {
  if (record.length !== header.length) return `has ${record.length} fields, not ${header.length}.`;
  const field = (name: Column) => record[header.indexOf(name)]?.replaceAll('\0', '').toWellFormed() || null;
  const [code, contactId, school, email] = [
    field('code') ?? '',
    field('contactId'),
    field('school'),
    field('email'),
  ];
  const programme = field('programme');
  const expiresAt = field('expiresAt');
  const broken = inviteCodeError(code);
  if (broken) return broken;
  if (contactId === null && school === null) return 'needs a contact id or a school.';
  if (contactId !== null && !/^[0-9]{1,20}$/.test(contactId))
    return `"${contactId}" is not a contact id: it has digits only.`;
  if (email !== null && !isEmail(email)) return `"${email}" is not an email address.`;
  if (programme !== null && !programmes.includes(programme))
    return `"${programme}" is not a programme (${programmes.join(', ')}).`;
  if (expiresAt !== null && Number.isNaN(Date.parse(expiresAt))) return `"${expiresAt}" is not a date.`;
  return {
    code: normaliseInviteCode(code),
    contactId,
    firstName: field('firstName'),
    lastName: field('lastName'),
    email,
    school,
    programme,
    expiresAt: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}

/** What HubSpot told us of a contact stays; an import only fills what the mirror does not have yet. */
async function write(
  database: Database,
  batch: ReadonlyMap<string, { line: number; invitation: Invitation }>,
  report: ImportReport,
): Promise<void> {
  if (batch.size === 0) return;
  const invitations = JSON.stringify([...batch.values()].map(({ invitation }) => invitation));
  const { rows } = await sql<{ code: string }>`
    with line as (
      select * from json_to_recordset(${invitations}::json) as line (
        code text, "contactId" text, "firstName" text, "lastName" text, email text, school text, programme text, "expiresAt" timestamptz)
    ), contacts as (
      insert into contact (id, email, profile)
      select distinct on ("contactId") "contactId", email, json_strip_nulls(json_build_object(
        'firstName', "firstName", 'lastName', "lastName", 'email', email, 'schoolName', school, 'highSchoolName', school))::jsonb
      from line where "contactId" is not null
      on conflict (id) do update set
        profile = excluded.profile || contact.profile, email = coalesce(contact.email, excluded.email)
      where contact.fetched_at is null and (excluded.profile || contact.profile) is distinct from contact.profile
      returning id
    )
    insert into invitation (code, contact_id, school, programme, expires_at)
    select code, "contactId", case when "contactId" is null then school end, programme, "expiresAt" from line
    on conflict (code) do update set
      contact_id = excluded.contact_id, school = excluded.school, programme = excluded.programme, expires_at = excluded.expires_at
    where (invitation.contact_id, invitation.school, invitation.programme, invitation.expires_at)
      is distinct from (excluded.contact_id, excluded.school, excluded.programme, excluded.expires_at)
    returning code`.execute(database);
  report.imported += rows.length;
  report.unchanged += batch.size - rows.length;
}
