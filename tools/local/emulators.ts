import { join, resolve } from 'node:path';
import { HUBSPOT_ACCESS_TOKEN, STRIPE_SECRET_KEY } from '../../emulators/keys.ts';
import { type Child, startChild } from './child.ts';
import type { LocalFile } from './localFile.ts';
import { freePort } from './ports.ts';

const program = resolve(import.meta.dirname, '../../emulators/main.ts');

/** Starts the emulators of Stripe, HubSpot and a mail server, on the ports of their last start if those are free. */
export async function startEmulators(options: {
  dataDir: string;
  /**
   * The host on which Stripe's emulator listens. Browsers load the card form from this emulator, so it must be as reachable as
   * the server. The other emulators listen on 127.0.0.1.
   */
  host?: string;
  /** The URL at which the server listens or will listen, for webhooks. Without it, none are sent. */
  serverUrl?: string;
  before: LocalFile | undefined;
  started?: (child: Child) => void;
}): Promise<{
  child: Child;
  stripe: { url: string; secretKey: string };
  hubspot: { url: string; accessToken: string };
  mail: { url: string; smtpUrl: string };
}> {
  // Takes no port that the system chooses: before the next start, the system may give such a port to another connection (ports.ts).
  const port = async (url: string | undefined) =>
    String((url && (await freePort(Number(new URL(url).port)))) || (await freePort()));
  const { child, ready } = await startChild<{
    stripe: { url: string };
    hubspot: { url: string };
    mail: { url: string; smtpUrl: string };
  }>(program, {
    env: {
      ...process.env,
      EMULATORS_HOST: '127.0.0.1',
      STRIPE_EMULATOR_HOST: options.host ?? '127.0.0.1',
      EMULATORS_DATA_DIR: join(options.dataDir, 'emulators'),
      STRIPE_EMULATOR_PORT: await port(options.before?.stripe?.url),
      HUBSPOT_EMULATOR_PORT: await port(options.before?.hubspot?.url),
      MAIL_EMULATOR_PORT: await port(options.before?.mail?.smtpUrl),
      MAIL_EMULATOR_PAGE_PORT: await port(options.before?.mail?.url),
      ...(options.serverUrl && { STRIPE_WEBHOOK_URL: `${options.serverUrl}/api/webhooks/stripe` }),
    },
    ...(options.started && { started: options.started }),
  });
  return {
    child,
    stripe: { url: ready.stripe.url, secretKey: STRIPE_SECRET_KEY },
    hubspot: { url: ready.hubspot.url, accessToken: HUBSPOT_ACCESS_TOKEN },
    mail: { url: `${ready.mail.url}/emulated/mail`, smtpUrl: ready.mail.smtpUrl },
  };
}
