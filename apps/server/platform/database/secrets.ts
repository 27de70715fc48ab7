import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from './client.ts';

/** Returns the random value that is stored in the database under a name, for all processes. The first call creates the value. */
export async function sharedSecret(database: Database, name: string, bytes = 32): Promise<string> {
  const find = async () =>
    (await sql<{ value: string }>`select value from secret where name = ${name}`.execute(database)).rows[0];
  let found = await find();
  if (!found) {
    const value = randomBytes(bytes).toString('hex');
    await sql`insert into secret (name, value) values (${name}, ${value}) on conflict (name) do nothing`.execute(
      database,
    );
    // If another process was first, uses the value of that process.
    found = await find();
  }
  return found!.value;
}
