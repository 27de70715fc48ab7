import { startHubspotEmulator } from '../emulators/hubspot/server.ts';
import { STRIPE_WEBHOOK_SECRET } from '../emulators/keys.ts';
import { startStripeEmulator } from '../emulators/stripe/server.ts';
import { contactIdOf, emailOf } from './flows/ours.ts';

/**
 * One stand-in as a process of its own, so that its processor time can be told apart:
 * `standIn.ts stripe FOLDER WEBHOOK_URL` or `standIn.ts hubspot FOLDER COUNT`, which then knows so many of the people who
 * join. Once it listens, its parent gets its address as a message.
 */
const [which, dataDir, given] = process.argv.slice(2) as [string, string, string];
const where = { host: '127.0.0.1', port: 0, dataDir };

const standIn =
  which === 'stripe'
    ? await startStripeEmulator({ ...where, webhook: { url: given, secret: STRIPE_WEBHOOK_SECRET } })
    : await startHubspotEmulator({ ...where, seed: people(Number(given)) });

const stop = () => void standIn.close().finally(() => process.exit(0));
for (const event of ['SIGTERM', 'SIGINT', 'disconnect'] as const) process.once(event, stop);
process.send!({ url: standIn.url });

function people(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    id: contactIdOf(index + 1),
    properties: { firstname: 'Jordan', lastname: 'Rivera', email: emailOf(index + 1) },
  }));
}
