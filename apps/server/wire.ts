import { createHmac } from 'node:crypto';
import type { Config } from './config.ts';
import { mirroredContacts } from './contacts/contacts.ts';
import { connect, type Database } from './database/client.ts';
import { sharedSecret } from './database/secrets.ts';
import type { Deps, Log } from './deps.ts';
import { openInspector } from './documents/inspector.ts';
import { clamd } from './documents/scanner.ts';
import { browserCookie } from './http/browserCookie.ts';
import { sharedBudget } from './hubspot/budget.ts';
import { type HubspotClient, hubspotClient } from './hubspot/client.ts';
import { signedLinks } from './links/links.ts';
import { readSociety } from './society.ts';
import { openStorage } from './storage/openStorage.ts';
import { stripeProvider } from './stripe/provider.ts';

export interface Wired {
  deps: Deps;
  database: Database;
  hubspot: HubspotClient;
}

/**
 * Connects everything that the configuration names, or nothing when a part of it fails. The database must be migrated. What
 * is written is recorded as done by the `actor`, a member of staff, when there is one.
 */
export async function wire(
  config: Config,
  log: Log,
  { actor = null }: { actor?: string | null } = {},
): Promise<Wired> {
  const database = connect(config.databaseUrl, { actor });
  try {
    return await wireWith(database, config, log);
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

async function wireWith(database: Database, config: Config, log: Log): Promise<Wired> {
  // The file is read while the database is being reached.
  const [secret, environment, society] = await Promise.all([
    config.linkSecret ?? sharedSecret(database, 'link'),
    sharedSecret(database, 'environment', 8),
    Promise.resolve(config.societyFile).then(readSociety),
  ]);
  const crmBudget = sharedBudget(database);
  const hubspotFor = (urgency: 'joiner' | 'background') =>
    hubspotClient(config.providers.hubspot, society.crm.fields, crmBudget, urgency);
  const now = () => new Date();
  const deps: Deps = {
    config,
    database,
    society,
    log,
    now,
    environment,
    payments: stripeProvider(config.providers.stripe),
    contacts: mirroredContacts(database, hubspotFor('joiner'), society.crm.fields, now),
    crmBudget,
    storage: await openStorage(config),
    inspector: openInspector(),
    scanner: config.clamdUrl === null ? null : clamd(config.clamdUrl),
    // With HubSpot emulated there is nobody to protect, and links work unsigned as specified.
    links: signedLinks(secret, config.providers.emulated || config.allowUnsignedLinks, now),
    browser: browserCookie(secret, config.publicUrl.startsWith('https:')),
    hashAddress: (address) =>
      createHmac('sha256', secret).update(`address\n${address}`).digest('base64url').slice(0, 22),
  };
  return { deps, database, hubspot: hubspotFor('background') };
}
