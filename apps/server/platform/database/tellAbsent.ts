import type { Database } from './client.ts';

/** Returns whether there is no join, or no contact in the mirror, with this id. If so, prints that for staff. */
export async function tellAbsent(database: Database, of: 'join' | 'contact', id: string): Promise<boolean> {
  const found =
    of === 'join'
      ? await database.selectFrom('join_session').select('uuid').where('uuid', '=', id).executeTakeFirst()
      : await database.selectFrom('person').select('id').where('contact_id', '=', id).executeTakeFirst();
  if (!found) console.error(of === 'join' ? `There is no join ${id}.` : `Induct knows no contact ${id}.`);
  return !found;
}
