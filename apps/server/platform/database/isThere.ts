import type { Database } from './client.ts';

/** Returns whether there is a join, or a contact in the mirror, with this id. */
export async function isThere(database: Database, kind: 'join' | 'contact', id: string): Promise<boolean> {
  const found =
    kind === 'join'
      ? await database.selectFrom('join_session').select('uuid').where('uuid', '=', id).executeTakeFirst()
      : await database.selectFrom('person').select('id').where('contact_id', '=', id).executeTakeFirst();
  return found !== undefined;
}
