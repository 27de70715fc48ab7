import { type RawBuilder, sql } from 'kysely';
import { identityNotes } from '#core/intentText.ts';
import type { StudentDetails } from '#core/studentDetails.ts';
import type { Deps } from './deps.ts';

/**
 * Writes names and email into the metadata of the intents of some joins, from which lost joins are made again after a restore.
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
