import { sql } from 'kysely';
import { isToPayer, type LetterKind } from '#core/letterKinds.ts';
import { escapeHtml } from '../../platform/escapeHtml.ts';
import type { Deps } from '../deps.ts';
import type { Person } from './findPerson.ts';
import { noticesNaming } from './noticesNaming.ts';

/** The rows of one kind, without secrets and without what is about somebody else. */
export interface Section {
  title: string;
  rows: Record<string, unknown>[];
}

/** A document, and the name of its file in the export's folder. */
export interface ExportedDocument {
  storageKey: string;
  sha256: Buffer;
  fileName: string;
}

/** Tables whose column `session_uuid` refers to a join, each with the title of its section in the export. */
const ofJoins: readonly (readonly [table: string, title: string])[] = [
  ['order_snapshot', 'Orders'],
  ['payment', 'Payments'],
  ['membership', 'Memberships'],
  ['shipment', 'What was sent by post'],
  ['letter', 'Letters'],
  ['card_failure', 'Declined cards'],
  ['pass', 'Links in letters'],
  ['upload_link', 'Links for uploads'],
  ['pay_link', 'Links to pay'],
  ['refund_request', 'Money asked back'],
  ['staff_notice', 'Notices to staff'],
  ['join_event', 'What happened, step by step'],
];

/** Columns of a payment by a pay link with data of its payer, who is somebody else. */
const ofPayer = [
  'receipt_email',
  'payer_name',
  'customer_id',
  'payment_method_id',
  'card_brand',
  'card_last4',
];

/** Columns of a letter to such a payer with the payer's data. A mail server's refusal may name their email. */
const ofPayersLetter = ['email', 'refusal'];

/** Columns that the export leaves out, because they are secrets and say nothing about the person. */
const secrets = ['client_secret', 'code_hash', 'code_browser', 'token_hash'];

/**
 * Columns that the export leaves out of a letter that was sent to this person's email but is about somebody else's join. These
 * columns identify that join or give access to it.
 */
const aboutOthers = ['session_uuid', 'occasion', 'data', 'refusal'];

/**
 * Returns the documents of a person, and everything else that the database has about them, with times in ISO 8601 and amounts in
 * cents.
 */
export async function readPerson(
  { database, stopLinks }: Pick<Deps, 'database' | 'stopLinks'>,
  { emails, joins, persons, others }: Person,
): Promise<{ sections: Section[]; documents: ExportedDocument[] }> {
  const rowsOf = async (
    table: string,
    where: ReturnType<typeof sql>,
    leftOut: readonly string[] = secrets,
  ) => {
    const { rows } = await sql<{ row: Record<string, unknown> }>`
      select to_jsonb(${sql.table(table)}) - ${leftOut}::text[] as row from ${sql.table(table)} where ${where}`.execute(
      database,
    );
    return rows.map(({ row }) => {
      const isOfPayer = table === 'letter' ? isToPayer(row.kind as LetterKind) : row.by_pay_link;
      if (!isOfPayer || leftOut !== secrets) return row;
      const theirs = table === 'letter' ? ofPayersLetter : ofPayer;
      return Object.fromEntries(Object.entries(row).filter(([column]) => !theirs.includes(column)));
    });
  };
  const theirJoins = sql`session_uuid = any(${joins}::uuid[])`;
  const isOfOthers = sql`(${theirJoins}) is not true`;
  const theirPersons = sql`any(${persons}::bigint[])`;
  const theirEmails = sql`any(${emails}::text[])`;
  const isTheirs = sql`person_id = ${theirPersons}`;
  const documents = await rowsOf('document', sql`${theirJoins} or ${isTheirs}`);
  const written = documents
    .filter(({ removed_at }) => removed_at === null)
    .map(({ storage_key, sha256, name }) => ({
      storageKey: String(storage_key),
      // In PostgreSQL's JSON, bytes are a string of hexadecimal digits that starts with \x.
      sha256: Buffer.from(String(sha256).slice(2), 'hex'),
      // The first digits of the storage key distinguish documents of the same name. Characters that a file system may not accept
      // are replaced.
      fileName: `${String(storage_key).slice(0, 8)}-${String(name).replace(/[^\p{L}\p{N}. _-]/gu, '_')}`,
    }));
  const sections: Section[] = [
    { title: 'Joins', rows: await rowsOf('join_session', sql`uuid = any(${joins}::uuid[])`) },
  ];
  for (const [table, title] of ofJoins) {
    const byEmail =
      table === 'staff_notice'
        ? sql` or id = any(${await noticesNaming(database, emails)}::bigint[])`
        : sql``;
    sections.push({ title, rows: await rowsOf(table, sql`${theirJoins}${byEmail}`) });
  }
  sections.push(
    {
      title: 'Other letters to this email',
      rows: await rowsOf('letter', sql`lower(email) = ${theirEmails} and ${isOfOthers}`, aboutOthers),
    },
    {
      title: 'Other payments that were begun with this email',
      rows: (await rowsOf('payment', sql`lower(receipt_email) = ${theirEmails} and ${isOfOthers}`, [])).map(
        ({ receipt_email, payer_name, created_at }) => ({ receipt_email, payer_name, created_at }),
      ),
    },
    {
      title: 'Refunds',
      rows: await rowsOf('refund', sql`intent_id in (select intent_id from payment where ${theirJoins})`),
    },
    { title: 'Documents', rows: documents },
    {
      title: 'The person, with what HubSpot told of them',
      rows: await rowsOf('person', sql`id = ${theirPersons}`),
    },
    {
      // A contact with another email may be another person.
      title: 'What HubSpot was told',
      rows: await rowsOf(
        'crm_delivery',
        sql`${isTheirs} and person_id not in (select id from person where contact_id = any(${others}::text[]))`,
      ),
    },
    {
      title: 'Merges of the last day, with the persons as they were',
      rows: await rowsOf('person_merge', sql`from_id = ${theirPersons} or into_id = ${theirPersons}`),
    },
    { title: 'Invitations', rows: await rowsOf('invitation', isTheirs) },
    { title: 'What staff noted', rows: await rowsOf('person_note', isTheirs) },
    { title: 'Requests for links', rows: await rowsOf('pass_request', sql`lower(email) = ${theirEmails}`) },
    {
      title: 'Reminders stopped',
      rows: await rowsOf(
        'reminder_stop',
        sql`email_hash = any(${emails.map((email) => stopLinks.hash(email))}::bytea[])`,
      ),
    },
  );
  const found = sections.filter(({ rows }) => rows.length > 0);
  return {
    // If nothing was found, the given email is left out, too, because it is not stored.
    sections:
      found.length > 0 ? [{ title: 'Emails', rows: emails.map((email) => ({ email })) }, ...found] : [],
    documents: written,
  };
}

function shown(value: unknown): string {
  if (value !== null && typeof value === 'object' && !Array.isArray(value))
    return tableOf(value as Record<string, unknown>);
  if (Array.isArray(value)) return value.map(shown).join('<br>');
  return escapeHtml(String(value));
}

/** Returns one row as an HTML table. Null and empty values are left out. */
function tableOf(row: Record<string, unknown>): string {
  const lines = Object.entries(row).filter(([, value]) => value !== null && value !== '');
  return `<table>${lines.map(([name, value]) => `<tr><th>${escapeHtml(name.replaceAll('_', ' '))}</th><td>${shown(value)}</td></tr>`).join('\n')}</table>`;
}

/** Returns the export's page as HTML that needs no other file. */
export function pageOf(
  { society, email, at }: { society: string; email: string; at: Date },
  sections: readonly Section[],
  documents: readonly ExportedDocument[],
): string {
  return `<!doctype html>
<html lang="en"><meta charset="utf-8"><title>What ${escapeHtml(society)} has about ${escapeHtml(email)}</title>
<style>body{font:16px/1.5 sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}table{border-collapse:collapse;margin:0 0 1rem}th,td{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-top:1px solid #ccc;overflow-wrap:anywhere}</style>
<h1>What ${escapeHtml(society)} has about ${escapeHtml(email)}</h1>
<p>Taken from the join system at ${at.toISOString()}. Amounts ending in "cents" are cents. The same is in data.json, for programs.</p>
${documents.length > 0 ? `<h2>Files</h2>\n<ul>${documents.map(({ fileName }) => `<li><a href="documents/${encodeURIComponent(fileName)}">${escapeHtml(fileName)}</a></li>`).join('')}</ul>` : ''}
${sections.map(({ title, rows }) => `<h2>${escapeHtml(title)}</h2>\n${rows.map(tableOf).join('\n')}`).join('\n')}
</html>
`;
}
