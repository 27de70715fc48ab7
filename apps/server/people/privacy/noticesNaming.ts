import { type Kysely, sql } from 'kysely';
import { mentions } from '#core/mention.ts';
import type { Tables } from '../../platform/database/types.ts';

/** Returns the ids of the notices that contain one of these emails or names. */
export async function noticesNaming(database: Kysely<Tables>, texts: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ id: number; told: string }>`
    select id, told from staff_notice, lateral (
      select string_agg(value #>> '{}', E'\n') as told from jsonb_path_query(params, '$.** ? (@.type() == "string")') as value) as texts
    where exists (select from unnest(${texts}::text[]) as text where strpos(lower(told), lower(text)) > 0)`.execute(
    database,
  );
  return rows.filter(({ told }) => texts.some((text) => mentions(told, text))).map(({ id }) => id);
}
