import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../platform/database/types.ts';

/** Contacts and files in HubSpot, by HubSpot's ids. */
export interface AtHubspot {
  contacts: string[];
  files: string[];
}

/**
 * Returns the contacts and files that HubSpot may still have of a person who was erased here, by the hash of the person's email.
 */
export async function leftAtHubspot(database: Kysely<Tables>, emailHash: Buffer): Promise<AtHubspot> {
  const rows = await database
    .selectFrom('left_at_hubspot')
    .select(['kind', 'hubspot_id'])
    .where('email_hash', '=', emailHash)
    .orderBy('hubspot_id')
    .execute();
  const ofKind = (kind: string) => rows.filter((row) => row.kind === kind).map((row) => row.hubspot_id);
  return { contacts: ofKind('contact'), files: ofKind('file') };
}

/** Returns HubSpot's ids of the files of documents that belong to these joins or persons. */
export async function filesAtHubspot(
  database: Kysely<Tables>,
  { joins, persons }: { joins: readonly string[]; persons: readonly number[] },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select distinct crm_file_id as id from document
    where crm_file_id is not null and (session_uuid = any(${joins}::uuid[]) or person_id = any(${persons}::bigint[]))`.execute(
    database,
  );
  return rows.map(({ id }) => id);
}

/**
 * Stores the ids of contacts and files that HubSpot still has, under each of a person's emails. To be called before the rows that
 * contain these ids are removed.
 */
export async function keepIds(
  trx: Kysely<Tables>,
  emailHashes: readonly Buffer[],
  { contacts, files }: AtHubspot,
): Promise<void> {
  await sql`
    insert into left_at_hubspot (email_hash, kind, hubspot_id)
    select hash, kind, id from unnest(${emailHashes}::bytea[]) as hash, (
      select 'contact' as kind, id from unnest(${contacts}::text[]) as id
      union all select 'file', id from unnest(${files}::text[]) as id) as left_there
    on conflict do nothing`.execute(trx);
}

/** Deletes the stored ids of a person, after HubSpot has deleted the contacts and files. */
export async function forgetIds(trx: Kysely<Tables>, emailHash: Buffer): Promise<void> {
  await sql`
    delete from left_at_hubspot where (kind, hubspot_id) in (
      select kind, hubspot_id from left_at_hubspot where email_hash = ${emailHash})`.execute(trx);
}
