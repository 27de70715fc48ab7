import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { cleanEmail } from '#core/cleanText.ts';
import { contactIdFault, isMangled } from '#core/csv.ts';
import type { Doubt, Guessable } from '#core/importDoubts.ts';
import { inviteCodeError, normaliseInviteCode } from '#core/inviteCode.ts';
import { likenessOf, searchWords } from '#core/personKeys.ts';
import { FIELD_MAX_LENGTH, isEmail } from '#core/studentDetails.ts';
import type { Database } from '../../platform/database/client.ts';
import { type CsvSource, readCsv } from '../../platform/readCsv.ts';
import { personOf } from '../../session/members.ts';
import { wordsWith } from '../../session/words.ts';
import type { Society } from '../../society/society.ts';
import { dayOf } from '../../society/texts.ts';
import { findGuessable } from './guessable.ts';
import { expiryOf } from './invitations.ts';
import { membersAmong } from './membersAmong.ts';

/** The number of lines in the file with each result. */
export interface ImportReport {
  /** Codes that were not known before. */
  added: number;
  /** Codes that now lead to another contact or school, or have another programme, last day, nominator or campaign. */
  changed: number;
  unchanged: number;
  /** The number of rejected lines, each of which was reported with its line number. */
  refused: number;
}

/** Callbacks during an import. Line 1 is the header. */
export interface ImportListener {
  /** `raw`: the line as it is in the file; null if it is too long. */
  refused(line: number, text: string, raw: string | null): void;
  doubted(line: number, doubt: Doubt): void;
  /** The import awaits this callback, and stops if it throws. */
  progress(lines: number, bytes: number): void | Promise<void>;
  /** Called before the first line, with the line that names the columns. */
  header(text: string): void;
  /** Called if the import stops before the end of the file, with the report up to then. The error is thrown afterwards. */
  stopped(soFar: ImportReport): void;
  /** Called after the import for each kind of guessable personal codes that was found. If absent, they are not searched for. */
  guessable(found: Guessable): void;
}

const columns = {
  needed: ['code', 'contactId', 'firstName', 'lastName', 'email', 'school'],
  optional: ['programme', 'expiresAt', 'nominatedBy'],
  refusesOthers: true,
} as const;
type Column = (typeof columns)['needed' | 'optional'][number];

interface Invitation {
  code: string;
  contactId: string | null;
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  school: string | null;
  programme: string | null;
  /** The last day on which the code is valid (YYYY-MM-DD), or the time at which it expires (ISO 8601). */
  expiresAt: string | null;
  /** Who nominated the person, in the words that the person will read. */
  nominatedBy: string | null;
}

interface Line extends Invitation {
  line: number;
}

export interface ImportOptions {
  /** The mailing that the file's invitations belong to. With null, known invitations keep their mailing. */
  campaign?: string | null;
  /** Whether to write nothing, so that the report says what an import would do. */
  isTrial?: boolean;
}

const BATCH = 1000;

/** The programmes of the society file. */
type Programmes = Readonly<Record<string, { retired?: boolean }>>;

/** The part of the society file that an import needs. */
interface Issuer {
  programmes: Programmes;
  society: { timeZone: string };
}

/**
 * Imports invitations from a CSV file with these {@link columns}. A line with a school and no contact id is a school's code.
 * Reads the file as a stream, in batches, so that memory does not grow with the file. Reports a faulty line with its number and
 * skips it. Safe to repeat, even while the server runs: a line that was imported before changes nothing. Throws `NotCsv`.
 */
export async function importInvitations(
  database: Database,
  file: CsvSource,
  { programmes, society: { timeZone } }: Issuer,
  {
    refused = () => {},
    doubted = () => {},
    progress = () => {},
    header: headed = () => {},
    stopped = () => {},
    guessable,
  }: Partial<ImportListener> = {},
  { campaign = null, isTrial = false }: ImportOptions = {},
): Promise<ImportReport> {
  const report: ImportReport = { added: 0, changed: 0, unchanged: 0, refused: 0 };
  // The lines of the batch, as they are in the file.
  const raws = new Map<number, string | null>();
  const refuse = (line: number, text: string) => {
    report.refused++;
    refused(line, text, raws.get(line) ?? null);
  };
  const how = { timeZone, campaign, isTrial };
  const listener = { refused: refuse, doubted };
  const { header, rows, bytesRead } = await readCsv(file, columns);
  headed(header);
  // The codes seen so far are kept in a temporary table, which exists only on this connection.
  await database.connection().execute(async (connection) => {
    await sql`create temp table import_seen (code text primary key, line integer not null, is_personal boolean not null)`.execute(
      connection,
    );
    try {
      let batch: Line[] = [];
      for await (const { line, text, values, fault } of rows) {
        raws.set(line, text);
        const read = fault === null ? invitationOf(values, programmes) : fault;
        if (typeof read === 'string') refuse(line, read);
        else batch.push({ line, ...read });
        // Refused lines count, too, because a file may contain nothing else.
        if (raws.size < BATCH) continue;
        await write(connection, batch, how, report, listener);
        await progress(line, bytesRead());
        batch = [];
        raws.clear();
      }
      await write(connection, batch, how, report, listener);
      if (guessable) for (const found of await findGuessable(connection)) guessable(found);
    } catch (error) {
      stopped(report);
      throw error;
    } finally {
      await sql`drop table import_seen`.execute(connection);
    }
  });
  return report;
}

/** Returns the invitation of one line. If the line is faulty, returns a sentence that says why. */
function invitationOf(values: Record<Column, string>, programmes: Programmes): Invitation | string {
  const field = (name: Column) => values[name] || null;
  const read: Invitation = {
    code: values.code,
    contactId: field('contactId'),
    firstName: field('firstName'),
    lastName: field('lastName'),
    email: cleanEmail(values.email) || null,
    school: field('school'),
    programme: field('programme'),
    expiresAt: field('expiresAt'),
    nominatedBy: field('nominatedBy'),
  };
  const { code, contactId, school, expiresAt } = read;
  const broken = codeFault(code);
  if (broken) return broken;
  if (contactId === null && school === null) return 'needs a contact id or a school.';
  const fault = faultOf(read, programmes);
  if (fault) return fault;
  return {
    ...read,
    code: normaliseInviteCode(code),
    // The time is stored in UTC, because PostgreSQL refuses some offsets from UTC that Date.parse accepts.
    expiresAt: expiresAt?.includes('T') ? new Date(expiresAt).toISOString() : expiresAt,
  };
}

/** Returns the reason why a text is no code; null if it is one. Does not repeat a code, since the output may end up in a log. */
function codeFault(code: string): string | null {
  if (/^\p{Quotation_Mark}.*\p{Quotation_Mark}$/u.test(code))
    return 'has quotes around its code: leave them out.';
  const broken = inviteCodeError(code);
  return broken && isMangled(code)
    ? `"${code}" is no code but what a spreadsheet made of one: format the column as text, and enter the code again.`
    : broken;
}

/** Returns the reason why an import refuses a line because of a field other than the code; null if there is no such reason. */
export function faultOf(
  invitation: Partial<Omit<Invitation, 'code'>>,
  programmes: Programmes,
): string | null {
  const { contactId, email, programme, expiresAt } = invitation;
  const wrongId = contactId == null ? null : contactIdFault(contactId);
  if (wrongId) return wrongId;
  const long = Object.entries(invitation).find(([, text]) => text != null && text.length > FIELD_MAX_LENGTH);
  if (long) return `${long[0]} is longer than ${FIELD_MAX_LENGTH} characters.`;
  if (email != null && !isEmail(email)) return `"${email}" is not an email address.`;
  const closed = programme == null ? null : programmeFault(programme, programmes);
  return closed ?? (expiresAt == null ? null : expiryFault(expiresAt));
}

/**
 * Returns a sentence for staff if codes of this programme cannot be used, because the programme is unknown or retired; otherwise
 * null.
 */
export function programmeFault(programme: string, programmes: Programmes): string | null {
  const open = Object.keys(programmes).filter((key) => !programmes[key]!.retired);
  if (open.includes(programme)) return null;
  const why = Object.hasOwn(programmes, programme)
    ? "is retired in the society's file: no code of it can be used"
    : 'is not a programme';
  return `"${programme}" ${why} (${open.join(', ')}).`;
}

/** When a code expires: the last day on which it is valid (YYYY-MM-DD), or a time with its offset (ISO 8601). */
const expiry = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })])
  .refine((text) => Date.parse(text) > 0, 'must be after 1970');

/** Returns the reason why staff cannot let a code expire at `expiresAt`; null if they can. */
export function expiryFault(expiresAt: string): string | null {
  return expiry.safeParse(expiresAt).success ? null : `"${expiresAt}" is not a date: write it as 2027-06-30.`;
}

/** Returns a sentence for staff if `expiresAt`, a date or time in a valid form, is past; otherwise null. */
export function pastFault(expiresAt: string, society: Society, now: Date): string | null {
  const isPast = expiresAt.includes('T') ? new Date(expiresAt) <= now : expiresAt < dayOf(society, now);
  return isPast ? `"${expiresAt}" is past: nobody could join with the code.` : null;
}

/**
 * Stores a batch. A day in `expiresAt` ends at midnight in the society's `timeZone`. Data from HubSpot takes precedence: an
 * import does not change a contact that was read from HubSpot, and fills only the missing fields of any other contact. The code
 * of a contact that was merged leads to the contact that remains.
 */
async function write(
  connection: Database,
  batch: readonly Line[],
  { timeZone, campaign, isTrial }: Required<ImportOptions> & { timeZone: string },
  report: ImportReport,
  { refused, doubted }: { refused: (line: number, text: string) => void; doubted: ImportListener['doubted'] },
): Promise<void> {
  if (batch.length === 0) return;
  const seen = await sql<{ code: string; line: number }>`
    insert into import_seen (code, line, is_personal)
    select distinct on (code) code, line, "contactId" is not null
    from json_to_recordset(${JSON.stringify(batch)}::json) as given (code text, line integer, "contactId" text)
    order by code, line
    on conflict do nothing returning code, line`.execute(connection);
  const first = new Map(seen.rows.map(({ code, line }) => [code, line]));
  const again = batch.filter(({ code, line }) => first.get(code) !== line);
  const lines = batch.filter(({ code, line }) => first.get(code) === line);
  if (again.length > 0) {
    const earlier = await sql<{ code: string; line: number }>`
      select code, line from import_seen where code = any(${again.map(({ code }) => code)})`.execute(
      connection,
    );
    const lineOf = new Map(earlier.rows.map(({ code, line }) => [code, line]));
    for (const { code, line } of again)
      refused(line, `the code ${code} is already on line ${lineOf.get(code)}.`);
  }
  const given = sql`
    line as (
      select * from json_to_recordset(${JSON.stringify(lines.map((line) => ({ ...line, likeness: likenessOf(line), words: searchWords(line) })))}::json) as line (
        code text, "contactId" text, "firstName" text, "lastName" text, email text, school text, programme text, "expiresAt" text, "nominatedBy" text, likeness text, words text)
    ), used as (
      select code, person_id from invitation
      where code in (select code from line) and exists (select from join_session where invitation_code = code)
    )`;
  const work = isTrial
    ? wouldWrite(given, { timeZone, campaign })
    : writeLines(given, { timeZone, campaign });
  const { rows } = await work.execute(connection);
  for (const { code, isMoved, isExpired } of rows) {
    if (isMoved) doubted(first.get(code)!, 'moved');
    if (isExpired) doubted(first.get(code)!, 'expired');
  }
  const withdrawn = await sql<{ code: string }>`
    select code from invitation where is_withdrawn and code = any(${lines.map(({ code }) => code)})`.execute(
    connection,
  );
  for (const { code } of withdrawn.rows) doubted(first.get(code)!, 'withdrawn');
  const members = await membersAmong(
    connection,
    lines.flatMap(({ contactId }) => contactId ?? []),
  );
  for (const { line, contactId } of lines)
    if (contactId !== null && members.has(contactId)) doubted(line, 'member');
  const added = rows.filter(({ isNew }) => isNew).length;
  report.added += added;
  report.changed += rows.length - added;
  report.unchanged += lines.length - rows.length;
}

/** A line that adds or changes an invitation. */
interface Written {
  code: string;
  isNew: boolean;
  isMoved: boolean;
  isExpired: boolean;
}

/** The settings of an import that apply to each of its lines. */
interface Target {
  timeZone: string;
  campaign: string | null;
}

/** SQL that writes the lines of `given`, and returns those that change something. */
function writeLines(given: RawBuilder<unknown>, { timeZone, campaign }: Target): RawBuilder<Written> {
  return sql<Written>`
    with ${given}, persons as (
      insert into person (contact_id, email, likeness, words, profile)
      select distinct on ("contactId") "contactId", email, likeness, words, json_strip_nulls(json_build_object(
        'firstName', "firstName", 'lastName', "lastName", 'email', email, 'schoolName', school, 'highSchoolName', school))::jsonb
      from line where "contactId" is not null
      on conflict (contact_id) do update set
        profile = excluded.profile || person.profile, email = coalesce(person.email, excluded.email),
        likeness = coalesce(person.likeness, excluded.likeness), words = ${wordsWith(sql`excluded.words`)}
      where person.fetched_at is null and person.merged_into is null and (excluded.profile || person.profile) is distinct from person.profile
      returning id, contact_id
    )
    insert into invitation (code, person_id, school, programme, expires_at, nominated_by, campaign)
    select code, coalesce(${personOf('contactId')}, persons.id), case when "contactId" is null then school end, programme,
      ${expiryOf(sql`"expiresAt"`, timeZone)}, "nominatedBy", ${campaign}
    from line left join persons on persons.contact_id = "contactId"
    on conflict (code) do update set
      person_id = excluded.person_id, school = excluded.school, programme = excluded.programme, expires_at = excluded.expires_at,
      nominated_by = excluded.nominated_by, campaign = coalesce(excluded.campaign, invitation.campaign)
    where (invitation.person_id, invitation.school, invitation.programme, invitation.expires_at, invitation.nominated_by, invitation.campaign)
      is distinct from (excluded.person_id, excluded.school, excluded.programme, excluded.expires_at, excluded.nominated_by, coalesce(excluded.campaign, invitation.campaign))
    returning code, xmax = 0 as "isNew", coalesce(expires_at <= now(), false) as "isExpired",
      exists (select from used where used.code = invitation.code and used.person_id is distinct from invitation.person_id) as "isMoved"`;
}

/** SQL that writes nothing, and returns what {@link writeLines} would. A contact that is not known yet has no person id. */
function wouldWrite(given: RawBuilder<unknown>, { timeZone, campaign }: Target): RawBuilder<Written> {
  return sql<Written>`
    with ${given}, target as (
      select line.code, ${personOf('contactId')} as person_id, case when "contactId" is null then school end as school, programme,
        ${expiryOf(sql`"expiresAt"`, timeZone)} as expires_at,
        "nominatedBy" as nominated_by, ${campaign}::text as campaign
      from line
    )
    select target.code, invitation.code is null as "isNew", coalesce(target.expires_at <= now(), false) as "isExpired",
      exists (select from used where used.code = target.code and used.person_id is distinct from target.person_id) as "isMoved"
    from target left join invitation on invitation.code = target.code
    where invitation.code is null
      or (invitation.person_id, invitation.school, invitation.programme, invitation.expires_at, invitation.nominated_by, invitation.campaign)
        is distinct from (target.person_id, target.school, target.programme, target.expires_at, target.nominated_by, coalesce(target.campaign, invitation.campaign))`;
}
