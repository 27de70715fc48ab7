import { type Kysely, sql } from 'kysely';
import { mentions } from '#core/mention.ts';
import type { Tables } from '../platform/database/types.ts';

/** Returns the ids of the notices that contain one of these emails or names. */
export async function noticesNaming(database: Kysely<Tables>, texts: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ id: number; message: string }>`
    select id, message from staff_notice
    where exists (select from unnest(${texts}::text[]) as text where strpos(lower(message), lower(text)) > 0)`.execute(
    database,
  );
  return rows.filter(({ message }) => texts.some((text) => mentions(message, text))).map(({ id }) => id);
}
