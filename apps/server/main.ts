import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { buildApp } from './app.ts';
import { ConfigFaults, readConfig } from './config.ts';
import { startPushing } from './contacts/push.ts';
import { migrate } from './database/migrate.ts';
import { loggerOptions } from './http/logging.ts';
import { importInvitations } from './invitations/importInvitations.ts';
import { startSweeping } from './payments/sweep.ts';
import { SocietyFaults } from './society.ts';
import { wire } from './wire.ts';

/** Codes to try out, beside those of the emulated HubSpot's contacts. */
const demoInvitations = fileURLToPath(new URL('../../society/demo-invitations.csv', import.meta.url));
const webBuild = fileURLToPath(new URL('../web/dist', import.meta.url));

/** The server process: settings, society, database, providers, then HTTP. A fault in the first two starts nothing. */
async function main(): Promise<void> {
  const config = readConfig();
  const log = pino(loggerOptions(config.logLevel) as object);
  await migrate(config.databaseUrl);
  const { deps, database, hubspot } = await wire(config, log);
  if (config.providers.emulated)
    await importInvitations(database, demoInvitations, Object.keys(deps.society.programmes));
  const app = await buildApp(deps, config.mode === 'live' || existsSync(webBuild) ? { webBuild } : {});
  const background = [startPushing(deps, hubspot), startSweeping(deps)];
  const url = await app.listen({ host: config.host, port: config.port });
  process.send?.({ listening: url });
  log.info({ url, emulated: config.providers.emulated }, 'listening');

  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await Promise.all(background.map((end) => end()));
    await app.close();
    await database.destroy();
    process.exit(0);
  };
  process.once('SIGTERM', () => void stop());
  process.once('SIGINT', () => void stop());
  // Started by a launcher that is gone: nobody would ever stop us.
  process.once('disconnect', () => void stop());
}

main().catch((error: unknown) => {
  if (error instanceof ConfigFaults || error instanceof SocietyFaults) {
    console.error(`Induct does not start:\n${error.faults.map((fault) => `  ${fault}`).join('\n')}`);
  } else console.error(error);
  process.exit(1);
});
