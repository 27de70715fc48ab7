import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { settingsOf } from '../../apps/server/platform/config/config.ts';
import { documentKeyIn } from './documentKey.ts';
import { startEmulators } from './emulators.ts';
import { readLocalFile } from './localFile.ts';
import { readHolder, takeLock } from './lock.ts';
import { startPostgres } from './postgres.ts';
import { lives } from './processes.ts';
import { explain, planFrom } from './settings.ts';

/**
 * `npm run operator -- …`: runs the staff command line with the database and emulators of a running `npm start`. If none runs,
 * starts them for the command.
 */

const args = process.argv.slice(2);
const program = resolve(import.meta.dirname, '../../apps/server/operator.ts');
const asksForHelp =
  args.length === 0 || args[0] === 'help' || args.some((arg) => arg === '--help' || arg === '-h');

/** Functions that stop what was started, in the order of starting. */
const stops: (() => Promise<void> | void)[] = [];
let code = 1;
try {
  code = await run(asksForHelp ? {} : await surroundings());
} catch (error) {
  console.error(explain(error));
}
for (const stop of stops.reverse()) await stop();
process.exit(code);

/** Returns the settings that the command needs in addition to the given ones. */
async function surroundings(): Promise<NodeJS.ProcessEnv> {
  const { config, bringsDatabase, bringsStripe, bringsHubspot, bringsMail, bringsDocumentKey } = planFrom(
    settingsOf(args[0]),
  );
  const { dataDir } = config;
  if (!bringsDatabase && !bringsStripe && !bringsHubspot && !bringsMail) return {};

  const holder = readHolder(dataDir);
  let found = readLocalFile(dataDir);
  if (!(holder && lives(holder) && found && isStart(holder.command))) {
    const lock = await takeLock(dataDir, 'npm run operator');
    stops.push(() => lock.release());
    const before = found;
    found = { server: { url: '' }, database: { url: config.databaseUrl } };
    if (bringsStripe || bringsHubspot || bringsMail) {
      const { child, stripe, hubspot, mail } = await startEmulators({
        dataDir,
        before,
        started: (started) => {
          stops.push(() => started.stop());
          if (started.process.pid) lock.addChild(started.process.pid);
        },
      });
      void child.ended;
      found = { ...found, stripe, hubspot, mail };
    }
    if (bringsDatabase) found.database.url = await database(dataDir);
  } else if (bringsDatabase) {
    // `npm start` runs the database. The command registers as a second user of this database. So the database keeps running for
    // the command even if `npm start` is stopped.
    found.database.url = await database(dataDir);
  }
  return {
    DATA_DIR: dataDir,
    ...(bringsDatabase && { DATABASE_URL: found.database.url }),
    ...(bringsStripe && found.stripe && { STRIPE_EMULATOR_URL: found.stripe.url }),
    ...(bringsHubspot && found.hubspot && { HUBSPOT_EMULATOR_URL: found.hubspot.url }),
    ...(bringsMail && found.mail && { MAIL_EMULATOR_URL: found.mail.smtpUrl }),
    ...(bringsDocumentKey && { DOCUMENT_KEY: documentKeyIn(dataDir) }),
  };
}

function isStart(command: string): boolean {
  return command !== 'npm run operator';
}

async function database(dataDir: string): Promise<string> {
  const postgres = await startPostgres({ dataDir });
  stops.push(() => postgres.stop());
  return postgres.url;
}

function run(env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program, ...args], {
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  // The command decides when to end; this process stays to clean up after it.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal));
  return new Promise((done) => {
    child.once('error', () => done(1));
    child.once('exit', (status) => done(status ?? 1));
  });
}
