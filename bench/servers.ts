import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type pg from 'pg';
import { migrate } from '../apps/server/database/migrate.ts';
import { readSociety } from '../apps/server/society.ts';
import { STRIPE_SECRET_KEY } from '../emulators/keys.ts';
import { builtServer } from '../local/builds.ts';
import { freePort } from '../local/ports.ts';
import type { FlowSettings } from './flows/flows.ts';
import type { People } from './load/load.ts';
import { invite } from './people.ts';
import type { Scope } from './scope.ts';
import { connectTo, createDatabase, type World } from './world.ts';

/** A side of the comparison: servers with a database, and what a join on them is. */
export interface Subject {
  name: string;
  flow: FlowSettings;
  urls: string[];
  /** The processes whose use is accounted for, by what they are. */
  pids: { node: number[]; postgres: number[]; stripe: number[]; hubspot: number[] };
  databaseUrl: string;
  /** A connection of our own to it. */
  database: pg.Client;
  /** Vacuums and checkpoints it. */
  tidy(): Promise<void>;
  /** Makes ready so many people who may join, each once. Those of whose joins the CRM will be told must be known to it. */
  people(count: number, areKnown: boolean): Promise<People>;
  /** Ends what joins of a measurement left to be done later, so that it does not fall into another one. */
  settle(): Promise<void>;
}

const root = resolve(import.meta.dirname, '..');
const societyFile = join(root, 'society/society.yaml');

/** The bare server on a database of its own. */
export async function startFloor(world: World): Promise<Subject> {
  const url = await createDatabase(world, 'floor');
  const database = await connectTo(world, url);
  await database.query(readFileSync(join(root, 'bench/floor/schema.sql'), 'utf8'));
  const { process: server, ready } = await world.scope.start<{ listening: string }>(
    join(root, 'bench/floor/server.ts'),
    { env: { DATABASE_URL: url } },
  );
  let last = 0;
  return {
    name: 'floor',
    flow: { server: 'floor' },
    urls: [ready.listening],
    pids: { node: [server.pid!], postgres: [world.postgres.pid], stripe: [], hubspot: [] },
    databaseUrl: url,
    database,
    tidy: () => tidy(database),
    async people() {
      // Anybody may join, so nobody is made ready: numbers that the last measurement did not reach.
      const people = { first: last + 1, last: last + 1_000_000 };
      last = people.last;
      return people;
    },
    settle: async () => {},
  };
}

/** A migrated database of ours. */
export interface OurDatabase {
  name: string;
  url: string;
  client: pg.Client;
  /** The last of those who were invited and whom HubSpot knows, and how many whom it does not. */
  invited: { known: number; unknown: number };
}

export async function makeOurDatabase(world: World, name: string): Promise<OurDatabase> {
  const url = await createDatabase(world, name);
  await migrate(url);
  return { name, url, client: await connectTo(world, url), invited: { known: 0, unknown: 0 } };
}

/** People whom HubSpot does not know have numbers from here. */
const UNKNOWN = 1_000_000_000;

/**
 * Our server as it runs in production, with every check and limit and its background work on. What differs: both
 * providers are stand-ins, of which HubSpot's knows the first `known` people, and the log goes to a file. Joiners come
 * through a proxy on this machine, ten from an address. `listening` is when it said so, by `performance.now()`.
 */
export async function startOurs(
  world: World,
  { name, url, client, invited }: OurDatabase,
  {
    known = 0,
    processes = 1,
    settings = {},
    starting,
  }: {
    known?: number;
    processes?: number;
    settings?: Record<string, string>;
    /** Called when everything else runs, right before the server is started. */
    starting?: () => void;
  } = {},
): Promise<Subject & { listening: number }> {
  const { scope } = world;
  const port = (await freePort())!;
  const folder = join(world.folder, name);
  const standIn = (...args: string[]) =>
    scope.start<{ url: string }>(join(root, 'bench/standIn.ts'), { args });
  const [stripe, hubspot] = await Promise.all([
    standIn('stripe', folder, `http://127.0.0.1:${port}/api/webhooks/stripe`),
    standIn('hubspot', folder, String(known)),
  ]);
  const env = {
    DATABASE_URL: url,
    DATA_DIR: folder,
    SOCIETY_FILE: societyFile,
    STRIPE_EMULATOR_URL: stripe.ready.url,
    HUBSPOT_EMULATOR_URL: hubspot.ready.url,
    TRUST_PROXY: '127.0.0.1',
    ...settings,
  };
  starting?.();
  const servers = [];
  for (let index = 0; index < processes; index++)
    servers.push(await startServer(scope, { ...env, PORT: String(index === 0 ? port : 0) }, `${folder}.log`));

  const listening = performance.now();
  return {
    listening,
    name: 'Induct',
    flow: { server: 'ours', ...ordered(), stripe: { url: stripe.ready.url, secretKey: STRIPE_SECRET_KEY } },
    urls: servers.map(({ ready }) => ready.listening),
    pids: {
      node: servers.map(({ process: server }) => server.pid!),
      postgres: [world.postgres.pid],
      stripe: [stripe.process.pid!],
      hubspot: [hubspot.process.pid!],
    },
    databaseUrl: url,
    database: client,
    tidy: () => tidy(client),
    async people(count, areKnown) {
      const first = 1 + (areKnown ? invited.known : UNKNOWN + invited.unknown);
      if (areKnown) invited.known += count;
      else invited.unknown += count;
      if (invited.known > known)
        throw new Error(`HubSpot knows ${known} people, and more would have to join.`);
      const people = { first, last: first + count - 1 };
      await invite(client, people);
      return people;
    },
    async settle() {
      await fetch(`${stripe.ready.url}/_emulator/webhooks/idle`, { method: 'POST' });
      // As if HubSpot had heard of them: it would, two minutes later.
      await client.query(
        'update join_session set crm_revision = profile_revision where profile_revision <> crm_revision and crm_refusal is null',
      );
    },
  };
}

/**
 * Two that have nothing to do with one another, at work at the same time, under one load whose steps speak to no provider. The
 * same people are made ready on both.
 */
export function together(first: Subject, second: Subject): Subject {
  const both = async (act: (one: Subject) => Promise<void>) => {
    await act(first);
    await act(second);
  };
  return {
    ...first,
    urls: [...first.urls, ...second.urls],
    pids: {
      ...first.pids,
      node: [...first.pids.node, ...second.pids.node],
    },
    tidy: () => both((one) => one.tidy()),
    async people(count, areKnown) {
      const people = await first.people(count, areKnown);
      const others = await second.people(count, areKnown);
      if (others.first !== people.first) throw new Error('Each of the two has had other people before.');
      return people;
    },
    settle: () => both((one) => one.settle()),
  };
}

async function tidy(database: pg.Client): Promise<void> {
  await database.query('vacuum (analyze)');
  await database.query('checkpoint');
}

/** The server's own program as it is built, its log in a file. */
export function startServer(scope: Scope, env: Record<string, string>, log: string) {
  return scope.start<{ listening: string }>(builtServer, { env, log });
}

/** What a joiner of the default programme buys: its default membership and the first donation on offer. */
export function ordered(): { membershipId: number; donationUuid: string; amountCents: number } {
  const society = readSociety(societyFile);
  const { defaultMembership } = society.programme(society.defaultProgramme);
  const membership = society.product(defaultMembership)!;
  const donation = society.catalogue.find(({ type }) => type === 'donation')!;
  return {
    membershipId: membership.id,
    donationUuid: donation.uuid,
    amountCents: membership.price! + donation.price!,
  };
}
