import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from './client.ts';

/** Returns a random value that is made once for each name and shared by every process on this database. */
export async function sharedSecret(database: Database, name: string, bytes = 32): Promise<string> {
  const find = async () =>
    (await sql<{ value: string }>`select value from secret where name = ${name}`.execute(database)).rows[0];
  let found = await find();
  if (!found) {
    const value = randomBytes(bytes).toString('hex');
    await sql`insert into secret (name, value) values (${name}, ${value}) on conflict (name) do nothing`.execute(
      database,
    );
    // Another process may have made the value first.
    found = await find();
  }
  return found!.value;
}
