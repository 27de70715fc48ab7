import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { Database } from './client.ts';

/** Returns the random value that is stored in the database under a name, for all processes. The first call creates the value. */
export function sharedSecret(database: Database, name: string, bytes = 32): Promise<string> {
  return sharedValue(database, name, () => randomBytes(bytes).toString('hex'));
}

/** The name of the stored value that is the id of the HubSpot account whose contacts the database has. */
export const HUBSPOT_ACCOUNT = 'hubspot account';

/** Returns the value that is stored in the database under a name, for all processes. The first call stores the value of `first`. */
export async function sharedValue(database: Database, name: string, first: () => string): Promise<string> {
  const find = async () =>
    (await sql<{ value: string }>`select value from secret where name = ${name}`.execute(database)).rows[0];
  let found = await find();
  if (!found) {
    await sql`insert into secret (name, value) values (${name}, ${first()}) on conflict (name) do nothing`.execute(
      database,
    );
    // If another process was first, uses the value of that process.
    found = await find();
  }
  return found!.value;
}
