import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

/** The real accounts against which behaviour tests run instead of emulators; null for a provider without such an account. */
export interface RealSubjects {
  /** With `url` null, Stripe's own address is used. */
  stripe: { url: string | null; secretKey: string; publishableKey: string } | null;
  hubspot: { url: string; accessToken: string } | null;
}

/** Thrown when the settings that name the accounts are wrong; each fault is a sentence. */
export class SubjectFaults extends Error {
  readonly faults: readonly string[];
  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/**
 * Reads the DRIFT_… settings. Throws {@link SubjectFaults} if a setting is wrong. Refuses a live key, since the tests charge,
 * refund and delete. A URL must be of this machine, so that no key is sent to another machine.
 */
export function realSubjects(env: NodeJS.ProcessEnv): RealSubjects {
  const faults: string[] = [];
  const get = (name: string) => env[name]?.trim() || undefined;
  const secretKey = get('DRIFT_STRIPE_SECRET_KEY');
  const publishableKey = get('DRIFT_STRIPE_PUBLISHABLE_KEY');
  const accessToken = get('DRIFT_HUBSPOT_ACCESS_TOKEN');

  const isTestKey = (name: string, key: string | undefined, pattern: RegExp, begins: string) => {
    if (key === undefined || pattern.test(key)) return;
    faults.push(
      /_live_/.test(key)
        ? `${name} is a live key. These tests charge, refund and delete: they take test keys only, which begin with ${begins}.`
        : `${name} must begin with ${begins}.`,
    );
  };
  isTestKey('DRIFT_STRIPE_SECRET_KEY', secretKey, /^[sr]k_test_/, 'sk_test_ or rk_test_');
  isTestKey('DRIFT_STRIPE_PUBLISHABLE_KEY', publishableKey, /^pk_test_/, 'pk_test_');
  if ((secretKey === undefined) !== (publishableKey === undefined))
    faults.push('Set both DRIFT_STRIPE_SECRET_KEY and DRIFT_STRIPE_PUBLISHABLE_KEY, or neither.');

  const address = (name: string, key: string | undefined) => {
    const url = get(name);
    if (url === undefined) return null;
    if (key === undefined) faults.push(`${name} is set without a key.`);
    const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' };
    if (protocol !== 'http:' || !/^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname))
      faults.push(`${name} may only be an address of this machine, such as http://127.0.0.1:4000.`);
    return url.replace(/\/$/, '');
  };
  const stripeUrl = address('DRIFT_STRIPE_URL', secretKey);
  const hubspotUrl = address('DRIFT_HUBSPOT_URL', accessToken);

  if (faults.length > 0) throw new SubjectFaults(faults);
  return {
    stripe: secretKey && publishableKey ? { url: stripeUrl, secretKey, publishableKey } : null,
    hubspot: accessToken ? { url: hubspotUrl ?? 'https://api.hubapi.com', accessToken } : null,
  };
}

/** Returns a word that nothing else in the account contains. */
export function uniqueWord(): string {
  return `drift${Date.now().toString(36)}${randomBytes(4).toString('hex')}`;
}

/** How long a real provider's search may take to find a write (ms), and the time between two polls (ms). */
const PATIENCE = 120_000;
const EVERY = 2_000;

/** Polls until something is found, at most for PATIENCE. Polls an emulator only once, since it returns its writes at once. */
export async function eventually<T>(isReal: boolean, look: () => Promise<T[]>): Promise<T[]> {
  const deadline = Date.now() + PATIENCE;
  for (;;) {
    const found = await look();
    if (found.length > 0 || !isReal || Date.now() > deadline) return found;
    await pause(EVERY);
  }
}
