import type { SettingReader } from './reader.ts';
import { readSecrets, type Secrets } from './secrets.ts';

/** The addresses and keys of Stripe and HubSpot: both real or both stand-ins; with ALLOW_MIX=1 also one of each. */
export interface Providers {
  emulated: boolean;
  stripe: {
    secretKey: string;
    publishableKey: string;
    webhookSecrets: Secrets;
    /** The stand-in's URL for the server; null if Stripe is real. */
    url: string | null;
    /** The stand-in's URL for browsers, with an origin of its own; null if Stripe is real. */
    browserUrl: string | null;
  };
  hubspot: { accessToken: string; url: string; apiVersion: string };
}

/** The keys that only the stand-ins accept. */
const emulatedKeys = {
  secretKey: 'sk_test_emulated',
  publishableKey: 'pk_test_emulated',
  webhookSecret: 'whsec_emulated',
  accessToken: 'pat-emulated',
};

/**
 * Reads the addresses and keys of Stripe and HubSpot. Reports a fault if a group of settings is incomplete, if a key is of the
 * wrong kind, or (unless ALLOW_MIX=1) if one provider is real and the other a stand-in.
 */
export function readProviders(settings: SettingReader, mode: 'local' | 'live'): Providers {
  const { get, fault, flag, address } = settings;
  const stripeSettings = ['STRIPE_SECRET_KEY', 'STRIPE_PUBLISHABLE_KEY', 'STRIPE_WEBHOOK_SECRET'] as const;
  const given = stripeSettings.filter((name) => get(name) !== undefined);
  const realStripe = given.length > 0;
  const realHubspot = get('HUBSPOT_ACCESS_TOKEN') !== undefined;
  const stripeUrl = address('STRIPE_EMULATOR_URL', ['http:']);
  const stripeBrowserUrl = address('STRIPE_EMULATOR_BROWSER_URL', ['http:', 'https:']) ?? stripeUrl;
  const hubspotUrl = address('HUBSPOT_EMULATOR_URL', ['http:']);
  if (realStripe && given.length < stripeSettings.length)
    fault(
      `${given.join(' and ')} set without ${stripeSettings.filter((name) => !given.includes(name)).join(' and ')}: set all three or none.`,
    );
  const secretKey = get('STRIPE_SECRET_KEY') ?? emulatedKeys.secretKey;
  const publishableKey = get('STRIPE_PUBLISHABLE_KEY') ?? emulatedKeys.publishableKey;
  if (realStripe) {
    if (!/^[sr]k_(test|live)_/.test(secretKey))
      fault('STRIPE_SECRET_KEY must begin with sk_test_, sk_live_, rk_test_ or rk_live_.');
    if (!/^pk_(test|live)_/.test(publishableKey))
      fault('STRIPE_PUBLISHABLE_KEY must begin with pk_test_ or pk_live_.');
    if (/_live_/.test(secretKey) !== /_live_/.test(publishableKey))
      fault('STRIPE_SECRET_KEY and STRIPE_PUBLISHABLE_KEY must both be live or both be test keys.');
    if (stripeUrl) fault('STRIPE_EMULATOR_URL is set beside real Stripe keys: remove one of them.');
  }
  if (realHubspot && hubspotUrl)
    fault('HUBSPOT_EMULATOR_URL is set beside HUBSPOT_ACCESS_TOKEN: remove one of them.');
  const isLive = /_live_/.test(secretKey);
  if (isLive && mode !== 'live') {
    if (get('LIMITS') === 'off')
      fault('LIMITS=off is for tests and benchmarks, and never goes together with a live key.');
    if (flag('ALLOW_UNSIGNED_LINKS'))
      fault('ALLOW_UNSIGNED_LINKS=1 goes together with live keys only when MODE=live.');
  }
  const mixed = realStripe !== realHubspot;
  if (mixed && !flag('ALLOW_MIX'))
    fault(
      `${realStripe ? 'Stripe is real and HubSpot is not' : 'HubSpot is real and Stripe is not'}: set the keys of both or of none. ALLOW_MIX=1 permits it for development.`,
    );
  if (flag('ALLOW_MIX') && (isLive || mode === 'live'))
    fault('ALLOW_MIX=1 is for development and never goes together with a live key or MODE=live.');
  if (mode === 'live') {
    if (!realStripe)
      fault(
        'MODE=live needs STRIPE_SECRET_KEY, STRIPE_PUBLISHABLE_KEY and STRIPE_WEBHOOK_SECRET: it refuses every emulator.',
      );
    else if (!isLive) fault('MODE=live refuses test keys: STRIPE_SECRET_KEY is one.');
    if (!realHubspot) fault('MODE=live needs HUBSPOT_ACCESS_TOKEN: it refuses every emulator.');
  } else {
    if (!realStripe && !stripeUrl)
      fault('Neither Stripe keys nor STRIPE_EMULATOR_URL is set. `npm start` brings a stand-in of its own.');
    if (!realHubspot && !hubspotUrl)
      fault(
        'Neither HUBSPOT_ACCESS_TOKEN nor HUBSPOT_EMULATOR_URL is set. `npm start` brings a stand-in of its own.',
      );
  }
  return {
    emulated: !realStripe && !realHubspot,
    stripe: {
      secretKey,
      publishableKey,
      webhookSecrets: readSecrets(settings, 'STRIPE_WEBHOOK_SECRET') ?? [emulatedKeys.webhookSecret],
      url: realStripe ? null : (stripeUrl ?? null),
      browserUrl: realStripe ? null : (stripeBrowserUrl ?? null),
    },
    hubspot: {
      accessToken: get('HUBSPOT_ACCESS_TOKEN') ?? emulatedKeys.accessToken,
      url: realHubspot ? 'https://api.hubapi.com' : (hubspotUrl ?? ''),
      apiVersion: get('HUBSPOT_API_VERSION') ?? '2026-09',
    },
  };
}
