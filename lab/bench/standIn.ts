import { readFileSync } from 'node:fs';
import { startHubspotEmulator } from '../../emulators/hubspot/server.ts';
import { STRIPE_WEBHOOK_SECRET } from '../../emulators/keys.ts';
import { startMailEmulator } from '../../emulators/mail/server.ts';
import { startStripeEmulator } from '../../emulators/stripe/server.ts';

/**
 * Runs one emulator in a separate process:
 *
 * - `standIn.ts stripe FOLDER WEBHOOK_URL`
 * - `standIn.ts hubspot FOLDER [CONTACTS]`: CONTACTS is a JSON file of HubSpot's contacts (default: the demo's)
 * - `standIn.ts mail FOLDER`
 *
 * Once the emulator listens, this process sends its parent the IPC message `{ url }`, or `{ url, smtpUrl }` for the mail server.
 */

const [provider, dataDir, argument] = process.argv.slice(2) as [string, string, string | undefined];
const options = { host: '127.0.0.1', port: 0, dataDir };

const emulator = await start();

function start(): Promise<{ url: string; smtpUrl?: string; close(): Promise<void> }> {
  if (provider === 'mail') return startMailEmulator({ ...options, smtpPort: 0 });
  if (provider === 'stripe')
    return startStripeEmulator({ ...options, webhook: { url: argument!, secret: STRIPE_WEBHOOK_SECRET } });
  return startHubspotEmulator({
    ...options,
    ...(argument && { seed: JSON.parse(readFileSync(argument, 'utf8')) }),
  });
}

const stop = () => void emulator.close().finally(() => process.exit(0));
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, stop);
process.send!({ url: emulator.url, smtpUrl: emulator.smtpUrl });
