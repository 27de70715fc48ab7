import { defaultFieldRules, laterFields } from '#core/crmFields.ts';
import { neededProperties } from '../../crm/hubspot/properties.ts';
import { readLetterTexts } from '../../letters/readTexts.ts';
import type { Config } from '../../platform/config/config.ts';
import type { Answer } from '../../providers/answer.ts';
import { askStripe, type StripeAccount } from '../../providers/stripe/account.ts';
import { readIcon } from '../../society/readIcon.ts';
import { readSociety, SocietyFaults } from '../../society/readSociety.ts';
import type { Society } from '../../society/society.ts';
import { type Arrival, askArrival } from './arrival.ts';
import { type Absent, askAbsent } from './askAbsent.ts';
import { askDatabase, askKeptAccount, askLinkSecret, type DatabaseState } from './askDatabase.ts';
import { askDesk } from './askDesk.ts';
import { askHubspot, type HubspotAccount } from './askHubspot.ts';
import { askMail, type MailState, type ResolveTxt } from './askMail.ts';
import { askRuleRefusals, type RuleRefusal } from './askRuleRefusals.ts';
import { askStorage, type StorageAnswer } from './askStorage.ts';

export interface StandIns {
  stripe: boolean;
  hubspot: boolean;
}

/** All facts from which findings are derived. */
export interface Facts {
  standIns: StandIns;
  mode: 'local' | 'live';
  publicUrl: string;
  /** The URLs at which the server receives webhooks. The command `setup` registers the first. */
  webhookUrls: readonly string[];
  hasLinkSecret: boolean;
  hasDocumentKey: boolean;
  /** The proxies whose X-Forwarded-For is trusted; false if there are none. */
  trustProxy: Config['trustProxy'];
  /** How a call that claims {@link CLAIMED_ADDRESS} in X-Forwarded-For arrives through the public URL. */
  arrival: Answer<Arrival>;
  /** The desk's address, and whether the desk answers there; null if there is no desk. */
  desk: { url: string; answer: Answer<null> } | null;
  /** The facts that the prefixes of Stripe's keys show: live or test mode, and whether the secret key is a restricted one. */
  keys: { live: boolean; restricted: boolean; publishableLive: boolean };
  hubspotVersion: string;
  societyFile: string;
  /** The faults of the society file, one sentence for each. */
  societyFaults: readonly string[];
  database: Answer<DatabaseState>;
  /** The products and programmes that {@link askAbsent} found; null if the society file has faults. */
  absent: Answer<Absent> | null;
  stripe: StripeAccount;
  hubspot: HubspotAccount;
  /** The id of the HubSpot account whose contacts the database has; null if no server has stored it yet. */
  keptAccount: Answer<string | null>;
  /**
   * How many joins HubSpot has refused because of a validation rule of the account, for each reason; the most frequent comes first.
   */
  ruleRefusals: Answer<readonly RuleRefusal[]>;
  /** Where documents are stored, and the result of storing, reading and removing a file there. */
  storage: StorageAnswer;
  /** The findings about the mail server; null if the society sends its letters by other means. */
  mail: MailState | null;
  /** Whether uploaded documents go to HubSpot as well. */
  attachDocuments: boolean;
  /** The names of the contact properties that the field rules need. */
  neededProperties: readonly string[];
  /** The needed properties that may be missing: joins are then sent to HubSpot without them. */
  laterProperties: readonly string[];
}

export function standInsOf({ providers }: Config): StandIns {
  return { stripe: providers.stripe.url !== null, hubspot: !providers.hubspot.url.startsWith('https:') };
}

/** Gathers all facts. Changes nothing, except that it stores and removes files: a small one and, in a bucket, a large one. */
export async function examine(config: Config, standIns: StandIns, resolveTxt?: ResolveTxt): Promise<Facts> {
  const { stripe, hubspot } = config.providers;
  const { society, faults } = readOrFaults(config.societyFile);
  const fields = society?.crm.fields ?? defaultFieldRules;
  const sender = config.mail?.from?.address ?? society?.society.supportEmail;
  const [
    arrival,
    desk,
    database,
    absent,
    ruleRefusals,
    keptAccount,
    stripeAccount,
    hubspotAccount,
    storage,
    mail,
  ] = await Promise.all([
    arrivalAt(config),
    config.desk && askDesk(config.desk.url).then((answer) => ({ url: config.desk!.url, answer })),
    askDatabase(config.databaseUrl),
    society && askAbsent(config.databaseUrl, society),
    askRuleRefusals(config.databaseUrl),
    askKeptAccount(config.databaseUrl),
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
    desk,
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
    keptAccount,
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
    readIcon(societyFile);
    return { society, faults: [] };
  } catch (error) {
    if (error instanceof SocietyFaults) return { society: null, faults: error.faults };
    throw error;
  }
}
