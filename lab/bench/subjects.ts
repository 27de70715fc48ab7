import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { likenessOf, searchWords } from '../../packages/core/personKeys.ts';
import { control } from '../../tests/harness/providers.ts';
import type { Scope } from '../../tests/harness/scope.ts';
import { contactIdOf, emailOf, type Flow, floorFlow, inviteCodeOf, ourFlow } from './flow.ts';
import { type Induct, startInduct } from './induct.ts';
import { createDatabase, type World } from './world.ts';

/** A server to put under load, with its database. */
export interface Subject {
  flow: Flow;
  pid: number;
  database: pg.Client;
  /**
   * Prepares `count` people, each of whom may join once. Resolves with a function that returns the number of another person at
   * each call.
   */
  people(count: number): Promise<() => number>;
  /** Marks the background work that joins have caused as done, so that it does not disturb the next measurement. */
  settle(): Promise<void>;
}

/** Starts the minimal server (floor/server.ts), with its tables in a separate schema. */
export async function startFloor(
  scope: Scope,
  { url, client }: { url: string; client: pg.Client },
): Promise<Subject> {
  const folder = join(import.meta.dirname, 'floor');
  await client.query('create schema floor');
  await client.query('set search_path = floor, public');
  await client.query(readFileSync(join(folder, 'schema.sql'), 'utf8'));
  const env = { DATABASE_URL: `${url}?options=-c%20search_path%3Dfloor` };
  const { process: server, ready } = await scope.start<{ listening: string }>(join(folder, 'server.ts'), {
    env,
  });
  let last = 0;
  return {
    flow: floorFlow(ready.listening),
    pid: server.pid!,
    database: client,
    people: async () => () => ++last,
    settle: async () => {},
  };
}

/** A migrated database for Induct's servers. */
export interface OurDatabase {
  url: string;
  client: pg.Client;
  /** How many people have been invited so far. They have the numbers from 1 on. */
  invited: number;
}

export async function makeOurDatabase(world: World): Promise<OurDatabase> {
  return { ...(await createDatabase(world)), invited: 0 };
}

/**
 * Starts our server with the settings of production: limits are on, LOG_LEVEL is `info`, and the server trusts the client addresses
 * that a proxy sends. HubSpot's stand-in has the people with the numbers 0 to `known`. Nobody joins as number 0.
 */
export async function startOurs(
  world: World,
  database: OurDatabase,
  { known = 0, settings = {} }: { known?: number; settings?: Record<string, string> } = {},
): Promise<Subject & { induct: Induct }> {
  const { client, url } = database;
  const induct = await startInduct(world.scope, {
    databaseUrl: url,
    folder: join(world.folder, new URL(url).pathname),
    contacts: Array.from({ length: known + 1 }, (_, number) => ({
      id: contactIdOf(number),
      properties: { firstname: 'Jordan', lastname: 'Rivera', email: emailOf(number) },
    })),
    settings: { TRUST_PROXY: '127.0.0.1', ...settings },
  });
  return {
    induct,
    flow: ourFlow(induct.url, induct.stripe.url),
    pid: induct.pid,
    database: client,
    async people(count) {
      let next = database.invited + 1;
      database.invited += count;
      const last = database.invited;
      await invite(client, next, last);
      return () => {
        if (next > last) throw new Error(`More than the ${count} people who are invited would have joined.`);
        return next++;
      };
    },
    async settle() {
      await control(induct.stripe.url, 'POST', 'webhooks/idle');
      // Marks all joins as sent to HubSpot; they would otherwise be sent two minutes later.
      await client.query(
        'update crm_delivery set due_at = null, due_since = null where due_at is not null and refusal is null',
      );
    },
  };
}

/**
 * Writes people into the mirror, each with an invite code. Their contacts count as just read from HubSpot, so the first eight calls
 * of their joins need no request to a provider.
 */
export async function invite(database: pg.Client, first: number, last: number): Promise<void> {
  const place = { address: '12 Oak Street', city: 'Austin', state: 'TX', zip: '78701', country: 'US' };
  const profile = { firstName: 'Jordan', lastName: 'Rivera', ...place };
  for (let from = first; from <= last; from += 10_000) {
    const numbers = Array.from({ length: Math.min(10_000, last - from + 1) }, (_, index) => from + index);
    await database.query(
      `with invited (contact, email, code, likeness, words) as (select * from unnest($1::text[], $2::text[], $3::text[], $5::text[], $6::text[])),
       known as (
         insert into person (contact_id, profile, email, likeness, words, fetched_at)
         select contact, $4::jsonb || jsonb_build_object('email', email, 'personalEmail', email), email, likeness, words, now() from invited
         returning id, contact_id
       )
       insert into invitation (code, person_id) select code, id from invited join known on contact_id = contact`,
      [
        numbers.map(contactIdOf),
        numbers.map(emailOf),
        numbers.map(inviteCodeOf),
        JSON.stringify(profile),
        numbers.map((number) => likenessOf({ ...profile, personalEmail: emailOf(number) })),
        numbers.map((number) => searchWords({ ...profile, personalEmail: emailOf(number) })),
      ],
    );
  }
}
