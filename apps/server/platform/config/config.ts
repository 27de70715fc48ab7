import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { readDatabaseUrl } from './databaseUrl.ts';
import { type DeskProvider, readDesk } from './desk.ts';
import { type Limits, readLimits } from './limits.ts';
import { type MailSettings, readMail } from './mail.ts';
import { type Providers, readProviders } from './providers.ts';
import { readProxies } from './proxies.ts';
import { settingReader } from './reader.ts';
import { readSecrets, type Secrets } from './secrets.ts';
import { readDocumentKeys, readStorage, type StorageSettings } from './storage.ts';
import { memoryOfProcess, readWatchSettings, type WatchSettings } from './watch.ts';

export interface Config extends WatchSettings {
  mode: 'local' | 'live';
  host: string;
  port: number;
  dataDir: string;
  publicUrl: string;
  apiUrl: string;
  /** The origin of the staff's desk, and the host and port on which it is served. Null: there is no desk. */
  desk: { url: string; host: string; port: number; provider: DeskProvider | null } | null;
  /** The proxies' addresses (CIDR). X-Forwarded-* headers are trusted only if they come from one of these; false: never. */
  trustProxy: false | string[];
  /** The URL may name several hosts, of which one accepts writes: see `connectToPrimary`. */
  databaseUrl: string;
  /** How long (s) a starting server retries to reach the database before it gives up. */
  databaseWaitSeconds: number;
  /**
   * How long (s) a stopping server still accepts calls, so that its load balancer can notice. There is no delay if nothing polls
   * /readyz.
   */
  stopDelaySeconds: number;
  providers: Providers;
  linkSecrets: Secrets | null;
  allowUnsignedLinks: boolean;
  /** Whether the HSTS header also covers the subdomains of our host. */
  hstsSubdomains: boolean;
  /** Whether the API's documentation pages are served. */
  apiDocs: boolean;
  storage: StorageSettings;
  /** Keys of 64 hexadecimal digits. The first encrypts new documents; all can decrypt. Null: documents are stored unencrypted. */
  documentKeys: Secrets | null;
  /** The mail server and the sender of letters; null if the society sends its letters by other means. */
  mail: MailSettings | null;
  /** Free space (bytes) to keep on the disk that receives documents. */
  storageReserveBytes: number;
  uploadMaxBytes: number | null;
  /** The address of the clamd that scans documents for viruses (tcp://host:port); null if none is used. */
  clamdUrl: string | null;
  societyFile: string;
  /** The name under which the changes of staff commands are recorded. */
  operatorName: string;
  /** The rate limits. Null if they are switched off, for tests and benchmarks. */
  limits: Limits | null;
  logLevel: string;
}

/** Returns the name of the account that runs this process, or its number if it has no name, as in a container. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Thrown for wrong settings. `faults` has one sentence for each fault. */
export class ConfigFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Returns the environment with which to read a command's settings. If STRIPE_WEBHOOK_SECRET is not set, `setup` gets a placeholder
 * for it, because `setup` itself creates the webhook endpoint and its secret.
 */
export function settingsOf(
  command: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  const isYetToCome =
    command === 'setup' && env.STRIPE_SECRET_KEY?.trim() && !env.STRIPE_WEBHOOK_SECRET?.trim();
  return isYetToCome ? { ...env, STRIPE_WEBHOOK_SECRET: 'whsec_none' } : env;
}

/**
 * Returns the environment variables for PostgreSQL's own programs (pg_dump, for example): PATH, HOME and `more`. Leaves out our
 * settings, since some of them are secret.
 */
export function environmentOfTool(
  more: NodeJS.ProcessEnv = {},
  { PATH, HOME }: NodeJS.ProcessEnv = process.env,
): NodeJS.ProcessEnv {
  return { PATH, HOME, ...more };
}

/** Returns the settings that npm hands over to a script, by name: `npm_config_…`. Options of npm's command line are among them. */
export function npmSettings(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('npm_config_')));
}

/** Parses every setting. Throws one {@link ConfigFaults} with all faults. Settings are read from the environment only here. */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const settings = settingReader(env);
  const { get, fault, integer, choice, flag, address } = settings;

  const mode = choice('MODE', 'local', ['local', 'live']);
  const host = get('HOST') ?? '127.0.0.1';
  const port = integer('PORT', 3000, 0, 65_535);
  const dataDir = resolve(get('DATA_DIR') ?? 'data');
  // No client can connect to 0.0.0.0 or ::, so without PUBLIC_URL the public URL has the host localhost.
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const publicUrl = address('PUBLIC_URL', ['http:', 'https:']) ?? `http://${name}:${port}`;
  const apiUrl = address('API_URL', ['http:', 'https:']) ?? '';
  const desk = readDesk(settings, { mode, host, publicUrl });
  const trustProxy = readProxies(settings, mode);

  const isEmbedded = get('DATABASE_URL') === 'embedded';
  const databaseUrl = isEmbedded ? undefined : readDatabaseUrl(settings);
  if (isEmbedded)
    fault(
      'DATABASE_URL=embedded is for `npm start` and the commands beside it, which bring the database: this program needs a PostgreSQL address.',
    );
  else if (!databaseUrl && !get('DATABASE_URL'))
    fault(
      'DATABASE_URL is missing. `npm start` brings a database of its own; otherwise set it to a PostgreSQL address.',
    );

  const providers = readProviders(settings, mode);
  const linkSecrets = readSecrets(settings, 'LINK_SECRET');
  if (linkSecrets?.some((secret) => secret.length < 32))
    fault('LINK_SECRET must have at least 32 characters, and LINK_SECRET_ALSO, too.');
  if (mode === 'live') {
    if (linkSecrets === null) fault('LINK_SECRET is missing: MODE=live signs links with it.');
    if (get('LIMITS') === 'off') fault('LIMITS=off is for tests and benchmarks; MODE=live refuses it.');
    if (new URL(publicUrl).protocol !== 'https:')
      fault('PUBLIC_URL must begin with https:// when MODE=live.');
  }

  const clamdUrl = address('CLAMD_URL', ['tcp:']) ?? null;
  const storage = readStorage(settings, dataDir);
  const documentKeys = readDocumentKeys(settings);
  const mail = readMail(settings, mode);
  const limits = choice('LIMITS', 'on', ['on', 'off']) === 'on' ? readLimits(settings) : null;
  const uploadMaxBytes =
    get('UPLOAD_MAX_BYTES') === undefined ? null : integer('UPLOAD_MAX_BYTES', 0, 1, Number.MAX_SAFE_INTEGER);

  const config: Config = {
    mode,
    host,
    port,
    dataDir,
    publicUrl,
    apiUrl,
    desk,
    trustProxy,
    databaseUrl: databaseUrl ?? '',
    databaseWaitSeconds: integer('DATABASE_WAIT_SECONDS', 300, 0, 86_400),
    stopDelaySeconds: integer('STOP_DELAY_SECONDS', 5, 0, 60),
    providers,
    linkSecrets,
    allowUnsignedLinks: flag('ALLOW_UNSIGNED_LINKS'),
    hstsSubdomains: flag('HSTS_SUBDOMAINS'),
    apiDocs: choice('API_DOCS', mode === 'live' ? '0' : '1', ['0', '1']) === '1',
    storage,
    documentKeys,
    mail,
    storageReserveBytes: integer('STORAGE_RESERVE_BYTES', 268_435_456, 0, Number.MAX_SAFE_INTEGER),
    uploadMaxBytes,
    clamdUrl,
    societyFile: get('SOCIETY_FILE') ?? 'society/society.yaml',
    operatorName: get('OPERATOR_NAME')?.slice(0, 100) ?? accountName(),
    limits,
    ...readWatchSettings(settings, { isLimited: limits !== null, ...memoryOfProcess() }),
    logLevel: choice('LOG_LEVEL', 'info', ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']),
  };
  if (settings.faults.length > 0) throw new ConfigFaults(settings.faults);
  return config;
}
