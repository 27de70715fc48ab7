import { defaultFieldRules, laterFields } from '#core/crmFields.ts';
import { readLetterTexts } from '../letters/readTexts.ts';
import type { Config } from '../platform/config/config.ts';
import type { Answer } from '../providers/answer.ts';
import { neededProperties } from '../providers/hubspot/properties.ts';
import { askStripe, type StripeAccount } from '../providers/stripe/account.ts';
import { readSociety, SocietyFaults } from '../society/readSociety.ts';
import type { Society } from '../society/society.ts';
import { type Arrival, askArrival } from './arrival.ts';
import { type Absent, askAbsent } from './askAbsent.ts';
import { askDatabase, askLinkSecret, type DatabaseState } from './askDatabase.ts';
import { askHubspot, type HubspotAccount } from './askHubspot.ts';
import { askMail, type MailState, type ResolveTxt } from './askMail.ts';
import { askRuleRefusals, type RuleRefusal } from './askRuleRefusals.ts';
import { askStorage, type StorageState } from './askStorage.ts';

export interface StandIns {
  stripe: boolean;
  hubspot: boolean;
}

/** Everything that the findings are derived from. */
export interface Facts {
  standIns: StandIns;
  mode: 'local' | 'live';
  publicUrl: string;
  /** The addresses at which the server receives webhooks, the preferred one first. */
  webhookUrls: readonly string[];
  hasLinkSecret: boolean;
  hasDocumentKey: boolean;
  /** The proxies whose X-Forwarded-For is trusted. */
  trustProxy: Config['trustProxy'];
  /** How a call with {@link CLAIMED_ADDRESS} in X-Forwarded-For arrives through the public address. */
  arrival: Answer<Arrival>;
  /** The mode (live or test) and type of Stripe's keys, from their prefixes. */
  keys: { live: boolean; restricted: boolean; publishableLive: boolean };
  hubspotVersion: string;
  societyFile: string;
  /** Mistakes in the society's file, one sentence for each. */
  societyFaults: readonly string[];
  database: Answer<DatabaseState>;
  /** What orders name but the society's file lacks; null if the file has mistakes. */
  absent: Answer<Absent> | null;
  stripe: StripeAccount;
  hubspot: HubspotAccount;
  /** Joins that HubSpot refuses by a rule of the account, counted by reason, the most frequent first. */
  ruleRefusals: Answer<readonly RuleRefusal[]>;
  /** Where documents are stored, and the result of storing, reading and removing one. */
  storage: { place: string; answer: Answer<StorageState> };
  /** Null if letters are sent by other means. */
  mail: MailState | null;
  /** Whether uploaded documents go to HubSpot as well. */
  attachDocuments: boolean;
  /** Contact properties that the society's table of fields names. */
  neededProperties: readonly string[];
  /** Those of the needed properties without which joins are still sent to HubSpot. */
  laterProperties: readonly string[];
}

export function standInsOf({ providers }: Config): StandIns {
  return { stripe: providers.stripe.url !== null, hubspot: !providers.hubspot.url.startsWith('https:') };
}

/** Gathers all facts concurrently. Changes nothing, except for a file in the storage that is removed again. */
export async function examine(config: Config, standIns: StandIns, resolveTxt?: ResolveTxt): Promise<Facts> {
  const { stripe, hubspot } = config.providers;
  const { society, faults } = readOrFaults(config.societyFile);
  const fields = society?.crm.fields ?? defaultFieldRules;
  const sender = config.mail?.from?.address ?? society?.society.supportEmail;
  const [arrival, database, absent, ruleRefusals, stripeAccount, hubspotAccount, storage, mail] =
    await Promise.all([
      arrivalAt(config),
      askDatabase(config.databaseUrl),
      society && askAbsent(config.databaseUrl, society),
      askRuleRefusals(config.databaseUrl),
      askStripe(stripe, new URL(config.publicUrl).hostname),
      askHubspot(hubspot, fields),
      askStorage(config),
      config.mail !== null && sender ? askMail(config.mail, sender, resolveTxt) : null,
    ]);
  return {
    standIns,
    mode: config.mode,
    publicUrl: config.publicUrl,
    webhookUrls: [config.publicUrl, config.apiUrl].filter(Boolean).map((url) => `${url}/api/webhooks/stripe`),
    hasLinkSecret: config.linkSecrets !== null,
    hasDocumentKey: config.documentKeys !== null,
    trustProxy: config.trustProxy,
    arrival,
    keys: {
      live: /^[sr]k_live_/.test(stripe.secretKey),
      restricted: stripe.secretKey.startsWith('rk_'),
      publishableLive: stripe.publishableKey.startsWith('pk_live_'),
    },
    hubspotVersion: hubspot.apiVersion,
    societyFile: config.societyFile,
    societyFaults: faults,
    database,
    absent,
    stripe: stripeAccount,
    hubspot: hubspotAccount,
    ruleRefusals,
    storage,
    mail,
    attachDocuments: society?.crm.attachDocuments ?? true,
    neededProperties: neededProperties(fields),
    laterProperties: laterFields.flatMap((field) => fields[field].property ?? []),
  };
}

async function arrivalAt({ publicUrl, linkSecrets, databaseUrl }: Config): Promise<Answer<Arrival>> {
  const secret = linkSecrets?.[0] ?? (await askLinkSecret(databaseUrl));
  return secret === null ? { down: 'the server has not run yet' } : askArrival(publicUrl, secret);
}

function readOrFaults(societyFile: string): { society: Society | null; faults: readonly string[] } {
  try {
    const society = readSociety(societyFile);
    readLetterTexts(societyFile);
    return { society, faults: [] };
  } catch (error) {
    if (error instanceof SocietyFaults) return { society: null, faults: error.faults };
    throw error;
  }
}
