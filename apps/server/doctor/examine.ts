import type { Config } from '../config.ts';
import { readSociety, SocietyFaults } from '../society.ts';
import { askStripe, type StripeAccount } from '../stripe/account.ts';
import type { Answer } from './answer.ts';
import { askDatabase, type DatabaseState } from './askDatabase.ts';
import { askHubspot, type HubspotAccount } from './askHubspot.ts';

/** Which providers are emulators. */
export interface StandIns {
  stripe: boolean;
  hubspot: boolean;
}

/** All that the findings rest on. */
export interface Facts {
  standIns: StandIns;
  mode: 'local' | 'live';
  publicUrl: string;
  /** Where the server takes webhooks, the preferred address first. */
  webhookUrls: readonly string[];
  hasLinkSecret: boolean;
  /** What the keys say of themselves. */
  keys: { live: boolean; restricted: boolean; publishableLive: boolean };
  hubspotVersion: string;
  societyFile: string;
  /** Mistakes in it, a sentence each. */
  societyFaults: readonly string[];
  database: Answer<DatabaseState>;
  stripe: StripeAccount;
  hubspot: HubspotAccount;
}

export function standInsOf({ providers }: Config): StandIns {
  return { stripe: providers.stripe.url !== null, hubspot: !providers.hubspot.url.startsWith('https:') };
}

/** Gathers the facts, all at once. Nothing is changed anywhere. */
export async function examine(config: Config, standIns: StandIns): Promise<Facts> {
  const { stripe, hubspot } = config.providers;
  const [database, stripeAccount, hubspotAccount] = await Promise.all([
    askDatabase(config.databaseUrl),
    askStripe(stripe, new URL(config.publicUrl).hostname),
    askHubspot(hubspot),
  ]);
  return {
    standIns,
    mode: config.mode,
    publicUrl: config.publicUrl,
    webhookUrls: [config.publicUrl, config.apiUrl].filter(Boolean).map((url) => `${url}/api/webhooks/stripe`),
    hasLinkSecret: config.linkSecret !== null,
    keys: {
      live: /^[sr]k_live_/.test(stripe.secretKey),
      restricted: stripe.secretKey.startsWith('rk_'),
      publishableLive: stripe.publishableKey.startsWith('pk_live_'),
    },
    hubspotVersion: hubspot.apiVersion,
    societyFile: config.societyFile,
    societyFaults: faultsOf(config.societyFile),
    database,
    stripe: stripeAccount,
    hubspot: hubspotAccount,
  };
}

function faultsOf(societyFile: string): readonly string[] {
  try {
    readSociety(societyFile);
    return [];
  } catch (error) {
    if (error instanceof SocietyFaults) return error.faults;
    throw error;
  }
}
