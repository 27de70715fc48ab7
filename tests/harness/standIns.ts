import { join } from 'node:path';
import { type HubspotEmulatorOptions, startHubspotEmulator } from '../../emulators/hubspot/server.ts';
import { startMailEmulator } from '../../emulators/mail/server.ts';
import { type StripeEmulatorOptions, startStripeEmulator } from '../../emulators/stripe/server.ts';
import { isLong } from './testLength.ts';

const society = join(import.meta.dirname, '../../society');
export const societyFile = join(society, 'society.yaml');
export const demoInvitations = join(society, 'demo-invitations.csv');

export interface StandIns {
  stripeUrl: string;
  hubspotUrl: string;
  /** The URL to which letters are sent. */
  smtpUrl: string;
  /** The URL of the mail stand-in's controls (emulators/README.md). */
  mailUrl: string;
  close(): Promise<unknown>;
}

/**
 * Starts the stand-ins of all providers in this process, on free ports. Their state is in memory unless a `dataDir` is given. The
 * emulators' own tests compare every answer with its published schema. Here only `npm run test:long` does so, since the
 * comparison takes as long as making the answer.
 */
export async function startStandIns(
  stripe: Partial<StripeEmulatorOptions> = {},
  hubspot: Partial<HubspotEmulatorOptions> = {},
): Promise<StandIns> {
  const common = { host: '127.0.0.1', port: 0, dataDir: null };
  const running = await Promise.all([
    startStripeEmulator({ ...common, checkAnswers: isLong, ...stripe }),
    startHubspotEmulator({ ...common, ...hubspot }),
    startMailEmulator({ ...common, smtpPort: 0 }),
  ]);
  return {
    stripeUrl: running[0].url,
    hubspotUrl: running[1].url,
    smtpUrl: running[2].smtpUrl,
    mailUrl: running[2].url,
    close: () => Promise.all(running.map((standIn) => standIn.close())),
  };
}

/** Returns the settings with which a server uses a database and the stand-ins, with its documents in `folder`. */
export function settingsFor(
  { stripeUrl, hubspotUrl, smtpUrl }: Pick<StandIns, 'stripeUrl' | 'hubspotUrl' | 'smtpUrl'>,
  databaseUrl: string,
  folder: string,
) {
  return {
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    SOCIETY_FILE: societyFile,
    STRIPE_EMULATOR_URL: stripeUrl,
    HUBSPOT_EMULATOR_URL: hubspotUrl,
    MAIL_EMULATOR_URL: smtpUrl,
  };
}
