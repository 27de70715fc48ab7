import { isIP } from 'node:net';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';

/** How the outside world is reached: all providers real, or all emulated. */
export interface Providers {
  emulated: boolean;
  stripe: {
    secretKey: string;
    publishableKey: string;
    webhookSecret: string;
    /** The stand-in's address; null for Stripe's own. */
    url: string | null;
    /** Where browsers reach the stand-in, which is an origin of its own; null for Stripe's own. */
    browserUrl: string | null;
  };
  hubspot: { accessToken: string; url: string; apiVersion: string };
}

/** Limits on careless and hostile use, each a count in a window (minutes). */
export interface Limits {
  /** Wrong invite codes from one address. */
  wrongCodesPerAddress: Limit;
  /** Joins started with one personal invite code. */
  joinsPerCode: Limit;
  /** Joins started from one address: generous, since a whole school may share one. */
  joinsPerAddress: Limit;
  /** Resumes sent from one address. */
  resumesPerAddress: Limit;
  /** Upload links (QR codes) that one join makes. */
  uploadLinksPerSession: Limit;
  /** Uploads by one such link, accepted or not. */
  uploadsPerLink: Limit;
  /** Transcripts sent for one join by any way, accepted or not. */
  uploadsPerSession: Limit;
  /** Payment intents opened for one join. */
  intentsPerSession: Limit;
  /** Payment intents opened from one address. */
  intentsPerAddress: Limit;
  /** Browser reports of blocked content from one address; further ones are dropped. */
  reportsPerAddress: Limit;
  /** Declined cards of one join before it must wait. */
  cardFailuresPerSession: Limit;
  /** Declined cards of all joins from one address before they must wait. */
  cardFailuresPerAddress: Limit;
}
export interface Limit {
  count: number;
  minutes: number;
}

/** Where documents are kept: STORAGE_URL. */
export type StorageSettings = { kind: 'folder'; folder: string } | S3Settings;
export interface S3Settings {
  kind: 's3';
  bucket: string;
  /** What every object's name begins with: empty, or ending in a slash. */
  prefix: string;
  /** Null: where the SDK's own settings say. */
  region: string | null;
  /** Null for Amazon's own. */
  endpoint: string | null;
  /** Null: where the SDK's own settings say. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
}

export interface Config {
  mode: 'local' | 'live';
  host: string;
  port: number;
  dataDir: string;
  publicUrl: string;
  apiUrl: string;
  /** From which addresses (CIDR) X-Forwarded-* is believed: the proxies'. False: from none. */
  trustProxy: false | string[];
  databaseUrl: string;
  /** How long a starting server waits for an unreachable database. */
  databaseWaitSeconds: number;
  /** How long a stopping server still accepts calls so that load balancers notice; applies only if /readyz is polled. */
  stopDelaySeconds: number;
  providers: Providers;
  linkSecret: string | null;
  allowUnsignedLinks: boolean;
  /** Browsers are told to use https for the address's subdomains, too. */
  hstsSubdomains: boolean;
  /** The pages about every call are served. */
  apiDocs: boolean;
  storage: StorageSettings;
  /** Free space to keep on the disk that receives documents. */
  storageReserveBytes: number;
  uploadMaxBytes: number | null;
  /** Who scans documents for viruses (tcp://host:port), or null for nobody. */
  clamdUrl: string | null;
  societyFile: string;
  /** Who is at the staff command line. */
  operatorName: string;
  /** Null when switched off, for tests and benchmarks. */
  limits: Limits | null;
  logLevel: string;
}

/** The name of the account that runs this process, or its number where it has no name, as in a container. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whether a text is an address, or a network as CIDR has it: 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  const isPrefix =
    bits === undefined || (/^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
  return version !== 0 && isPrefix && more.length === 0;
}

/** All that is wrong with the settings, a sentence each. */
export class ConfigFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** Keys that the stand-ins know. They open nothing anywhere else. */
const emulatedKeys = {
  secretKey: 'sk_test_emulated',
  publishableKey: 'pk_test_emulated',
  webhookSecret: 'whsec_emulated',
  accessToken: 'pat-emulated',
};

const defaultLimits: Record<keyof Limits, { setting: string; limit: Limit }> = {
  wrongCodesPerAddress: { setting: 'LIMIT_WRONG_CODES_PER_ADDRESS', limit: { count: 400, minutes: 10 } },
  joinsPerCode: { setting: 'LIMIT_JOINS_PER_CODE', limit: { count: 30, minutes: 60 } },
  joinsPerAddress: { setting: 'LIMIT_JOINS_PER_ADDRESS', limit: { count: 3000, minutes: 60 } },
  resumesPerAddress: { setting: 'LIMIT_RESUMES_PER_ADDRESS', limit: { count: 300, minutes: 60 } },
  uploadLinksPerSession: { setting: 'LIMIT_UPLOAD_LINKS_PER_SESSION', limit: { count: 30, minutes: 60 } },
  uploadsPerLink: { setting: 'LIMIT_UPLOADS_PER_LINK', limit: { count: 30, minutes: 60 } },
  uploadsPerSession: { setting: 'LIMIT_UPLOADS_PER_SESSION', limit: { count: 60, minutes: 60 } },
  intentsPerSession: { setting: 'LIMIT_INTENTS_PER_SESSION', limit: { count: 30, minutes: 60 } },
  intentsPerAddress: { setting: 'LIMIT_INTENTS_PER_ADDRESS', limit: { count: 3000, minutes: 60 } },
  reportsPerAddress: { setting: 'LIMIT_REPORTS_PER_ADDRESS', limit: { count: 300, minutes: 60 } },
  cardFailuresPerSession: { setting: 'LIMIT_CARD_FAILURES_PER_SESSION', limit: { count: 6, minutes: 10 } },
  cardFailuresPerAddress: { setting: 'LIMIT_CARD_FAILURES_PER_ADDRESS', limit: { count: 200, minutes: 60 } },
};

/** Settings of features that do not exist yet: ignoring them silently would mislead. */
const unsupported = ['SMTP_URL', 'MAIL_FROM'];

/** The settings of a command. `setup` runs without a webhook secret, since it creates the endpoint that has one. */
export function settingsOf(
  command: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const isYetToCome =
    command === 'setup' && env.STRIPE_SECRET_KEY?.trim() && !env.STRIPE_WEBHOOK_SECRET?.trim();
  return isYetToCome ? { ...env, STRIPE_WEBHOOK_SECRET: 'whsec_none' } : env;
}

/** Parses every setting and lists all faults at once: throws {@link ConfigFaults}. The only reader of the environment. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const faults: string[] = [];
  const get = (name: string) => (env[name]?.trim() ? env[name].trim() : undefined);
  const fault = (text: string) => void faults.push(text);

  const integer = (name: string, fallback: number, min: number, max: number) => {
    const value = get(name);
    if (value === undefined) return fallback;
    if (/^\d+$/.test(value) && Number(value) >= min && Number(value) <= max) return Number(value);
    fault(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
    return fallback;
  };
  const choice = <T extends string>(name: string, fallback: T, values: readonly T[]): T => {
    const value = get(name) as T | undefined;
    if (value === undefined || values.includes(value)) return value ?? fallback;
    fault(`${name} must be one of ${values.join(', ')}, not "${value}".`);
    return fallback;
  };
  const flag = (name: string) => choice(name, '0', ['0', '1']) === '1';
  const address = (name: string, protocols: readonly string[]) => {
    const value = get(name);
    if (value === undefined) return undefined;
    if (URL.canParse(value) && protocols.includes(new URL(value).protocol)) return value.replace(/\/$/, '');
    fault(`${name} must be an address that begins with ${protocols.map((p) => `${p}//`).join(' or ')}.`);
    return undefined;
  };

  const mode = choice('MODE', 'local', ['local', 'live']);
  const host = get('HOST') ?? '127.0.0.1';
  const port = integer('PORT', 3000, 0, 65_535);
  const dataDir = resolve(get('DATA_DIR') ?? 'data');
  // A server that listens on every address is reached by a name: localhost, unless PUBLIC_URL says otherwise.
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const publicUrl = address('PUBLIC_URL', ['http:', 'https:']) ?? `http://${name}:${port}`;
  const apiUrl = address('API_URL', ['http:', 'https:']) ?? '';
  const trustProxy = readProxies();

  const isEmbedded = get('DATABASE_URL') === 'embedded';
  const databaseUrl = isEmbedded ? undefined : address('DATABASE_URL', ['postgres:', 'postgresql:']);
  if (isEmbedded)
    fault(
      'DATABASE_URL=embedded is for `npm start` and `npm run operator`, which bring the database: this program needs a PostgreSQL address.',
    );
  else if (!databaseUrl && !get('DATABASE_URL'))
    fault(
      'DATABASE_URL is missing. `npm start` brings a database of its own; otherwise set it to a PostgreSQL address.',
    );

  const providers = readProviders();
  const linkSecret = get('LINK_SECRET') ?? null;
  if (linkSecret !== null && linkSecret.length < 32) fault('LINK_SECRET must have at least 32 characters.');
  if (mode === 'live') {
    if (linkSecret === null) fault('LINK_SECRET is missing: MODE=live signs links with it.');
    if (get('LIMITS') === 'off') fault('LIMITS=off is for tests and benchmarks; MODE=live refuses it.');
    if (new URL(publicUrl).protocol !== 'https:')
      fault('PUBLIC_URL must begin with https:// when MODE=live.');
  }

  for (const name of unsupported)
    if (get(name) !== undefined) fault(`${name} is not supported by this version; remove it.`);
  const clamdUrl = address('CLAMD_URL', ['tcp:']) ?? null;
  const storage = readStorage();
  const limits = choice('LIMITS', 'on', ['on', 'off']) === 'on' ? readLimits() : null;
  const uploadMaxBytes =
    get('UPLOAD_MAX_BYTES') === undefined ? null : integer('UPLOAD_MAX_BYTES', 0, 1, Number.MAX_SAFE_INTEGER);

  const config: Config = {
    mode,
    host,
    port,
    dataDir,
    publicUrl,
    apiUrl,
    trustProxy,
    databaseUrl: databaseUrl ?? '',
    databaseWaitSeconds: integer('DATABASE_WAIT_SECONDS', 300, 0, 86_400),
    stopDelaySeconds: integer('STOP_DELAY_SECONDS', 5, 0, 60),
    providers,
    linkSecret,
    allowUnsignedLinks: flag('ALLOW_UNSIGNED_LINKS'),
    hstsSubdomains: flag('HSTS_SUBDOMAINS'),
    apiDocs: choice('API_DOCS', mode === 'live' ? '0' : '1', ['0', '1']) === '1',
    storage,
    storageReserveBytes: integer('STORAGE_RESERVE_BYTES', 268_435_456, 0, Number.MAX_SAFE_INTEGER),
    uploadMaxBytes,
    clamdUrl,
    societyFile: get('SOCIETY_FILE') ?? 'society/society.yaml',
    operatorName: get('OPERATOR_NAME')?.slice(0, 100) ?? accountName(),
    limits,
    logLevel: choice('LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  };
  if (faults.length > 0) throw new ConfigFaults(faults);
  return config;

  /** Rate limits count by the address that these proxies report, so the setting must name them. */
  function readProxies(): Config['trustProxy'] {
    const given = get('TRUST_PROXY');
    if (given === undefined && mode === 'live')
      fault(
        "TRUST_PROXY is missing: MODE=live wants to be told whose X-Forwarded-For is believed. Set the proxies' addresses (CIDR, commas between), or none.",
      );
    if (given === undefined || given === 'none' || given === 'false') return false;
    const proxies = given.split(/\s*,\s*/);
    const wrong = proxies.find((proxy) => !isNetwork(proxy));
    if (given === 'true' || proxies.some((proxy) => isNetwork(proxy) && proxy.endsWith('/0')))
      fault(
        `TRUST_PROXY=${given} would believe whatever address a caller claims to have. Name the proxies' addresses (CIDR, commas between), or none.`,
      );
    else if (wrong !== undefined)
      fault(
        `TRUST_PROXY must be the proxies' addresses (CIDR, commas between) or none: "${wrong}" is no address.`,
      );
    return proxies;
  }

  function readLimits(): Limits {
    const read = ({ setting, limit }: { setting: string; limit: Limit }): Limit => {
      const value = get(setting);
      if (value === undefined) return limit;
      const match = /^(\d{1,9})\/(\d{1,5})$/.exec(value);
      if (match && Number(match[2]) > 0) return { count: Number(match[1]), minutes: Number(match[2]) };
      fault(`${setting} must be a count and a window in minutes, as ${limit.count}/${limit.minutes}.`);
      return limit;
    };
    return Object.fromEntries(
      Object.entries(defaultLimits).map(([name, limit]) => [name, read(limit)]),
    ) as Record<keyof Limits, Limit>;
  }

  /** A folder, or a bucket: s3://bucket/prefix?region=…&endpoint=… with its pair of keys, or none. */
  function readStorage(): StorageSettings {
    const here: StorageSettings = { kind: 'folder', folder: resolve(dataDir, 'documents') };
    const keys = ['STORAGE_ACCESS_KEY_ID', 'STORAGE_SECRET_ACCESS_KEY'] as const;
    const [accessKeyId, secretAccessKey] = keys.map(get);
    if ((accessKeyId === undefined) !== (secretAccessKey === undefined))
      fault(`${accessKeyId ? keys.join(' is set without ') : keys.toReversed().join(' is set without ')}.`);
    const given = address('STORAGE_URL', ['file:', 's3:']);
    const url = given === undefined ? null : new URL(given);
    if (url?.protocol !== 's3:') {
      if (accessKeyId || secretAccessKey)
        fault('STORAGE_ACCESS_KEY_ID is for documents in a bucket: set STORAGE_URL to s3://bucket.');
      return url === null ? here : { kind: 'folder', folder: decodeURIComponent(url.pathname) };
    }
    const endpoint = url.searchParams.get('endpoint');
    const other = [...url.searchParams.keys()].find((name) => !['region', 'endpoint'].includes(name));
    if (url.hostname === '' || url.username || url.port)
      fault('STORAGE_URL must name a bucket: s3://bucket/prefix. Keys have settings of their own.');
    if (other) fault(`STORAGE_URL has an unknown part: ${other}. There are region and endpoint.`);
    if (endpoint !== null && !/^https?:\/\/[^/?#]+\/?$/.test(endpoint))
      fault("STORAGE_URL's endpoint must be an address like https://s3.example.com, without a path.");
    const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
    return {
      kind: 's3',
      bucket: url.hostname,
      prefix: prefix === '' ? '' : `${prefix}/`,
      // Services other than Amazon's take any.
      region: url.searchParams.get('region') ?? (endpoint === null ? null : 'us-east-1'),
      endpoint,
      credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
    };
  }

  /** All real or all emulated. A half-set group, a mix, or a key of the wrong kind is a fault. */
  function readProviders(): Providers {
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
        fault(
          'Neither Stripe keys nor STRIPE_EMULATOR_URL is set. `npm start` brings a stand-in of its own.',
        );
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
        webhookSecret: get('STRIPE_WEBHOOK_SECRET') ?? emulatedKeys.webhookSecret,
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
}
