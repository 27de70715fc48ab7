/**
 * Runs all emulators of `npm start` in one process, which reads these environment variables:
 *
 * - EMULATORS_HOST: the host on which the emulators listen
 * - STRIPE_EMULATOR_HOST: the host on which Stripe's emulator listens, if browsers need another host to reach it
 * - STRIPE_EMULATOR_PORT, HUBSPOT_EMULATOR_PORT, MAIL_EMULATOR_PORT, MAIL_EMULATOR_PAGE_PORT: 0 or absent for any free port
 * - EMULATORS_DATA_DIR: the folder of the emulators' state
 * - STRIPE_WEBHOOK_URL: where webhooks are sent
 * - HUBSPOT_EMULATOR_LIMITS=off: turns HubSpot's rate limits off
 *
 * Once the emulators listen, this process sends its parent the IPC message `{ stripe: { url }, hubspot: { url }, mail: { smtpUrl,
 * url } }`. It ends when its parent ends.
 */
import { join } from 'node:path';
import { startHubspotEmulator } from './hubspot/server.ts';
import { STRIPE_WEBHOOK_SECRET } from './keys.ts';
import { startMailEmulator } from './mail/server.ts';
import { startStripeEmulator } from './stripe/server.ts';

const { env } = process;
const host = env.EMULATORS_HOST ?? '127.0.0.1';
const dataDir = env.EMULATORS_DATA_DIR ?? join('data', 'emulators');
const webhook = env.STRIPE_WEBHOOK_URL
  ? { url: env.STRIPE_WEBHOOK_URL, secret: STRIPE_WEBHOOK_SECRET }
  : undefined;

const stripe = await startStripeEmulator({
  host: env.STRIPE_EMULATOR_HOST ?? host,
  port: Number(env.STRIPE_EMULATOR_PORT ?? 0),
  dataDir,
  webhook,
});
const hubspot = await startHubspotEmulator({
  host,
  port: Number(env.HUBSPOT_EMULATOR_PORT ?? 0),
  dataDir,
  ...(env.HUBSPOT_EMULATOR_LIMITS === 'off' && { limits: 'off' }),
});
const mail = await startMailEmulator({
  host,
  smtpPort: Number(env.MAIL_EMULATOR_PORT ?? 0),
  port: Number(env.MAIL_EMULATOR_PAGE_PORT ?? 0),
  dataDir,
});

let stopping = false;
const stop = async (): Promise<void> => {
  if (stopping) return;
  stopping = true;
  await Promise.all([stripe.close(), hubspot.close(), mail.close()]);
  process.exit(0);
};
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.on('disconnect', stop);

process.send?.({
  stripe: { url: stripe.url },
  hubspot: { url: hubspot.url },
  mail: { smtpUrl: mail.smtpUrl, url: mail.url },
});
