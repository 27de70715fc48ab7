import { type RawBuilder, sql } from 'kysely';
import { identityNotes } from '#core/intentText.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from './deps.ts';

/**
 * Writes names and email into the metadata of the open and paid intents of some joins. After a restore, lost joins are made again
 * from these metadata.
 */
export async function writeNotes(
  { database, payments }: Pick<Deps, 'database' | 'payments'>,
  joins: RawBuilder<unknown>,
  details: StudentDetails,
): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select intent_id as id from payment join join_session on uuid = session_uuid
    where ${joins} and payment.status in ('open', 'succeeded')`.execute(database);
  for (const { id } of rows) await payments.writeNotes(id, identityNotes(details));
}
