import { createHmac } from 'node:crypto';
import { mirroredContacts } from './crm/contacts.ts';
import { sharedBudget } from './crm/hubspot/budget.ts';
import { type HubspotClient, hubspotClient } from './crm/hubspot/client.ts';
import type { Deps } from './deps.ts';
import { openInspector } from './documents/inspector.ts';
import { clamd } from './documents/scanner.ts';
import { troubleReporter } from './letters/providerTrouble.ts';
import { readLetterTexts } from './letters/readTexts.ts';
import { stopLinks } from './letters/stopLinks.ts';
import { openPrinter } from './membership/printer.ts';
import { stripeFailures } from './paying/stripeFailures.ts';
import type { Config } from './platform/config/config.ts';
import { connect, type Database } from './platform/database/client.ts';
import { type Patience, patience } from './platform/database/patience.ts';
import { sharedSecret } from './platform/database/secrets.ts';
import type { Log } from './platform/deps.ts';
import { browserCookie } from './platform/http/browserCookie.ts';
import { countedAddress } from './platform/http/countedAddress.ts';
import { callWatcher } from './platform/watchCall.ts';
import { openStorage } from './providers/storage/openStorage.ts';
import { stripeProvider } from './providers/stripe/provider.ts';
import { isDoctorToken } from './running/doctor/arrival.ts';
import { signedLinks } from './session/links.ts';
import { sealedPasses } from './session/passes.ts';
import { readIcon } from './society/readIcon.ts';
import { readSociety } from './society/readSociety.ts';

const BACKGROUND_CONNECTIONS = 5;

export interface Wired {
  deps: Deps;
  /** The same connection pool as `deps.database`. */
  database: Database;
  /** A connection pool for background work, whose statements may take longer. */
  background: Database;
  hubspot: HubspotClient;
}

/**
 * Connects everything that the configuration names. The database must already be migrated. If a part fails, closes the database
 * and throws. `waits`: the timeouts of `deps.database`. `read`: the function that reads the society's file.
 */
export async function wire(
  config: Config,
  log: Log,
  { waits = patience.ofCalls, read = readSociety }: { waits?: Patience; read?: typeof readSociety } = {},
): Promise<Wired> {
  const database = connect(config.databaseUrl, { waits });
  try {
    return await wireWith(database, config, log, read);
  } catch (error) {
    await database.destroy();
    throw error;
  }
}

async function wireWith(
  database: Database,
  config: Config,
  log: Log,
  read: typeof readSociety,
): Promise<Wired> {
  // Reads the society's file while the database is queried.
  const [secrets, environment, stopSecret, society] = await Promise.all([
    config.linkSecrets ?? sharedSecret(database, 'link').then((secret) => [secret] as const),
    sharedSecret(database, 'environment', 8),
    sharedSecret(database, 'reminder stops'),
    Promise.resolve(config.societyFile).then(read),
  ]);
  const watch = callWatcher(log);
  const crmBudget = sharedBudget(database);
  const hubspotFor = (urgency: 'joiner' | 'background') =>
    hubspotClient(
      config.providers.hubspot,
      society.crm.fields,
      crmBudget,
      urgency,
      troubleReporter(database, log),
      watch,
    );
  const now = () => new Date();
  const deps: Deps = {
    config,
    database,
    actor: null,
    society,
    letterTexts: readLetterTexts(config.societyFile),
    icon: readIcon(config.societyFile),
    log,
    now,
    environment,
    payments: stripeProvider({
      ...config.providers.stripe,
      watch,
      onFailure: stripeFailures(troubleReporter(database, log)),
    }),
    contacts: mirroredContacts({ database, society, hubspot: hubspotFor('joiner') }, now),
    hubspot: hubspotFor('background'),
    crmBudget,
    storage: await openStorage(config),
    inspector: openInspector(),
    printer: openPrinter(),
    scanner: config.clamdUrl === null ? null : clamd(config.clamdUrl),
    // Links may be unsigned with emulated providers, since there are no real contacts to protect and the specification allows it.
    links: signedLinks(secrets, config.providers.emulated || config.allowUnsignedLinks, now),
    passes: sealedPasses(secrets, config.publicUrl, now),
    stopLinks: stopLinks(stopSecret, config),
    browser: browserCookie(secrets, config.publicUrl.startsWith('https:')),
    hashAddress: (address) =>
      createHmac('sha256', secrets[0])
        .update(`address\n${countedAddress(address)}`)
        .digest('base64url')
        .slice(0, 22),
    isDoctor: (token) => secrets.some((secret) => isDoctorToken(secret, token, now())),
  };
  // This pool opens no connection before its first statement.
  const background = connect(config.databaseUrl, {
    name: 'background',
    connections: BACKGROUND_CONNECTIONS,
    waits: patience.ofWork,
  });
  return { deps, database, background, hubspot: deps.hubspot };
}
