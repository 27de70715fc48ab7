import { randomBytes } from 'node:crypto';
import type { Database } from './client.ts';

/** A value made once and shared by every process on this database. */
export async function sharedSecret(database: Database, name: string, bytes = 32): Promise<string> {
  await database
    .insertInto('secret')
    .values({ name, value: randomBytes(bytes).toString('hex') })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  const { value } = await database
    .selectFrom('secret')
    .select('value')
    .where('name', '=', name)
    .executeTakeFirstOrThrow();
  return value;
}
