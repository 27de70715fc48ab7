import { type Config, ConfigFaults, readConfig } from '../../apps/server/platform/config/config.ts';

/**
 * The settings, and which of these the command must start: the database, and the stand-ins for Stripe, HubSpot and the mail
 * server.
 */
export interface Plan {
  config: Config;
  bringsDatabase: boolean;
  bringsStripe: boolean;
  bringsHubspot: boolean;
  bringsMail: boolean;
  /**
   * Whether this command makes a document key. It does if it also starts the database, MODE is not live, and the settings contain
   * no document key.
   */
  bringsDocumentKey: boolean;
}

// These values stand for the addresses of a database and stand-ins that are not started yet. Without them, the check of the
// settings would report those addresses as missing.
const someDatabase = 'postgres://127.0.0.1/induct';
const someUrl = 'http://127.0.0.1:1';
const someMail = 'smtp://127.0.0.1:1';

/**
 * Reads the settings as the server does, and decides which of the database and the stand-ins this command starts: each of them,
 * unless the settings have the address of a running one or a key of the real provider. In live mode it starts at most a database,
 * and only for DATABASE_URL=embedded. Throws `ConfigFaults` with all faults at once, before anything is started.
 */
export function planFrom(env: NodeJS.ProcessEnv): Plan {
  const has = (name: string) => Boolean(env[name]?.trim());
  const live = env.MODE?.trim() === 'live';
  const bringsDatabase = env.DATABASE_URL?.trim() === 'embedded' || (!live && !has('DATABASE_URL'));
  const stripeIsReal = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'].some(has);
  const bringsStripe = !live && !stripeIsReal && !has('STRIPE_EMULATOR_URL');
  const bringsHubspot = !live && !has('HUBSPOT_ACCESS_TOKEN') && !has('HUBSPOT_EMULATOR_URL');
  const bringsMail = !live && !['SMTP_URL', 'MAIL_EMULATOR_URL', 'MAIL'].some(has);
  const config = readConfig({
    ...env,
    ...(bringsDatabase && { DATABASE_URL: someDatabase }),
    ...(bringsStripe && { STRIPE_EMULATOR_URL: someUrl }),
    ...(bringsHubspot && { HUBSPOT_EMULATOR_URL: someUrl }),
    ...(bringsMail && { MAIL_EMULATOR_URL: someMail }),
  });
  const bringsDocumentKey = bringsDatabase && !live && config.documentKeys === null;
  return { config, bringsDatabase, bringsStripe, bringsHubspot, bringsMail, bringsDocumentKey };
}

/** Returns the names of all settings that the server reads from the environment. */
export function settingNames(): string[] {
  const names = new Set<string>();
  const env = new Proxy<NodeJS.ProcessEnv>({}, { get: (_, name) => void names.add(String(name)) });
  try {
    readConfig(env);
  } catch (error) {
    // Without any setting there are faults, which are thrown once all settings are read.
    if (!(error instanceof ConfigFaults)) throw error;
  }
  return [...names];
}

/** Returns the message for the person at the terminal: configuration faults as a list, otherwise the error's message. */
export function explain(error: unknown): string {
  if (error instanceof ConfigFaults)
    return `Nothing was started:\n${error.faults.map((fault) => `  ${fault}`).join('\n')}`;
  return error instanceof Error ? error.message : String(error);
}
